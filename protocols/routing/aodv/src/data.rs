//! Packets of the layer above.
use crate::aodv::Aodv;
use crate::message::AodvHeader;
use core::net::Ipv4Addr;
use prismux_routing::{DATA_HOP_LIMIT, DropReason, NextHop, Packet};
use prismux_units::Instant;

impl<P> Aodv<P> {
    pub(crate) fn originate(&mut self, now: Instant, destination: Ipv4Addr, payload: P) {
        self.outbox.statistics.originated_packets += 1;
        if destination == self.address {
            return self.outbox.deliver(self.address, 0, payload);
        }
        let packet = Packet {
            source: self.address,
            destination,
            identification: 0,
            hop_limit: DATA_HOP_LIMIT,
            header: AodvHeader::Data,
            payload: Some(payload),
        };
        if destination == Ipv4Addr::BROADCAST {
            return self.outbox.send(NextHop::Broadcast, packet);
        }
        self.send_or_wait(now, packet);
    }

    /// Sends a packet of the host's own over the route that is known, or keeps it and looks for one.
    pub(crate) fn send_or_wait(&mut self, now: Instant, packet: Packet<AodvHeader, P>) {
        if let Some(packet) = self.send_over_route(now, packet) {
            let destination = packet.destination;
            self.wait(now, packet);
            self.search(now, destination);
        }
    }

    /// Keeps a packet until there is a route.
    pub(crate) fn wait(&mut self, now: Instant, packet: Packet<AodvHeader, P>) {
        let destination = packet.destination;
        if let Some(oldest) = self.buffer.push(now, destination, packet) {
            self.outbox.discard(oldest, DropReason::BufferFull);
        }
    }

    /// Takes a packet that came from the neighbour `from`.
    pub(crate) fn take_data(&mut self, now: Instant, from: Ipv4Addr, packet: Packet<AodvHeader, P>) {
        if packet.payload.is_some() {
            let lifetime = now + self.config.active_route_timeout;
            // The way back is in use too (section 6.2).
            self.table.extend(now, packet.source, lifetime);
            self.table.extend(now, from, lifetime);
        }
        let Some(packet) = self.outbox.arrive(self.address, packet) else { return };
        let destination = packet.destination;
        let Some(packet) = self.send_over_route(now, packet) else {
            self.outbox.statistics.forwarded_packets += 1;
            return;
        };
        if self.table.get(now, destination).is_some_and(|route| route.is_repairing) {
            return self.wait(now, packet);
        }
        self.tell_no_route(now, from, destination);
        self.outbox.discard(packet, DropReason::NoRoute);
    }

    /// Sends a packet over a valid route, which thereby holds longer; without one the packet comes back.
    fn send_over_route(
        &mut self,
        now: Instant,
        packet: Packet<AodvHeader, P>,
    ) -> Option<Packet<AodvHeader, P>> {
        let lifetime = now + self.config.active_route_timeout;
        let Some(route) = self.table.valid(now, packet.destination) else { return Some(packet) };
        route.until = route.until.max(lifetime);
        let next_hop = route.next_hop;
        self.table.extend(now, next_hop, lifetime);
        self.outbox.send(NextHop::Neighbour(next_hop), packet);
        None
    }

    /// Packets that wait for `destination` leave if there is a route now.
    pub(crate) fn release(&mut self, now: Instant, destination: Ipv4Addr) {
        if self.buffer.waits_for(destination, |_| true) && self.table.valid(now, destination).is_some() {
            for packet in self.buffer.take(destination) {
                // The route was valid a moment ago.
                if let Some(packet) = self.send_over_route(now, packet) {
                    self.wait(now, packet);
                }
            }
        }
    }
}
