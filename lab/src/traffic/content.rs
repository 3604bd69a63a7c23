//! The bytes of a flow: pseudo-random, repeatable from the seed and the flow's name, so that the receiver can
//! check each one of them.
use prismux_endpoint::random::{RandomStream, Seed};
use sha2::{Digest, Sha256};

/// A stream of bytes without end.
#[derive(Debug, Clone)]
pub(crate) struct Content {
    stream: RandomStream,
    word: [u8; 8],
    used: usize,
}

impl Content {
    /// The content of the flow called `flow`.
    pub fn new(seed: Seed, flow: &str) -> Self {
        Self { stream: seed.stream(&format!("flow/{flow}/content")), word: [0; 8], used: 8 }
    }

    /// Writes the next bytes of the stream.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        let mut rest = buffer;
        while !rest.is_empty() {
            if self.used == 8 {
                self.word = self.stream.next_u64().to_le_bytes();
                self.used = 0;
            }
            let count = rest.len().min(8 - self.used);
            rest[..count].copy_from_slice(&self.word[self.used..self.used + count]);
            self.used += count;
            rest = &mut rest[count..];
        }
    }
}

/// Hashes what arrives and, beside it, what should have.
pub(crate) struct Verifier {
    expected: Content,
    scratch: Vec<u8>,
    got: Sha256,
    wanted: Sha256,
}

impl Verifier {
    /// Expects the content of the flow called `flow`.
    pub fn new(seed: Seed, flow: &str) -> Self {
        Self {
            expected: Content::new(seed, flow),
            scratch: Vec::new(),
            got: Sha256::new(),
            wanted: Sha256::new(),
        }
    }

    /// Takes the next bytes that arrived.
    pub fn take(&mut self, bytes: &[u8]) {
        self.scratch.resize(bytes.len(), 0);
        self.expected.fill(&mut self.scratch);
        self.got.update(bytes);
        self.wanted.update(&self.scratch);
    }

    /// The hashes (hex) of what arrived and of what should have.
    pub fn finish(self) -> (String, String) {
        (hex(&self.got.finalize()), hex(&self.wanted.finalize()))
    }
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_the_same_however_it_is_cut() {
        let (mut whole, mut parts) = (Content::new(Seed(5), "f"), Content::new(Seed(5), "f"));
        let (mut a, mut b) = ([0; 100], [0; 100]);
        whole.fill(&mut a);
        for range in [0..1, 1..3, 3..19, 19..24, 24..100] {
            parts.fill(&mut b[range]);
        }
        assert_eq!(a, b);
    }

    #[test]
    fn a_changed_a_lost_or_a_repeated_byte_shows() {
        let mut bytes = vec![0; 1000];
        Content::new(Seed(5), "f").fill(&mut bytes);
        let verdict = |bytes: &[u8]| {
            let mut verifier = Verifier::new(Seed(5), "f");
            bytes.chunks(7).for_each(|part| verifier.take(part));
            let (got, wanted) = verifier.finish();
            got == wanted
        };
        assert!(verdict(&bytes));
        let mut changed = bytes.clone();
        changed[500] ^= 1;
        assert!(!verdict(&changed));
        let lost = [&bytes[..500], &bytes[501..]].concat();
        assert!(!verdict(&lost));
        let repeated = [&bytes[..500], &bytes[499..]].concat();
        assert!(!verdict(&repeated));
    }
}
