//! Beyond the paper: ACKs leave as the links have room, so that no queue on a link ever overflows.
//!
//! The links' caps say how much may be in flight on them. ACKs that are ready to go wait here while the links are
//! full; they leave as room appears. A sender that pushes harder than the links carry thus fills this queue of ACKs
//! instead of the links' queues: its data is delivered at full rate, its round-trip time grows smoothly, its window
//! keeps growing, and nothing is lost. The length of the queue says how much delay the sender can already cover, that
//! is, which slower link may join without stalling the ACK clock ([`crate::link_selection`]). Beyond what the links
//! can use, the advertised window stops it ([`crate::window_limit`]).
use crate::flight::expected_response;
use crate::flow::Flow;
use crate::flow::ack_queue::{MAX_WAIT, UPSTREAM_SLACK};
use crate::flow::held::HeldAck;
use crate::micros::Micros;
use crate::reverse_path::release::{self, Outgoing};
use crate::shared::{AckPacer, SEGMENT_BYTES, Shared};
use crate::{dispatch, hystart, window_limit};
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// ACKs go out in bursts of at most this length.
const PACING_QUANTUM: Duration = Duration::from_millis(2);
/// Timers for the pace are at least this far ahead: ACKs go in small groups, not one by one.
const MIN_WAIT: Duration = Duration::from_micros(100);
/// A sender hears nothing for no longer than this: below the shortest retransmission timeout in use, 200 ms and more.
const MAX_SILENCE: Duration = Duration::from_millis(120);

/// The flows whose turn it was have been served: one timer for all that wait on.
pub(crate) fn plan_service(pacer: &mut AckPacer, now: Instant) {
    let at = pacer.next_release - PACING_QUANTUM;
    let paced = if at > now { at } else { Instant::MAX };
    let visit = if pacer.unvisited > 0 { pacer.visit_at } else { Instant::MAX };
    let next = paced.min(pacer.backlog_at).min(pacer.pause_ends).min(pacer.wait_ends).min(visit);
    let next = if pacer.waiting.is_empty() { Instant::MAX } else { next };
    pacer.serve_at = if next < Instant::MAX { next.max(now + MIN_WAIT) } else { next };
}

/// Sends what the links have room for; a flow that must wait joins the queue.
pub(crate) fn send_or_wait<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) {
    dispatch::send(flow, shared, now);
    let waits = release_ready(flow, shared, now) || !flow.backlog.is_empty();
    if waits {
        join_queue(flow, &mut shared.pacer);
    }
}

/// The flow's newest packet was kept on the scheduler's word, which is asked again at `until` at the latest.
pub(crate) fn keep<P>(flow: &mut Flow<P>, until: Instant, shared: &mut Shared<P>, now: Instant) {
    shared.pacer.wait_ends = shared.pacer.wait_ends.min(until);
    join_queue(flow, &mut shared.pacer);
    plan_service(&mut shared.pacer, now);
}

/// The turn of a flow is over; says whether it keeps its place at the head of the queue. Among many, each is to get the
/// room that it waits for: those that came later would take it bit by bit.
pub(crate) fn end_turn(pacer: &mut AckPacer) -> bool {
    let Some(number) = pacer.turn_of.take() else { return false };
    let stays = pacer.turn_lacks_room && pacer.serves_many();
    if stays && pacer.waiting.back() == Some(&number) {
        pacer.waiting.rotate_right(1);
    }
    pacer.first_lacks_room = stays;
    stays
}

fn join_queue<P>(flow: &mut Flow<P>, pacer: &mut AckPacer) {
    if !flow.backlog.is_empty() && !flow.backlog.queued {
        flow.backlog.queued = true;
        pacer.with_backlog.push_back(flow.number);
    }
    if !flow.acks.queued {
        flow.acks.queued = true;
        pacer.waiting.push_back(flow.number);
    }
}

/// Lets ACKs of this flow go while there is room; says whether some had to stay.
pub(crate) fn release_ready<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) -> bool {
    flow.acks.expire_expected(now, &mut shared.totals.expected);
    let mut released = false;
    while let Some(front) = flow.acks.ready.front() {
        if let Some(end) = hystart::pause_end(flow, shared, now) {
            shared.pacer.pause_ends = shared.pacer.pause_ends.min(end);
            return true;
        }
        if shared.pacer.next_release > now + PACING_QUANTUM {
            return true;
        }
        if !(finds_room(flow, front.number, shared, now) || waits_too_long(flow, front, shared, now)) {
            shared.pacer.turn_lacks_room = !released;
            return true;
        }
        released = true;
        hystart::join_group(flow, shared);
        if let Some(ack) = flow.acks.pop() {
            flow.ack_wait = Micros::at(now).since(ack.arrived);
            let outgoing = Outgoing::held(&ack, ack.number, ack.keeps_sack());
            release::send(flow, ack.packet, &outgoing, shared, now);
        }
    }
    false
}

/// Whether the links have room for what the next ACK brings, up to `number` at least, or the group that it waits for.
fn finds_room<P: Clone>(flow: &Flow<P>, number: SeqNumber, shared: &Shared<P>, now: Instant) -> bool {
    // A duplicate brings a packet as well: it tells that one has left the network.
    let bytes = number.distance_from(flow.released).max(SEGMENT_BYTES) as u64;
    let silence = now.saturating_since(flow.acks.last_release);
    let group = hystart::awaited_group(flow, shared).filter(|(_, longest)| silence < *longest);
    let bytes = bytes.max(group.map_or(0, |(bytes, _)| bytes));
    let expected = expected_response(flow, bytes);
    if has_room(flow, expected, shared) {
        return true;
    }
    // A sender whose window is shut answers with nothing.
    let number = flow.released + bytes.min(u64::from(u32::MAX)) as u32;
    let allowed = window_limit::room(flow, window_limit::edge_limit(flow, number, shared));
    allowed < expected && has_room(flow, allowed, shared)
}

/// An ACK that has waited this long goes if the sender has nothing left to answer, whatever the books say of the links;
/// and before the sender takes the silence for a loss, where a link whose rate is known from one moment to the next has
/// all but stopped.
fn waits_too_long<P: Clone>(flow: &Flow<P>, ack: &HeldAck<P>, shared: &Shared<P>, now: Instant) -> bool {
    let waited = Micros::at(now).since(ack.arrived);
    // Among many all wait for long while each gets its turn.
    let stood_still = now.saturating_since(shared.pacer.moved_at);
    let waited = if shared.pacer.serves_many() { waited.min(stood_still) } else { waited };
    let patience = shared.links.largest_hrtt().unwrap_or(MAX_WAIT) * 4;
    let hurried = waited > MAX_SILENCE && shared.links.has_receipts();
    let longest = hystart::awaited_group(flow, shared).map_or(MAX_SILENCE, |(_, gap)| MAX_SILENCE.max(gap));
    let silent = now.saturating_since(flow.acks.last_release) > longest;
    // Among many the first goes then, and the others when they have become the first.
    let may_go = !is_others(flow, shared);
    may_go && (flow.acks.expected.bytes() == 0 && waited > patience.max(MAX_WAIT) || hurried && silent)
}

/// What may be under way to and on the links, and what is on them.
fn capacity<P: Clone>(flow: &Flow<P>, shared: &Shared<P>) -> (u64, u64) {
    let sums = shared.links.sums();
    // What waits for room will be on the links first.
    let in_flight = shared.totals.backlog_bytes + shared.links.in_flight_bytes();
    // What is asked for now arrives one upstream round trip later, when the links have drained that much.
    let drained = sums.taking().rate * (flow.acks.upstream() + UPSTREAM_SLACK).as_secs_f64();
    (sums.usable.cap_bytes.saturating_add(drained as u64), in_flight)
}

/// True when the room of the links is another flow's: what a packet leaves when it arrives is not its own flow's, where
/// many wait for it.
fn is_others<P>(flow: &Flow<P>, shared: &Shared<P>) -> bool {
    shared.pacer.first_lacks_room && shared.pacer.turn_of != Some(flow.number)
}

/// True when `bytes` of new data fit the links.
pub(crate) fn has_room<P: Clone>(flow: &Flow<P>, bytes: u64, shared: &Shared<P>) -> bool {
    let (cap, in_flight) = capacity(flow, shared);
    // An ACK may stand for more than the links hold; it goes when they are half empty.
    let bytes = bytes.min(cap / 2);
    if in_flight + shared.totals.expected + bytes <= cap && !is_others(flow, shared) {
        return true;
    }
    if shared.pacer.first_lacks_room && !flow.backlog.is_empty() {
        return false;
    }
    // A flow below its fair share of what is under way goes first; those above it wait. Where a share is less than a
    // segment, all that have nothing under way would be below it, and fill the links beyond any bounds.
    let flows = shared.pacer.waiting.len() as u64 + u64::from(!flow.acks.queued);
    flows > 1
        && cap / flows >= SEGMENT_BYTES as u64
        && flow.bytes_out + u64::from(flow.acks.expected.bytes()) + bytes.min(cap / flows) <= cap / flows
}

#[cfg(test)]
mod tests;
