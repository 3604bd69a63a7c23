//! The reverse path controller: what the paper calls RPC (section V).
//!
//! Every packet from the receiver goes through four steps:
//! 1. [`identify`]: which sequence ranges have newly arrived?
//! 2. [`delivery`]: account for them on their links, and find losses by order on each link.
//! 3. the state machine below: NORMAL, LOSSDETECT, LOSS, OUTOFLOSS.
//! 4. [`resequence`] (NORMAL): hold, correct and release ACKs so that the sender sees neither reordering nor loss that is none.
//!
//! [`timers`] covers what no ACK will ever tell: losses at the tail and ACKs held too long.
pub(crate) mod delivery;
pub(crate) mod identify;
pub(crate) mod release;
pub(crate) mod resequence;
pub(crate) mod tail_probe;
pub(crate) mod timers;

use crate::backlog;
use crate::config::{ProxyConfig, RpcMode};
use crate::flow::receiver_model::Range;
use crate::flow::{Flow, PendingReport, ReverseState};
use crate::link_table::{LinkId, LinkTable};
use crate::local_repair;
use crate::micros::Micros;
use crate::probe;
use crate::scheduler::Scheduler;
use crate::status::ProxyCounters;
use crate::verdict::Verdict;
use crate::window_control::{self, Valve};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use identify::Identified;
use prismux_units::Instant;
use prismux_wire::{LossReport, SeqNumber, TcpFlags, TcpHeader};

/// A loss found now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loss {
    pub(crate) start: SeqNumber,
    pub(crate) end: SeqNumber,
    /// The link that lost it; `None` for a loss before the proxy ("No Data") or with a departed member.
    pub(crate) link: Option<LinkId>,
}

/// Buffers reused from packet to packet.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Ranges that newly arrived.
    pub(crate) new: Vec<Range>,
    /// Packets newly delivered: link and index.
    pub(crate) delivered: Vec<(LinkId, u32)>,
    /// Losses newly found.
    pub(crate) lost: Vec<Loss>,
}

/// What the steps share.
pub(crate) struct Context<'a, P> {
    pub(crate) now: Instant,
    pub(crate) config: &'a ProxyConfig,
    pub(crate) links: &'a mut LinkTable,
    pub(crate) out: &'a mut VecDeque<Verdict<P>>,
    pub(crate) counters: &'a mut ProxyCounters,
    pub(crate) scratch: &'a mut Scratch,
    pub(crate) scheduler: &'a mut dyn Scheduler,
    pub(crate) valve: &'a mut Valve,
    /// The number of the flow at hand.
    pub(crate) number: u32,
}

impl<P> Context<'_, P> {
    pub(crate) fn micros(&self) -> Micros {
        Micros::at(self.now)
    }
}

/// A packet from the receiver with the ACK bit and without SYN or RST.
pub(crate) fn handle_ack<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    payload_bytes: u32,
    packet: P,
    context: &mut Context<'_, P>,
) {
    let found = identify::identify(flow, header, context);
    delivery::account(flow, context);
    if context.config.rpc != RpcMode::Resequence {
        delivery::detect_losses(flow, context);
    }
    let pure = payload_bytes == 0 && !header.flags.intersects(TcpFlags::FIN | TcpFlags::URG);
    match context.config.rpc {
        RpcMode::Off => release::untouched(flow, header, packet, context),
        RpcMode::Resequence => resequence::normal(flow, header, pure, &found, packet, context),
        RpcMode::Full => full(flow, header, pure, &found, packet, context),
    }
    if context.config.window_control {
        wait_for_room(flow, context);
    }
    if context.config.parking {
        probe::send(flow, context);
    }
}

/// Sends what the links have room for; a flow that must wait joins the queue.
pub(crate) fn wait_for_room<P: Clone>(flow: &mut Flow<P>, context: &mut Context<'_, P>) {
    backlog::send(flow, context);
    let waits = window_control::pump(flow, context) || !flow.backlog.is_empty();
    if waits && !flow.pool.queued {
        flow.pool.queued = true;
        context.valve.waiting.push_back(context.number);
    }
}

/// The receiver's SYN-ACK: it acknowledges the sender's SYN, nothing is re-sequenced yet.
pub(crate) fn handle_syn_ack<P: Clone>(flow: &mut Flow<P>, header: &TcpHeader, context: &mut Context<'_, P>) {
    identify::identify(flow, header, context);
    delivery::account(flow, context);
    release::note_released(flow, header.ack, None, context);
}

/// The state machine.
fn full<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    pure: bool,
    found: &Identified,
    packet: P,
    context: &mut Context<'_, P>,
) {
    if !found.in_step {
        return release::untouched(flow, header, packet, context);
    }
    find_no_data_holes(flow, context);
    local_repair::repair(flow, context);
    if !context.scratch.lost.is_empty() {
        note_losses(flow, context);
    }
    match flow.state {
        ReverseState::Normal | ReverseState::OutOfLoss => {
            resequence::normal(flow, header, pure, found, packet, context);
        }
        ReverseState::LossDetect | ReverseState::Loss => {
            if flow.state == ReverseState::LossDetect {
                release::held_in_original_form(flow, context);
                flow.state = ReverseState::Loss;
            }
            release::original(flow, header, pure, packet, context);
            leave_loss_if_repaired(flow);
        }
    }
}

/// LOSS ends when the receiver has everything up to the highest loss.
fn leave_loss_if_repaired<P: Clone>(flow: &mut Flow<P>) {
    let repaired = flow.receiver.as_ref().is_none_or(|receiver| !receiver.cumulative().before(flow.recover));
    if flow.state == ReverseState::Loss && repaired {
        flow.state = ReverseState::Normal;
        flow.reports.clear();
    }
}

/// Puts the losses of this step on record: reports to carry, and LOSSDETECT if that is where they lead.
pub(crate) fn note_losses<P: Clone>(flow: &mut Flow<P>, context: &mut Context<'_, P>) {
    if flow.state == ReverseState::Normal {
        flow.state = ReverseState::LossDetect;
        flow.recover = context.scratch.lost[0].end;
        context.counters.loss_episodes += 1;
    }
    for loss in &context.scratch.lost {
        flow.recover = flow.recover.max(loss.end);
        let Some(link) = loss.link.filter(|_| context.config.loss_reports) else { continue };
        let keep = context.links.keep_factor(link);
        let report = LossReport {
            lost: loss.start,
            link: link.0,
            flags: 0,
            keep_q16: libm::round(keep * 65536.0).min(65535.0) as u16,
        };
        flow.queue_report(PendingReport { report, carried: 0 });
    }
    context.scratch.lost.clear();
}

/// Holes that were never scheduled are losses before the proxy, once something above them has arrived.
fn find_no_data_holes<P: Clone>(flow: &mut Flow<P>, context: &mut Context<'_, P>) {
    if flow.unscheduled.is_empty() {
        return;
    }
    let Some(receiver) = &flow.receiver else { return };
    let (cumulative, highest) = (receiver.cumulative(), receiver.highest());
    flow.unscheduled.retain(|gap| gap.end.after(cumulative));
    for gap in &flow.unscheduled {
        let missing = gap.end.before(highest) || gap.end == highest;
        if missing && !receiver.contains(gap.start, gap.end) {
            let known = flow.state != ReverseState::Normal && !flow.recover.before(gap.end);
            if !known {
                context.counters.no_data_holes += 1;
                context.scratch.lost.push(Loss { start: gap.start, end: gap.end, link: None });
            }
        }
    }
}
