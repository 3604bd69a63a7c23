//! What a member gives its neighbours: the pieces that it has, to those that know the community's secret.
use crate::handshake::{Identity, Refusal};
use crate::machine::server::{Lookup, Object, Objects, Unreadable};
use crate::pieces::PieceList;
use prismux_community::contents::PieceSet;
use sha2::{Digest as _, Sha256};
use std::ops::Range;
use std::sync::Arc;

/// Where the pieces lie that have come.
pub trait Store: Send + Sync {
    /// Fills `buffer` with the bytes of the file from `offset` on, which have come.
    ///
    /// # Errors
    /// When they are not there (any more).
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Unreadable>;
}

/// The pieces of one file, once it is known.
#[derive(Default)]
pub(super) struct Shelf(Option<Stock>);

struct Stock {
    list: Arc<PieceList>,
    store: Arc<dyn Store>,
    path: String,
    held: PieceSet,
}

impl Shelf {
    /// From now on the pieces of this file are given under this path.
    pub(super) fn stock(
        &mut self,
        list: Arc<PieceList>,
        store: Arc<dyn Store>,
        path: String,
        held: PieceSet,
    ) {
        self.0 = Some(Stock { list, store, path, held });
    }

    /// `piece` has come.
    pub(super) fn put(&mut self, piece: u32) {
        if let Some(stock) = &mut self.0 {
            stock.held.insert(piece);
        }
    }
}

impl Stock {
    fn find(&self, path: &str) -> Option<Arc<dyn Object>> {
        let (beginning, number) = path.split_at_checked(self.path.len())?;
        // Compared by their hashes, so that the time it takes says nothing about how much of the path is right.
        if Sha256::digest(beginning) != Sha256::digest(&self.path) {
            return None;
        }
        let piece = number.parse().ok().filter(|piece| self.held.contains(*piece))?;
        let range = self.list.layout().range(piece);
        let identity = Identity { size: range.end - range.start, digest: self.list.hash(piece)? };
        Some(Arc::new(Piece { store: Arc::clone(&self.store), range, identity }))
    }
}

impl Objects for Shelf {
    fn find(&mut self, path: &str) -> Lookup {
        let found = self.0.as_ref().and_then(|stock| stock.find(path));
        found.map_or(Lookup::Refused(Refusal::NotFound), Lookup::Ready)
    }
}

/// One piece.
struct Piece {
    store: Arc<dyn Store>,
    range: Range<u64>,
    identity: Identity,
}

impl Object for Piece {
    fn identity(&self) -> Identity {
        self.identity
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Unreadable> {
        self.store.read_at(self.range.start + offset, buffer)
    }

    fn is_unchanged(&self) -> bool {
        true
    }
}
