//! The air's own events, in order of time and insertion.
use alloc::collections::BinaryHeap;
use core::cmp::Reverse;
use prismux_units::Instant;

/// Whom an event is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    /// A host's deadline.
    Host(u32),
    /// A host's battery must be looked at.
    Battery(u32),
    /// A frame reaches its receivers.
    Begin(u32),
    /// A frame has passed its receivers.
    End(u32),
}

/// A queue of events.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    heap: BinaryHeap<Reverse<(Instant, u64, Target)>>,
    inserted: u64,
}

impl Schedule {
    pub fn push(&mut self, at: Instant, target: Target) {
        self.heap.push(Reverse((at, self.inserted, target)));
        self.inserted += 1;
    }

    pub fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((at, _, _))| *at)
    }

    pub fn pop_due(&mut self, now: Instant) -> Option<(Instant, Target)> {
        let Reverse((at, _, target)) = *self.heap.peek()?;
        if at > now {
            return None;
        }
        self.heap.pop();
        Some((at, target))
    }
}
