//! What has arrived: the in-order prefix and the ranges beyond it (RFC 9293 section 3.10.7.4, seventh
//! check), and the SACK and DSACK blocks that describe them (RFC 2018, RFC 2883).
use alloc::boxed::Box;
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
/// What only holes and duplicates need is kept apart: a stream without them takes a third of a cache line.
#[derive(Debug, Clone, Default)]
pub(super) struct Reassembly {
    next: u64,
    apart: Option<Box<Apart>>,
    max_ranges: u32,
    /// There are ranges beyond `next`.
    gap: bool,
    /// There is a duplicate to report.
    repeated: bool,
}

/// What is beyond the prefix, or came twice.
#[derive(Debug, Clone, Default)]
struct Apart {
    /// Disjoint, not adjacent, ascending, all beyond the prefix.
    beyond: VecDeque<Span>,
    duplicate: Span,
    /// Positions inside the ranges that changed last, newest first.
    recent: [u64; RECENT],
    recent_count: u8,
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
        self.gap
    }

    /// True when the next acknowledgement has more to say than its number.
    pub(super) fn has_news(&self) -> bool {
        self.has_gap() || self.repeated
    }

    /// Nobody wants to hear of the duplicate.
    pub(super) fn forget_duplicate(&mut self) {
        self.repeated = false;
    }

    /// Just after the highest position that has arrived.
    pub(super) fn highest(&self) -> u64 {
        let highest = self.apart.as_ref().filter(|_| self.gap).and_then(|apart| apart.beyond.back());
        highest.map_or(self.next, |span| span.end)
    }

    /// Takes in a non-empty range.
    pub(super) fn insert(&mut self, range: Range<u64>) -> Insertion {
        if !self.has_gap() && range.start == self.next {
            self.next = range.end;
            return Insertion::Advanced { filled_gap: false };
        }
        self.insert_out_of_order(range)
    }

    #[inline(never)]
    fn insert_out_of_order(&mut self, range: Range<u64>) -> Insertion {
        self.note_duplicate(&range);
        if range.end <= self.next {
            return Insertion::Duplicate;
        }
        if range.start <= self.next {
            return self.advance(range.end);
        }
        let new = Span { start: range.start, end: range.end };
        let insertion = self.apart.get_or_insert_default().store(self.next, self.max_ranges, new);
        self.gap |= insertion != Insertion::Overflow;
        insertion
    }

    /// Bytes that arrived before although the window said nothing about them: report by DSACK.
    pub(super) fn note_duplicate(&mut self, range: &Range<u64>) {
        let span = if range.start < self.next {
            Span { start: range.start, end: range.end.min(self.next) }
        } else {
            match self.apart.as_ref().and_then(|apart| apart.first_after(range.start)) {
                Some(held) if held.start < range.end => {
                    Span { start: held.start.max(range.start), end: held.end.min(range.end) }
                }
                _ => return,
            }
        };
        if span.start < span.end {
            self.apart.get_or_insert_default().duplicate = span;
            self.repeated = true;
        }
    }

    fn advance(&mut self, end: u64) -> Insertion {
        let had_gap = self.has_gap();
        self.next = self.next.max(end);
        if let Some(apart) = &mut self.apart {
            self.next = apart.join(self.next);
            self.gap = !apart.beyond.is_empty();
        }
        Insertion::Advanced { filled_gap: had_gap }
    }

    /// Up to `max` blocks for the next ACK: a duplicate first if `with_dsack`, then ranges, most recently
    /// changed first, then others from the lowest. A duplicate is reported once.
    pub(super) fn sack_blocks(&mut self, origin: SeqNumber, max: usize, with_dsack: bool) -> SackBlocks {
        let repeated = core::mem::take(&mut self.repeated);
        match &mut self.apart {
            Some(apart) if max > 0 && (self.gap || repeated) => {
                apart.sack_blocks(self.next, origin, max, repeated && with_dsack)
            }
            _ => SackBlocks::EMPTY,
        }
    }
}

impl Apart {
    /// The first range that ends above `position`.
    fn first_after(&self, position: u64) -> Option<Span> {
        let index = self.beyond.partition_point(|span| span.end <= position);
        self.beyond.get(index).copied()
    }

    /// Takes out the ranges that now continue the prefix, which ends at `next`. Where it ends with them.
    fn join(&mut self, mut next: u64) -> u64 {
        while let Some(&Span { start, end }) = self.beyond.front() {
            if start > next {
                break;
            }
            next = next.max(end);
            self.beyond.pop_front();
        }
        next
    }

    fn store(&mut self, next: u64, max_ranges: u32, new: Span) -> Insertion {
        // Ranges that touch the new one are beyond[first..last].
        let first = self.beyond.partition_point(|span| span.end < new.start);
        let mut last = first;
        while self.beyond.get(last).is_some_and(|span| span.start <= new.end) {
            last += 1;
        }
        let merged = if first == last {
            if self.beyond.len() >= max_ranges as usize {
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
                self.touch(next, new.start, merged);
                return Insertion::Duplicate;
            }
            merged
        };
        self.touch(next, new.start, merged);
        Insertion::OutOfOrder
    }

    /// Makes the range around `position` the most recent one; those before `next` are no longer any.
    fn touch(&mut self, next: u64, position: u64, range: Span) {
        let mut kept = [0; RECENT];
        kept[0] = position;
        let mut count = 1;
        for &old in &self.recent[..usize::from(self.recent_count)] {
            let same = (range.start..range.end).contains(&old);
            if !same && old >= next && count < RECENT {
                kept[count] = old;
                count += 1;
            }
        }
        self.recent = kept;
        self.recent_count = count as u8;
    }

    /// The range that holds `position`.
    fn around(&self, position: u64) -> Option<Span> {
        self.first_after(position).filter(|span| span.start <= position)
    }

    /// [`Reassembly::sack_blocks`], when there are any.
    fn sack_blocks(&mut self, next: u64, origin: SeqNumber, max: usize, with_dsack: bool) -> SackBlocks {
        let mut blocks = SackBlocks::EMPTY;
        let block =
            |span: Span| SackBlock { start: origin + span.start as u32, end: origin + span.end as u32 };
        if with_dsack {
            let span = self.duplicate;
            blocks.push(block(span));
            if let Some(container) = self.around(span.start) {
                self.touch(next, span.start, container);
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
