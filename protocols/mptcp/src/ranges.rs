//! Sets of stream positions as disjoint ranges.
use alloc::collections::BTreeMap;
use core::ops::Range;

/// Disjoint, non-empty ranges; neighbours are one. By start: the end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ranges {
    ends: BTreeMap<u64, u64>,
}

impl Ranges {
    pub(crate) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn first(&self) -> Option<Range<u64>> {
        self.ends.first_key_value().map(|(&start, &end)| start..end)
    }

    /// How much of `range` is in the set.
    pub(crate) fn overlap(&self, range: &Range<u64>) -> u64 {
        let begun = self.ends.range(..range.start).next_back();
        let within = begun.into_iter().chain(self.ends.range(range.clone()));
        within.map(|(&start, &end)| end.min(range.end).saturating_sub(start.max(range.start))).sum()
    }

    /// Adds `range`; tells `added` of every part that is new.
    pub(crate) fn insert(&mut self, range: Range<u64>, mut added: impl FnMut(Range<u64>)) {
        if range.start >= range.end {
            return;
        }
        let (mut start, mut end, mut at) = (range.start, range.end, range.start);
        if let Some((&before, &until)) = self.ends.range(..=range.start).next_back()
            && until >= range.start
        {
            start = before;
            (at, end) = (until.max(at), end.max(until));
        }
        while at <= range.end
            && let Some((&next, &until)) = self.ends.range(at..=range.end).next()
        {
            if next > at {
                added(at..next.min(range.end));
            }
            (at, end) = (until.max(at), end.max(until));
            self.ends.remove(&next);
        }
        if at < range.end {
            added(at..range.end);
        }
        self.ends.insert(start, end);
    }

    /// Forgets everything below `position`.
    pub(crate) fn remove_below(&mut self, position: u64) {
        while let Some((&start, &end)) = self.ends.first_key_value()
            && start < position
        {
            self.ends.remove(&start);
            if end > position {
                self.ends.insert(position, end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_set_of_ranges_is_a_set_of_numbers(
            steps in prop::collection::vec((0u64..60, 0u64..20, any::<bool>()), 1..40),
        ) {
            let mut ranges = Ranges::default();
            let mut numbers = alloc::collections::BTreeSet::new();
            for (start, length, cut) in steps {
                let (before, mut told) = (numbers.clone(), Vec::new());
                if cut {
                    ranges.remove_below(start);
                    numbers.retain(|&number| number >= start);
                } else {
                    ranges.insert(start..start + length, |part| told.extend(part));
                    numbers.extend(start..start + length);
                    let new: Vec<u64> = numbers.difference(&before).copied().collect();
                    prop_assert_eq!(told, new);
                }
                let held: Vec<u64> = ranges.ends.iter().flat_map(|(&start, &end)| start..end).collect();
                prop_assert_eq!(held, numbers.iter().copied().collect::<Vec<_>>());
                let touching = ranges.ends.iter().zip(ranges.ends.iter().skip(1));
                prop_assert!(touching.into_iter().all(|((_, end), (start, _))| end < start));
            }
        }
    }
}
