//! Packets of the layer above.
use crate::dsdv::Dsdv;
use crate::update::DsdvHeader;
use core::net::Ipv4Addr;
use prismux_routing::{DATA_HOP_LIMIT, DropReason, NextHop, Packet};

impl<P> Dsdv<P> {
    pub(crate) fn originate(&mut self, destination: Ipv4Addr, payload: P) {
        self.outbox.statistics.originated_packets += 1;
        if destination == self.address {
            return self.outbox.deliver(self.address, 0, payload);
        }
        let packet = Packet {
            source: self.address,
            destination,
            identification: 0,
            hop_limit: DATA_HOP_LIMIT,
            header: DsdvHeader::Data,
            payload: Some(payload),
        };
        if destination == Ipv4Addr::BROADCAST {
            return self.outbox.send(NextHop::Broadcast, packet);
        }
        self.send_or_wait(packet);
    }

    /// Takes a packet that came from a neighbour.
    pub(crate) fn take_data(&mut self, packet: Packet<DsdvHeader, P>) {
        let Some(packet) = self.outbox.arrive(self.address, packet) else { return };
        self.outbox.statistics.forwarded_packets += 1;
        self.send_or_wait(packet);
    }

    /// A packet that a neighbour did not take goes another way, or waits for one.
    pub(crate) fn send_again(&mut self, packet: Packet<DsdvHeader, P>) {
        if packet.payload.is_some() {
            if self.config.link_layer_feedback {
                self.send_or_wait(packet);
            } else {
                self.outbox.discard(packet, DropReason::LinkFailure);
            }
        }
    }

    fn send_or_wait(&mut self, packet: Packet<DsdvHeader, P>) {
        match self.next_hop(packet.destination) {
            Some(next_hop) => self.outbox.send(NextHop::Neighbour(next_hop), packet),
            None => {
                if let Some(crowded_out) = self.queue.push(packet.destination, packet) {
                    self.outbox.discard(crowded_out, DropReason::BufferFull);
                }
            }
        }
    }

    /// Packets for `destination`, which is in reach now, leave.
    pub(crate) fn release(&mut self, destination: Ipv4Addr) {
        for packet in self.queue.take(destination) {
            self.send_or_wait(packet);
        }
    }
}
