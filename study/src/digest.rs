//! A hash of several parts.

use sha2::{Digest, Sha256};
use std::fmt::Write;

/// SHA-256 (hex) of `parts`. Every part is preceded by its length, so that no two lists of parts are the same bytes.
pub(crate) fn of_parts<T: AsRef<[u8]>>(parts: impl IntoIterator<Item = T>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        let part = part.as_ref();
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
