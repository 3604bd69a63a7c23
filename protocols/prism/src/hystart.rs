//! Beyond the paper: a sender's slow start goes on until its window covers all links.
//!
//! HyStart (Linux's CUBIC, RFC 9406) ends slow start by two signs of a full queue. One is a round whose ACKs, none more
//! than 2 ms after the other, come for longer than half of the shortest round trip. The other is a round whose first
//! eight round-trip times, or more, are all longer than the shortest by an eighth. Over several links the first comes
//! when the nearest one is full, and the second whenever a distant one joins or the way back jitters; yet here no
//! sender makes a queue overflow for long, whatever its window. So ACKs come with pauses, and, to a sender that
//! answers an ACK over many segments as Linux does, in fewer groups than HyStart looks at.
use crate::flight::{TRAIN_GAP, expected_response};
use crate::flow::Flow;
use crate::flow::slow_start::MIN_GROUPED_BYTES;
use crate::pacing::has_room;
use crate::reverse_path::release;
use crate::shared::{SEGMENT_BYTES, Shared};
use crate::verdict::DropReason;
use prismux_units::{Duration, Instant};

/// ACKs to a sender in slow start come in trains no longer than this.
const MAX_TRAIN: Duration = Duration::from_millis(7);
/// A sender that answers an acknowledged byte with more new ones than this is in slow start.
const SLOW_START_RESPONSE: f32 = 1.2;
/// A group goes out, whole or not, after the round trip divided by this,
const MAX_GAP_DIVISOR: u64 = 3;
/// and after so much time: a round trip across an outage must not make the next one longer. Links that return receipts
/// are known without a steady stream of packets,
const MAX_GAP: Duration = Duration::from_millis(500);
/// and others are not.
const MAX_GAP_WITHOUT_RECEIPTS: Duration = Duration::from_millis(60);

/// Until when the ACKs of this flow pause, if they do.
pub(crate) fn pause_end<P: Clone>(flow: &Flow<P>, shared: &Shared<P>, now: Instant) -> Option<Instant> {
    let in_slow_start = goes_on(shared) && flow.acks.response > SLOW_START_RESPONSE;
    let trains = in_slow_start && flow.acks.train(now) >= MAX_TRAIN;
    let train_ends = trains.then(|| flow.acks.last_release + TRAIN_GAP);
    group_due(flow, shared).or(train_ends).filter(|end| *end > now)
}

/// Whether slow start is worth to be let go on: not where many flows wait for the room of full links, because a sender
/// that has more under way gets no more then, and one whose ACKs go in groups would get more than its turn.
fn goes_on<P>(shared: &Shared<P>) -> bool {
    shared.config.window_control && !shared.pacer.first_lacks_room
}

/// When the next group of ACKs may leave, if this flow's go in groups.
fn group_due<P: Clone>(flow: &Flow<P>, shared: &Shared<P>) -> Option<Instant> {
    if !flow.slow_start.is_on() || flow.flight < MIN_GROUPED_BYTES || !goes_on(shared) {
        return None;
    }
    let highest = flow.acks.highest()?;
    if flow.sent_end == Some(highest) {
        // Nothing will come that could join the last ACK.
        return None;
    }
    let whole = flow.slow_start.is_group(flow.released, highest);
    let gap =
        if whole { TRAIN_GAP.min(flow.round_trip_of_sender()? / 2) } else { longest_gap(flow, shared)? };
    Some(flow.acks.last_release + gap)
}

/// So long a whole group is waited for. A sender's timer runs for more than a round trip.
fn longest_gap<P: Clone>(flow: &Flow<P>, shared: &Shared<P>) -> Option<Duration> {
    let round_trip = flow.round_trip_of_sender()?;
    if !shared.links.has_receipts() {
        return Some(MAX_GAP_WITHOUT_RECEIPTS.min(round_trip / MAX_GAP_DIVISOR));
    }
    let divisor = if flow.slow_start.has_sent_many() { 1 } else { MAX_GAP_DIVISOR };
    Some(MAX_GAP.min(round_trip / divisor))
}

/// What is waited for while ACKs go in groups: bytes, for which the links shall have room, and how long. Links without
/// receipts are known by their packets alone, so there every ACK goes as soon as there is room for what it brings.
pub(crate) fn awaited_group<P: Clone>(flow: &Flow<P>, shared: &Shared<P>) -> Option<(u64, Duration)> {
    group_due(flow, shared)?;
    let awaited = (u64::from(flow.slow_start.group_bytes()), longest_gap(flow, shared)?);
    shared.links.has_receipts().then_some(awaited)
}

/// Of a group of ACKs the last one goes out, as far as the links have room for what it brings: it says what all say.
pub(crate) fn join_group<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>) {
    if group_due(flow, shared).is_none() {
        return;
    }
    while let (Some(first), Some(next)) = (flow.acks.ready.front(), flow.acks.ready.get(1)) {
        let bytes = next.number.distance_from(flow.released).max(SEGMENT_BYTES) as u64;
        let joins = !first.keeps_sack() && !next.keeps_sack();
        if !(joins && has_room(flow, expected_response(flow, bytes), shared)) {
            return;
        }
        if let Some(ack) = flow.acks.pop() {
            release::drop_ack(flow, ack.flags, ack.packet, DropReason::StaleAck, shared);
        }
    }
}
