//! The list of a file's pieces, by which each of them is proven right, whoever gave it.
//!
//! | bytes | field |
//! |---|---|
//! | 0-7 | `PXPIECES` |
//! | 8-15 | size of the file |
//! | 16-23 | bytes of every piece but the last |
//! | 24-55 | SHA-256 of the file |
//! | then | SHA-256 of each piece |
//!
//! Its own SHA-256 is the *root*: who has the same root means the same file in the same pieces. Who asks a server for
//! the list gets it as an object of its own, made by the server that has the file.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
use super::digest::Digest;
use super::handshake::Identity;
use prismux_community::contents::Layout;
use sha2::{Digest as _, Sha256};
use std::fmt;

const MAGIC: &[u8; 8] = b"PXPIECES";
/// What the path of a list begins with; no file's path can.
const LIST_PREFIX: &str = "\0pieces/";
/// Bytes before the hashes.
const HEAD_BYTES: u64 = 56;

/// The path of the list of the pieces of the file at `path`.
pub fn list_path(path: &str) -> String {
    format!("{LIST_PREFIX}{path}")
}

/// The path of the file whose list `path` asks for, if it asks for one.
pub fn listed_file(path: &str) -> Option<&str> {
    path.strip_prefix(LIST_PREFIX)
}

/// Bytes of the longest list.
pub const fn max_list_bytes() -> u64 {
    HEAD_BYTES + 32 * prismux_community::contents::MAX_PIECES as u64
}

/// A file's pieces and their hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PieceList {
    layout: Layout,
    identity: Identity,
    hashes: Vec<Digest>,
    root: Digest,
}

/// Why bytes are no list of pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListError {
    /// They begin otherwise.
    Kind,
    /// The file is too long, or its pieces are not those of such a file.
    Layout,
    /// There are more or fewer hashes than pieces.
    Length,
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kind => "it is no list of pieces",
            Self::Layout => "its pieces are not cut as those of a file of its size",
            Self::Length => "it has more or fewer hashes than pieces",
        })
    }
}

impl std::error::Error for ListError {}

impl PieceList {
    /// Reads a list.
    ///
    /// # Errors
    /// When it is none, or contradicts itself.
    pub fn parse(bytes: &[u8]) -> Result<Self, ListError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(ListError::Kind)?;
        let (size, rest) = rest.split_first_chunk().ok_or(ListError::Length)?;
        let (piece_bytes, rest) = rest.split_first_chunk().ok_or(ListError::Length)?;
        let (digest, rest) = rest.split_first_chunk().ok_or(ListError::Length)?;
        let size = u64::from_be_bytes(*size);
        let layout = Layout::of(size).ok_or(ListError::Layout)?;
        if layout.piece_bytes() != u64::from_be_bytes(*piece_bytes) {
            return Err(ListError::Layout);
        }
        let (hashes, behind) = rest.as_chunks();
        if hashes.len() != layout.count() as usize || !behind.is_empty() {
            return Err(ListError::Length);
        }
        Ok(Self {
            layout,
            identity: Identity { size, digest: Digest(*digest) },
            hashes: hashes.iter().copied().map(Digest).collect(),
            root: Digest(Sha256::digest(bytes).into()),
        })
    }

    /// How the file is cut.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// Size and digest of the file.
    pub const fn identity(&self) -> Identity {
        self.identity
    }

    /// The hash of the list itself.
    pub const fn root(&self) -> Digest {
        self.root
    }

    /// The hash of `piece`, if there is one of this number.
    pub fn hash(&self, piece: u32) -> Option<Digest> {
        self.hashes.get(piece as usize).copied()
    }

    /// Whether `bytes` are those of `piece`.
    pub fn is_right(&self, piece: u32, bytes: &[u8]) -> bool {
        self.hash(piece) == Some(Digest(Sha256::digest(bytes).into()))
    }
}

/// Makes the list of a file that is read from its start to its end.
#[derive(Debug, Clone)]
pub struct PieceHasher {
    layout: Layout,
    whole: Sha256,
    piece: Sha256,
    piece_bytes: u64,
    hashes: Vec<[u8; 32]>,
}

impl PieceHasher {
    /// For a file of `size` bytes; none for one that is too long to be shared.
    pub fn new(size: u64) -> Option<Self> {
        let layout = Layout::of(size)?;
        let (whole, piece) = (Sha256::new(), Sha256::new());
        Some(Self { layout, whole, piece, piece_bytes: 0, hashes: Vec::new() })
    }

    /// The next bytes of the file.
    pub fn update(&mut self, mut bytes: &[u8]) {
        self.whole.update(bytes);
        while !bytes.is_empty() {
            let room = (self.layout.piece_bytes() - self.piece_bytes) as usize;
            let (part, rest) = bytes.split_at(room.min(bytes.len()));
            self.piece.update(part);
            self.piece_bytes += part.len() as u64;
            if self.piece_bytes == self.layout.piece_bytes() {
                self.end_piece();
            }
            bytes = rest;
        }
    }

    fn end_piece(&mut self) {
        self.hashes.push(self.piece.finalize_reset().into());
        self.piece_bytes = 0;
    }

    /// The list, when everything has been read.
    pub fn finish(mut self) -> Vec<u8> {
        if self.piece_bytes > 0 {
            self.end_piece();
        }
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&self.layout.size().to_be_bytes());
        out.extend_from_slice(&self.layout.piece_bytes().to_be_bytes());
        out.extend_from_slice(&self.whole.finalize());
        out.extend(self.hashes.concat());
        out
    }
}

#[cfg(test)]
mod tests;
