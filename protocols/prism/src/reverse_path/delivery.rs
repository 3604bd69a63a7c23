//! What arrivals mean for the links: packets in flight, hRTT and weights (section V-B.3).
use super::losses;
use crate::events::ProxyEvent;
use crate::flow::Flow;
use crate::flow::history::{PacketState, Record};
use crate::link_table::Link;
use crate::micros::Micros;
use crate::shared::Shared;
use prismux_units::{Duration, Instant};

/// Marks the packets of the newly arrived ranges delivered, feeds hRTT and weights, and forgets what lies below the
/// cumulative ACK.
pub(crate) fn account<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) {
    let Some(receiver) = &flow.receiver else { return };
    let cumulative = receiver.cumulative();
    let new = core::mem::take(&mut shared.buffers.new);
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
                    flow.sender_rtt.sample(Micros::at(now).since(record.sent) + flow.ack_wait);
                    oldest_acknowledged = false;
                }
                deliver(flow, index, shared, now);
            }
            index += 1;
        }
    }
    shared.buffers.new = new;
    flow.history.trim(cumulative);
    flow.backlog.trim(cumulative, &mut shared.totals.backlog_bytes);
    flow.copies.trim(cumulative, shared.selection.wants_probes, &mut shared.totals.copies);
}

fn deliver<P: Clone>(flow: &mut Flow<P>, index: usize, shared: &mut Shared<P>, now: Instant) {
    let at = Micros::at(now);
    let record = flow.history.get_mut(index);
    let was = record.state();
    record.set_state(PacketState::Delivered);
    let record = *record;
    if flow.latest_delivered.is_none_or(|latest| record.sent.after(latest)) {
        flow.latest_delivered = Some(record.sent);
    }
    flow.convictions.on_arrival(record.seq, at);
    let early = shared.links.get(record.link).is_some_and(|link| came_too_early(&record, link, at));
    if early || matches!(was, PacketState::Lost | PacketState::Waiting) {
        losses::acquit(flow, record.seq, shared, now);
    }
    if shared.totals.copies.in_flight > shared.config.repair_budget_packets / 2 {
        // Others need the room more than probes do.
        flow.copies.give_up(record.seq, &mut shared.totals.copies);
    }
    let sent = now - at.since(record.sent);
    let Some(link) = shared.links.get_mut(record.link) else { return };
    if !early && is_evidence_of_order(&record, link, at.since(record.sent)) {
        shared.buffers.delivered.push((record.link, record.index));
    }
    if record.sends() == 1 {
        link.on_arrival(sent);
    }
    if matches!(was, PacketState::Lost | PacketState::Waiting) {
        return;
    }
    flow.bytes_out = flow.bytes_out.saturating_sub(u64::from(record.length));
    shared.links.settle(record.link, u32::from(record.length));
    let Some(link) = shared.links.get_mut(record.link) else { return };
    link.grow_weight();
    // Karn: a packet sent twice says nothing about time.
    let measures = record.sends() == 1 && flow.tail_probe.is_measure(record.sent);
    let rtt = measures.then(|| at.since(record.sent));
    if let Some(rtt) = rtt {
        link.on_rtt(now, rtt, shared.config.rtt_gain);
    }
    let left = link.variables.in_flight_bytes;
    // Nor about the rate, if either copy may have arrived.
    let certain = !early && (record.sends() == 1 || record.is_sole_copy());
    let bytes = if certain { u32::from(record.length) } else { 0 };
    let position = (record.index, link.next_index());
    link.model.on_delivered(now, bytes, position, rtt, left);
    if !certain {
        link.model.on_uncertain(u32::from(record.length));
    }
    if record.is_repair() && !early {
        if certain {
            // If the first copy came after all, the ACK says nothing of this link, which may be dead.
            link.on_arrival(sent);
        }
        shared.links.events.note(ProxyEvent::PacketRepaired { link: record.link });
    }
}

/// Whether the arrival of `record`, `age` after it was sent last, shows how far its link has got. Of a packet sent
/// twice it is unknown which copy arrived, and so over which link, unless the first was proved lost; and as lost ACKs
/// can make that proof false, the second must have had time to arrive.
fn is_evidence_of_order(record: &Record, link: &Link, age: Duration) -> bool {
    record.sends() == 1 || record.is_sole_copy() && link.smoothed_rtt().is_some_and(|rtt| age * 2 >= rtt)
}

/// True when a repair is acknowledged sooner than its link can have brought it: the first copy was not lost.
fn came_too_early(record: &Record, link: &Link, now: Micros) -> bool {
    let shortest = link.model.min_rtt().filter(|_| record.is_repair() && record.sends() == 2);
    shortest.is_some_and(|rtt| now.since(record.sent) * 2 < rtt)
}
