//! When a flow is looked at next, and when it is forgotten.
use crate::flow::Flow;
use crate::reverse_path::{Context, timers};
use alloc::collections::BinaryHeap;
use core::cmp::Reverse;
use prismux_units::{Duration, Instant};

/// How long a closed connection's flow is kept for stragglers.
const LINGER: Duration = Duration::from_secs(5);

/// When a flow is forgotten if nothing more happens.
pub(super) fn expiry<P: Clone>(flow: &Flow<P>, idle: Duration) -> Instant {
    let closed = flow.finished.reset || (flow.finished.forward && flow.finished.reverse);
    flow.last_activity + if closed { LINGER.min(idle) } else { idle }
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
