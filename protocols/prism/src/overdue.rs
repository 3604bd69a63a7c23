//! When a packet or an ACK has been out or held for too long: the reconstruction's time rules.
use crate::flow::Flow;
use crate::flow::history::{PacketState, Record};
use crate::micros::Micros;
use crate::shared::Shared;
use alloc::vec::Vec;
use prismux_units::{ByteCount, Duration, Instant};
use prismux_wire::SeqNumber;

/// Round-trip time assumed of a link that was never measured.
const UNKNOWN_RTT: Duration = Duration::from_secs(2);
/// A departed member's packets may still arrive for this many round trips.
const DEPARTURE_ROUNDS: u64 = 2;

/// So many times the limit of the tail rule.
const FORGOTTEN: u64 = 2;

/// Tail rule: how long a packet may be out once something sent later has arrived.
pub(crate) fn tail_limit<P: Clone>(record: &Record, shared: &Shared<P>, now: Instant) -> Option<Duration> {
    let link = shared.links.get(record.link)?;
    if let Some(left) = link.left_at() {
        // A departed member may still deliver what it had.
        let grace = link.smoothed_rtt().unwrap_or(UNKNOWN_RTT) * DEPARTURE_ROUNDS;
        let deadline = (left + grace).saturating_since(now);
        return Some(Micros::at(now).since(record.sent) + deadline);
    }
    if link.owes_receipts() {
        // It should have come, and receipts say that it has not.
        return Some(link.recent_max_rtt().unwrap_or(UNKNOWN_RTT));
    }
    // What is queued on the link may take longer than any round trip so far.
    let backlog = ByteCount::new(link.variables.in_flight_bytes);
    let drain = link.rate().map_or(Duration::ZERO, |rate| rate.transmission_time(backlog).min(UNKNOWN_RTT));
    (shared.config.tail_factor > 0.0)
        .then(|| link.recent_max_rtt().unwrap_or(UNKNOWN_RTT).mul_f64(shared.config.tail_factor) + drain)
}

/// True when age alone decides: the member has gone, or something sent later has arrived.
pub(crate) fn is_possible<P: Clone>(flow: &Flow<P>, record: &Record, shared: &Shared<P>) -> bool {
    let departed = shared.links.get(record.link).is_none_or(|link| !link.up || link.owes_receipts());
    // A proxy that repairs need not wait for something later: while it keeps ACKs back, there may be nothing later.
    // But the receiver must have been heard of when it should have had the packet, or nothing speaks against the link
    // (see [`crate::reverse_path::tail_probe`]).
    departed
        || !flow.acks.is_empty() && flow.copies.has(record.seq) && was_due_when_heard(flow, record, shared)
        || flow.latest_delivered.is_some_and(|latest| latest.after(record.sent))
}

/// True when the receiver was heard of later than a round trip of its link after the packet was sent.
fn was_due_when_heard<P: Clone>(flow: &Flow<P>, record: &Record, shared: &Shared<P>) -> bool {
    let rtt = shared.links.get(record.link).and_then(|link| link.recent_max_rtt());
    flow.heard.since(record.sent) > rtt.unwrap_or(UNKNOWN_RTT)
}

/// Packets that the tail rule, or the departure of their member, gives up.
pub(crate) fn packets<P: Clone>(flow: &Flow<P>, shared: &Shared<P>, now: Instant) -> Vec<SeqNumber> {
    let at = Micros::at(now);
    let out = flow.history.iter().filter(|record| record.state() == PacketState::InFlight);
    out.filter(|record| {
        is_possible(flow, record, shared)
            && tail_limit(record, shared, now).is_some_and(|limit| at.since(record.sent) >= limit)
    })
    .map(|record| record.seq)
    .collect()
}

/// When the lowest packet in flight, which has this [`tail_limit`], is in flight no longer for certain; `None` where
/// that is another rule's affair.
///
/// A packet that was lost without anything to show it, and of which there is no copy to ask the receiver with, is the
/// sender's affair; it must not take a link's room until then. Among many flows such packets take all room, and nobody
/// is let to send.
pub(crate) fn forgotten_at<P: Clone>(
    flow: &Flow<P>,
    record: &Record,
    limit: Duration,
    shared: &Shared<P>,
    now: Instant,
) -> Option<Instant> {
    let kept = !shared.pacer.serves_many() || flow.copies.has(record.seq);
    (!kept).then(|| now + (limit * FORGOTTEN).saturating_sub(Micros::at(now).since(record.sent)))
}

/// How long an ACK may be held: `min(4 x largest hRTT, 0.75 x RTO of the sender)`.
fn hold_limit<P: Clone>(flow: &Flow<P>, shared: &Shared<P>) -> Option<Duration> {
    if shared.config.hold_max_rtts <= 0.0 {
        return None;
    }
    let by_rtt = shared.links.largest_hrtt().unwrap_or(UNKNOWN_RTT).mul_f64(shared.config.hold_max_rtts);
    let by_timeout =
        flow.sender_rtt.timeout().map(|timeout| timeout.mul_f64(shared.config.hold_max_rto_share));
    Some(by_timeout.map_or(by_rtt, |limit| limit.min(by_rtt)))
}

/// Time until an ACK has been held too long; a hole that the proxy has just refilled gets time to arrive.
pub(crate) fn hold_remaining<P: Clone>(flow: &Flow<P>, shared: &Shared<P>, now: Instant) -> Option<Duration> {
    let arrived = flow.held.oldest_arrival()?;
    // While other ACKs still go out, the sender's timer starts anew with each.
    let starved = now.saturating_since(flow.acks.last_release());
    let remaining = hold_limit(flow, shared)?.saturating_sub(Micros::at(now).since(arrived).min(starved));
    let cumulative = flow.receiver.as_ref()?.cumulative();
    let at = flow.history.first_ending_after(cumulative);
    let repaired =
        (at < flow.history.len()).then(|| flow.history.get(at)).filter(|record| record.is_repair());
    let repair = repaired.and_then(|record| {
        Some(tail_limit(record, shared, now)?.saturating_sub(Micros::at(now).since(record.sent)))
    });
    Some(remaining.max(repair.unwrap_or(Duration::ZERO)))
}
