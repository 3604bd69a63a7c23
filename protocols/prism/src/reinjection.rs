//! Beyond the paper: what holds everything up goes out once more.
//!
//! All data is acknowledged in order. When a link becomes slow from one moment to the next, what it has under way holds
//! up what all others deliver; the sender is shown nothing, sends nothing, and the other links run dry. Nothing is lost
//! then, and no link is blamed; but as soon as the nearest link has nothing better to do, it carries copies of what is
//! late (reinjection, the opportunistic retransmission of Multipath TCP). Only of links that return receipts: of others
//! it is not known whether they carried anything.
use crate::flow::Flow;
use crate::flow::history::{PacketState, Record};
use crate::ids::LinkId;
use crate::micros::Micros;
use crate::shared::Shared;
use crate::verdict::{DataRewrite, Verdict};
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// A packet is late after this many times the round trip that its link has when it is full.
const LATE: f64 = 1.25;
/// A packet is copied at most so many times.
const MAX_COPIES: u8 = 3;
/// Looked at again after this time while other links are still busy.
const RETRY: Duration = Duration::from_millis(1);

/// What has been copied of a flow.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Copied {
    /// Where the highest copy ends. What has been copied and lies below waits for its copy.
    up_to: Option<SeqNumber>,
    /// When the copies should have arrived.
    due: Instant,
    /// When the link that carries them takes more, if more is late.
    more_at: Option<Instant>,
}

impl Copied {
    fn covers(&self, record: &Record) -> bool {
        record.sends() > 1 && self.up_to.is_some_and(|end| record.seq.before(end))
    }
}

/// When the packet that holds everything up is late, or its copy; `None` when none does.
pub(crate) fn deadline<P: Clone>(flow: &mut Flow<P>, shared: &Shared<P>, now: Instant) -> Option<Instant> {
    // ACKs that wait for room are no sign that the sender is kept busy: what a link that has all but stopped has under
    // way takes the room of the others too, and the less it is known to carry the more.
    if shared.config.repair_budget_packets == 0 || flow.held.is_empty() {
        return None;
    }
    let lowest = flow.history.lowest_in_flight()?;
    if flow.copied.up_to.is_some_and(|end| !lowest.seq.before(end)) {
        flow.copied = Copied::default();
    }
    shared.links.get(lowest.link).filter(|link| link.model.has_receipts())?;
    if flow.copied.covers(&lowest) {
        let again = (lowest.sends() <= MAX_COPIES).then_some(flow.copied.due);
        return flow.copied.more_at.or(again).map(|at| at.max(now + RETRY));
    }
    let limit = limit(lowest.link, shared).filter(|_| lowest.sends() == 1)?;
    Some((now + limit.saturating_sub(Micros::at(now).since(lowest.sent))).max(now + RETRY))
}

/// After how long a packet of this link is late.
fn limit<P>(link: LinkId, shared: &Shared<P>) -> Option<Duration> {
    Some(shared.links.get(link)?.model.full_rtt()?.mul_f64(LATE))
}

/// Sends copies of what is late over the nearest link, if that has room, and no faster than it carries them.
pub(crate) fn send<P: Clone>(flow: &mut Flow<P>, shared: &mut Shared<P>, now: Instant) {
    if deadline(flow, shared, now).is_none_or(|at| at > now + RETRY) {
        return;
    }
    let Some(lowest) = flow.history.lowest_in_flight() else { return };
    let (slow, age) = (lowest.link, Micros::at(now).since(lowest.sent));
    let Some(limit) = limit(slow, shared).filter(|limit| age >= *limit) else { return };
    let goes_on = flow.copied.covers(&lowest) && flow.copied.more_at.is_some();
    let most_sends = if goes_on { 1 } else { lowest.sends() };
    let Some((near, room)) = idle_link(slow, shared, now) else { return };
    flow.copied.more_at = None;
    for (place, seq) in late_packets(flow, (slow, limit), most_sends, room, now).into_iter().enumerate() {
        // The first is what all others wait for.
        if place > 0
            && let Some(until) = shared.links.get(near).and_then(|link| link.model.occupied_until(now))
        {
            flow.copied.more_at = Some(until);
            break;
        }
        send_copy(flow, seq, near, shared, now);
    }
    if goes_on {
        return;
    }
    shared.links.note_late(now, slow);
    if let Some(link) = shared.links.get_mut(slow) {
        // Its arrival will not tell how long it took; at least as long as this.
        link.on_rtt(now, age, shared.config.rtt_gain);
    }
}

fn send_copy<P: Clone>(
    flow: &mut Flow<P>,
    seq: SeqNumber,
    near: LinkId,
    shared: &mut Shared<P>,
    now: Instant,
) {
    let Some(copy) = flow.copies.find(seq) else { return };
    let (end, packet) = (copy.seq + u32::from(copy.length), copy.packet.clone());
    let bytes = copy.length;
    let rewrite = DataRewrite { tsval_at_least: flow.echoed, ..DataRewrite::default() };
    shared.counters.reinjected_packets += 1;
    shared.verdicts.push_back(Verdict::Forward { link: near, packet, rewrite, position: None });
    flow.copies.note_repeated(seq, end, &mut shared.totals.copies);
    flow.history.note_copy(seq);
    flow.convictions.take(seq);
    let limit = limit(near, shared).unwrap_or_default();
    let highest = flow.copied.up_to.filter(|highest| end.before(*highest));
    flow.copied.up_to = Some(highest.unwrap_or(end));
    flow.copied.due = now + limit;
    if let Some(link) = shared.links.get_mut(near) {
        link.model.on_copy(now, u32::from(bytes));
    }
}

/// The nearest other link that takes data, if it has little to do, and the bytes that fit it.
fn idle_link<P>(slow: LinkId, shared: &Shared<P>, now: Instant) -> Option<(LinkId, u64)> {
    let near = shared.links.fastest(now).filter(|&near| near != slow)?;
    let link = shared.links.get(near)?;
    let room = link.model.idle_bytes(link.variables.in_flight_bytes);
    (room > 0).then_some((near, room))
}

/// Packets sent over `slow`, so many times at most, that are late, lowest first, as many as fit.
fn late_packets<P: Clone>(
    flow: &Flow<P>,
    (slow, limit): (LinkId, Duration),
    most_sends: u8,
    room: u64,
    now: Instant,
) -> Vec<SeqNumber> {
    let at = Micros::at(now);
    let out = flow.history.iter().filter(|record| record.state() == PacketState::InFlight);
    let late = out.filter(|record| {
        record.link == slow && record.sends() <= most_sends && at.since(record.sent) * 2 >= limit
    });
    late.scan(room, |room, record| {
        *room = room.checked_sub(u64::from(record.length))?;
        Some(record.seq)
    })
    .collect()
}
