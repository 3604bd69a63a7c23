//! Beyond the paper: the advertised window stops a sender where more in flight would bring nothing.
use crate::flow::Flow;
use crate::flow::ack_queue::MAX_RESPONSE;
use crate::shared::{SEGMENT_BYTES, Shared};
use prismux_units::Duration;
use prismux_wire::SeqNumber;

/// Bytes that the right edge may always lead what is expected by, so that a growing window is not stopped.
const EDGE_SLACK: u64 = 24_000;
/// What the links carry in this time is added to it.
const EDGE_SLACK_TIME: Duration = Duration::from_millis(4);
/// No flight is ever allowed beyond this, far below half the sequence space.
const MAX_FLIGHT: u64 = 1 << 29;
/// A segment, in bytes.
const SEGMENT: u64 = SEGMENT_BYTES as u64;
/// A flow may have this many full segments under way, unless many wait for room.
const MIN_SHARE_SEGMENTS: u64 = 20;
/// A window smaller than the sender's segments would stop it; so large they may be where nothing clamps them.
const JUMBO_SEGMENT: u64 = 8960;
/// Where many wait, what they have under way passes in this time: half of a sender's first timeout (RFC 6298), within
/// which it has to hear something.
const MAX_QUEUE: Duration = Duration::from_millis(500);

/// The right edge up to which the sender of `flow` may send, seen from an ACK with `number`; `None` for no limit of
/// ours.
///
/// Two limits: what the links can use altogether, and twice what was acknowledged lately. The second matters to a
/// sender whose congestion window is larger than what we let it send: when the receiver's own edge jumps because a
/// hole fills, or when more links join, a single ACK would let out a burst that no queue holds.
pub(crate) fn edge_limit<P: Clone>(
    flow: &Flow<P>,
    number: SeqNumber,
    shared: &Shared<P>,
) -> Option<SeqNumber> {
    let total = shared.selection.flight_limit?;
    if flow.history.len() as u32 >= shared.config.max_packets_per_flow / 4 * 3 {
        // What is not on record cannot be re-sequenced.
        return flow.edge_sent;
    }
    let flows = (shared.pacer.waiting.len() as u64).max(1);
    let share = (total / flows).clamp(min_share_bytes(flow, shared), MAX_FLIGHT) as u32;
    let mut edge = number + share;
    if let (Some(sent_end), Some(shown)) = (flow.sent_end, flow.edge_sent) {
        let advance = number.distance_from(flow.released).max(0) as u64;
        // What is under way may grow as fast as in slow start (the window field is rounded down to its unit), ...
        let unit = 1 << flow.window.shift().unwrap_or(0);
        let grown = (MAX_RESPONSE * advance as f32) as u64 + unit;
        // ... but the sender never has more to answer at once than it was just asked for.
        let slack = EDGE_SLACK + (shared.pacer.rate * EDGE_SLACK_TIME.as_secs_f64()) as u64;
        let unanswered =
            (MAX_RESPONSE * (flow.acks.expected.released() as f32 + advance as f32)) as u64 + slack;
        let next = shown.max(sent_end) + grown.min(MAX_FLIGHT) as u32;
        edge = edge
            .min(next.max(sent_end + EDGE_SLACK as u32))
            .min(sent_end + unanswered.min(MAX_FLIGHT) as u32);
    }
    Some(flow.edge_sent.map_or(edge, |sent| edge.max(sent)))
}

/// What a flow may have under way in any case. Where so many wait that the proxy could not keep a copy of all that, or
/// that senders would hear nothing for longer than their timers run, it is less.
fn min_share_bytes<P: Clone>(flow: &Flow<P>, shared: &Shared<P>) -> u64 {
    let budget = u64::from(shared.config.repair_budget_packets);
    if !shared.pacer.serves_many() || budget == 0 {
        return MIN_SHARE_SEGMENTS * SEGMENT;
    }
    let senders = u64::from(shared.totals.senders).max(1);
    let passes = (shared.pacer.rate * MAX_QUEUE.as_secs_f64()) as u64;
    let segments = (budget / senders).min(passes / senders / SEGMENT).clamp(1, MIN_SHARE_SEGMENTS);
    let bytes = segments * shared.config.mss_clamp.map_or(JUMBO_SEGMENT, |_| SEGMENT);
    // The window field is rounded down to its unit.
    bytes.next_multiple_of(1 << flow.window.shift().unwrap_or(0))
}

/// What the sender of `flow` may send below this edge beyond what it has sent and is expected to send: more than that
/// no ACK brings.
pub(crate) fn room<P: Clone>(flow: &Flow<P>, edge: Option<SeqNumber>) -> u64 {
    let (Some(edge), Some(sent_end)) = (edge, flow.sent_end) else { return u64::MAX };
    let room = edge.distance_from(sent_end).max(0) as u64;
    room.saturating_sub(u64::from(flow.acks.expected.bytes()))
}
