//! Disjoint ranges of stream positions, each with a tag, in order.
use alloc::collections::VecDeque;
use core::ops::Range;

/// A range and its tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece<T> {
    pub start: u64,
    pub end: u64,
    pub tag: T,
}

/// Disjoint, non-empty, ascending pieces; neighbours of one tag are one piece.
#[derive(Debug, Clone)]
pub(crate) struct RangeMap<T> {
    pieces: VecDeque<Piece<T>>,
}

impl<T> Default for RangeMap<T> {
    fn default() -> Self {
        Self { pieces: VecDeque::new() }
    }
}

impl<T: Copy + PartialEq> RangeMap<T> {
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.pieces.len()
    }

    pub(crate) fn first(&self) -> Option<&Piece<T>> {
        self.pieces.front()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Piece<T>> {
        self.pieces.iter()
    }

    /// Adds `range`; what is there already keeps its tag. Tells `added` of every part that is new.
    pub(crate) fn insert(&mut self, range: Range<u64>, tag: T, mut added: impl FnMut(Range<u64>)) {
        let mut start = range.start;
        while start < range.end {
            let at = self.pieces.partition_point(|piece| piece.end <= start);
            match self.pieces.get(at) {
                Some(piece) if piece.start <= start => start = piece.end,
                next => {
                    let end = next.map_or(range.end, |piece| piece.start.min(range.end));
                    added(start..end);
                    self.put(at, Piece { start, end, tag });
                    start = end;
                }
            }
        }
    }

    /// Puts a new piece at index `at`, joined with equal neighbours.
    fn put(&mut self, at: usize, new: Piece<T>) {
        let joins_below =
            at > 0 && self.pieces[at - 1].end == new.start && self.pieces[at - 1].tag == new.tag;
        let joins_above =
            self.pieces.get(at).is_some_and(|piece| piece.start == new.end && piece.tag == new.tag);
        match (joins_below, joins_above) {
            (true, true) => {
                self.pieces[at - 1].end = self.pieces[at].end;
                self.pieces.remove(at);
            }
            (true, false) => self.pieces[at - 1].end = new.end,
            (false, true) => self.pieces[at].start = new.start,
            (false, false) => self.pieces.insert(at, new),
        }
    }

    /// Takes `range` out. Tells `removed` of every part that was there.
    pub(crate) fn remove(&mut self, range: Range<u64>, mut removed: impl FnMut(Piece<T>)) {
        let mut at = self.pieces.partition_point(|piece| piece.end <= range.start);
        while let Some(&piece) = self.pieces.get(at) {
            if piece.start >= range.end || range.start >= range.end {
                break;
            }
            let (start, end) = (piece.start.max(range.start), piece.end.min(range.end));
            removed(Piece { start, end, tag: piece.tag });
            match (piece.start < start, end < piece.end) {
                (true, true) => {
                    self.pieces[at].end = start;
                    self.pieces.insert(at + 1, Piece { start: end, ..piece });
                    break;
                }
                (true, false) => {
                    self.pieces[at].end = start;
                    at += 1;
                }
                (false, true) => {
                    self.pieces[at].start = end;
                    break;
                }
                (false, false) => {
                    self.pieces.remove(at);
                }
            }
        }
    }

    /// Forgets everything below `position`.
    pub(crate) fn remove_below(&mut self, position: u64) {
        while let Some(piece) = self.pieces.front_mut() {
            if piece.end > position {
                piece.start = piece.start.max(position);
                break;
            }
            self.pieces.pop_front();
        }
    }

    /// Gives every piece tagged `from` the tag `to`.
    pub(crate) fn retag(&mut self, from: T, to: T) {
        let old: VecDeque<Piece<T>> = self.pieces.drain(..).collect();
        for mut piece in old {
            if piece.tag == from {
                piece.tag = to;
            }
            let at = self.pieces.len();
            self.put(at, piece);
        }
    }
}

#[cfg(test)]
mod tests;
