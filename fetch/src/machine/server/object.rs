//! What a server serves.
use crate::handshake::{Identity, Refusal};
use std::fmt;
use std::sync::Arc;

/// Finds objects by path.
pub trait Objects {
    /// Looks for the object at `path`, which is what a client wrote. Must not block for long.
    fn find(&mut self, path: &str) -> Lookup;
}

/// What became of a search.
pub enum Lookup {
    /// Here it is.
    Ready(Arc<dyn Object>),
    /// It is there, but its digest is not known yet.
    Preparing,
    /// No.
    Refused(Refusal),
}

/// Bytes of an object are not there (any more).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the object cannot be read (any more)")
    }
}

impl std::error::Error for Unreadable {}

/// Bytes that do not change.
pub trait Object: Send + Sync {
    /// Size and digest.
    fn identity(&self) -> Identity;

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// When they are not there (any more).
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Unreadable>;

    /// False once the bytes may be others than those of the digest.
    fn is_unchanged(&self) -> bool;
}
