//! The secret that messages outside of sealed sessions carry a tag under.
use super::MIN_TOKEN_BYTES;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::fmt;

/// The secret that members and proxy share.
#[derive(Clone)]
pub struct Token(Vec<u8>);

impl Token {
    /// A token of at least [`MIN_TOKEN_BYTES`].
    pub fn new(secret: &str) -> Option<Self> {
        (secret.len() >= MIN_TOKEN_BYTES).then(|| Self(secret.as_bytes().to_vec()))
    }

    /// In place of a token where messages travel inside a sealed session, which says who speaks. It is no secret: no
    /// message outside a session is read with it.
    pub fn inside_a_session() -> Self {
        Self(b"inside a sealed session".to_vec())
    }

    pub(super) fn mac(&self, message: &[u8]) -> Hmac<Sha256> {
        let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(message);
        mac
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}
