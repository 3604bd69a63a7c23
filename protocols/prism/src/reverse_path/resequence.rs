//! Re-sequencing in NORMAL (section V-B.2; Algorithm 2 is lost, rebuilt from the prose).
//!
//! The sender is shown one ACK per range that arrived, in rising order, each with the number that range would have
//! brought had it arrived in order, and never a number that the receiver has not itself sent.
use super::identify::Identified;
use super::release::{self, Outgoing};
use crate::flow::Flow;
use crate::flow::held::HeldAck;
use crate::micros::Micros;
use crate::shared::Shared;
use crate::verdict::DropReason;
use prismux_units::Instant;
use prismux_wire::{SeqNumber, TcpHeader};

/// An ACK in NORMAL, no loss known.
pub(crate) fn normal<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    pure: bool,
    found: &Identified,
    packet: P,
    shared: &mut Shared<P>,
    now: Instant,
) {
    let Some(cumulative) =
        flow.receiver.as_ref().map(|receiver| receiver.cumulative()).filter(|_| found.in_step)
    else {
        return release::untouched(flow, header, packet, shared);
    };
    if !pure {
        release_up_to(flow, cumulative, shared, now);
        // What this segment acknowledges has no pure ACK of its own: it carries the news itself.
        let number = if flow.acks.is_empty() {
            header.ack.min(if found.old_cumulative == cumulative { flow.released } else { cumulative })
        } else {
            // The queue of ACKs brings the number; data must not overtake it.
            flow.acks.raise_last(cumulative);
            header.ack.min(flow.released)
        };
        return release::send(flow, packet, &Outgoing::arriving(header, number, false, false), shared, now);
    }
    if shared.buffers.new.is_empty() && found.old_cumulative == cumulative {
        return nothing_new(flow, header, found, packet, shared, now);
    }
    let in_order = shared.buffers.new.len() <= 1 && !cumulative.before(new_end(shared, cumulative));
    if flow.held.is_empty() && in_order && shared.config.window_control {
        let serial = flow.held.next_serial();
        let newest_seq = flow.evidence.newest_seq();
        return flow.acks.push(HeldAck::new(cumulative, header, newest_seq, serial, Micros::at(now), packet));
    }
    if flow.held.is_empty() && in_order {
        let keep = only_dsack(header, found);
        return release::send(flow, packet, &Outgoing::arriving(header, cumulative, keep, true), shared, now);
    }
    hold(flow, header, &packet, shared, now);
    if cumulative.after(found.old_cumulative) {
        release_up_to(flow, cumulative, shared, now);
        if flow.acknowledged().before(cumulative) {
            // Nothing held stood for the advance: everything below was passed on during an earlier LOSS.
            release::send(flow, packet, &Outgoing::arriving(header, cumulative, false, true), shared, now);
        }
    }
}

/// End of the highest range that newly arrived.
fn new_end<P: Clone>(shared: &Shared<P>, otherwise: SeqNumber) -> SeqNumber {
    shared.buffers.new.last().map_or(otherwise, |range| range.end)
}

/// A lone DSACK block tells the sender that it resent for nothing; it shows no hole and may pass.
fn only_dsack(header: &TcpHeader, found: &Identified) -> bool {
    found.dsack.is_some() && header.options.sack.as_slice().len() == 1
}

/// Keeps the ACK back once per range that newly arrived, each time under the number of that range.
fn hold<P: Clone>(flow: &mut Flow<P>, header: &TcpHeader, packet: &P, shared: &mut Shared<P>, now: Instant) {
    let serial = flow.held.next_serial();
    let (at, newest_seq) = (Micros::at(now), flow.evidence.newest_seq());
    for range in &shared.buffers.new {
        flow.held.insert(HeldAck::new(range.end, header, newest_seq, serial, at, packet.clone()));
    }
    shared.counters.acks_held += 1;
}

/// Releases, in rising order, what is held up to `cumulative`; the last goes out with `cumulative` itself.
fn release_up_to<P: Clone>(flow: &mut Flow<P>, cumulative: SeqNumber, shared: &mut Shared<P>, now: Instant) {
    while let Some(ack) = flow.held.pop_up_to(cumulative) {
        let last = flow.held.front().is_none_or(|next| next.number.after(cumulative));
        let number = if last { cumulative } else { ack.number };
        if number.after(flow.acknowledged()) {
            shared.counters.acks_corrected += u64::from(number != ack.original);
            if shared.config.window_control {
                flow.acks.push(ack.ready(number, false, Micros::at(now)));
                continue;
            }
            let outgoing = Outgoing::held(&ack, number, false);
            release::send(flow, ack.packet, &outgoing, shared, now);
        } else {
            release::drop_ack(flow, ack.flags, ack.packet, DropReason::StaleAck, shared);
        }
    }
}

/// The ACK brings no news of data: an answer to a keep-alive or probe, a window update, or a repeat.
fn nothing_new<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    found: &Identified,
    packet: P,
    shared: &mut Shared<P>,
    now: Instant,
) {
    if found.probe_answer {
        release::drop_ack(flow, header.flags, packet, DropReason::ProbeAnswer, shared);
    } else if flow.held.is_empty() && flow.acks.is_empty() {
        let keep = only_dsack(header, found);
        release::send(flow, packet, &Outgoing::arriving(header, header.ack, keep, true), shared, now);
    } else if found.opens_window {
        let released = flow.released;
        release::send(flow, packet, &Outgoing::arriving(header, released, false, true), shared, now);
    } else {
        release::drop_ack(flow, header.flags, packet, DropReason::RepeatedAck, shared);
    }
}
