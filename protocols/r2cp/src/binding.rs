//! Which data each unit of a pipe stands for.
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::Range;
use prismux_units::Instant;

/// Data asked for through one unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bound {
    /// The positions of the stream that were asked for.
    pub(crate) data: Range<u64>,
    /// Local units of the pipe.
    pub(crate) units: Range<u64>,
    /// When the request left.
    pub(crate) asked_at: Instant,
    /// A copy of what others are asked for too, to find out whether the pipe lives: no other pipe waits for it.
    pub(crate) is_copy: bool,
}

/// The outstanding units of one pipe, by data and by unit.
#[derive(Debug, Clone, Default)]
pub(crate) struct Binding {
    by_data: BTreeMap<u64, Bound>,
    /// First unit to first position.
    by_unit: BTreeMap<u64, u64>,
    /// When each request left, and its first position: the oldest first.
    by_time: BTreeSet<(Instant, u64)>,
    /// Bytes asked for, copies left out.
    bytes: u64,
}

impl Bound {
    fn bytes(&self) -> u64 {
        if self.is_copy { 0 } else { self.data.end - self.data.start }
    }
}

impl Binding {
    /// A request leaves. What its units stood for before, they stand for no more; what stood for its data before is
    /// returned, for the caller to settle.
    pub(crate) fn bind(&mut self, bound: Bound) -> Option<Bound> {
        let replaced = self.take_start(bound.data.start);
        self.bytes += bound.bytes();
        self.by_unit.insert(bound.units.start, bound.data.start);
        self.by_time.insert((bound.asked_at, bound.data.start));
        self.by_data.insert(bound.data.start, bound);
        replaced
    }

    /// Takes what stands for any of `data`.
    pub(crate) fn take_data(&mut self, data: &Range<u64>) -> Vec<Bound> {
        let mut taken = Vec::new();
        while let Some((&start, bound)) = self.by_data.range(..data.end).next_back() {
            if bound.data.end <= data.start {
                break;
            }
            taken.extend(self.take_start(start));
        }
        taken
    }

    /// Takes what `unit`, the first of its request, stands for.
    pub(crate) fn take_unit(&mut self, unit: u64) -> Option<Bound> {
        let start = self.by_unit.get(&unit).copied()?;
        self.take_start(start)
    }

    fn take_start(&mut self, start: u64) -> Option<Bound> {
        let bound = self.by_data.remove(&start)?;
        self.by_unit.remove(&bound.units.start);
        self.by_time.remove(&(bound.asked_at, start));
        self.bytes -= bound.bytes();
        Some(bound)
    }

    /// Takes everything that is bound.
    pub(crate) fn take_all(&mut self) -> Vec<Bound> {
        self.by_unit.clear();
        self.by_time.clear();
        self.bytes = 0;
        core::mem::take(&mut self.by_data).into_values().collect()
    }

    /// What is bound, in order of data.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Bound> {
        self.by_data.values()
    }

    /// When requests left, the oldest first.
    pub(crate) fn times(&self) -> impl Iterator<Item = Instant> + '_ {
        self.by_time.iter().map(|&(asked_at, _)| asked_at)
    }

    /// Bytes asked for that have not come, copies left out.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether a request for what begins at `start` is outstanding.
    pub(crate) fn holds(&self, start: u64) -> bool {
        self.by_data.contains_key(&start)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_data.is_empty()
    }
}
