//! The Internet checksum (RFC 1071) and its incremental update (RFC 1624).
use core::net::IpAddr;

#[cfg(test)]
mod tests;

/// A ones' complement sum of 16-bit big-endian words, not yet folded.
///
/// Sums of pieces add up as long as every piece but the last has an even length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum(u64);

impl Sum {
    /// Nothing summed yet.
    pub const ZERO: Self = Self(0);

    /// Adds bytes that start at an even offset; an odd last byte is padded with zero.
    #[must_use]
    pub fn add_bytes(self, bytes: &[u8]) -> Self {
        // RFC 1071 section 2 (B): sum in the machine's byte order, swap once at the end.
        let mut native: u64 = 0;
        let (chunks, rest) = bytes.as_chunks::<8>();
        for chunk in chunks {
            let word = u64::from_ne_bytes(*chunk);
            // Halves of 32 bits leave room for 2^32 additions and let the compiler use vectors.
            native += (word & 0xffff_ffff) + (word >> 32);
        }
        let mut last = [0; 8];
        last.iter_mut().zip(rest).for_each(|(place, byte)| *place = *byte);
        let word = u64::from_ne_bytes(last);
        native += (word & 0xffff_ffff) + (word >> 32);
        Self(self.0 + u64::from(fold(native).to_be()))
    }

    /// Adds one 16-bit word.
    #[must_use]
    pub const fn add_u16(self, word: u16) -> Self {
        Self(self.0 + word as u64)
    }

    /// Adds another sum.
    #[must_use]
    pub const fn add_sum(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }

    /// Takes away what was summed before, so that a changed field can be added anew (RFC 1624 eqn 3).
    #[must_use]
    pub fn without(self, old: Self) -> Self {
        Self(self.0 + u64::from(!fold(old.0)))
    }

    /// The checksum field that makes this sum come out right.
    pub fn checksum(self) -> u16 {
        !fold(self.0)
    }

    /// True when the summed bytes included a correct checksum field.
    pub fn is_valid(self) -> bool {
        fold(self.0) == 0xffff
    }
}

/// Folds a sum to 16 bits with end-around carry.
const fn fold(mut sum: u64) -> u16 {
    sum = (sum & 0xffff_ffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    sum as u16
}

/// The checksum of `bytes`.
pub fn checksum(bytes: &[u8]) -> u16 {
    Sum::ZERO.add_bytes(bytes).checksum()
}

/// The pseudo header of a transport segment of `segment_bytes` (RFC 9293 section 3.1, RFC 8200 section 8.1).
pub fn pseudo_header(source: IpAddr, destination: IpAddr, protocol: u8, segment_bytes: usize) -> Sum {
    let address = |sum: Sum, address: IpAddr| match address {
        IpAddr::V4(v4) => sum.add_bytes(&v4.octets()),
        IpAddr::V6(v6) => sum.add_bytes(&v6.octets()),
    };
    let sum = address(address(Sum::ZERO, source), destination);
    let length = segment_bytes as u32;
    sum.add_u16(u16::from(protocol)).add_u16((length >> 16) as u16).add_u16(length as u16)
}

/// `checksum` after the bytes summed in `old` have become those summed in `new` (RFC 1624 eqn 3).
///
/// A wrong checksum stays wrong: corruption is never blessed.
pub fn update(checksum: u16, old: Sum, new: Sum) -> u16 {
    Sum(u64::from(!checksum) + new.0).without(old).checksum()
}
