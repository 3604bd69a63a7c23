//! Beyond the papers: the link on which the packet is expected to arrive first, among those that are not full.
use super::{Choice, PacketView, Scheduler};
use crate::ids::LinkId;
use crate::link_table::{Link, LinkTable};
use prismux_units::Instant;

/// A connection with less than this share of what the others have under way in the mean is modest.
const MODEST_SHARE: f64 = 0.25;
/// Its packets fill a link to this many times its cap.
const MODEST_FILL: f64 = 1.25;

/// Arrival time is the shortest round trip plus the wait behind what the proxy has sent (the return leg is common to
/// all links, so it does not change the order). A link at its cap is passed over; when all are full, the earliest of
/// all.
///
/// While senders have more to send than the links take, arrival no longer matters, only that no link runs dry: then
/// the link that would be done with the packet first takes it, of those below their caps. Otherwise the near links
/// would be topped up first and the most distant one, which gets what is left, would starve. A link that has been
/// idle is ahead of the others by its idle time, so that rates are served in proportion. A connection that asks for
/// little beside them is not what fills the links: its packets still take the link on which they arrive first.
#[derive(Debug)]
pub struct EarliestArrival;

impl Scheduler for EarliestArrival {
    fn choose(&mut self, now: Instant, links: &LinkTable, packet: &PacketView) -> Choice {
        let bytes = u64::from(packet.bytes);
        let modest = (packet.flow_in_flight_bytes as f64) < MODEST_SHARE * links.share_bytes as f64;
        if links.backlogged && !packet.retransmission && !modest {
            let rank = |link: &Link| {
                let full = link.in_flight_bytes + bytes > link.model.cap_bytes()
                    || packet.paced && link.busy_until(now).is_some();
                let fill = (link.in_flight_bytes + bytes) as f64 / link.model.cap_bytes() as f64;
                (full, if full { fill } else { link.model.done_with(now, bytes) })
            };
            let ranked = links.usable().map(|(id, link)| (rank(link), id));
            let least = |a: &((bool, f64), LinkId), b: &((bool, f64), LinkId)| {
                a.0.0.cmp(&b.0.0).then(a.0.1.total_cmp(&b.0.1))
            };
            return ranked.min_by(least).map(|(_, id)| id).into();
        }
        let mut best: Option<((bool, u64), LinkId)> = None;
        for (id, link) in links.usable() {
            let cap = link.model.cap_bytes() as f64;
            let most = if modest { cap * MODEST_FILL } else { cap } as u64;
            let full = link.in_flight_bytes > 0 && link.in_flight_bytes + bytes > most;
            let arrival = link.model.expected_arrival(now, bytes, link.in_flight_bytes, link.hrtt(now));
            let rank = (full && !packet.retransmission, arrival.as_nanos());
            if best.is_none_or(|(least, _)| rank < least) {
                best = Some((rank, id));
            }
        }
        best.map(|(_, id)| id).into()
    }
}
