//! How the ends of a tunnel are known: by static X25519 keys, in text as WireGuard writes them.
use crate::entropy::Entropy;
use crate::noise;
use alloc::string::String;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use core::fmt;
use core::str::FromStr;
use hkdf::Hkdf;
use sha2::Sha256;

/// Bytes of a key.
const KEY_BYTES: usize = 32;

/// The public half of a key pair, 44 characters of base64 in text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PublicKey(pub [u8; KEY_BYTES]);

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
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
        from_base64(text).map(Self).ok_or_else(|| {
            alloc::format!(
                "\"{text}\" is no public key, which has 44 characters of base64 and ends with \"=\""
            )
        })
    }
}

/// A key pair. Whoever has its private half is this peer.
#[derive(Clone)]
pub struct KeyPair {
    private: [u8; KEY_BYTES],
    public: PublicKey,
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyPair({})", self.public)
    }
}

impl KeyPair {
    /// A new key pair.
    pub fn generate(entropy: &mut Entropy) -> Self {
        let mut private: [u8; KEY_BYTES] = entropy.bytes();
        // As RFC 7748 section 5 decodes a scalar; every implementation does so on use, most also when they make one.
        let [first, .., last] = &mut private;
        *first &= 248;
        *last = (*last & 127) | 64;
        Self { private, public: PublicKey(noise::public_key(&private)) }
    }

    /// Reads a private key, 44 characters of base64 (what `wg genkey` prints).
    ///
    /// # Errors
    /// When it is something else; the message does not repeat it.
    pub fn from_private_text(text: &str) -> Result<Self, String> {
        let private = from_base64(text.trim()).ok_or_else(|| {
            String::from("not a private key, which has 44 characters of base64 and ends with \"=\"")
        })?;
        Ok(Self { private, public: PublicKey(noise::public_key(&private)) })
    }

    /// The private key in text, for its file.
    pub fn private_text(&self) -> String {
        STANDARD.encode(self.private)
    }

    /// The public half.
    pub const fn public(&self) -> PublicKey {
        self.public
    }

    /// A secret for another purpose, by HKDF (RFC 5869): `label` names it, and none tells anything of another, nor of
    /// the private key.
    pub fn derived_secret(&self, label: &str) -> [u8; KEY_BYTES] {
        let mut secret = [0; KEY_BYTES];
        // 32 bytes are one block: an error would be that too many are asked for.
        let _ = Hkdf::<Sha256>::new(None, &self.private).expand(label.as_bytes(), &mut secret);
        secret
    }

    pub(crate) const fn private(&self) -> &[u8; KEY_BYTES] {
        &self.private
    }
}

/// One text for one key: digits that say nothing must be zero, and the padding must be there.
fn from_base64(text: &str) -> Option<[u8; KEY_BYTES]> {
    STANDARD.decode(text).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests;
