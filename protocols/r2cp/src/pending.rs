//! What no pipe has been asked for: gaps below the highest request, and everything above it.
use alloc::collections::BTreeMap;
use core::ops::Range;

/// Ranges to request, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pending {
    /// Gaps, by first position; disjoint, not adjacent.
    gaps: BTreeMap<u64, u64>,
    /// Everything from here on has never been asked for.
    fresh: u64,
}

impl Pending {
    /// First position never asked for.
    pub(crate) const fn fresh(&self) -> u64 {
        self.fresh
    }

    /// First position that must be asked for.
    pub(crate) fn first(&self) -> u64 {
        self.gaps.keys().next().map_or(self.fresh, |&start| start.min(self.fresh))
    }

    /// What can be asked for of a stream that ends at `end`, in segments of at most `segment`, in order. A segment
    /// that passes `limit` is left out, not cut short: a request is answered by a whole segment, and the rest of one
    /// cut short would be asked for and come a second time (the receiver's silly window, RFC 9293 section 3.8.6.2.2).
    pub(crate) fn segments(
        &self,
        segment: u64,
        limit: u64,
        end: u64,
    ) -> impl Iterator<Item = Range<u64>> + '_ {
        let gaps = self.gaps.iter().map(|(&start, &end)| start..end);
        let ranges = gaps.chain(core::iter::once(self.fresh..end.max(self.fresh)));
        ranges.take_while(move |range| range.start < limit).flat_map(move |range| {
            let starts = (range.start..range.end.min(limit)).step_by(segment as usize);
            let segments = starts.map(move |start| start..(start + segment).min(range.end));
            segments.take_while(move |segment| segment.end <= limit)
        })
    }

    /// `range`, one of [`Pending::segments`], is being asked for.
    pub(crate) fn take(&mut self, range: &Range<u64>) {
        if range.end > self.fresh {
            let skipped = self.fresh..range.start.max(self.fresh);
            self.fresh = range.end;
            self.put_back(skipped);
        }
        self.remove(range);
    }

    /// `range` must be asked for (again).
    pub(crate) fn put_back(&mut self, range: Range<u64>) {
        let (mut start, mut end) = (range.start, range.end.min(self.fresh));
        if start >= end {
            return;
        }
        while let Some((&below, &below_end)) = self.gaps.range(..=end).next_back() {
            if below_end < start {
                break;
            }
            self.gaps.remove(&below);
            start = start.min(below);
            end = end.max(below_end);
        }
        self.gaps.insert(start, end);
    }

    /// `range` is here, or asked for.
    pub(crate) fn remove(&mut self, range: &Range<u64>) {
        while let Some((&start, &end)) = self.gaps.range(..range.end).next_back() {
            if end <= range.start {
                break;
            }
            self.gaps.remove(&start);
            if end > range.end {
                self.gaps.insert(range.end, end);
            }
            if start < range.start {
                self.gaps.insert(start, range.start);
            }
        }
    }

    /// Nothing lies beyond `end`.
    pub(crate) fn cut(&mut self, end: u64) {
        self.fresh = self.fresh.min(end);
        self.remove(&(end..u64::MAX));
    }
}
