//! Where every packet of a network went.
use super::Network;

impl Network {
    /// What is wrong with the accounts: every packet is delivered, dropped for a stated reason, or still inside.
    pub fn conservation_faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let (mut inside, mut copies, mut dropped) = (0, 0, 0);
        for (index, port) in self.ports.iter().enumerate() {
            let (stats, packets) = (port.link.stats(), port.link.packets_inside() as u64);
            inside += packets;
            copies += stats.duplicated_packets;
            dropped += stats.dropped_packets();
            let came_in = stats.offered_packets + stats.duplicated_packets;
            let went_out = stats.delivered_packets + stats.dropped_packets() + packets;
            if came_in != went_out {
                faults.push(format!("port {index}: {came_in} packets went in, {went_out} are accounted for"));
            }
        }
        let rules = self.rules.iter().filter_map(|node| node.rule.as_deref());
        inside += rules.map(|rule| rule.packets_inside() as u64).sum::<u64>();
        inside += self.media.iter().map(|shared| shared.medium.frames_inside() as u64).sum::<u64>();
        if self.pool.len() as u64 != inside + self.local.len() as u64 {
            faults.push(format!("{} packets in the pool, {inside} in links", self.pool.len()));
        }
        let counters = &self.counters;
        let came = counters.sent + counters.copied + counters.returned_by_nodes + copies;
        let ended = counters.delivered
            + counters.corrupted
            + counters.no_route
            + counters.unheard
            + counters.acknowledged;
        let gone = ended + counters.taken_by_nodes + dropped + inside;
        if came != gone {
            faults.push(format!("{came} packets came into the network, {gone} are accounted for"));
        }
        faults
    }
}
