//! Beyond the papers: the link on which the packet is expected to arrive first, among those that are not full.
use super::{PacketView, Scheduler};
use crate::link_table::{LinkId, LinkTable};
use prismux_units::Instant;

/// Arrival time is the shortest round trip plus the wait behind what the proxy has sent (the return leg is common to all
/// links, so it does not change the order). A link without a cap yet counts as empty, one at its cap is passed
/// over; when all are full, the earliest of all.
#[derive(Debug)]
pub struct EarliestArrival;

impl Scheduler for EarliestArrival {
    fn choose(&mut self, now: Instant, links: &LinkTable, packet: PacketView) -> Option<LinkId> {
        let mut best: Option<((bool, u64), LinkId)> = None;
        for (id, link) in links.usable() {
            let bytes = u64::from(packet.bytes);
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
