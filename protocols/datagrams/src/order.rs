//! The place of a packet in its stream: 32 bits that travel beside it, as the key of its GRE header (RFC 2890).

/// Streams of one direction; flows share them by their hash.
pub const STREAMS: usize = 128;

/// Numbers have so many bits and then begin again.
const NUMBER_BITS: u32 = 24;
const NUMBER_MASK: u32 = (1 << NUMBER_BITS) - 1;
const WAITS: u32 = 1 << 31;

/// The place of a packet in its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// The far end holds later packets back until this one has come, or is given up.
    pub waits: bool,
    /// Which stream, below [`STREAMS`].
    pub stream: u8,
    /// Its number there, below 2^24.
    pub number: u32,
}

impl Order {
    /// As it travels.
    pub const fn to_bits(self) -> u32 {
        let waits = if self.waits { WAITS } else { 0 };
        waits | (self.stream as u32 % STREAMS as u32) << NUMBER_BITS | self.number & NUMBER_MASK
    }

    /// As it came.
    pub const fn from_bits(bits: u32) -> Self {
        Self {
            waits: bits & WAITS != 0,
            stream: (bits >> NUMBER_BITS) as u8 % STREAMS as u8,
            number: bits & NUMBER_MASK,
        }
    }
}

/// The number after this one.
pub(crate) const fn next(number: u32) -> u32 {
    number.wrapping_add(1) & NUMBER_MASK
}

/// How far `number` is ahead of `base`; negative when it is behind.
pub(crate) const fn distance(number: u32, base: u32) -> i32 {
    // Shifted up, the sign of the difference is that of the shorter way around.
    let shift = 32 - NUMBER_BITS;
    (number.wrapping_sub(base) << shift).cast_signed() >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_travels_as_32_bits_whatever_they_are() {
        for bits in [0, 1, 0x00ff_ffff, 0x7f00_0000, 0x8000_0000, u32::MAX, 0xdead_beef] {
            assert_eq!(Order::from_bits(bits).to_bits(), bits);
        }
    }

    #[test]
    fn numbers_begin_again_after_2_to_the_24() {
        let last = (1 << 24) - 1;
        assert_eq!(next(last), 0);
        assert_eq!([distance(0, last), distance(last, 0), distance(5, 2)], [1, -1, 3]);
    }
}
