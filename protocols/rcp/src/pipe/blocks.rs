//! Earlier pulls named in every request, so that the sender notices one that was lost.
use alloc::collections::VecDeque;
use core::ops::Range;

/// How often a pull is named after the request that made it.
const REPETITIONS: u8 = 3;

/// A pull to be named.
#[derive(Debug, Clone)]
struct Named {
    range: Range<u64>,
    /// Requests that have named it since.
    times: u8,
    arrived: bool,
}

/// The most recent pulls, the newest last. A pull stays until three later requests have named it and its data has
/// come, or until newer ones push it out.
#[derive(Debug, Clone)]
pub(super) struct NamedPulls {
    pulls: VecDeque<Named>,
    most: usize,
}

impl NamedPulls {
    pub(super) fn new(most: u8) -> Self {
        Self { pulls: VecDeque::new(), most: usize::from(most).min(super::requests::MAX_BLOCKS) }
    }

    /// A pull of `range` leaves; requests from the next one on name it.
    pub(super) fn note(&mut self, range: Range<u64>) {
        self.pulls.retain(|named| named.range.start != range.start);
        if self.most == 0 {
            return;
        }
        if self.pulls.len() == self.most {
            self.pulls.pop_front();
        }
        self.pulls.push_back(Named { range, times: 0, arrived: false });
    }

    /// Data has come.
    pub(super) fn arrived(&mut self, range: &Range<u64>) {
        for named in &mut self.pulls {
            named.arrived |= range.start <= named.range.start && named.range.start < range.end;
        }
        self.forget_settled();
    }

    /// What the request about to leave names, newest first.
    pub(super) fn name(&mut self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.forget_settled();
        for named in &mut self.pulls {
            named.times = named.times.saturating_add(1);
        }
        self.pulls.iter().rev().map(|named| named.range.clone())
    }

    fn forget_settled(&mut self) {
        self.pulls.retain(|named| !(named.arrived && named.times >= REPETITIONS));
    }
}
