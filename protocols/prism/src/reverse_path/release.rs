//! ACKs on their way out: which fields change (number, SACK, window, TSval, ECN echo, loss report).
use crate::flow::Flow;
use crate::flow::held::HeldAck;
use crate::micros::Micros;
use crate::shared::Shared;
use crate::verdict::{AckRewrite, DropReason, SackRewrite, Verdict};
use crate::{flight, window_limit};
use prismux_units::Instant;
use prismux_wire::{LossReport, SeqNumber, TcpFlags, TcpHeader};

/// Bytes of a loss report option.
const REPORT_BYTES: usize = 12;
/// Bytes of TCP options that fit a header.
const OPTION_SPACE: usize = 40;

/// The parts of an outgoing ACK that decide its rewriting.
pub(crate) struct Outgoing {
    pub(crate) number: SeqNumber,
    /// Came with the receiver's newest sequence number, and goes out with the newest of now: what the receiver has sent
    /// meanwhile has gone before, and a sender discards what lies below that (RFC 9293 section 3.10.7.4).
    pub(crate) has_newest_seq: bool,
    pub(crate) tsval: Option<u32>,
    pub(crate) sack_blocks: usize,
    pub(crate) other_option_bytes: usize,
    pub(crate) keep_sack: bool,
    /// May carry a report (pure ACKs only: data needs its room).
    pub(crate) carries_report: bool,
}

impl Outgoing {
    /// An ACK that just came, to go out with `number`.
    pub(crate) fn arriving(header: &TcpHeader, number: SeqNumber, keep_sack: bool, pure: bool) -> Self {
        let mut bare = header.options;
        bare.sack.truncate(0);
        Self {
            number,
            has_newest_seq: false,
            tsval: header.options.timestamps.map(|t| t.value),
            sack_blocks: header.options.sack.as_slice().len(),
            other_option_bytes: bare.wire_bytes(),
            keep_sack,
            carries_report: pure,
        }
    }

    /// An ACK that was held.
    pub(crate) fn held<P: Clone>(ack: &HeldAck<P>, number: SeqNumber, keep_sack: bool) -> Self {
        Self {
            number,
            has_newest_seq: ack.has_newest_seq,
            tsval: ack.tsval(),
            sack_blocks: usize::from(ack.sack_blocks),
            other_option_bytes: ack.other_option_bytes(),
            keep_sack,
            carries_report: true,
        }
    }
}

/// Hands a packet to the host with every field that must change.
pub(crate) fn send<P: Clone>(
    flow: &mut Flow<P>,
    packet: P,
    outgoing: &Outgoing,
    shared: &mut Shared<P>,
    now: Instant,
) {
    let mut report =
        if outgoing.carries_report { next_report(flow, shared.config.report_repeat) } else { None };
    let mut sack = match (outgoing.keep_sack, outgoing.sack_blocks) {
        (_, 0) | (true, _) => SackRewrite::Keep,
        (false, _) => SackRewrite::Remove,
    };
    if report.is_some() {
        let room = OPTION_SPACE.saturating_sub(outgoing.other_option_bytes + REPORT_BYTES);
        let blocks = room.saturating_sub(4) / 8;
        if outgoing.other_option_bytes + REPORT_BYTES > OPTION_SPACE {
            report = None;
        } else if sack == SackRewrite::Keep && outgoing.sack_blocks > blocks {
            sack = if blocks == 0 { SackRewrite::Remove } else { SackRewrite::Truncate(blocks as u8) };
        }
    }
    shared.counters.reports_sent += u64::from(report.is_some());
    let limit = if shared.config.window_control {
        window_limit::edge_limit(flow, outgoing.number, shared)
    } else {
        None
    };
    let rewrite = AckRewrite {
        seq: flow.evidence.newest_seq().filter(|_| outgoing.has_newest_seq),
        ack: outgoing.number,
        window: flow.window.field(outgoing.number, limit),
        tsval: flow.latest_tsval(outgoing.tsval),
        ecn_echo: core::mem::take(&mut flow.ecn),
        sack,
        report,
        mss_clamp: None,
    };
    if let Some(shift) = flow.window.shift() {
        let edge = outgoing.number + (u32::from(rewrite.window) << shift);
        flow.edge_sent = Some(flow.edge_sent.map_or(edge, |sent| sent.max(edge)));
    }
    flight::note_released(flow, outgoing.number, rewrite.tsval, shared, now);
    shared.verdicts.push_back(Verdict::Release { packet, rewrite });
}

/// The report to carry next: each goes out on `repeat` ACKs, the least carried first.
fn next_report<P: Clone>(flow: &mut Flow<P>, repeat: u8) -> Option<LossReport> {
    let mut pending = flow.reports.pop_front()?;
    pending.report.flags = u8::from(pending.carried > 0);
    let report = pending.report;
    pending.carried += 1;
    if pending.carried < repeat {
        flow.queue_report(pending);
    }
    Some(report)
}

/// The packet as it came, nothing tracked (RPC off, or a flow that cannot be followed).
pub(crate) fn untouched<P: Clone>(flow: &mut Flow<P>, header: &TcpHeader, packet: P, shared: &mut Shared<P>) {
    let rewrite = AckRewrite {
        tsval: flow.latest_tsval(header.options.timestamps.map(|t| t.value)),
        ..AckRewrite::identity(header)
    };
    shared.verdicts.push_back(Verdict::Release { packet, rewrite });
}

/// The ACK with its own number and SACK blocks (LOSS).
pub(crate) fn original<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    pure: bool,
    packet: P,
    shared: &mut Shared<P>,
    now: Instant,
) {
    if shared.config.window_control && pure {
        let serial = flow.held.next_serial();
        let at = Micros::at(now);
        let ack = HeldAck::new(header.ack, header, flow.evidence.newest_seq(), serial, at, packet);
        return flow.acks.push(ack.ready(header.ack, true, at));
    }
    let outgoing = Outgoing::arriving(header, header.ack, true, pure);
    send(flow, packet, &outgoing, shared, now);
}

/// Everything held goes out as it came, in the order it came (entering LOSS). Only the number is raised to what the
/// sender has seen: below it, a sender would take the ACK for a stale one and ignore the duplicate with its SACK
/// blocks and report.
pub(crate) fn held_in_original_form<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) {
    // Each of these ACKs says what no other does: as a group of its own it would hold up those behind it.
    flow.slow_start.end();
    let mut previous = None;
    for ack in flow.held.drain_by_arrival() {
        // Copies of one ACK, made because it stood for several ranges, are one again.
        if previous.replace(ack.serial) == Some(ack.serial) {
            continue;
        }
        if shared.config.window_control {
            let number = ack.original.max(flow.acknowledged());
            flow.acks.push(ack.ready(number, true, Micros::at(now)));
            continue;
        }
        let outgoing = Outgoing::held(&ack, ack.original.max(flow.released), true);
        send(flow, ack.packet, &outgoing, shared, now);
    }
}

/// A packet that goes nowhere; its ECN echo is not lost with it.
pub(crate) fn drop_ack<P: Clone>(
    flow: &mut Flow<P>,
    flags: TcpFlags,
    packet: P,
    reason: DropReason,
    shared: &mut Shared<P>,
) {
    flow.ecn |= TcpFlags(flags.0 & (TcpFlags::ECE | TcpFlags::CWR).0);
    shared.counters.dropped_acks += 1;
    shared.verdicts.push_back(Verdict::Drop { packet, reason });
}
