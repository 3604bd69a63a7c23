//! One packet into the core: from the kernel on its way to the internet, or from the gateway.
use super::Home;
use crate::carrier::batches::Carrier;
use crate::counters::DropCounters;
use crate::tunnel::control;
use crate::tunnel::socket::{Frame, TunnelReceiver};
use prismux_linux::offload::OffloadTun;
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_prism::LinkId;
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use prismux_wire::IpPacket;
use prismux_wire::gre::ether_type;
use std::net::IpAddr;

impl Carrier for Home {
    fn device(&mut self) -> (&OffloadTun, &PacketPool, &mut DropCounters) {
        (&self.outlet.tun, &self.outlet.pool, &mut self.outlet.drops)
    }

    fn sockets(&mut self) -> &mut Vec<TunnelReceiver> {
        &mut self.receivers
    }

    fn count(&mut self, reason: DropReason) {
        self.outlet.drops.count(reason);
    }

    fn packet(&mut self, now: Instant, packet: PacketBuf) -> Result<(), DropReason> {
        let ip = IpPacket::parse(&packet).map_err(|_| DropReason::MalformedPacket)?;
        // The kernel's own multicast chatter on the device has another source.
        if !self.is_own(ip.header.source) {
            return Err(DropReason::ForeignSource);
        }
        self.striping.outbound(now, ip, packet, &mut self.outlet);
        Ok(())
    }

    fn frame(&mut self, now: Instant, socket: usize, frame: &Frame<'_>) -> Result<(), DropReason> {
        if let Some(uplink) = self.outlet.uplinks.get_mut(socket) {
            uplink.came(frame);
        }
        match frame.protocol {
            control::PROTOCOL_TYPE => self.control(now, socket, frame),
            ether_type::IPV4 | ether_type::IPV6 => self.delivery(now, socket, frame),
            _ => Err(DropReason::OtherProtocol),
        }
    }
}

impl Home {
    /// A packet for this box, or for a network behind it.
    fn delivery(&mut self, now: Instant, index: usize, frame: &Frame<'_>) -> Result<(), DropReason> {
        let ip = IpPacket::parse(frame.inner).map_err(|_| DropReason::MalformedPacket)?;
        if !self.is_own(ip.header.destination) {
            return Err(DropReason::ForeignDestination);
        }
        if self.is_own(ip.header.source) {
            return Err(DropReason::ForeignSource);
        }
        let Some(uplink) = self.outlet.uplinks.get_mut(index) else { return Err(DropReason::NoLink) };
        uplink.traffic.forward_packets += 1;
        uplink.traffic.forward_bytes += ip.total_bytes as u64;
        if let Some(number) = frame.number {
            uplink.receipts.arrived(now, number, frame.inner.len(), frame.outer_ecn);
        }
        uplink.registration.note_delivery(now);
        self.came_at_rest(now, index);
        let link = LinkId(index as u8);
        self.striping.inbound(now, link, ip, frame, &mut self.outlet)
    }

    fn is_own(&self, address: IpAddr) -> bool {
        self.config.addresses.contains(&address)
    }
}
