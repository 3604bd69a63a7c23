//! A model of the receiver's buffer (`meta` in the paper): the cumulative acknowledgement and the ranges above it.
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use prismux_wire::SeqNumber;

/// Sequence numbers `[start, end)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    /// First.
    pub(crate) start: SeqNumber,
    /// One past the last.
    pub(crate) end: SeqNumber,
}

/// What the receiver has, as far as its ACKs have told.
#[derive(Debug)]
pub(crate) struct ReceiverModel {
    cumulative: SeqNumber,
    /// Disjoint, not touching, rising, all above `cumulative`.
    above: VecDeque<Range>,
}

impl ReceiverModel {
    /// A receiver known to have everything below `cumulative`.
    pub(crate) fn new(cumulative: SeqNumber) -> Self {
        Self { cumulative, above: VecDeque::new() }
    }

    /// The highest cumulative ACK number seen (`meta.cum`).
    pub(crate) fn cumulative(&self) -> SeqNumber {
        self.cumulative
    }

    /// One past the highest sequence number known to have arrived (`highest`).
    pub(crate) fn highest(&self) -> SeqNumber {
        self.above.back().map_or(self.cumulative, |range| range.end)
    }

    /// Number of ranges above the cumulative ACK.
    pub(crate) fn range_count(&self) -> usize {
        self.above.len()
    }

    /// Bytes of memory held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.above.capacity() * size_of::<Range>()
    }

    /// True when all of `[start, end)` has arrived.
    pub(crate) fn contains(&self, start: SeqNumber, end: SeqNumber) -> bool {
        if !end.after(self.cumulative) {
            return true;
        }
        let index = self.above.partition_point(|range| !range.end.after(start));
        self.above
            .get(index)
            .is_some_and(|range| !range.start.after(start.max(self.cumulative)) && !end.after(range.end))
    }

    /// Notes that `[start, end)` has arrived and appends to `new` the parts that were not known. Parts below the
    /// cumulative ACK are ignored.
    pub(crate) fn add(&mut self, start: SeqNumber, end: SeqNumber, new: &mut Vec<Range>) {
        let mut start = start.max(self.cumulative);
        if !end.after(start) {
            return;
        }
        // First range that touches or lies after `start`.
        let first = self.above.partition_point(|range| range.end.before(start));
        let mut merged = Range { start, end };
        let mut last = first;
        while let Some(range) = self.above.get(last) {
            if range.start.after(end) {
                break;
            }
            if range.start.after(start) {
                new.push(Range { start, end: range.start.min(end) });
            }
            start = start.max(range.end);
            merged = Range { start: merged.start.min(range.start), end: merged.end.max(range.end) };
            last += 1;
        }
        if end.after(start) {
            new.push(Range { start, end });
        }
        match self.above.get_mut(first).filter(|_| last > first) {
            Some(range) => {
                *range = merged;
                self.above.drain(first + 1..last);
            }
            None => self.above.insert(first, merged),
        }
    }

    /// Raises the cumulative ACK to `ack` and appends to `new` what was not known below it.
    pub(crate) fn advance(&mut self, ack: SeqNumber, new: &mut Vec<Range>) {
        let mut at = self.cumulative;
        if !ack.after(at) {
            return;
        }
        while let Some(front) = self.above.front_mut() {
            if !front.start.before(ack) {
                break;
            }
            if front.start.after(at) {
                new.push(Range { start: at, end: front.start });
            }
            at = front.end.min(ack);
            if front.end.after(ack) {
                front.start = ack;
                break;
            }
            self.above.pop_front();
        }
        if ack.after(at) {
            new.push(Range { start: at, end: ack });
        }
        self.cumulative = ack;
    }
}
