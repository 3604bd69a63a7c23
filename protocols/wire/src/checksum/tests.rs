use super::*;
use alloc::vec::Vec;
use proptest::prelude::*;

/// RFC 1071 section 4.1, word by word.
fn reference(bytes: &[u8]) -> u16 {
    let mut sum: u32 = 0;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
    }
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[test]
fn the_example_of_rfc_1071() {
    // Section 3: the words 0001 f203 f4f5 f6f7 sum to ddf2.
    let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
    assert_eq!(checksum(&bytes), !0xddf2);
}

#[test]
fn the_example_of_rfc_1624() {
    // Section 4: HC = DD2F, m = 5555, m' = 3285 gives 0000 (and not FFFF).
    let word = |w| Sum::ZERO.add_u16(w);
    assert_eq!(update(0xdd2f, word(0x5555), word(0x3285)), 0x0000);
}

proptest! {
    #[test]
    fn fast_sum_equals_the_sum_word_by_word(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(checksum(&bytes), reference(&bytes));
    }

    #[test]
    fn pieces_of_even_length_add_up(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0usize..100) {
        let cut = (2 * cut).min(bytes.len() / 2 * 2);
        let sum = Sum::ZERO.add_bytes(&bytes[..cut]).add_bytes(&bytes[cut..]);
        prop_assert_eq!(sum.checksum(), reference(&bytes));
    }

    #[test]
    fn update_equals_summing_anew(
        old in proptest::collection::vec(any::<u8>(), 20),
        new in proptest::collection::vec(any::<u8>(), 20),
        rest in proptest::collection::vec(any::<u8>(), 1..60),
    ) {
        let whole = |head: &[u8]| { let mut all = Vec::from(head); all.extend_from_slice(&rest); all.push(1); all };
        let sum = |bytes: &[u8]| Sum::ZERO.add_bytes(bytes);
        prop_assert_eq!(update(checksum(&whole(&old)), sum(&old), sum(&new)), checksum(&whole(&new)));
    }
}
