//! Sets of packet numbers as ranges.
use alloc::collections::VecDeque;
use core::ops::RangeInclusive;

/// A set of packet numbers that keeps a limited count of ranges, the highest ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ranges {
    /// Ascending, with a hole between any two.
    ranges: VecDeque<RangeInclusive<u64>>,
}

impl Ranges {
    /// Adds `new`; calls `added` with each part of it that was not in the set, in ascending order.
    pub fn insert(&mut self, new: RangeInclusive<u64>, mut added: impl FnMut(RangeInclusive<u64>)) {
        let (mut first, mut last) = (*new.start(), *new.end());
        if first > last {
            return;
        }
        // Ranges that end before the new one, and do not even touch it, stay as they are.
        let from = self.ranges.partition_point(|range| range.end().saturating_add(1) < first);
        let to = self.ranges.partition_point(|range| *range.start() <= last.saturating_add(1));
        let mut next = first;
        for range in self.ranges.range(from..to.max(from)) {
            if next < *range.start() {
                added(next..=(range.start() - 1).min(last));
            }
            next = next.max(range.end().saturating_add(1));
            (first, last) = (first.min(*range.start()), last.max(*range.end()));
        }
        if next <= *new.end() {
            added(next..=*new.end());
        }
        self.replace(from, to, first..=last);
    }

    /// The ranges `from..to` become one.
    fn replace(&mut self, from: usize, to: usize, range: RangeInclusive<u64>) {
        if from >= to {
            self.ranges.insert(from, range);
            return;
        }
        if let Some(place) = self.ranges.get_mut(from) {
            *place = range;
        }
        self.ranges.drain(from + 1..to);
    }

    /// Forgets what lies below `floor`, and the lowest ranges beyond `max_ranges`; returns the number from which on
    /// nothing has been forgotten.
    pub fn trim(&mut self, mut floor: u64, max_ranges: usize) -> u64 {
        while self.ranges.len() > max_ranges || self.ranges.front().is_some_and(|range| *range.end() < floor)
        {
            if let Some(dropped) = self.ranges.pop_front() {
                floor = floor.max(dropped.end().saturating_add(1));
            }
        }
        if let Some(lowest) = self.ranges.front_mut()
            && *lowest.start() < floor
        {
            *lowest = floor..=*lowest.end();
        }
        floor
    }

    /// The ranges, the highest first.
    pub fn descending(&self) -> impl Iterator<Item = &RangeInclusive<u64>> {
        self.ranges.iter().rev()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        /// What is added is told once, and the set is the union, in as few ranges as it takes.
        #[test]
        fn a_set_of_ranges_is_the_set_of_their_numbers(news in prop::collection::vec((0u64..200, 0u64..20), 1..40)) {
            let (mut ranges, mut numbers) = (Ranges::default(), BTreeSet::new());
            for (first, length) in news {
                let new = first..=first + length;
                let mut told = Vec::new();
                ranges.insert(new.clone(), |part| told.extend(part));
                let expected: Vec<u64> = new.filter(|&number| numbers.insert(number)).collect();
                prop_assert_eq!(told, expected);
                let kept: BTreeSet<u64> = ranges.descending().cloned().flatten().collect();
                prop_assert_eq!(&kept, &numbers);
                for (higher, lower) in ranges.descending().zip(ranges.descending().skip(1)) {
                    prop_assert!(lower.end() + 1 < *higher.start());
                }
            }
        }
    }

    #[test]
    fn the_lowest_are_forgotten() {
        let mut ranges = Ranges::default();
        for number in [1, 3, 5, 7, 9] {
            ranges.insert(number..=number, |_| {});
        }
        assert_eq!(ranges.trim(0, 3), 4);
        assert_eq!((ranges.descending().count(), ranges.descending().last()), (3, Some(&(5..=5))));
        ranges.insert(10..=20, |_| {});
        assert_eq!(ranges.trim(12, 3), 12);
        assert_eq!(ranges.descending().cloned().collect::<Vec<_>>(), [12..=20]);
    }
}
