//! How a server is known: by a static X25519 key, which its URL names.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
use super::digest::{read_hex, write_hex};
use super::noise;
use prismux_sealed::Entropy;
use std::fmt;
use std::str::FromStr;

/// What a key file begins with.
const TITLE: &str = "prismux server key\n";

/// A server's public key, 64 hexadecimal digits in text.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey(pub [u8; 32]);

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PublicKey {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        read_hex(text)
            .map(Self)
            .ok_or_else(|| format!("\"{text}\" is no server key, which has 64 hexadecimal digits"))
    }
}

/// A server's key pair.
#[derive(Clone)]
pub struct ServerKey {
    private: [u8; 32],
    public: PublicKey,
}

impl fmt::Debug for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerKey({})", self.public)
    }
}

impl ServerKey {
    /// A new key pair.
    pub fn generate(entropy: &mut Entropy) -> Self {
        let (private, public) = noise::key_pair(entropy);
        Self { private, public: PublicKey(public) }
    }

    /// The public half.
    pub const fn public(&self) -> PublicKey {
        self.public
    }

    pub(crate) const fn private(&self) -> &[u8; 32] {
        &self.private
    }

    /// The content of a key file, as [`ServerKey::parse`] reads it.
    pub fn to_text(&self) -> String {
        let (private, public) = (PublicKey(self.private), self.public);
        format!("{TITLE}private {private}\npublic {public}\n")
    }

    /// Reads the content of a key file; `None` if it is no key pair.
    pub fn parse(text: &str) -> Option<Self> {
        let lines = text.strip_prefix(TITLE)?.split_once("\npublic ")?;
        let (private, public) = (read_hex(lines.0.strip_prefix("private ")?)?, read_hex(lines.1.trim_end())?);
        noise::belong_together(&private, &public).then_some(Self { private, public: PublicKey(public) })
    }
}

#[cfg(test)]
mod tests;
