//! Data packets on their way to the receiver: which link, and what to remember.
use crate::config::RpcMode;
use crate::flow::Flow;
use crate::flow::history::Record;
use crate::ids::LinkId;
use crate::micros::Micros;
use crate::scheduler::{self, Choice, PacketView};
use crate::shared::Shared;
use crate::verdict::{DataRewrite, DropReason, Verdict};
use crate::{dispatch, ending, flight, pacing, probe, spurious, transmit};
use prismux_units::Instant;
use prismux_wire::{SeqNumber, TcpFlags, TcpHeader};

/// How a packet of the sender passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passed {
    /// As any in the middle of a transfer: new data went out behind what is in flight already. Nothing that is waited
    /// for comes sooner by it.
    BehindOthers,
    /// It was carried without changing anything.
    Unrecorded,
    /// Otherwise.
    Otherwise,
}

/// A TCP packet of the sender.
pub(crate) fn handle<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    payload_bytes: u32,
    packet: P,
    shared: &mut Shared<P>,
    now: Instant,
) -> Passed {
    let is_next = flow.bytes_out > 0 && flow.sent_end == Some(header.seq) && flow.backlog.is_empty();
    let Some(placement) = schedule(flow, header, payload_bytes, shared, now) else {
        shared.counters.dropped_no_link += 1;
        shared.verdicts.push_back(Verdict::Drop { packet, reason: DropReason::NoLink });
        return Passed::Otherwise;
    };
    let passed = match placement {
        Placement::Unrecorded(_) => Passed::Unrecorded,
        Placement::Over(_, Some(_)) if is_next => Passed::BehindOthers,
        _ => Passed::Otherwise,
    };
    if passed != Passed::Unrecorded && !matches!(placement, Placement::Spurious | Placement::NoRoom) {
        keep_copy(flow, header, payload_bytes, &packet, shared);
    }
    match placement {
        Placement::Spurious => {
            shared.counters.spurious_retransmissions += 1;
            let reason = DropReason::SpuriousRetransmission;
            shared.verdicts.push_back(Verdict::Drop { packet, reason });
        }
        Placement::NoRoom => {
            shared.counters.dropped_no_room += 1;
            shared.verdicts.push_back(Verdict::Drop { packet, reason: DropReason::NoRoom });
        }
        Placement::Waits => {
            shared.counters.waited_packets += 1;
            pacing::send_or_wait(flow, shared, now);
        }
        Placement::Kept(until) => {
            shared.counters.waited_packets += 1;
            pacing::keep(flow, until, shared, now);
        }
        Placement::Over(link, _) | Placement::Unrecorded(link) => {
            let position = if let Placement::Over(_, position) = placement { position } else { None };
            let mss_clamp = shared.config.mss_clamp.filter(|_| header.flags.contains(TcpFlags::SYN));
            let rewrite = DataRewrite { mss_clamp, ..DataRewrite::default() };
            shared.verdicts.push_back(Verdict::Forward { link, packet, rewrite, position });
        }
    }
    passed
}

/// Keeps a copy of a new data packet for repair and probing.
fn keep_copy<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    payload_bytes: u32,
    packet: &P,
    shared: &mut Shared<P>,
) {
    let budget = shared.config.repair_budget_packets;
    let length = header.sequence_length(payload_bytes);
    if budget > 0 && length > 0 && length <= u32::from(u16::MAX) {
        flow.copies.keep(header.seq, length as u16, packet, &mut shared.totals.copies, budget);
    }
}

/// Where a packet goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placement {
    /// Over this link, now, at this position where books are kept of it.
    Over(LinkId, Option<u32>),
    /// Over this link, and nothing is to be remembered of it.
    Unrecorded(LinkId),
    /// Nowhere yet: a copy must be kept, which leaves when there is room.
    Waits,
    /// Nowhere yet, on the scheduler's word: a copy must be kept, of which the scheduler is asked again, at this time
    /// at the latest.
    Kept(Instant),
    /// Nowhere: see [`crate::spurious`].
    Spurious,
    /// Nowhere: links are full, and it cannot be kept until they are not.
    NoRoom,
}

/// Chooses a link for a packet of `flow` and records it; `None` without a link.
fn schedule<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    payload_bytes: u32,
    shared: &mut Shared<P>,
    now: Instant,
) -> Option<Placement> {
    let length = header.sequence_length(payload_bytes);
    if !changes_flow(flow, header, length, shared, now) {
        return shared.links.fastest(now).map(Placement::Unrecorded);
    }
    let (start, end) = (header.seq, header.seq + length);
    if length == 0 {
        // A bare ACK or RST: nothing that could be lost noticeably, so the quickest link.
        return shared.links.fastest(now).map(|link| Placement::Over(link, None));
    }
    let sent_end = *flow.sent_end.get_or_insert(start);
    let acknowledged = flow.receiver.as_ref().is_some_and(|receiver| !end.after(receiver.cumulative()));
    let retransmission = start.before(sent_end) && (acknowledged || overlaps(flow, start, end));
    shared.counters.retransmissions += u64::from(retransmission);
    if retransmission && payload_bytes > 0 && spurious::is_spurious(flow, start, end, shared, now) {
        return Some(Placement::Spurious);
    }
    let can_wait = payload_bytes > 0 && start == sent_end && may_wait(flow, start, shared);
    let deadline = can_wait.then(|| now + scheduler::patience(flow.sender_rtt.timeout()));
    let view = PacketView { retransmission, deadline, ..dispatch::view(flow, start, length) };
    let (link, told_to_wait) = match shared.scheduler.choose(now, &shared.links, &view) {
        Choice::Over(link) => (link, None),
        Choice::Wait(until) => (shared.links.fastest(now)?, deadline.map(|deadline| until.min(deadline))),
        Choice::NoLink => return None,
    };
    if acknowledged {
        probe::on_repeated(flow, start, end, shared);
    }
    if acknowledged || length > u32::from(u16::MAX) {
        // A keep-alive, or a spurious retransmission: forwarded, nothing to account for.
        return Some(Placement::Over(link, None));
    }
    let full = !flow.backlog.is_empty() || dispatch::is_overfull(now, &shared.links, link, length);
    let mut position = None;
    let waits = can_wait && (full || told_to_wait.is_some());
    let refused = payload_bytes > 0 && !waits && has_no_room(flow, (start, link, length), full, shared);
    if refused {
        // Lost before the proxy, as far as anybody can tell.
        if end.after(sent_end) {
            flow.add_unscheduled(sent_end, end);
            flow.sent_end = Some(end);
        }
    } else if waits {
        flow.history.insert(Record::waiting(start, length as u16, Micros::at(now)));
        flow.backlog.insert_new(start, length as u16, &mut shared.totals.backlog_bytes);
        flow.sent_end = Some(end);
    } else {
        position = record(flow, start, end, sent_end, link, shared, now);
    }
    if end.after(sent_end) {
        let echo = header.options.timestamps.map(|timestamps| timestamps.echo);
        // What was lost before the proxy is under way too, until the sender hears of it.
        let bytes = end.distance_from(sent_end) as u32;
        flight::on_new_data(flow, bytes, echo, shared, now);
    }
    Some(match told_to_wait {
        Some(until) => Placement::Kept(until),
        None if waits => Placement::Waits,
        None if refused => Placement::NoRoom,
        None => Placement::Over(link, position),
    })
}

/// Takes note of what a packet says of its connection; false for one that is carried without changing anything.
fn changes_flow<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    length: u32,
    shared: &mut Shared<P>,
    now: Instant,
) -> bool {
    let flags = header.flags;
    if flags.contains(TcpFlags::RST) {
        if flow.finished.reset.is_none() && flow.is_reset_by_sender(header) {
            ending::reset(flow, shared, now);
        }
        return false;
    }
    if flags.contains(TcpFlags::SYN) {
        if flow.is_live() {
            flow.remember_sender_syn(header);
            return false;
        }
        on_syn(flow, header, shared, now);
    } else if flow.finished.reset.is_some() || !flow.believes_sender(header, length) {
        shared.counters.implausible_data += u64::from(flow.finished.reset.is_none());
        return false;
    }
    flow.last_activity = now;
    flow.evidence.note_sender(header);
    flow.finished.forward |= flags.contains(TcpFlags::FIN);
    true
}

/// True when the proxy can keep a packet that starts at `start` until the links have room.
fn may_wait<P: Clone>(flow: &Flow<P>, start: SeqNumber, shared: &Shared<P>) -> bool {
    let config = &shared.config;
    config.window_control
        && config.rpc == RpcMode::Full
        && flow.history.len() < config.max_packets_per_flow as usize
        && flow.copies.takes(start, shared.totals.copies, config.repair_budget_packets)
}

/// True for data that must go nowhere, since links are full where many flows wait for room.
fn has_no_room<P: Clone>(
    flow: &Flow<P>,
    (start, link, length): (SeqNumber, LinkId, u32),
    full: bool,
    shared: &Shared<P>,
) -> bool {
    if !shared.pacer.serves_many() {
        return false;
    }
    let is_new = flow.sent_end.is_some_and(|end| !start.before(end));
    if is_new { full } else { dispatch::is_filled(&shared.links, link, length) }
}

/// The sender's SYN: the flow is known from its first byte.
fn on_syn<P: Clone>(flow: &mut Flow<P>, header: &TcpHeader, shared: &mut Shared<P>, now: Instant) {
    let again = flow.sent_end.is_some_and(|end| end.distance_from(header.seq) > 0)
        && flow.history.iter().next().is_some_and(|record| record.seq == header.seq);
    if !again {
        let (window, evidence) = (flow.window, flow.evidence);
        ending::renew(flow, shared, now);
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

/// Writes the packet into the history: known packets are sent again, unknown parts are new records. Returns the
/// last position that it takes on the link.
fn record<P: Clone>(
    flow: &mut Flow<P>,
    start: SeqNumber,
    end: SeqNumber,
    sent_end: SeqNumber,
    link: LinkId,
    shared: &mut Shared<P>,
    now: Instant,
) -> Option<u32> {
    let mut position = None;
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
                position = transmit::add(flow, at, found.seq, link, shared, now).or(position);
                index += 1;
            }
            position = transmit::resend(flow, index, link, false, shared, now).or(position);
            at = found.end();
            index += 1;
        }
    }
    if at.before(end) {
        position = transmit::add(flow, at, end, link, shared, now).or(position);
    }
    flow.sent_end = Some(sent_end.max(end));
    position
}
