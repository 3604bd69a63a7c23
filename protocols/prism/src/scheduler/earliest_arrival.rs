//! Beyond the papers: the link on which the packet is expected to arrive first, among those that are not full.
use super::{PacketView, Scheduler};
use crate::link_table::{Link, LinkId, LinkTable};
use prismux_units::Instant;

/// Arrival time is the shortest round trip plus the wait behind what the proxy has sent (the return leg is common to all
/// links, so it does not change the order). A link at its cap is passed over; when all are full, the earliest of all.
///
/// While senders have more to send than the links take, arrival no longer matters, only that no link runs dry: then the link
/// whose cap is filled least takes the packet. Otherwise the near links would be topped up first and the most distant one,
/// which gets what is left, would starve.
#[derive(Debug)]
pub struct EarliestArrival;

impl Scheduler for EarliestArrival {
    fn choose(&mut self, now: Instant, links: &LinkTable, packet: PacketView) -> Option<LinkId> {
        let bytes = u64::from(packet.bytes);
        if links.backlogged && !packet.retransmission {
            let fill = |link: &Link| (link.in_flight_bytes + bytes) as f64 / link.model.cap_bytes() as f64;
            let filled = links.usable().map(|(id, link)| (fill(link), id));
            return filled.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, id)| id);
        }
        let mut best: Option<((bool, u64), LinkId)> = None;
        for (id, link) in links.usable() {
            let full = link.in_flight_bytes > 0 && link.in_flight_bytes + bytes > link.model.cap_bytes();
            let arrival = link.model.expected_arrival(now, bytes, link.in_flight_bytes, link.hrtt(now));
            let rank = (full && !packet.retransmission, arrival.as_nanos());
            if best.is_none_or(|(least, _)| rank < least) {
                best = Some((rank, id));
            }
        }
        best.map(|(_, id)| id)
    }
}
