//! When a flow is looked at next, and when it is forgotten.
use crate::flow::Flow;
use crate::reverse_path::timers;
use crate::shared::Shared;
use alloc::collections::BinaryHeap;
use core::cmp::Reverse;
use prismux_endpoint::Deadline;
use prismux_units::{Duration, Instant};

/// How long a closed connection's flow is kept for stragglers.
const LINGER: Duration = Duration::from_secs(5);

/// How long a flow is kept that the receiver has not answered: a flood of SYNs must not take the room of connections.
const UNCONFIRMED: Duration = Duration::from_secs(10);

/// When a flow is forgotten if nothing more happens.
pub(super) fn expiry<P: Clone>(flow: &Flow<P>, idle: Duration) -> Instant {
    if let Some(reset) = flow.finished.reset {
        return reset + LINGER.min(idle);
    }
    let patience = match (flow.finished.forward && flow.finished.reverse, flow.evidence.confirmed) {
        (true, _) => LINGER,
        (false, false) => UNCONFIRMED,
        (false, true) => idle,
    };
    flow.last_activity + patience.min(idle)
}

/// Deadlines of flows, by time; entries that no longer match the flow are stale.
#[derive(Debug, Default)]
pub(super) struct Timers {
    /// Flows that want to be looked at.
    wanted: BinaryHeap<Reverse<(Instant, u32)>>,
    /// Flows that may have ended: apart, because these lie minutes ahead and would pile up stale.
    endings: BinaryHeap<Reverse<(Instant, u32)>>,
}

impl Timers {
    /// Makes sure the flow is looked at when it next needs to be. An armed deadline is only ever brought forward; one
    /// that turns out too early is set again when it fires.
    pub(super) fn arm<P: Clone>(&mut self, flow: &mut Flow<P>, shared: &Shared<P>, now: Instant) {
        let wanted = timers::deadline_before(flow.timer_at, flow, shared, now);
        if wanted < flow.timer_at {
            flow.timer_at = wanted;
            self.wanted.push(Reverse((wanted, flow.number)));
        }
    }

    /// Makes sure that it is seen when the flow has ended.
    pub(super) fn arm_ending<P: Clone>(&mut self, flow: &mut Flow<P>, shared: &Shared<P>) {
        let end = expiry(flow, shared.config.flow_idle);
        if end < flow.idle_at {
            flow.idle_at = end;
            self.await_ending(end, flow.number);
        }
    }

    /// Looks at a flow at this time to see whether it has ended.
    pub(super) fn await_ending(&mut self, at: Instant, number: u32) {
        self.endings.push(Reverse((at, number)));
    }

    /// The next flow that wanted to be looked at by now, and when.
    pub(super) fn next_due(&mut self, now: Instant) -> Option<(Instant, u32)> {
        pop_due(&mut self.wanted, now)
    }

    /// The next flow that may have ended by now, and when it was to be looked at.
    pub(super) fn next_ending(&mut self, now: Instant) -> Option<(Instant, u32)> {
        pop_due(&mut self.endings, now)
    }

    /// The earliest of all.
    pub(super) fn deadline(&self) -> Option<Deadline> {
        let next = |heap: &BinaryHeap<Reverse<(Instant, u32)>>, why| {
            heap.peek().map(|&Reverse((at, _))| Deadline { at, why })
        };
        Deadline::earliest(next(&self.wanted, "prism"), next(&self.endings, "prism-flow-end"))
    }

    /// Bytes of memory.
    pub(super) fn memory_bytes(&self) -> usize {
        (self.wanted.capacity() + self.endings.capacity()) * size_of::<Reverse<(Instant, u32)>>()
    }
}

fn pop_due(heap: &mut BinaryHeap<Reverse<(Instant, u32)>>, now: Instant) -> Option<(Instant, u32)> {
    heap.peek().filter(|Reverse((at, _))| *at <= now)?;
    heap.pop().map(|Reverse(entry)| entry)
}
