//! Data packets on their way to the receiver: which link, and what to remember.
use crate::backlog;
use crate::config::RpcMode;
use crate::flow::Flow;
use crate::flow::history::{PacketState, Record};
use crate::link_table::LinkId;
use crate::needless;
use crate::probe;
use crate::reverse_path::{Context, release};
use crate::scheduler::PacketView;
use crate::window_control;
use prismux_wire::{SeqNumber, TcpFlags, TcpHeader};

/// Where a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Over this link, now.
    Over(LinkId),
    /// Over this link, and nothing is to be remembered of it.
    Unrecorded(LinkId),
    /// Nowhere yet: a copy must be kept, which leaves when there is room.
    Waits,
    /// Nowhere: see [`crate::needless`].
    Needless,
}

/// Chooses a link for a packet of `flow` and records it; `None` without a link.
pub(crate) fn schedule<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    payload_bytes: u32,
    context: &mut Context<'_, P>,
) -> Option<Placement> {
    let length = header.sequence_length(payload_bytes);
    if !changes_flow(flow, header, length, context) {
        return context.links.fastest(context.now).map(Placement::Unrecorded);
    }
    let (start, end) = (header.seq, header.seq + length);
    if length == 0 {
        // A bare ACK or RST: nothing that could be lost noticeably, so the quickest link.
        return context.links.fastest(context.now).map(Placement::Over);
    }
    let sent_end = *flow.sent_end.get_or_insert(start);
    let acknowledged = flow.receiver.as_ref().is_some_and(|receiver| !end.after(receiver.cumulative()));
    let retransmission = start.before(sent_end) && (acknowledged || overlaps(flow, start, end));
    context.counters.retransmissions += u64::from(retransmission);
    if retransmission && payload_bytes > 0 && needless::is_needless(flow, start, end, context) {
        return Some(Placement::Needless);
    }
    let view = PacketView { bytes: length, retransmission, paced: false };
    let link = context.scheduler.choose(context.now, context.links, view)?;
    if acknowledged {
        probe::on_repeated(flow, start, end, context);
    }
    if acknowledged || length > u32::from(u16::MAX) {
        // A keep-alive, or a needless retransmission: forwarded, nothing to account for.
        return Some(Placement::Over(link));
    }
    let full = !flow.backlog.is_empty() || backlog::is_overfull(context.now, context.links, link, length);
    let waits = full && payload_bytes > 0 && start == sent_end && may_wait(flow, start, context);
    if waits {
        flow.history.insert(Record::waiting(start, length as u16, context.micros()));
        flow.backlog.insert_new(start, length as u16, &mut context.valve.kept);
        flow.sent_end = Some(end);
    } else {
        record(flow, start, end, sent_end, link, context);
    }
    if end.after(sent_end) {
        let echo = header.options.timestamps.map(|timestamps| timestamps.echo);
        let bytes = end.distance_from(sent_end.max(start)) as u32;
        window_control::on_new_data(flow, bytes, echo, context);
    }
    Some(if waits { Placement::Waits } else { Placement::Over(link) })
}

/// Takes note of what a packet says of its connection; false for one that is carried without changing anything.
fn changes_flow<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    length: u32,
    context: &mut Context<'_, P>,
) -> bool {
    let flags = header.flags;
    if flags.contains(TcpFlags::RST) {
        if flow.finished.reset.is_none() && flow.is_reset_by_sender(header) {
            reset(flow, context);
        }
        return false;
    }
    if flags.contains(TcpFlags::SYN) {
        if flow.is_live() {
            flow.remember_sender_syn(header);
            return false;
        }
        on_syn(flow, header, context);
    } else if flow.finished.reset.is_some() || !flow.believes_sender(header, length) {
        context.counters.implausible_data += u64::from(flow.finished.reset.is_none());
        return false;
    }
    flow.last_activity = context.now;
    flow.evidence.note_sender(header);
    flow.finished.forward |= flags.contains(TcpFlags::FIN);
    true
}

/// The connection has been reset: nothing of it is repaired any more, and what it has in flight is in flight no longer. No link has
/// lost it.
pub(crate) fn reset<P: Clone>(flow: &mut Flow<P>, context: &mut Context<'_, P>) {
    settle(flow, context);
    flow.renew(context.now);
    flow.finished.reset = Some(context.now);
}

/// True when the proxy can keep a packet that starts at `start` until the links have room.
fn may_wait<P: Clone>(flow: &Flow<P>, start: SeqNumber, context: &Context<'_, P>) -> bool {
    let config = context.config;
    config.window_control
        && config.rpc == RpcMode::Full
        && flow.history.len() < config.max_packets_per_flow as usize
        && flow.copies.takes(start, context.valve.copies, config.repair_budget_packets)
}

/// The sender's SYN: the flow is known from its first byte.
fn on_syn<P: Clone>(flow: &mut Flow<P>, header: &TcpHeader, context: &mut Context<'_, P>) {
    let again = flow.sent_end.is_some_and(|end| end.distance_from(header.seq) > 0)
        && flow.history.iter().next().is_some_and(|record| record.seq == header.seq);
    if !again {
        settle(flow, context);
        let (window, evidence) = (flow.window, flow.evidence);
        flow.renew(context.now);
        if header.flags.contains(TcpFlags::ACK) {
            (flow.window, flow.evidence) = (window, evidence);
        }
        flow.open(header.seq);
    }
    flow.window.on_sender_syn(header.options.window_scale.is_some());
}

fn overlaps<P: Clone>(flow: &Flow<P>, start: SeqNumber, end: SeqNumber) -> bool {
    let at = flow.history.first_ending_after(start);
    at < flow.history.len() && flow.history.get(at).seq.before(end)
}

/// Writes the packet into the history: known packets are sent again, unknown parts are new records.
fn record<P: Clone>(
    flow: &mut Flow<P>,
    start: SeqNumber,
    end: SeqNumber,
    sent_end: SeqNumber,
    link: LinkId,
    context: &mut Context<'_, P>,
) {
    if start.after(sent_end) {
        flow.add_unscheduled(sent_end, start);
    }
    let mut at = flow.receiver.as_ref().map_or(start, |receiver| start.max(receiver.cumulative()));
    if at.before(sent_end) {
        if !flow.unscheduled.is_empty() {
            flow.fill_unscheduled(at, end);
        }
        let mut index = flow.history.first_ending_after(at);
        while at.before(end) && index < flow.history.len() {
            let found = *flow.history.get(index);
            if !found.seq.before(end) {
                break;
            }
            if at.before(found.seq) {
                add(flow, at, found.seq, link, context);
                index += 1;
            }
            resend(flow, index, link, false, context);
            at = found.end();
            index += 1;
        }
    }
    if at.before(end) {
        add(flow, at, end, link, context);
    }
    flow.sent_end = Some(sent_end.max(end));
}

fn add<P: Clone>(
    flow: &mut Flow<P>,
    start: SeqNumber,
    end: SeqNumber,
    link: LinkId,
    context: &mut Context<'_, P>,
) {
    if flow.history.len() >= context.config.max_packets_per_flow as usize {
        return flow.add_unscheduled(start, end);
    }
    let length = end.distance_from(start) as u32;
    let Some(table) = context.links.get_mut(link) else { return };
    let index = table.on_scheduled(context.now, length);
    flow.bytes_out += u64::from(length);
    let sent = context.micros();
    flow.history.insert(Record::new(start, length as u16, link, index, sent));
    push_order(flow, link, start, index);
}

/// The packet at `index` of the history goes out once more.
pub(crate) fn resend<P: Clone>(
    flow: &mut Flow<P>,
    index: usize,
    link: LinkId,
    repair: bool,
    context: &mut Context<'_, P>,
) {
    let sent = context.micros();
    let record = *flow.history.get(index);
    let length = u32::from(record.length);
    if record.state() == PacketState::Delivered {
        return;
    }
    if record.state() == PacketState::InFlight
        && let Some(old) = context.links.get_mut(record.link)
    {
        old.on_departed(length);
    }
    if record.state() != PacketState::InFlight {
        flow.bytes_out += u64::from(length);
    }
    if record.sends() > 0 {
        flow.copies.note_repeated(record.seq, record.end());
    }
    let Some(table) = context.links.get_mut(link) else { return };
    let position = table.on_scheduled(context.now, length);
    flow.history.resend(index, link, position, sent, repair);
    push_order(flow, link, record.seq, position);
}

fn push_order<P: Clone>(flow: &mut Flow<P>, link: LinkId, seq: SeqNumber, index: u32) {
    let sent = &mut flow.order_on(link).sent;
    if sent.len() == sent.capacity() {
        sent.reserve_exact((sent.len() / 8).max(4));
    }
    sent.push_back((seq, index));
}

/// Takes everything this flow has in flight off the links' books; the ACKs that it keeps go nowhere any more.
pub(crate) fn settle<P: Clone>(flow: &mut Flow<P>, context: &mut Context<'_, P>) {
    release::discard_kept(flow, context);
    for record in flow.history.iter().filter(|record| record.state() == PacketState::InFlight) {
        if let Some(link) = context.links.get_mut(record.link) {
            link.on_departed(u32::from(record.length));
        }
    }
    flow.copies.clear(&mut context.valve.copies);
    flow.backlog.clear(&mut context.valve.kept);
    flow.pool.close(context.valve);
    context.valve.flight = context.valve.flight.saturating_sub(u64::from(flow.flight));
    flow.flight = 0;
}
