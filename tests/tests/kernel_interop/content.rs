//! A stream whose every byte is a function of its position.

/// Writes the bytes from `position` on.
pub fn fill(position: u64, out: &mut [u8]) {
    let mut offset = 0;
    while offset < out.len() {
        let at = position + offset as u64;
        let word = mix(at / 8).to_le_bytes();
        let skip = (at % 8) as usize;
        let count = (8 - skip).min(out.len() - offset);
        out[offset..offset + count].copy_from_slice(&word[skip..skip + count]);
        offset += count;
    }
}

/// Panics at the first byte that is not the one of its position.
pub fn check(position: u64, bytes: &[u8]) {
    let mut expected = vec![0; bytes.len()];
    fill(position, &mut expected);
    if let Some(offset) = expected.iter().zip(bytes).position(|(a, b)| a != b) {
        panic!("byte {} is {}, not {}", position + offset as u64, bytes[offset], expected[offset]);
    }
}

fn mix(word: u64) -> u64 {
    let x = (word ^ 0x5bf0_3635).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (x ^ x >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}
