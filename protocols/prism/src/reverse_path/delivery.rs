//! What arrivals mean for the links: packets in flight, hRTT, weights, and losses by order (section V-B.3).
use super::{Context, Loss};
use crate::events::ProxyEvent;
use crate::flow::history::{PacketState, Record};
use crate::flow::{Flow, Suspect};
use crate::link_table::{Link, LinkId};
use prismux_units::Duration;
use prismux_wire::SeqNumber;

/// Marks the packets of the newly arrived ranges delivered, feeds hRTT and weights, and forgets what lies below the
/// cumulative ACK.
pub(crate) fn account<P: Clone>(flow: &mut Flow<P>, context: &mut Context<'_, P>) {
    let Some(receiver) = &flow.receiver else { return };
    let cumulative = receiver.cumulative();
    let new = core::mem::take(&mut context.scratch.new);
    let mut oldest_acknowledged = true;
    for range in &new {
        let mut index = flow.history.first_ending_after(range.start);
        while index < flow.history.len() {
            let record = flow.history.get(index);
            if !record.seq.before(range.end) {
                break;
            }
            let whole = !record.seq.before(range.start) && !record.end().after(range.end);
            if record.state() != PacketState::Delivered
                && (whole || flow.receiver.as_ref().is_some_and(|r| r.contains(record.seq, record.end())))
            {
                if oldest_acknowledged && !range.end.after(cumulative) && record.sends() == 1 {
                    flow.sender_rtt.sample(context.micros().since(record.sent) + flow.pool_wait);
                    oldest_acknowledged = false;
                }
                deliver(flow, index, context);
            }
            index += 1;
        }
    }
    context.scratch.new = new;
    flow.history.trim(cumulative);
    flow.backlog.trim(cumulative, &mut context.valve.kept);
    flow.copies.trim(cumulative, context.valve.wants_probes, &mut context.valve.copies);
}

fn deliver<P: Clone>(flow: &mut Flow<P>, index: usize, context: &mut Context<'_, P>) {
    let now = context.micros();
    let record = flow.history.get_mut(index);
    let was = record.state();
    record.set_state(PacketState::Delivered);
    let record = *record;
    if flow.latest_delivered.is_none_or(|latest| record.sent.after(latest)) {
        flow.latest_delivered = Some(record.sent);
    }
    let Some(link) = context.links.get_mut(record.link) else { return };
    if is_evidence_of_order(&record, link, now.since(record.sent)) {
        context.scratch.delivered.push((record.link, record.index));
    }
    if record.sends() == 1 {
        link.on_alive();
    }
    if matches!(was, PacketState::Lost | PacketState::Waiting) {
        context.counters.false_losses += 1;
        return;
    }
    flow.bytes_out = flow.bytes_out.saturating_sub(u64::from(record.length));
    link.on_departed(u32::from(record.length));
    link.grow_weight();
    // Karn: a packet sent twice says nothing about time.
    let rtt = (record.sends() == 1).then(|| now.since(record.sent));
    if let Some(rtt) = rtt {
        link.on_rtt(context.now, rtt, context.config.rtt_gain);
    }
    let left = link.in_flight_bytes;
    // Nor about the rate, if either copy may have arrived.
    let certain = record.sends() == 1 || record.is_sole_copy();
    let bytes = if certain { u32::from(record.length) } else { 0 };
    let position = (record.index, link.next_index());
    link.model.on_delivered(context.now, bytes, position, rtt, left);
    if !certain {
        link.model.on_uncertain(u32::from(record.length));
    }
    if record.is_repair() {
        link.on_alive();
        context.links.events.note(ProxyEvent::PacketRepaired { link: record.link });
    }
}

/// Whether the arrival of `record`, `age` after it was sent last, shows how far its link has got. Of a packet sent twice it is
/// unknown which copy arrived, and so over which link, unless the first was proved lost; and as lost ACKs can make
/// that proof false, the second must have had time to arrive.
fn is_evidence_of_order(record: &Record, link: &Link, age: Duration) -> bool {
    record.sends() == 1 || record.is_sole_copy() && link.smoothed_rtt().is_some_and(|rtt| age * 2 >= rtt)
}

/// Packets overtaken on their own link are lost: links deliver in order.
///
/// Runs after all arrivals of this ACK are marked, so that ranges reported together do not convict one another.
pub(crate) fn detect_losses<P: Clone>(flow: &mut Flow<P>, context: &mut Context<'_, P>) {
    let delivered = core::mem::take(&mut context.scratch.delivered);
    for &(link, index) in &delivered {
        overtake_suspects(flow, link, index, context);
        if usize::from(link.0) >= flow.order.len() {
            continue;
        }
        while let Some(&(seq, sent_index)) = flow.order[usize::from(link.0)].sent.front() {
            if later(sent_index, index) {
                break;
            }
            flow.order[usize::from(link.0)].sent.pop_front();
            if sent_index != index && is_outstanding(flow, link, sent_index, seq) {
                if context.config.link_dupthresh <= 1 {
                    declare_lost(flow, seq, false, context);
                } else {
                    flow.suspects.push(Suspect { link, index: sent_index, seq, overtaken: 1 });
                }
            }
        }
    }
    context.scratch.delivered = delivered;
}

const fn later(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// True when the packet at `seq` is still out as number `index` of `link`, and not resent since.
fn is_outstanding<P: Clone>(flow: &Flow<P>, link: LinkId, index: u32, seq: SeqNumber) -> bool {
    flow.history.find(seq).is_some_and(|at| {
        let record = flow.history.get(at);
        record.link == link && record.index == index && record.state() == PacketState::InFlight
    })
}

fn overtake_suspects<P: Clone>(flow: &mut Flow<P>, link: LinkId, index: u32, context: &mut Context<'_, P>) {
    let mut at = 0;
    while at < flow.suspects.len() {
        let suspect = flow.suspects[at];
        if suspect.link != link || !later(index, suspect.index) {
            at += 1;
            continue;
        }
        let outstanding = is_outstanding(flow, link, suspect.index, suspect.seq);
        if outstanding && suspect.overtaken + 1 < context.config.link_dupthresh {
            flow.suspects[at].overtaken += 1;
            at += 1;
            continue;
        }
        flow.suspects.swap_remove(at);
        if outstanding {
            declare_lost(flow, suspect.seq, false, context);
        }
    }
}

/// Declares the packet that starts at `seq` lost: its link halves its weight, and the loss joins this step's list.
pub(crate) fn declare_lost<P: Clone>(
    flow: &mut Flow<P>,
    seq: SeqNumber,
    by_time: bool,
    context: &mut Context<'_, P>,
) {
    let Some(at) = flow.history.find(seq) else { return };
    let record = flow.history.get_mut(at);
    record.set_lost(!by_time);
    let record = *record;
    context.counters.losses_detected += 1;
    context.counters.losses_by_time += u64::from(by_time);
    context.links.note_loss(context.now, record.link, by_time);
    let mut blamed = None;
    flow.bytes_out = flow.bytes_out.saturating_sub(u64::from(record.length));
    if let Some(link) = context.links.get_mut(record.link) {
        let in_flight = link.in_flight_bytes;
        link.on_departed(u32::from(record.length));
        if link.up {
            blamed = Some(record.link);
            link.halve_weight(context.now, context.config.weight_floor);
            if !link.is_silent() {
                link.model.on_lost(context.now, u32::from(record.length), in_flight);
            }
        }
    }
    context.scratch.lost.push(Loss { start: record.seq, end: record.end(), link: blamed });
}
