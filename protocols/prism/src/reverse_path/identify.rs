//! What has newly arrived at the receiver (section V-B.1).
use super::losses;
use crate::flow::Flow;
use crate::flow::receiver_model::ReceiverModel;
use crate::shared::Shared;
use crate::{flight, probe};
use prismux_units::Instant;
use prismux_wire::{SackBlock, SeqNumber, TcpFlags, TcpHeader};

/// What an ACK says, beside the ranges in the buffer of new ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identified {
    /// The model follows this flow: false for the first ACK after a pick-up and for implausible ACKs.
    pub(crate) in_step: bool,
    /// The cumulative ACK before.
    pub(crate) old_cumulative: SeqNumber,
    /// The first block reports a duplicate arrival (RFC 2883).
    pub(crate) dsack: Option<SackBlock>,
    /// The right edge of the window moves up.
    pub(crate) opens_window: bool,
    /// The duplicate is one that the proxy sent to measure a link.
    pub(crate) probe_answer: bool,
}

/// The DSACK block of `header`, if its first block is one: below the cumulative ACK, or within the second block.
pub(crate) fn dsack_block(header: &TcpHeader) -> Option<SackBlock> {
    let blocks = header.options.sack.as_slice();
    let first = *blocks.first()?;
    let below = first.start.before(header.ack) && !first.end.after(header.ack);
    let within =
        blocks.get(1).is_some_and(|second| !first.start.before(second.start) && !first.end.after(second.end));
    (below || within).then_some(first)
}

/// Finds the ranges that newly arrived, by cumulative advance and by SACK block, and brings the model up to date.
pub(crate) fn identify<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    shared: &mut Shared<P>,
    now: Instant,
) -> Identified {
    let new = &mut shared.buffers.new;
    new.clear();
    shared.buffers.lost.clear();
    shared.buffers.delivered.clear();
    let mut result = Identified {
        in_step: true,
        old_cumulative: header.ack,
        dsack: None,
        opens_window: false,
        probe_answer: false,
    };
    let beyond = flow.sent_end.is_some_and(|end| header.ack.after(end));
    let Some(receiver) = &mut flow.receiver else {
        result.in_step = false;
        if !beyond {
            pick_up(flow, header, shared, now);
        }
        return result;
    };
    result.old_cumulative = receiver.cumulative();
    receiver.advance(header.ack, new);
    flow.evidence.confirmed |= !new.is_empty();
    result.dsack = dsack_block(header);
    shared.counters.dsacks += u64::from(result.dsack.is_some());
    if let Some(block) = result.dsack {
        result.probe_answer = probe::on_dsack(flow.number, block, shared, now).is_some();
        if !result.probe_answer && flow.convictions.holds(block.start) {
            losses::acquit(flow, block.start, shared, now);
        }
    }
    let Some(receiver) = &mut flow.receiver else { return result };
    let new = &mut shared.buffers.new;
    let blocks = header.options.sack.as_slice().iter();
    for block in blocks.skip(usize::from(result.dsack.is_some())) {
        let sent = flow.sent_end.is_none_or(|end| !block.end.after(end));
        // A block below the cumulative ACK is stale: the ACK that carried it was overtaken.
        if block.start.before(block.end) && sent {
            receiver.add(block.start, block.end, new);
        } else {
            shared.counters.implausible_acks += 1;
        }
    }
    if new.len() > 1 {
        new.sort_unstable_by_key(|range| range.start.distance_from(result.old_cumulative));
    }
    let is_syn = header.flags.contains(TcpFlags::SYN);
    result.opens_window = flow.window.on_ack(header.ack, header.window, is_syn);
    result
}

/// The first ACK of a flow that was joined in mid-stream: from here on the model is in step.
fn pick_up<P: Clone>(flow: &mut Flow<P>, header: &TcpHeader, shared: &mut Shared<P>, now: Instant) {
    // Packets of ours below the ACK have arrived; the model starts beneath them so that they are accounted for.
    let first = flow.history.iter().next().map(|record| record.seq);
    let receiver_start = first.map_or(header.ack, |first| first.min(header.ack));
    let mut receiver = ReceiverModel::new(receiver_start);
    receiver.advance(header.ack, &mut shared.buffers.new);
    for block in header.options.sack.as_slice() {
        if block.start.before(block.end) && flow.sent_end.is_none_or(|end| !block.end.after(end)) {
            receiver.add(block.start, block.end, &mut shared.buffers.new);
        }
    }
    flow.window.on_ack(header.ack, header.window, header.flags.contains(TcpFlags::SYN));
    // Only what passed here counts as flight that this ACK ends.
    flow.released = receiver_start;
    flight::note_released(flow, header.ack, None, shared, now);
    // What lies between the ACK and the first packet seen was sent by others, or before the proxy restarted.
    if let Some(first) = first.filter(|first| first.after(header.ack)) {
        flow.add_unscheduled(header.ack, first);
    }
    flow.receiver = Some(receiver);
    flow.evidence.confirmed = true;
}
