//! What has arrived: the in-order prefix and the ranges beyond it (RFC 9293 section 3.10.7.4, seventh
//! check), and the SACK and DSACK blocks that describe them (RFC 2018, RFC 2883).
use alloc::collections::VecDeque;
use core::ops::Range;
use prismux_wire::{SackBlock, SackBlocks, SeqNumber};

/// What an arriving range changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Insertion {
    /// The in-order prefix grew; `filled_gap` when bytes beyond the range had been waiting for it.
    Advanced {
        /// The range, or a part of it, closed a hole below bytes already held.
        filled_gap: bool,
    },
    /// New bytes beyond a hole.
    OutOfOrder,
    /// Nothing new.
    Duplicate,
    /// No room for another disjoint range; the bytes are not kept.
    Overflow,
}

/// A half-open range of stream positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Span {
    start: u64,
    end: u64,
}

/// Most recently touched ranges to remember: as many as an option can report.
const RECENT: usize = SackBlocks::MAX;

/// The receiver's picture of the peer's stream.
///
/// In the order of use: a stream without holes touches only the first fields.
#[derive(Debug, Clone, Default)]
#[repr(C)]
pub(super) struct Reassembly {
    next: u64,
    /// Disjoint, not adjacent, ascending, all beyond `next`.
    beyond: VecDeque<Span>,
    duplicate: Option<Span>,
    /// Positions inside the ranges that changed last, newest first.
    recent: [u64; RECENT],
    recent_count: u8,
    max_ranges: u32,
}

impl Reassembly {
    pub(super) fn new(max_ranges: u32) -> Self {
        Self { max_ranges, ..Self::default() }
    }

    /// The first position that is missing.
    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    /// True while bytes wait beyond a hole.
    pub(super) fn has_gap(&self) -> bool {
        !self.beyond.is_empty()
    }

    /// True when the next acknowledgement has more to say than its number.
    pub(super) fn has_news(&self) -> bool {
        self.has_gap() || self.duplicate.is_some()
    }

    /// Nobody wants to hear of the duplicate.
    pub(super) fn forget_duplicate(&mut self) {
        self.duplicate = None;
    }

    /// Just after the highest position that has arrived.
    pub(super) fn highest(&self) -> u64 {
        self.beyond.back().map_or(self.next, |span| span.end)
    }

    /// Takes in a non-empty range.
    pub(super) fn insert(&mut self, range: Range<u64>) -> Insertion {
        if self.beyond.is_empty() && range.start == self.next {
            self.next = range.end;
            return Insertion::Advanced { filled_gap: false };
        }
        self.note_duplicate(&range);
        if range.end <= self.next {
            return Insertion::Duplicate;
        }
        if range.start <= self.next {
            return self.advance(range.end);
        }
        self.store(Span { start: range.start, end: range.end })
    }

    /// Bytes that arrived before although the window said nothing about them: report by DSACK.
    pub(super) fn note_duplicate(&mut self, range: &Range<u64>) {
        let below = range.start.min(self.next)..range.end.min(self.next);
        let span = if range.start < self.next {
            Span { start: below.start, end: below.end }
        } else {
            let index = self.beyond.partition_point(|span| span.end <= range.start);
            match self.beyond.get(index) {
                Some(held) if held.start < range.end => {
                    Span { start: held.start.max(range.start), end: held.end.min(range.end) }
                }
                _ => return,
            }
        };
        if span.start < span.end {
            self.duplicate = Some(span);
        }
    }

    fn advance(&mut self, end: u64) -> Insertion {
        let had_gap = self.has_gap();
        self.next = self.next.max(end);
        while let Some(&Span { start, end }) = self.beyond.front() {
            if start > self.next {
                break;
            }
            self.next = self.next.max(end);
            self.beyond.pop_front();
        }
        Insertion::Advanced { filled_gap: had_gap }
    }

    fn store(&mut self, new: Span) -> Insertion {
        // Ranges that touch the new one are beyond[first..last].
        let first = self.beyond.partition_point(|span| span.end < new.start);
        let mut last = first;
        while self.beyond.get(last).is_some_and(|span| span.start <= new.end) {
            last += 1;
        }
        let merged = if first == last {
            if self.beyond.len() >= self.max_ranges as usize {
                return Insertion::Overflow;
            }
            self.beyond.insert(first, new);
            new
        } else {
            let (start, end) = (self.beyond[first].start, self.beyond[last - 1].end);
            let merged = Span { start: start.min(new.start), end: end.max(new.end) };
            let covered = first + 1 == last && merged == self.beyond[first];
            self.beyond[first] = merged;
            self.beyond.drain(first + 1..last);
            if covered {
                self.touch(new.start, merged);
                return Insertion::Duplicate;
            }
            merged
        };
        self.touch(new.start, merged);
        Insertion::OutOfOrder
    }

    /// Makes the range around `position` the most recent one.
    fn touch(&mut self, position: u64, range: Span) {
        let mut kept = [0; RECENT];
        kept[0] = position;
        let mut count = 1;
        for &old in &self.recent[..usize::from(self.recent_count)] {
            let same = (range.start..range.end).contains(&old);
            if !same && old >= self.next && count < RECENT {
                kept[count] = old;
                count += 1;
            }
        }
        self.recent = kept;
        self.recent_count = count as u8;
    }

    /// The range that holds `position`.
    fn around(&self, position: u64) -> Option<Span> {
        let index = self.beyond.partition_point(|span| span.end <= position);
        self.beyond.get(index).copied().filter(|span| span.start <= position)
    }

    /// Up to `max` blocks for the next ACK: a duplicate first if `with_dsack`, then ranges, most recently
    /// changed first, then others from the lowest. A duplicate is reported once.
    pub(super) fn sack_blocks(&mut self, origin: SeqNumber, max: usize, with_dsack: bool) -> SackBlocks {
        let mut blocks = SackBlocks::EMPTY;
        let duplicate = self.duplicate.take();
        if max == 0 || (self.beyond.is_empty() && duplicate.is_none()) {
            return blocks;
        }
        let block =
            |span: Span| SackBlock { start: origin + span.start as u32, end: origin + span.end as u32 };
        if let Some(span) = duplicate.filter(|_| with_dsack) {
            blocks.push(block(span));
            if let Some(container) = self.around(span.start) {
                self.touch(span.start, container);
            }
        }
        let mut reported = [Span::default(); RECENT];
        let mut count = 0;
        let recent = self.recent[..usize::from(self.recent_count)].iter().filter_map(|&p| self.around(p));
        for span in recent.chain(self.beyond.iter().copied()) {
            if blocks.as_slice().len() >= max || count == RECENT {
                break;
            }
            if !reported[..count].contains(&span) {
                reported[count] = span;
                count += 1;
                blocks.push(block(span));
            }
        }
        blocks
    }
}

#[cfg(test)]
mod tests;
