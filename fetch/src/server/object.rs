//! What a server serves.
use crate::handshake::{Identity, Refusal};
use std::io;
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

/// Bytes that do not change.
pub trait Object {
    /// Size and digest.
    fn identity(&self) -> Identity;

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// When they are not there (any more).
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// False once the bytes may be others than those of the digest.
    fn is_unchanged(&self) -> bool;
}
