//! Beyond the paper: the books of what senders have under way, and of what they will send in answer to ACKs.
use crate::flow::Flow;
use crate::flow::slow_start::Release;
use crate::link_table::Part;
use crate::shared::Shared;
use crate::window_limit;
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// ACKs go out at most this much faster than the links carry data.
const PACING_GAIN: f64 = 1.25;
/// So much lies between two trains of ACKs to a sender in slow start.
pub(crate) const TRAIN_GAP: Duration = Duration::from_millis(3);

/// New data came from the sender, with this TSecr.
pub(crate) fn on_new_data<P: Clone>(
    flow: &mut Flow<P>,
    bytes: u32,
    echo: Option<u32>,
    shared: &mut Shared<P>,
    now: Instant,
) {
    shared.totals.senders += u32::from(flow.flight == 0 && bytes > 0);
    flow.flight += bytes;
    shared.totals.on_new_data(now, u64::from(bytes));
    flow.acks.answered_bytes = flow.acks.answered_bytes.saturating_add(bytes);
    flow.acks.settle_expected(&mut shared.totals.expected, bytes);
    if let (Some((value, left)), Some(echo)) = (flow.acks.echo, echo)
        && echo.wrapping_sub(value) as i32 >= 0
    {
        flow.acks.echo = None;
        let sample = now.saturating_since(left);
        // The shortest counts; it drifts up slowly so that a longer path is noticed.
        let old = flow.acks.upstream_rtt.unwrap_or(sample);
        flow.acks.upstream_rtt = Some(sample.min(old + Duration::from_nanos(old.as_nanos() / 64)));
    }
}

/// An ACK with a new number has left for the sender.
pub(crate) fn on_released<P: Clone>(
    flow: &mut Flow<P>,
    bytes: u32,
    tsval: Option<u32>,
    shared: &mut Shared<P>,
    now: Instant,
) {
    shared.totals.flight = shared.totals.flight.saturating_sub(u64::from(bytes));
    if !shared.config.window_control {
        return;
    }
    flow.acks.measure_response(now, bytes);
    let coming_bytes = flow.acks.expected.bytes();
    let allowed = window_limit::room(flow, flow.edge_sent);
    let expected = expected_response(flow, u64::from(bytes)).min(allowed).min(u64::from(u32::MAX)) as u32;
    flow.acks.expire_expected(now, &mut shared.totals.expected);
    flow.acks.expected.note(expected, bytes);
    shared.totals.expected += u64::from(expected);
    let sums = shared.links.sums();
    // A rate learned before a link ran dry says nothing of what it carries now.
    let Part { cap_bytes, rate, room_rate, .. } = *sums.taking();
    shared.pacer.rate = rate;
    if rate > 0.0 {
        // No sender is let to send more at once than the links hold, whatever a single ACK covers.
        let bytes = u64::from(expected).min(cap_bytes);
        let time = Duration::from_secs_f64(bytes as f64 / (rate * PACING_GAIN).max(room_rate));
        shared.pacer.next_release = shared.pacer.next_release.max(now) + time;
    }
    shared.pacer.moved_at = now;
    flow.acks.note_train(now, TRAIN_GAP);
    if let Some(sent_end) = flow.sent_end {
        flow.slow_start.on_released(&Release {
            now,
            number: flow.released,
            bytes,
            sent_end,
            coming_bytes,
            flight_bytes: flow.flight,
            flight_limit: shared.selection.flight_limit,
            upstream: flow.acks.upstream(),
        });
    }
    flow.acks.note_tsval(now, tsval);
}

/// The sender learns that everything below `number` has arrived.
pub(crate) fn note_released<P: Clone>(
    flow: &mut Flow<P>,
    number: SeqNumber,
    tsval: Option<u32>,
    shared: &mut Shared<P>,
    now: Instant,
) {
    let advance = number.distance_from(flow.released);
    if advance > 0 {
        flow.released = number;
        let bytes = flow.flight.min(advance as u32);
        flow.flight -= bytes;
        shared.totals.senders -= u32::from(flow.flight == 0 && bytes > 0);
        on_released(flow, bytes, tsval, shared, now);
    }
}

/// New data expected in answer to an ACK over `bytes`.
pub(crate) fn expected_response<P>(flow: &Flow<P>, bytes: u64) -> u64 {
    (bytes as f64 * f64::from(flow.acks.response)) as u64
}
