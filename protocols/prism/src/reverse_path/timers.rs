//! What no ACK will tell: losses at the tail of a link's traffic, ACKs held too long, departed members.
use super::{losses, release, tail_probe};
use crate::config::RpcMode;
use crate::flow::Flow;
use crate::flow::history::PacketState;
use crate::ids::LinkId;
use crate::micros::Micros;
use crate::shared::{Loss, Shared};
use crate::status::ReverseState;
use crate::{blame, dispatch, local_repair, overdue, pacing, reinjection};
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// ACKs that wait are looked at again no sooner than this.
const MIN_WAIT: Duration = Duration::from_micros(100);

/// When this flow should be looked at next, if that is before `armed`; else `armed`: [`Instant::MAX`] stands for never.
pub(crate) fn deadline_before<P: Clone>(
    armed: Instant,
    flow: &mut Flow<P>,
    shared: &Shared<P>,
    now: Instant,
) -> Instant {
    if shared.config.rpc != RpcMode::Full {
        return armed;
    }
    let mut next = armed;
    let mut look_at = |at: Option<Instant>| next = at.map_or(next, |at| next.min(at));
    look_at(overdue::hold_remaining(flow, shared, now).map(|remaining| now + remaining));
    look_at(flow.acks.deadline(now, shared.pacer.waiting.len()).map(|at| at.max(now + MIN_WAIT)));
    look_at((!flow.backlog.is_empty()).then(|| dispatch::retry_at(shared, now)));
    look_at(losses::deadline(flow, shared, now));
    look_at(reinjection::deadline(flow, shared, now));
    let Some(lowest) = flow.history.lowest_in_flight() else { return next };
    let limit = overdue::tail_limit(&lowest, shared, now);
    let late =
        limit.map_or(Instant::MAX, |limit| now + limit.saturating_sub(Micros::at(now).since(lowest.sent)));
    if late >= next && flow.tail_probe.sent.is_none() {
        // None of the rules below has its time before that of the tail rule.
        return next;
    }
    let probe = tail_probe::deadline(flow, &lowest, limit, now).unwrap_or(Instant::MAX);
    let forgotten = limit.and_then(|limit| overdue::forgotten_at(flow, &lowest, limit, shared, now));
    let forgotten = forgotten.map_or(Instant::MAX, |at| at.max(now + MIN_WAIT));
    let tail = if overdue::is_possible(flow, &lowest, shared) { late } else { Instant::MAX };
    next.min(probe).min(forgotten).min(tail)
}

/// Runs the time rules.
pub(crate) fn handle<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) {
    if shared.config.rpc != RpcMode::Full {
        return;
    }
    shared.buffers.lost.clear();
    flow.held.refresh_oldest();
    losses::convict_overdue(flow, shared, now);
    for seq in overdue::packets(flow, shared, now) {
        losses::declare(flow, seq, true, shared, now);
    }
    losses::forget_unheard(flow, shared, now);
    hold_rule(flow, shared, now);
    local_repair::repair(flow, shared, now);
    tail_probe::send(flow, shared, now);
    blame::note_blocker(flow, shared, now);
    reinjection::send(flow, shared, now);
    if shared.config.window_control {
        pacing::send_or_wait(flow, shared, now);
    }
    if shared.buffers.lost.is_empty() {
        return;
    }
    enter_loss(flow, shared, now);
}

/// Everything this flow has out on `link` is given up: the member comes back with a new life.
pub(crate) fn give_up_link<P: Clone>(flow: &mut Flow<P>, link: LinkId, shared: &mut Shared<P>, now: Instant) {
    shared.buffers.lost.clear();
    let out = flow.history.iter().filter(|r| r.link == link && r.state() == PacketState::InFlight);
    let gone: Vec<SeqNumber> = out.map(|record| record.seq).collect();
    for seq in gone {
        losses::declare(flow, seq, true, shared, now);
    }
    local_repair::repair(flow, shared, now);
    if !shared.buffers.lost.is_empty() && shared.config.rpc == RpcMode::Full {
        enter_loss(flow, shared, now);
    }
}

/// The far end of `link` reports that the packet at `position`, which starts at `seq`, did not come.
pub(crate) fn reported_lost<P: Clone>(
    flow: &mut Flow<P>,
    link: LinkId,
    position: u32,
    seq: SeqNumber,
    shared: &mut Shared<P>,
    now: Instant,
) {
    if shared.config.rpc != RpcMode::Full || !losses::is_outstanding(flow, link, position, seq) {
        return;
    }
    shared.buffers.lost.clear();
    losses::declare(flow, seq, false, shared, now);
    local_repair::repair(flow, shared, now);
    if shared.config.window_control {
        pacing::send_or_wait(flow, shared, now);
    }
    if !shared.buffers.lost.is_empty() {
        enter_loss(flow, shared, now);
    }
}

/// When an ACK was held too long, the lowest hole is given up.
fn hold_rule<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) {
    let Some(cumulative) = flow.receiver.as_ref().map(|receiver| receiver.cumulative()) else { return };
    if overdue::hold_remaining(flow, shared, now).is_none_or(|left| !left.is_zero())
        || !shared.buffers.lost.is_empty()
    {
        return;
    }
    let at = flow.history.first_ending_after(cumulative);
    let hole = (at < flow.history.len()).then(|| *flow.history.get(at));
    match hole.filter(|record| !record.seq.after(cumulative)) {
        Some(record) if record.state() == PacketState::InFlight => {
            losses::declare(flow, record.seq, true, shared, now);
        }
        Some(record) => {
            shared.buffers.lost.push(Loss { start: record.seq, end: record.end(), link: None });
        }
        None => {
            shared.counters.no_data_holes += 1;
            let end = flow.held.front().map_or(cumulative + 1, |ack| ack.number);
            shared.buffers.lost.push(Loss { start: cumulative, end, link: None });
        }
    }
}

/// LOSS without an ACK at hand: what is held carries the news.
fn enter_loss<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) {
    losses::note(flow, shared);
    if flow.state == ReverseState::LossDetect {
        release::held_in_original_form(flow, shared, now);
        flow.state = ReverseState::Loss;
    }
}
