//! Looking ahead: what the packets of the next few microseconds will need is fetched together.
//!
//! With thousands of flows the state that a packet needs (itself, its endpoint, the port it leaves by) is seldom in
//! the near caches, and its event would wait for one piece after the other. The arrivals of a slot of the event queue
//! are known when it opens, and independent of each other, so a word of each piece is read beforehand: the waits
//! overlap. Nothing depends on what is read.
use super::Simulation;
use crate::core::ids::{EndpointId, Place, PortId};
use crate::network::Target;
use std::hint::black_box;

/// With fewer events in a slot there is little to overlap, and few flows fit into the caches anyway.
const WORTH_IT: usize = 4;

impl Simulation {
    /// Reads ahead for the slot that has just been opened.
    #[inline]
    pub(super) fn prefetch(&self) {
        if self.network.queue.opened().len() >= WORTH_IT {
            self.read_ahead();
        }
    }

    /// One reading at the end keeps all others from being optimised away, and lets none wait for another.
    #[inline(never)]
    fn read_ahead(&self) {
        let read = self.network.queue.opened().fold(0, |read, target| match target {
            Target::Port(port) => read ^ self.read_for_arrival(port),
            _ => read,
        });
        black_box(read);
    }

    #[inline]
    fn read_for_arrival(&self, port: PortId) -> u64 {
        let network = &self.network;
        let Some(next) = network.ports[port.index()].link.peek() else { return 0 };
        let end = network.ends[port.index()];
        if next.towards == end.node {
            let packet = network.pool.get(next.packet);
            let endpoint = end.only().unwrap_or(packet.endpoint);
            u64::from(packet.payload_bytes) ^ self.read_endpoint(endpoint)
        } else if let Some(onward) = network.routes.next(end.node, next.towards) {
            network.ports.get(onward.index()).map_or(0, |port| port.link.delivered_bytes())
        } else {
            0
        }
    }

    #[inline]
    fn read_endpoint(&self, endpoint: EndpointId) -> u64 {
        let Place::Tcp { pair, end } = endpoint.place() else { return 0 };
        let tcp = &self.flows.tcp[pair].ends[end];
        let exit = tcp.site.exit.and_then(|exit| self.network.ports.get(exit.index()));
        let exit = exit.map_or(0, |port| port.link.delivered_bytes());
        let connection = tcp.connection.as_ref().map_or(0, |connection| {
            connection.stream_written() ^ connection.bytes_received_in_order() ^ connection.engine().acked()
        });
        tcp.next_mark ^ exit ^ connection
    }

    /// Notes at the ends of links which nodes have a single endpoint.
    pub(crate) fn name_residents(&mut self) {
        let mut residents = vec![(0u32, None); self.network.forwarding.len()];
        for site in self.flows.sites_mut() {
            let resident = &mut residents[site.node.index()];
            *resident = (resident.0 + 1, Some(site.own));
        }
        for end in &mut self.network.ends {
            let (count, endpoint) = residents[end.node.index()];
            if let (1, Some(endpoint)) = (count, endpoint)
                && matches!(endpoint.place(), Place::Tcp { .. })
            {
                end.set_only(endpoint);
            }
        }
    }
}
