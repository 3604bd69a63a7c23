//! Beyond the paper: what holds everything up goes out once more.
//!
//! All data is acknowledged in order. When a link becomes slow from one moment to the next, what it has under way holds
//! up what all others deliver; the sender is shown nothing, sends nothing, and the other links run dry. Nothing is lost
//! then, and no link is blamed; but as soon as the nearest link has nothing better to do, it carries copies of what is
//! late (reinjection, the opportunistic retransmission of Multipath TCP). Only of links that return receipts: of others
//! it is not known whether they carried anything.
use crate::flow::Flow;
use crate::flow::history::PacketState;
use crate::ids::LinkId;
use crate::micros::Micros;
use crate::shared::Shared;
use crate::verdict::{DataRewrite, Verdict};
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// A packet is late after this many times the round trip that its link has when it is full.
const LATE: f64 = 1.25;
/// Looked at again after this time while other links are still busy.
const RETRY: Duration = Duration::from_millis(1);

/// When the packet that holds everything up is late; `None` when none does, or a copy of it is under way already.
pub(crate) fn deadline<P: Clone>(flow: &mut Flow<P>, shared: &Shared<P>, now: Instant) -> Option<Instant> {
    // ACKs that wait for room are no sign that the sender is kept busy: what a link that has all but stopped has under
    // way takes the room of the others too, and the less it is known to carry the more.
    if shared.config.repair_budget_packets == 0 || flow.held.is_empty() {
        return None;
    }
    let lowest = flow.history.lowest_in_flight().filter(|record| record.sends() == 1)?;
    shared.links.get(lowest.link).filter(|link| link.model.has_receipts())?;
    let limit = limit(lowest.link, shared)?;
    Some((now + limit.saturating_sub(Micros::at(now).since(lowest.sent))).max(now + RETRY))
}

/// After how long a packet of this link is late.
fn limit<P>(link: LinkId, shared: &Shared<P>) -> Option<Duration> {
    Some(shared.links.get(link)?.model.full_rtt()?.mul_f64(LATE))
}

/// Sends copies of what is late over the nearest link, if that has room.
pub(crate) fn send<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) {
    if deadline(flow, shared, now).is_none_or(|at| at > now + RETRY) {
        return;
    }
    let Some((slow, age)) = flow.history.lowest_in_flight().map(|r| (r.link, Micros::at(now).since(r.sent)))
    else {
        return;
    };
    let Some(limit) = limit(slow, shared).filter(|limit| age >= *limit) else { return };
    let Some((near, room)) = idle_link(slow, shared, now) else { return };
    let rewrite = DataRewrite { tsval_at_least: flow.echoed, ..DataRewrite::default() };
    for seq in late_packets(flow, slow, limit, room, now) {
        let Some(copy) = flow.copies.find(seq) else { continue };
        let (end, packet) = (copy.seq + u32::from(copy.length), copy.packet.clone());
        shared.counters.reinjected_packets += 1;
        shared.verdicts.push_back(Verdict::Forward { link: near, packet, rewrite, position: None });
        flow.copies.note_repeated(seq, end);
        flow.history.note_copy(seq);
        flow.convictions.take(seq);
    }
    shared.links.note_late(now, slow);
    if let Some(link) = shared.links.get_mut(slow) {
        // Its arrival will not tell how long it took; at least as long as this.
        link.on_rtt(now, age, shared.config.rtt_gain);
    }
}

/// The nearest other link that takes data, if it has little to do, and the bytes that fit it.
fn idle_link<P>(slow: LinkId, shared: &Shared<P>, now: Instant) -> Option<(LinkId, u64)> {
    let near = shared.links.fastest(now).filter(|&near| near != slow)?;
    let link = shared.links.get(near)?;
    let room = link.model.idle_bytes(link.in_flight_bytes);
    (room > 0).then_some((near, room))
}

/// Packets sent once over `slow` that are late, lowest first, as many as fit.
fn late_packets<P: Clone>(
    flow: &Flow<P>,
    slow: LinkId,
    limit: Duration,
    room: u64,
    now: Instant,
) -> Vec<SeqNumber> {
    let at = Micros::at(now);
    let out = flow.history.iter().filter(|record| record.state() == PacketState::InFlight);
    let late =
        out.filter(|record| record.link == slow && record.sends() == 1 && at.since(record.sent) * 2 >= limit);
    late.scan(room, |room, record| {
        *room = room.checked_sub(u64::from(record.length))?;
        Some(record.seq)
    })
    .collect()
}
