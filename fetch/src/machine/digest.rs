//! SHA-256 of an object, and bytes as hexadecimal digits.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest of everything that `reader` gives.
    ///
    /// # Errors
    /// When reading fails.
    pub fn of(mut reader: impl Read) -> io::Result<Self> {
        let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 18]);
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return Ok(Self(hash.finalize().into())),
                Ok(length) => hash.update(buffer.get(..length).unwrap_or(&buffer)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        read_hex(text)
            .map(Self)
            .ok_or_else(|| format!("\"{text}\" is no SHA-256 digest, which has 64 hexadecimal digits"))
    }
}

pub(crate) fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// Exactly `N` bytes from twice as many hexadecimal digits.
pub(crate) fn read_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    if text.len() != 2 * N || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(bytes)
}
