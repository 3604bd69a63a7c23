//! The reverse path controller: what the paper calls RPC (section V).
//!
//! Every packet from the receiver goes through these steps:
//! 1. [`identify`]: which sequence ranges have newly arrived?
//! 2. [`delivery`]: account for them on their links.
//! 3. [`losses`]: what is missing, by the order of each link.
//! 4. the state machine below: NORMAL, LOSSDETECT, LOSS. (OUTOFLOSS is left at once in the source; here LOSS goes to
//!    NORMAL.)
//! 5. [`resequence`] (NORMAL): hold, correct and release ACKs so that the sender sees neither reordering nor loss
//!    that is none.
//!
//! [`timers`] covers what no ACK will ever tell: losses at the tail and ACKs held too long.
pub(crate) mod delivery;
pub(crate) mod identify;
pub(crate) mod losses;
pub(crate) mod release;
pub(crate) mod resequence;
pub(crate) mod tail_probe;
pub(crate) mod timers;

use crate::config::RpcMode;
use crate::flow::Flow;
use crate::shared::Shared;
use crate::status::ReverseState;
use crate::verdict::{AckRewrite, Verdict};
use crate::{blame, ending, flight, local_repair, pacing, probe};
use identify::Identified;
use prismux_units::Instant;
use prismux_wire::{TcpFlags, TcpHeader};

/// A TCP packet from the receiver, by kind; says whether it was believed.
pub(crate) fn handle<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    payload_bytes: u32,
    packet: P,
    shared: &mut Shared<P>,
    now: Instant,
) -> bool {
    let flags = header.flags;
    let mss_clamp = shared.config.mss_clamp.filter(|_| flags.contains(TcpFlags::SYN));
    let rewrite = AckRewrite { mss_clamp, ..AckRewrite::identity(header) };
    if let Some(renewal) = flow.renewal(header).filter(|_| flow.is_live()) {
        ending::renew(flow, shared, now);
        renewal.open(flow);
    }
    let believed = if flags.contains(TcpFlags::RST) {
        let resets = flow.finished.reset.is_none() && flow.is_reset_by_receiver(header);
        if resets {
            ending::reset(flow, shared, now);
        }
        resets
    } else if flags.contains(TcpFlags::SYN) {
        reverse_syn(flow, header, shared, now)
    } else if flow.finished.reset.is_none() && flow.believes_receiver(header) {
        heard(flow, header, payload_bytes, now);
        if flags.contains(TcpFlags::ACK) {
            handle_ack(flow, header, payload_bytes, packet, shared, now);
            return true;
        }
        true
    } else {
        shared.counters.implausible_acks += u64::from(flow.finished.reset.is_none());
        false
    };
    shared.verdicts.push_back(Verdict::Release { packet, rewrite });
    believed
}

/// The receiver's SYN or SYN-ACK; says whether it was believed.
fn reverse_syn<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    shared: &mut Shared<P>,
    now: Instant,
) -> bool {
    let answers = header.flags.contains(TcpFlags::ACK);
    if flow.is_live() {
        flow.remember_receiver_syn(header);
        return false;
    }
    if !answers {
        // A new connection between the same ports.
        ending::renew(flow, shared, now);
    }
    heard(flow, header, 0, now);
    flow.window.on_receiver_syn(header.options.window_scale);
    flow.latest_tsval(header.options.timestamps.map(|timestamps| timestamps.value));
    if answers {
        handle_syn_ack(flow, header, shared, now);
    }
    true
}

/// A packet of the receiver that is believed.
fn heard<P: Clone>(flow: &mut Flow<P>, header: &TcpHeader, payload_bytes: u32, now: Instant) {
    flow.last_activity = now;
    flow.heard = crate::micros::Micros::at(now);
    flow.tail_probe.on_heard(flow.heard);
    flow.evidence.note_receiver(header, payload_bytes);
    if header.flags.contains(TcpFlags::ACK) {
        flow.note_echo(header.options.timestamps.map(|timestamps| timestamps.echo));
    }
    flow.finished.reverse |= header.flags.contains(TcpFlags::FIN);
}

/// A packet from the receiver with the ACK bit and without SYN or RST.
fn handle_ack<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    payload_bytes: u32,
    packet: P,
    shared: &mut Shared<P>,
    now: Instant,
) {
    let found = identify::identify(flow, header, shared, now);
    delivery::account(flow, shared, now);
    if shared.config.rpc != RpcMode::Resequence {
        losses::detect(flow, shared, now);
    }
    let pure = payload_bytes == 0 && !header.flags.intersects(TcpFlags::FIN | TcpFlags::URG);
    match shared.config.rpc {
        // Its data comes another way: nothing here decides when an ACK is due.
        _ if flow.sent_end.is_none() => release::untouched(flow, header, packet, shared),
        RpcMode::Off => release::untouched(flow, header, packet, shared),
        RpcMode::Resequence => resequence::normal(flow, header, pure, &found, packet, shared, now),
        RpcMode::Full => full(flow, header, pure, &found, packet, shared, now),
    }
    if shared.config.window_control {
        pacing::send_or_wait(flow, shared, now);
    }
    if shared.config.standby {
        probe::send(flow, shared, now);
        blame::note_blocker(flow, shared, now);
    }
}

/// The receiver's SYN-ACK: it acknowledges the sender's SYN, nothing is re-sequenced yet.
fn handle_syn_ack<P: Clone>(flow: &mut Flow<P>, header: &TcpHeader, shared: &mut Shared<P>, now: Instant) {
    identify::identify(flow, header, shared, now);
    delivery::account(flow, shared, now);
    flight::note_released(flow, header.ack, None, shared, now);
}

/// The state machine.
fn full<P: Clone>(
    flow: &mut Flow<P>,
    header: &TcpHeader,
    pure: bool,
    found: &Identified,
    packet: P,
    shared: &mut Shared<P>,
    now: Instant,
) {
    if !found.in_step {
        return release::untouched(flow, header, packet, shared);
    }
    losses::find_no_data_holes(flow, shared);
    local_repair::repair(flow, shared, now);
    if !shared.buffers.lost.is_empty() {
        losses::note(flow, shared);
    }
    match flow.state {
        ReverseState::Normal => {
            resequence::normal(flow, header, pure, found, packet, shared, now);
        }
        ReverseState::LossDetect | ReverseState::Loss => {
            if flow.state == ReverseState::LossDetect {
                release::held_in_original_form(flow, shared, now);
                flow.state = ReverseState::Loss;
            }
            release::original(flow, header, pure, packet, shared, now);
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
