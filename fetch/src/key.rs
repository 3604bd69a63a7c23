//! How a server is known: by a static X25519 key, which its URL names.
use crate::digest::{read_hex, write_hex};
use crate::handshake;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
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

/// Why a key file cannot be used.
#[derive(Debug)]
pub enum KeyError {
    /// It cannot be read or written.
    File(io::Error),
    /// What is in it is no key pair.
    Content,
    /// Others than its owner may read it.
    Readable(u32),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => {
                write!(f, "{error}\n  remedy: name a place that can be written with --key FILE")
            }
            Self::Content => f.write_str(
                "it holds no key pair\n  remedy: move it away; a new one is made, and with it new URLs",
            ),
            Self::Readable(mode) => {
                write!(f, "its mode is {mode:03o}: others can read the secret key\n  remedy: chmod 600 FILE")
            }
        }
    }
}

impl std::error::Error for KeyError {}

impl From<io::Error> for KeyError {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

impl ServerKey {
    /// A new key pair.
    pub fn generate() -> Self {
        let (private, public) = handshake::new_key_pair();
        Self { private, public: PublicKey(public) }
    }

    /// The key pair in the file `path`, which is made when it is not there.
    ///
    /// # Errors
    /// When the file cannot be read or made, is no key file, or is open to others.
    pub fn load_or_create(path: &Path) -> Result<Self, KeyError> {
        match fs::read_to_string(path) {
            Ok(text) => {
                let mode = fs::metadata(path)?.permissions().mode() & 0o777;
                if mode & 0o077 != 0 {
                    return Err(KeyError::Readable(mode));
                }
                Self::parse(&text).ok_or(KeyError::Content)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let key = Self::generate();
                if let Some(folder) = path.parent() {
                    fs::create_dir_all(folder)?;
                }
                let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
                file.write_all(key.text().as_bytes())?;
                file.sync_all()?;
                Ok(key)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The public half.
    pub const fn public(&self) -> PublicKey {
        self.public
    }

    pub(crate) const fn private(&self) -> &[u8; 32] {
        &self.private
    }

    fn text(&self) -> String {
        let (private, public) = (PublicKey(self.private), self.public);
        format!("{TITLE}private {private}\npublic {public}\n")
    }

    fn parse(text: &str) -> Option<Self> {
        let lines = text.strip_prefix(TITLE)?.split_once("\npublic ")?;
        let (private, public) = (read_hex(lines.0.strip_prefix("private ")?)?, read_hex(lines.1.trim_end())?);
        let key = Self { private, public: PublicKey(public) };
        handshake::belong_together(&key).then_some(key)
    }
}

#[cfg(test)]
mod tests;
