//! When a flow is looked at next, and when it is forgotten.
use crate::flow::Flow;
use crate::reverse_path::{Context, timers};
use alloc::collections::BinaryHeap;
use core::cmp::Reverse;
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

/// Makes sure the flow is looked at when it next needs to be. An armed deadline is only ever brought forward; one that
/// turns out too early is set again when it fires.
pub(super) fn arm<P: Clone>(
    flow: &mut Flow<P>,
    number: u32,
    context: &Context<'_, P>,
    timers: &mut BinaryHeap<Reverse<(Instant, u32)>>,
    endings: &mut BinaryHeap<Reverse<(Instant, u32)>>,
) {
    if let Some(wanted) = timers::next_deadline(flow, context).filter(|&at| at < flow.timer_at) {
        flow.timer_at = wanted;
        timers.push(Reverse((wanted, number)));
    }
    let end = expiry(flow, context.config.flow_idle);
    if end < flow.idle_at {
        flow.idle_at = end;
        endings.push(Reverse((end, number)));
    }
}
