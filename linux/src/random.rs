//! Numbers that nobody can guess, from the operating system.
use std::io::{self, Read};

/// A random number, never zero.
///
/// # Errors
/// When `/dev/urandom` cannot be read.
pub fn nonzero_u64() -> io::Result<u64> {
    let mut bytes = [0; 8];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes).max(1))
}
