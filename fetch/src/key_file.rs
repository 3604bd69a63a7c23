//! The file that a server's key pair lies in, for its owner alone.
use crate::key::ServerKey;
use crate::os_entropy;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Why a key file cannot be used.
#[derive(Debug)]
pub enum KeyFileError {
    /// It cannot be read or written.
    File(io::Error),
    /// What is in it is no key pair.
    Content,
    /// Others than its owner may read it.
    Readable(u32),
}

impl fmt::Display for KeyFileError {
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

impl std::error::Error for KeyFileError {}

impl From<io::Error> for KeyFileError {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

/// The key pair in the file `path`, which is made when it is not there.
///
/// # Errors
/// When the file cannot be read or made, is no key file, or is open to others.
pub fn load_or_create(path: &Path) -> Result<ServerKey, KeyFileError> {
    match fs::read_to_string(path) {
        Ok(text) => {
            let mode = fs::metadata(path)?.permissions().mode() & 0o777;
            if mode & 0o077 != 0 {
                return Err(KeyFileError::Readable(mode));
            }
            ServerKey::parse(&text).ok_or(KeyFileError::Content)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let key = ServerKey::generate(&mut os_entropy());
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
            file.write_all(key.to_text().as_bytes())?;
            file.sync_all()?;
            Ok(key)
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
