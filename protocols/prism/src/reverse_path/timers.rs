//! What no ACK will tell: losses at the tail of a link's traffic, ACKs held too long, departed members.
use super::{Context, Loss, delivery, note_losses, release, tail_probe};
use crate::backlog;
use crate::config::RpcMode;
use crate::flow::history::{PacketState, Record};
use crate::flow::{Flow, ReverseState};
use crate::link_table::LinkId;
use crate::local_repair;
use alloc::vec::Vec;
use prismux_units::{ByteCount, Duration, Instant};
use prismux_wire::SeqNumber;

/// Round-trip time assumed of a link that was never measured.
const UNKNOWN_RTT: Duration = Duration::from_secs(2);

/// When this flow should be looked at next; `None` when nothing is in flight or held.
pub(crate) fn next_deadline<P: Clone>(flow: &mut Flow<P>, context: &Context<'_, P>) -> Option<Instant> {
    if context.config.rpc != RpcMode::Full {
        return None;
    }
    let lowest = flow.history.lowest_in_flight();
    let lowest = lowest.filter(|record| may_be_overdue(flow, record, context));
    let tail = lowest.and_then(|record| {
        let age = context.micros().since(record.sent);
        let limit = tail_limit(&record, context)?;
        Some(context.now + limit.saturating_sub(age))
    });
    let held = hold_remaining(flow, context).map(|remaining| context.now + remaining);
    let pending = flow
        .pool
        .deadline(context.now, context.valve)
        .map(|at| at.max(context.now + Duration::from_micros(100)));
    let backlog = (!flow.backlog.is_empty()).then(|| context.now + backlog::RETRY);
    let probe = tail_probe::deadline(flow, context);
    [tail, held, pending, backlog, probe].into_iter().flatten().min()
}

/// Runs the time rules.
pub(crate) fn handle<P: Clone>(flow: &mut Flow<P>, context: &mut Context<'_, P>) {
    if context.config.rpc != RpcMode::Full {
        return;
    }
    context.scratch.lost.clear();
    flow.held.refresh_oldest();
    for seq in overdue(flow, context) {
        delivery::declare_lost(flow, seq, true, context);
    }
    hold_rule(flow, context);
    local_repair::repair(flow, context);
    tail_probe::send(flow, context);
    if context.config.window_control {
        super::wait_for_room(flow, context);
    }
    if context.scratch.lost.is_empty() {
        return;
    }
    enter_loss(flow, context);
}

/// Everything this flow has out on `link` is given up: the member comes back with a new life.
pub(crate) fn give_up_link<P: Clone>(flow: &mut Flow<P>, link: LinkId, context: &mut Context<'_, P>) {
    context.scratch.lost.clear();
    let out = flow.history.iter().filter(|r| r.link == link && r.state() == PacketState::InFlight);
    let gone: Vec<SeqNumber> = out.map(|record| record.seq).collect();
    for seq in gone {
        delivery::declare_lost(flow, seq, true, context);
    }
    local_repair::repair(flow, context);
    if !context.scratch.lost.is_empty() && context.config.rpc == RpcMode::Full {
        enter_loss(flow, context);
    }
}

/// LOSS without an ACK at hand: what is held carries the news.
pub(crate) fn enter_loss<P: Clone>(flow: &mut Flow<P>, context: &mut Context<'_, P>) {
    note_losses(flow, context);
    if flow.state == ReverseState::LossDetect {
        release::held_in_original_form(flow, context);
        flow.state = ReverseState::Loss;
    }
}

/// Tail rule: how long a packet may be out once something sent later has arrived.
pub(crate) fn tail_limit<P: Clone>(record: &Record, context: &Context<'_, P>) -> Option<Duration> {
    let link = context.links.get(record.link)?;
    if let Some(left) = link.left_at() {
        // A departed member may still deliver what it had.
        let grace = link.smoothed_rtt().unwrap_or(UNKNOWN_RTT) * 2;
        let deadline = (left + grace).saturating_since(context.now);
        return Some(context.micros().since(record.sent) + deadline);
    }
    // What is queued on the link may take longer than any round trip so far.
    let backlog = ByteCount::new(link.in_flight_bytes);
    let drain = link.rate().map_or(Duration::ZERO, |rate| rate.transmission_time(backlog).min(UNKNOWN_RTT));
    (context.config.tail_factor > 0.0)
        .then(|| link.recent_max_rtt().unwrap_or(UNKNOWN_RTT).mul_f64(context.config.tail_factor) + drain)
}

/// True when age alone decides: the member has gone, or something sent later has arrived.
fn may_be_overdue<P: Clone>(flow: &Flow<P>, record: &Record, context: &Context<'_, P>) -> bool {
    let departed = context.links.get(record.link).is_none_or(|link| !link.up);
    // A proxy that repairs need not wait for something later: while it keeps ACKs back, there may be nothing later. But the receiver
    // must have been heard of when it should have had the packet, or nothing speaks against the link (see `tail_probe`).
    departed
        || !flow.pool.is_empty() && flow.copies.has(record.seq) && was_due_when_heard(flow, record, context)
        || flow.latest_delivered.is_some_and(|latest| latest.after(record.sent))
}

/// True when the receiver was heard of later than a round trip of its link after the packet was sent.
fn was_due_when_heard<P: Clone>(flow: &Flow<P>, record: &Record, context: &Context<'_, P>) -> bool {
    let rtt = context.links.get(record.link).and_then(|link| link.recent_max_rtt());
    flow.heard.since(record.sent) > rtt.unwrap_or(UNKNOWN_RTT)
}

/// Packets that the tail rule, or the departure of their member, gives up.
fn overdue<P: Clone>(flow: &Flow<P>, context: &Context<'_, P>) -> Vec<SeqNumber> {
    let now = context.micros();
    let out = flow.history.iter().filter(|record| record.state() == PacketState::InFlight);
    out.filter(|record| {
        may_be_overdue(flow, record, context)
            && tail_limit(record, context).is_some_and(|limit| now.since(record.sent) >= limit)
    })
    .map(|record| record.seq)
    .collect()
}

/// How long an ACK may be held: `min(4 x largest hRTT, 0.75 x RTO of the sender)`.
fn hold_limit<P: Clone>(flow: &Flow<P>, context: &Context<'_, P>) -> Option<Duration> {
    if context.config.hold_max_rtts <= 0.0 {
        return None;
    }
    let by_rtt = context.links.largest_hrtt().unwrap_or(UNKNOWN_RTT).mul_f64(context.config.hold_max_rtts);
    let by_timeout =
        flow.sender_rtt.timeout().map(|timeout| timeout.mul_f64(context.config.hold_max_rto_share));
    Some(by_timeout.map_or(by_rtt, |limit| limit.min(by_rtt)))
}

/// Time until an ACK has been held too long; a hole that the proxy has just refilled gets time to arrive.
fn hold_remaining<P: Clone>(flow: &Flow<P>, context: &Context<'_, P>) -> Option<Duration> {
    let arrived = flow.held.oldest_arrival()?;
    // While other ACKs still go out, the sender's timer starts anew with each.
    let starved = context.now.saturating_since(flow.pool.last_release());
    let remaining = hold_limit(flow, context)?.saturating_sub(context.micros().since(arrived).min(starved));
    let cumulative = flow.receiver.as_ref()?.cumulative();
    let at = flow.history.first_ending_after(cumulative);
    let repaired =
        (at < flow.history.len()).then(|| flow.history.get(at)).filter(|record| record.is_repair());
    let repair = repaired.and_then(|record| {
        Some(tail_limit(record, context)?.saturating_sub(context.micros().since(record.sent)))
    });
    Some(remaining.max(repair.unwrap_or(Duration::ZERO)))
}

/// When an ACK was held too long, the lowest hole is given up.
fn hold_rule<P: Clone>(flow: &mut Flow<P>, context: &mut Context<'_, P>) {
    let Some(cumulative) = flow.receiver.as_ref().map(|receiver| receiver.cumulative()) else { return };
    if hold_remaining(flow, context).is_none_or(|left| !left.is_zero()) || !context.scratch.lost.is_empty() {
        return;
    }
    let at = flow.history.first_ending_after(cumulative);
    let hole = (at < flow.history.len()).then(|| *flow.history.get(at));
    match hole.filter(|record| !record.seq.after(cumulative)) {
        Some(record) if record.state() == PacketState::InFlight => {
            delivery::declare_lost(flow, record.seq, true, context);
        }
        Some(record) => {
            context.scratch.lost.push(Loss { start: record.seq, end: record.end(), link: None });
        }
        None => {
            context.counters.no_data_holes += 1;
            let end = flow.held.front().map_or(cumulative + 1, |ack| ack.number);
            context.scratch.lost.push(Loss { start: cumulative, end, link: None });
        }
    }
}
