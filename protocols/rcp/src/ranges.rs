//! A growing prefix of the integers and the ranges beyond it.
use alloc::collections::VecDeque;
use core::ops::Range;

/// Everything below [`Ranges::next`], and disjoint ranges above.
#[derive(Debug, Clone, Default)]
pub struct Ranges {
    next: u64,
    /// Ascending, neither overlapping nor adjacent, all beyond `next`.
    beyond: VecDeque<(u64, u64)>,
}

impl Ranges {
    /// The first number that is missing.
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Disjoint ranges beyond the prefix.
    pub fn pieces(&self) -> usize {
        self.beyond.len()
    }

    /// How many numbers beyond the prefix are present.
    pub fn beyond(&self) -> u64 {
        self.beyond.iter().map(|&(start, end)| end - start).sum()
    }

    /// Everything present, in order: the prefix, then the ranges beyond it.
    pub fn iter(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        let prefix = (self.next > 0).then_some(0..self.next);
        prefix.into_iter().chain(self.beyond.iter().map(|&(start, end)| start..end))
    }

    /// Just after the highest number present.
    pub fn highest(&self) -> u64 {
        self.beyond.back().map_or(self.next, |&(_, end)| end)
    }

    /// Everything below `position` counts as present.
    pub fn advance_to(&mut self, position: u64) {
        self.next = self.next.max(position);
        while let Some(&(start, end)) = self.beyond.front() {
            if start > self.next {
                break;
            }
            self.next = self.next.max(end);
            self.beyond.pop_front();
        }
    }

    /// Adds a range; true if any of it is new.
    pub fn insert(&mut self, range: Range<u64>) -> bool {
        if range.end <= self.next || range.start >= range.end {
            return false;
        }
        if range.start <= self.next {
            self.advance_to(range.end);
            return true;
        }
        // Ranges that touch the new one are beyond[first..last].
        let first = self.beyond.partition_point(|&(_, end)| end < range.start);
        let (mut last, mut merged) = (first, (range.start, range.end));
        while let Some(&(start, end)) = self.beyond.get(last).filter(|&&(start, _)| start <= range.end) {
            merged = (merged.0.min(start), merged.1.max(end));
            last += 1;
        }
        let covered = first + 1 == last && self.beyond.get(first) == Some(&merged);
        if !covered {
            self.beyond.drain(first..last);
            self.beyond.insert(first, merged);
        }
        !covered
    }

    /// Whether all of `range` is present.
    pub fn contains(&self, range: &Range<u64>) -> bool {
        range.end <= self.next || self.around(range.start).is_some_and(|held| held.end >= range.end)
    }

    /// The range beyond the prefix that holds `position`.
    pub fn around(&self, position: u64) -> Option<Range<u64>> {
        let index = self.beyond.partition_point(|&(_, end)| end <= position);
        self.beyond.get(index).filter(|&&(start, _)| start <= position).map(|&(start, end)| start..end)
    }

    /// Marks `whole` present, of which the bytes `arrived` came; names each part of these that was missing, and
    /// returns how many bytes these parts have together.
    pub fn take_in(
        &mut self,
        arrived: &Range<u64>,
        whole: &Range<u64>,
        mut accepted: impl FnMut(Range<u64>),
    ) -> u64 {
        let (mut from, mut news) = (whole.start, 0);
        while let Some(missing) = self.first_missing(from..whole.end) {
            from = missing.end;
            let part = missing.start..missing.end.min(arrived.end);
            if part.start < part.end {
                news += part.end - part.start;
                accepted(part);
            }
        }
        self.insert(whole.clone());
        news
    }

    /// The first part of `range` that is missing.
    pub fn first_missing(&self, range: Range<u64>) -> Option<Range<u64>> {
        let mut start = range.start.max(self.next);
        let mut index = self.beyond.partition_point(|&(_, end)| end <= start);
        if let Some(&(held, end)) = self.beyond.get(index)
            && held <= start
        {
            start = end;
            index += 1;
        }
        let end = self.beyond.get(index).map_or(range.end, |&(held, _)| held.min(range.end));
        (start < end).then_some(start..end)
    }
}
