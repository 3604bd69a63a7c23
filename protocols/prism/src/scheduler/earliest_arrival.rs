//! Beyond the papers: the link on which the packet is expected to arrive first, among those that are not full.
use super::{Choice, PacketView, Scheduler};
use crate::ids::LinkId;
use crate::link_table::{Bounds, Link, LinkTable, MODEST_FILL, Rank};
use prismux_units::{Duration, Instant};
use prismux_wire::{FlowKey, SeqNumber};

/// A connection with less than this share of what the others have under way in the mean is modest.
const MODEST_SHARE: f64 = 0.25;

/// Packets that follow one another stay on a link while another would be earlier by less than this, and less than what
/// it leaves beside their own time.
const RUN: Duration = Duration::from_micros(500);

/// Arrival time is the shortest round trip plus the wait behind what the proxy has sent (the return leg is common to
/// all links, so it does not change the order). A link at its cap is passed over; when all are full, the earliest of
/// all.
///
/// While senders have more to send than the links take, arrival no longer matters, only that no link runs dry: then
/// the link that would be done with the packet first takes it, of those below their caps. Otherwise the near links
/// would be topped up first and the most distant one, which gets what is left, would starve. A link that has been
/// idle is ahead of the others by its idle time, so that rates are served in proportion. A connection that asks for
/// little beside them is not what fills the links: its packets still take the link on which they arrive first.
///
/// Packets that follow one another in a connection keep to a link for a moment ([`RUN`]): what is cut from one segment
/// and sent alike can be handed on as one by every host on the way, which costs each of them a fraction. That moment is
/// short beside delays, and a packet of a link up to 20 Mbit/s takes longer and is sent as before.
#[derive(Debug, Default)]
pub struct EarliestArrival {
    /// Connection and end of the last new packet, and the link that took it.
    last: Option<(FlowKey, SeqNumber, LinkId)>,
}

impl EarliestArrival {
    /// The link of the packet before this one.
    fn before(&self, packet: &PacketView) -> Option<LinkId> {
        let follows =
            |(flow, end, _): &(FlowKey, SeqNumber, LinkId)| *flow == packet.flow && *end == packet.seq;
        self.last.filter(follows).filter(|_| !packet.retransmission).map(|(_, _, link)| link)
    }
}

impl Scheduler for EarliestArrival {
    fn choose(&mut self, now: Instant, links: &LinkTable, packet: &PacketView) -> Choice {
        let question = Question::new(now, links, packet, self.before(packet));
        let (bound, rank) =
            (|bounds: &Bounds| question.bound(bounds), |id, link: &Link| question.rank(id, link));
        let link = links.least(question.before, bound, rank);
        if let (Some(link), false) = (link, packet.retransmission) {
            self.last = Some((packet.flow, packet.seq + packet.bytes, link));
        }
        link.into()
    }
}

/// What is asked of each link.
struct Question<'a> {
    now: Instant,
    packet: &'a PacketView,
    bytes: u64,
    /// The link of the packet before this one.
    before: Option<LinkId>,
    modest: bool,
    by_virtual_time: bool,
}

impl<'a> Question<'a> {
    fn new(now: Instant, links: &LinkTable, packet: &'a PacketView, before: Option<LinkId>) -> Self {
        let modest = (packet.flow_in_flight_bytes as f64) < MODEST_SHARE * links.share_bytes as f64;
        let by_virtual_time = links.backlogged && !packet.retransmission && !modest;
        Self { now, packet, bytes: u64::from(packet.bytes), before, modest, by_virtual_time }
    }

    /// The place of a link in the order of those that could take the packet.
    fn rank(&self, id: LinkId, link: &Link) -> Rank {
        let (full, at) = self.time(link);
        if full || self.before != Some(id) {
            return (full, at);
        }
        (full, at - (RUN.as_secs_f64() - link.model.sending_time(self.bytes)).max(0.0))
    }

    /// The same but for the link of the packet before.
    fn time(&self, link: &Link) -> Rank {
        let Self { now, packet, bytes, .. } = *self;
        let cap = link.model.cap_bytes() as f64;
        let filled = (link.variables.in_flight_bytes + bytes) as f64;
        if self.by_virtual_time {
            let full = filled > cap || packet.paced && link.busy_until(now).is_some();
            return (full, if full { filled / cap } else { link.model.done_with(now, bytes) });
        }
        let most = if self.modest { MODEST_FILL } else { 1.0 };
        let full = !packet.retransmission && link.variables.in_flight_bytes > 0 && filled > cap * most;
        let hrtt = link.hrtt(now);
        (full, link.model.expected_arrival(now, bytes, link.variables.in_flight_bytes, hrtt).as_secs_f64())
    }

    /// No link within these bounds has a place before this one, but for that of the packet before.
    fn bound(&self, bounds: &Bounds) -> Rank {
        let busy = self.by_virtual_time && self.packet.paced && bounds.is_busy(self.now, self.bytes);
        let full = busy || !self.packet.retransmission && bounds.is_full(self.bytes, self.modest);
        let at = match self.by_virtual_time {
            true if full => bounds.fill(self.bytes),
            true => bounds.done_with(self.now, self.bytes),
            false => bounds.arrival(self.now, self.bytes),
        };
        (full, at)
    }
}

#[cfg(test)]
mod tests;
