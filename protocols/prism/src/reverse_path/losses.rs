//! Losses: by order on a link (section V-B.3), before the proxy ("No Data"), and what they lead to.
use crate::flow::history::PacketState;
use crate::flow::link_order::Overtaken;
use crate::flow::{Flow, PendingReport};
use crate::ids::LinkId;
use crate::micros::Micros;
use crate::overdue;
use crate::shared::{Loss, Shared};
use crate::status::ReverseState;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};
use prismux_wire::{LossReport, SeqNumber};

/// Where receipts tell of losses, a packet that was overtaken is waited for so many times the round trip of its full
/// link: over a thin way back six ACKs in seven are lost, and one that is left brings the news of many.
const RECEIPTS_PATIENCE: u64 = 2;

/// Packets overtaken on their own link are lost: at once on a link that keeps order, later on one that does not.
///
/// Runs after all arrivals of this ACK are marked, so that ranges reported together do not convict one another.
pub(crate) fn detect<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) {
    let delivered = core::mem::take(&mut shared.buffers.delivered);
    for &(link, index) in &delivered {
        if let Some(late) = flow.order.on_arrival(link, index)
            && let Some(link) = shared.links.get_mut(link)
        {
            link.on_overtaken(now, Micros::at(now).since(late.since));
        }
        while let Some((seq, sent_index)) = flow.order.pop_up_to(link, index) {
            if sent_index != index && is_outstanding(flow, link, sent_index, seq) {
                flow.order.overtake(link, seq, sent_index, Micros::at(now));
            }
        }
        convict(flow, link, shared, now);
    }
    shared.buffers.delivered = delivered;
}

/// Declares lost what was overtaken on any link and has been waited for long enough.
pub(crate) fn convict_overdue<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) {
    let mut links: Vec<LinkId> = flow.order.overtaken().map(|(link, _)| link).collect();
    links.sort_unstable();
    for link in links {
        convict(flow, link, shared, now);
    }
}

/// When the wait ends for a packet that was overtaken, on a link that may reorder.
pub(crate) fn deadline<P: Clone>(flow: &Flow<P>, shared: &Shared<P>, now: Instant) -> Option<Instant> {
    let ends = |(link, overtaken): (LinkId, &Overtaken)| {
        let window = window(link, shared, now);
        (!window.is_zero()).then(|| now + window.saturating_sub(Micros::at(now).since(overtaken.since)))
    };
    flow.order.overtaken().filter_map(ends).min()
}

/// How long a packet that was overtaken on this link is waited for.
fn window<P>(link: LinkId, shared: &Shared<P>, now: Instant) -> Duration {
    let learned = shared.links.get(link).filter(|_| shared.config.learn_rates);
    learned.map_or(Duration::ZERO, |link| {
        // Where receipts tell of losses in time, order can only tell of those beyond the far end, and late ACKs feign
        // it.
        let told = if link.model.has_prompt_receipts() { link.model.full_rtt() } else { None };
        link.reordering_window(now).max(told.map_or(Duration::ZERO, |rtt| rtt * RECEIPTS_PATIENCE))
    })
}

/// Declares lost what was overtaken on `link` by enough packets and for long enough.
fn convict<P: Clone>(flow: &mut Flow<P>, link: LinkId, shared: &mut Shared<P>, now: Instant) {
    while let Some((overtaken, overtakers)) = flow.order.first_overtaken(link) {
        let Overtaken { seq, index, since, .. } = overtaken;
        if is_outstanding(flow, link, index, seq) {
            let few = overtakers < u32::from(shared.config.link_dupthresh);
            if few || Micros::at(now).since(since) < window(link, shared, now) {
                return;
            }
            if let Some(at) = flow.history.find(seq).filter(|_| shared.config.learn_rates) {
                flow.convictions.note(seq, flow.history.get(at).length, link, since);
            }
            declare(flow, seq, false, shared, now);
        }
        flow.order.pop_overtaken(link);
    }
}

/// A verdict on the packet at `seq` was false. If order had spoken against it, its link is given the time that it
/// needed.
pub(crate) fn acquit<P: Clone>(flow: &mut Flow<P>, seq: SeqNumber, shared: &mut Shared<P>, now: Instant) {
    shared.counters.false_losses += 1;
    let Some(conviction) = flow.convictions.take(seq) else { return };
    if let Some(link) = shared.links.get_mut(conviction.link) {
        link.on_false_verdict(now, u32::from(conviction.length), conviction.wait());
    }
}

/// True when the packet at `seq` is still out as number `index` of `link`, and not resent since.
pub(crate) fn is_outstanding<P: Clone>(flow: &Flow<P>, link: LinkId, index: u32, seq: SeqNumber) -> bool {
    flow.history.find(seq).is_some_and(|at| {
        let record = flow.history.get(at);
        record.link == link && record.index == index && record.state() == PacketState::InFlight
    })
}

/// Declares the packet that starts at `seq` lost: its link halves its weight, and the loss joins this step's list.
pub(crate) fn declare<P: Clone>(
    flow: &mut Flow<P>,
    seq: SeqNumber,
    by_time: bool,
    shared: &mut Shared<P>,
    now: Instant,
) {
    let Some(at) = flow.history.find(seq) else { return };
    let record = flow.history.get_mut(at);
    record.set_lost(!by_time);
    let record = *record;
    shared.counters.losses_detected += 1;
    shared.counters.losses_by_time += u64::from(by_time);
    shared.links.note_loss(now, record.link, by_time);
    let mut blamed = None;
    flow.bytes_out = flow.bytes_out.saturating_sub(u64::from(record.length));
    let in_flight = shared.links.get(record.link).map_or(0, |link| link.variables.in_flight_bytes);
    shared.links.settle(record.link, u32::from(record.length));
    if let Some(link) = shared.links.get_mut(record.link).filter(|link| link.up) {
        blamed = Some(record.link);
        link.halve_weight(now, shared.config.weight_floor);
        if !link.is_silent() {
            link.model.on_lost(now, u32::from(record.length), in_flight);
        }
    }
    shared.buffers.lost.push(Loss { start: record.seq, end: record.end(), link: blamed });
}

/// Takes packets off their links' books that are in flight no longer for certain, though nothing tells what became of
/// them: no link is blamed, and the sender asks for them itself.
pub(crate) fn forget_unheard<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) {
    while let Some(record) = flow.history.lowest_in_flight() {
        let forgotten_at = overdue::tail_limit(&record, shared, now)
            .and_then(|limit| overdue::forgotten_at(flow, &record, limit, shared, now));
        if forgotten_at.is_none_or(|at| at > now) {
            return;
        }
        let Some(at) = flow.history.find(record.seq) else { return };
        flow.history.get_mut(at).set_lost(false);
        flow.bytes_out = flow.bytes_out.saturating_sub(u64::from(record.length));
        shared.links.settle(record.link, u32::from(record.length));
        shared.counters.forgotten_packets += 1;
    }
}

/// Puts the losses of this step on record: reports to carry, and LOSSDETECT if that is where they lead.
pub(crate) fn note<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>) {
    if let Some(first) = shared.buffers.lost.first().filter(|_| flow.state == ReverseState::Normal) {
        flow.state = ReverseState::LossDetect;
        flow.recover = first.end;
        shared.counters.loss_episodes += 1;
    }
    for loss in &shared.buffers.lost {
        flow.recover = flow.recover.max(loss.end);
        let Some(link) = loss.link.filter(|_| shared.config.loss_reports) else { continue };
        let keep = shared.links.keep_factor(link);
        let report = LossReport { lost: loss.start, link: link.0, flags: 0, keep };
        flow.queue_report(PendingReport { report, carried: 0 });
    }
    shared.buffers.lost.clear();
}

/// Holes that were never scheduled are losses before the proxy, once something above them has arrived.
pub(crate) fn find_no_data_holes<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>) {
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
                shared.counters.no_data_holes += 1;
                shared.buffers.lost.push(Loss { start: gap.start, end: gap.end, link: None });
            }
        }
    }
}
