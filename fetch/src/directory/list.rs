//! The list of a file's pieces as an object of its own.
use crate::digest::Digest;
use crate::handshake::Identity;
use crate::server::{Object, Unreadable};
use sha2::{Digest as _, Sha256};

/// A list in memory.
pub(super) struct ListObject {
    bytes: Vec<u8>,
    identity: Identity,
}

impl ListObject {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        let digest = Digest(Sha256::digest(&bytes).into());
        Self { identity: Identity { size: bytes.len() as u64, digest }, bytes }
    }
}

impl Object for ListObject {
    fn identity(&self) -> Identity {
        self.identity
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Unreadable> {
        let start = usize::try_from(offset).map_err(|_| Unreadable)?;
        let part = self.bytes.get(start..).and_then(|rest| rest.get(..buffer.len())).ok_or(Unreadable)?;
        buffer.copy_from_slice(part);
        Ok(())
    }

    fn is_unchanged(&self) -> bool {
        true
    }
}
