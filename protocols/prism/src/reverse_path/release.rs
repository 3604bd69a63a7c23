//! ACKs on their way out: which fields change (number, SACK, window, TSval, ECN echo, loss report).
use super::Context;
use crate::flow::Flow;
use crate::flow::held::HeldAck;
use crate::verdict::{AckRewrite, DropReason, SackRewrite, Verdict};
use crate::window_control;
use prismux_wire::{LossReport, SeqNumber, TcpFlags, TcpHeader};

/// Bytes of a loss report option.
const REPORT_BYTES: usize = 12;
/// Bytes of TCP options that fit a header.
const OPTION_SPACE: usize = 40;

/// The parts of an outgoing ACK that decide its rewriting.
pub(crate) struct Outgoing {
    pub(crate) number: SeqNumber,
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
    context: &mut Context<'_, P>,
) {
    let mut report =
        if outgoing.carries_report { next_report(flow, context.config.report_repeat) } else { None };
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
    context.counters.reports_sent += u64::from(report.is_some());
    let limit = if context.config.window_control {
        window_control::edge_limit(flow, outgoing.number, context)
    } else {
        None
    };
    let rewrite = AckRewrite {
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
    note_released(flow, outgoing.number, rewrite.tsval, context);
    context.out.push_back(Verdict::Release { packet, rewrite });
}

/// The sender learns that everything below `number` has arrived.
pub(crate) fn note_released<P: Clone>(
    flow: &mut Flow<P>,
    number: SeqNumber,
    tsval: Option<u32>,
    context: &mut Context<'_, P>,
) {
    let advance = number.distance_from(flow.released);
    if advance > 0 {
        flow.released = number;
        let bytes = flow.flight.min(advance as u32);
        flow.flight -= bytes;
        window_control::on_released(flow, bytes, tsval, context);
    }
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
pub(crate) fn untouched<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    packet: P,
    context: &mut Context<'_, P>,
) {
    let rewrite = AckRewrite {
        tsval: flow.latest_tsval(header.options.timestamps.map(|t| t.value)),
        ..AckRewrite::identity(header)
    };
    context.out.push_back(Verdict::Release { packet, rewrite });
}

/// The ACK with its own number and SACK blocks (LOSS).
pub(crate) fn original<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    pure: bool,
    packet: P,
    context: &mut Context<'_, P>,
) {
    if context.config.window_control && pure {
        let serial = flow.held.next_serial();
        let now = context.micros();
        let ack = HeldAck::new(header.ack, header, serial, now, packet);
        return flow.pool.push(ack.ready(header.ack, true, now));
    }
    let outgoing = Outgoing::arriving(header, header.ack, true, pure);
    send(flow, packet, &outgoing, context);
}

/// Everything held goes out as it came, in the order it came (entering LOSS). Only the number is raised to what the sender has
/// seen: below it, a sender would take the ACK for a stale one and ignore the duplicate with its SACK blocks and report.
pub(crate) fn held_in_original_form<P: Clone>(flow: &mut Flow<P>, context: &mut Context<'_, P>) {
    let mut previous = None;
    for ack in flow.held.drain_by_arrival() {
        // Copies of one ACK, made because it stood for several ranges, are one again.
        if previous.replace(ack.serial) == Some(ack.serial) {
            continue;
        }
        if context.config.window_control {
            let number = ack.original.max(flow.acknowledged());
            flow.pool.push(ack.ready(number, true, context.micros()));
            continue;
        }
        let outgoing = Outgoing::held(&ack, ack.original.max(flow.released), true);
        send(flow, ack.packet, &outgoing, context);
    }
}

/// The connection is over: the ACKs that it keeps say nothing to anybody.
pub(crate) fn discard_kept<P: Clone>(flow: &mut Flow<P>, context: &mut Context<'_, P>) {
    let mut serial = None;
    for ack in flow.held.drain_by_arrival() {
        // Copies of one ACK, made because it stood for several ranges, are one packet.
        if serial.replace(ack.serial) != Some(ack.serial) {
            context.out.push_back(Verdict::Drop { packet: ack.packet, reason: DropReason::StaleAck });
        }
    }
    while let Some(ack) = flow.pool.pop() {
        context.out.push_back(Verdict::Drop { packet: ack.packet, reason: DropReason::StaleAck });
    }
}

/// A packet that goes nowhere; its ECN echo is not lost with it.
pub(crate) fn swallow<P: Clone>(
    flow: &mut Flow<P>,
    flags: TcpFlags,
    packet: P,
    reason: DropReason,
    context: &mut Context<'_, P>,
) {
    flow.ecn |= TcpFlags(flags.0 & (TcpFlags::ECE | TcpFlags::CWR).0);
    context.counters.dropped_acks += 1;
    context.out.push_back(Verdict::Drop { packet, reason });
}
