//! Integers of variable length (RFC 9000 section 16): 1, 2, 4 or 8 bytes, the length in the two highest bits.
use alloc::vec::Vec;

/// The largest integer there is a form for.
pub(crate) const MAX: u64 = (1 << 62) - 1;

/// Writes `value`, at most [`MAX`], in its shortest form; a larger one as [`MAX`].
pub(crate) fn write(out: &mut Vec<u8>, value: u64) {
    match value {
        0..=0x3f => out.push(value as u8),
        0x40..=0x3fff => out.extend_from_slice(&(value as u16 | 0x4000).to_be_bytes()),
        0x4000..=0x3fff_ffff => out.extend_from_slice(&(value as u32 | 0x8000_0000).to_be_bytes()),
        _ => out.extend_from_slice(&(value.min(MAX) | 0xc000_0000_0000_0000).to_be_bytes()),
    }
}

/// Reads an integer at the start of `bytes`; returns it and what follows. `None` when it is cut short.
pub(crate) fn read(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let length = 1_usize << (bytes.first()? >> 6);
    let (own, rest) = bytes.split_at_checked(length)?;
    let value = own.iter().fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
    Some((value & (u64::MAX >> (66 - 8 * length)), rest))
}

/// A signed number as an unsigned one that is small when the number is near zero.
pub(crate) const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// The number that [`zigzag`] was given.
pub(crate) const fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// The examples of RFC 9000 appendix A.1.
    #[test]
    fn the_examples_of_the_rfc() {
        for (value, bytes) in [
            (151_288_809_941_952_652, vec![0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c]),
            (494_878_333, vec![0x9d, 0x7f, 0x3e, 0x7d]),
            (15_293, vec![0x7b, 0xbd]),
            (37, vec![0x25]),
        ] {
            let mut out = Vec::new();
            write(&mut out, value);
            assert_eq!(out, bytes);
            assert_eq!(read(&bytes), Some((value, &[][..])));
        }
        assert_eq!(read(&[0x40, 0x25, 9]), Some((37, &[9][..])), "not the shortest form, and yet one");
        assert_eq!(read(&[0x9d, 0x7f, 0x3e]), None);
    }

    #[test]
    fn signs_survive() {
        for value in [0, 1, -1, 63, -64, 1 << 40, -(1 << 40)] {
            assert_eq!(unzigzag(zigzag(value)), value);
        }
        assert_eq!((zigzag(-1), zigzag(1), zigzag(-32)), (1, 2, 63));
    }
}
