//! What the members of a community share, so that they know each other.
use crate::cookie::keyed;
use crate::digest::{Digest, write_hex};
use crate::key::PublicKey;
use hmac::Mac;
use sha2::{Digest as _, Sha256};
use std::fmt;

/// Bytes of the proof behind an announcement.
pub const PROOF_BYTES: usize = 16;
/// Shorter secrets could be guessed.
const MIN_SECRET_BYTES: usize = 16;

/// A community's secret: who knows it may ask its members for pieces, and is believed to have some.
#[derive(Clone)]
pub struct CommunitySecret([u8; 32]);

impl fmt::Debug for CommunitySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CommunitySecret(..)")
    }
}

impl CommunitySecret {
    /// The secret that `text` is, blanks at its ends left out; `None` if it has fewer than 16 characters.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let hash = || Sha256::new_with_prefix(b"prismux community\n").chain_update(text).finalize().into();
        (text.len() >= MIN_SECRET_BYTES).then(|| Self(hash()))
    }

    /// Puts the proof behind an announcement.
    pub(super) fn sign(&self, announcement: &mut Vec<u8>) {
        let proof = self.hash(&[b"prismux announcement", announcement]).finalize().into_bytes();
        announcement.extend_from_slice(proof.get(..PROOF_BYTES).unwrap_or(&proof));
    }

    /// The announcement before its proof, if that is right.
    pub(super) fn verify<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let (announcement, proof) = bytes.split_at_checked(bytes.len().checked_sub(PROOF_BYTES)?)?;
        let hash = self.hash(&[b"prismux announcement", announcement]);
        hash.verify_truncated_left(proof).is_ok().then_some(announcement)
    }

    /// What the paths begin with under which the member with this key gives pieces of the file with this root: nobody
    /// can name them without the secret, and what one member was shown is worth nothing with another.
    pub(super) fn path_to_pieces(&self, key: &PublicKey, root: &Digest) -> String {
        let proof = self.hash(&[b"prismux piece", &key.0, &root.0]).finalize().into_bytes();
        format!("\0piece/{root}/{}/", Hex(proof.get(..PROOF_BYTES).unwrap_or(&proof)))
    }

    fn hash(&self, parts: &[&[u8]]) -> hmac::Hmac<Sha256> {
        let mut hash = keyed(&self.0);
        parts.iter().for_each(|part| hash.update(part));
        hash
    }
}

/// Bytes as hexadecimal digits.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_holds_for_these_bytes_and_this_secret_alone() {
        let secret = CommunitySecret::new("  a secret of ours, long enough\n").unwrap();
        let mut signed = b"announcement".to_vec();
        secret.sign(&mut signed);
        assert_eq!(secret.verify(&signed), Some(&b"announcement"[..]));
        for at in 0..signed.len() {
            let mut changed = signed.clone();
            changed[at] ^= 1;
            assert_eq!(secret.verify(&changed), None, "{at}");
            assert_eq!(secret.verify(&signed[..at]), None, "{at}");
        }
        assert_eq!(CommunitySecret::new("another secret of ours").unwrap().verify(&signed), None);
        assert!(CommunitySecret::new("too short").is_none());
    }

    #[test]
    fn paths_to_pieces_are_those_of_one_member_and_one_file() {
        let path = |secret: &str, key, root| {
            CommunitySecret::new(secret).unwrap().path_to_pieces(&PublicKey([key; 32]), &Digest([root; 32]))
        };
        let (one, other) = ("secret number one", "secret number two");
        let paths = [path(one, 1, 1), path(one, 1, 2), path(one, 2, 1), path(other, 1, 1)];
        for (index, own) in paths.iter().enumerate() {
            assert!(own.starts_with("\0piece/") && own.ends_with('/'));
            assert!(paths[index + 1..].iter().all(|path| path != own));
        }
    }
}
