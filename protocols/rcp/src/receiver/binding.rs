//! Which data each unit of the pipe stands for.
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::Range;

/// Consecutive units bound to consecutive positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    unit: u64,
    position: u64,
    length: u64,
}

/// Pieces in order of units. A stream fetched without incidents is one piece for ever.
#[derive(Debug, Clone, Default)]
pub(super) struct Binding {
    pieces: VecDeque<Piece>,
}

impl Binding {
    /// Binds `units`, which follow all bound before, to the positions from `position` on.
    pub(super) fn bind(&mut self, units: &Range<u64>, position: u64) {
        let length = units.end - units.start;
        if let Some(last) = self.pieces.back_mut()
            && last.unit + last.length == units.start
            && last.position + last.length == position
        {
            last.length += length;
            return;
        }
        self.pieces.push_back(Piece { unit: units.start, position, length });
    }

    /// The positions that `units` stand for, as far as they are consecutive.
    pub(super) fn positions(&self, units: &Range<u64>) -> Option<Range<u64>> {
        let index = self.pieces.partition_point(|piece| piece.unit + piece.length <= units.start);
        let piece = self.pieces.get(index).filter(|piece| piece.unit <= units.start)?;
        let end = units.end.min(piece.unit + piece.length);
        let position = |unit: u64| piece.position + (unit - piece.unit);
        Some(position(units.start)..position(end))
    }

    /// The units that stand for `positions`.
    pub(super) fn units<'a>(&'a self, positions: &Range<u64>) -> impl Iterator<Item = Range<u64>> + 'a {
        let positions = positions.clone();
        self.pieces.iter().filter_map(move |piece| {
            let start = positions.start.max(piece.position);
            let end = positions.end.min(piece.position + piece.length);
            let unit = |position: u64| piece.unit + (position - piece.position);
            (start < end).then(|| unit(start)..unit(end))
        })
    }

    /// Takes the units away from `positions` and returns them.
    pub(super) fn unbind(&mut self, positions: &Range<u64>) -> Vec<Range<u64>> {
        let units: Vec<Range<u64>> = self.units(positions).collect();
        let mut kept = VecDeque::new();
        for piece in self.pieces.drain(..) {
            let end = piece.position + piece.length;
            let (cut_start, cut_end) =
                (positions.start.clamp(piece.position, end), positions.end.clamp(piece.position, end));
            if cut_start >= cut_end {
                kept.push_back(piece);
                continue;
            }
            if piece.position < cut_start {
                kept.push_back(Piece { length: cut_start - piece.position, ..piece });
            }
            if cut_end < end {
                let unit = piece.unit + (cut_end - piece.position);
                kept.push_back(Piece { unit, position: cut_end, length: end - cut_end });
            }
        }
        self.pieces = kept;
        units
    }

    /// Pieces all of whose units lie below `unit` are no longer needed; the last piece stays.
    pub(super) fn forget_below(&mut self, unit: u64) {
        while self.pieces.len() > 1
            && self.pieces.front().is_some_and(|first| first.unit + first.length <= unit)
        {
            self.pieces.pop_front();
        }
    }

    pub(super) fn clear(&mut self) {
        self.pieces.clear();
    }
}
