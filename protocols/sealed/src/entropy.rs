//! Randomness as an argument: a stream that nobody can guess without its seed, and that the seed repeats.
use chacha20::ChaCha20Legacy;
use chacha20::cipher::{KeyIvInit, StreamCipher};

/// Bytes of a seed.
pub const SEED_BYTES: usize = 32;

/// A cryptographic stream of random bytes: the ChaCha20 keystream (RFC 8439 section 2.4, with the 64-bit counter of the
/// original design) under a seed.
///
/// On a real network the seed comes from the operating system; in a test it is the test's.
pub struct Entropy(ChaCha20Legacy);

impl Entropy {
    /// The stream of `seed`.
    pub fn from_seed(seed: [u8; SEED_BYTES]) -> Self {
        Self(ChaCha20Legacy::new(&seed.into(), &[0; 8].into()))
    }

    /// The next bytes.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    /// Fills `bytes` with the next ones.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill(0);
        self.0.apply_keystream(bytes);
    }

    /// The next 64 bits.
    pub fn number(&mut self) -> u64 {
        u64::from_be_bytes(self.bytes())
    }

    /// The next 32 bits, as a sequence number.
    pub fn sequence_number(&mut self) -> prismux_wire::SeqNumber {
        prismux_wire::SeqNumber(u32::from_be_bytes(self.bytes()))
    }
}

impl core::fmt::Debug for Entropy {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Entropy(..)")
    }
}

#[cfg(test)]
mod tests;
