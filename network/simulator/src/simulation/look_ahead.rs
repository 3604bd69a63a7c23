//! Looking ahead: what the packets of the next few microseconds will need is fetched together.
//!
//! With thousands of flows the state that a packet needs (itself, its endpoint, the port it leaves by) is seldom in the near
//! caches, and its event would wait for one piece after the other. The arrivals of a slot of the event queue are known
//! when it opens, and independent of each other, so a word of each piece is read beforehand: the waits overlap.
//! Nothing depends on what is read.
use super::Simulation;
use crate::endpoint::Endpoint;
use crate::fabric::Target;
use crate::ids::{EndpointId, PortId};
use std::hint::black_box;

/// With fewer events in a slot there is little to overlap, and few flows fit into the caches anyway.
const WORTH_IT: usize = 4;

impl Simulation {
    /// Reads ahead for the slot that has just been opened.
    #[inline]
    pub(super) fn look_ahead(&self) {
        if self.fabric.queue.opened().len() >= WORTH_IT {
            self.read_ahead();
        }
    }

    /// One reading at the end keeps all others from being optimised away, and lets none wait for another.
    #[inline(never)]
    fn read_ahead(&self) {
        let read = self.fabric.queue.opened().fold(0, |read, target| match target {
            Target::Port(port) => read ^ self.read_for_arrival(port),
            _ => read,
        });
        black_box(read);
    }

    #[inline]
    fn read_for_arrival(&self, port: PortId) -> u64 {
        let fabric = &self.fabric;
        let Some(next) = fabric.ports[port.index()].link.peek() else { return 0 };
        let end = fabric.ends[port.index()];
        if next.towards == end.node {
            let packet = fabric.pool.get(next.packet);
            let endpoint = end.only().unwrap_or(packet.endpoint);
            u64::from(packet.payload_bytes) ^ self.read_endpoint(endpoint)
        } else if let Some(onward) = fabric.routes.next(end.node, next.towards) {
            fabric.ports[onward.index()].link.delivered_bytes()
        } else {
            0
        }
    }

    #[inline]
    fn read_endpoint(&self, endpoint: EndpointId) -> u64 {
        let Endpoint::Tcp(tcp) = &self.endpoints[endpoint.index()] else { return 0 };
        let exit = tcp.site.exit.map_or(0, |exit| self.fabric.ports[exit.index()].link.delivered_bytes());
        let connection = tcp.connection.as_ref().map_or(0, |connection| {
            connection.stream_written() ^ connection.bytes_received_in_order() ^ connection.engine().acked()
        });
        tcp.next_mark ^ exit ^ connection
    }

    /// Notes at the ends of links which nodes have a single endpoint.
    pub(crate) fn name_residents(&mut self) {
        let mut residents = vec![(0u32, None); self.fabric.roles.len()];
        for (index, endpoint) in self.endpoints.iter_mut().enumerate() {
            let resident = &mut residents[endpoint.site_mut().node.index()];
            *resident = (resident.0 + 1, Some(EndpointId(index as u32)));
        }
        for end in &mut self.fabric.ends {
            let (count, endpoint) = residents[end.node.index()];
            if let (1, Some(endpoint)) = (count, endpoint) {
                end.set_only(endpoint);
            }
        }
    }
}
