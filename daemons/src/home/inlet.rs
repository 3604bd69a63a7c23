//! One packet into the core: from the kernel on its way to the internet, or from the gateway.
use super::Home;
use crate::carrier::batches::Carrier;
use crate::counters::DropCounters;
use crate::tunnel::socket::{Frame, TunnelReceiver};
use crate::tunnel::{control, repairs};
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
            ether_type::IPV4 | ether_type::IPV6 => {
                let delivered = self.delivery(now, socket, frame);
                self.recover(now, socket, frame);
                delivered
            }
            repairs::PROTOCOL_TYPE => {
                let uplink = self.outlet.uplinks.get_mut(socket).ok_or(DropReason::NoLink)?;
                uplink.receipts.repair(now, frame)?;
                self.recover(now, socket, frame);
                Ok(())
            }
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
        if !uplink.receipts.arrived(now, frame) {
            return Ok(());
        }
        uplink.registration.note_delivery(now);
        self.came_at_rest(now, index);
        let link = LinkId(index as u8);
        self.striping.inbound(now, link, ip, frame, &mut self.outlet)
    }

    /// Packets that repairs have given back now that `frame` has come.
    fn recover(&mut self, now: Instant, index: usize, frame: &Frame<'_>) {
        while let Some(packet) =
            self.outlet.uplinks.get_mut(index).and_then(|uplink| uplink.receipts.poll_recovered(now))
        {
            let given_back = packet.frame(frame.peer).map_err(|_| DropReason::MalformedTunnel);
            if let Err(reason) = given_back.and_then(|frame| self.delivery(now, index, &frame)) {
                self.outlet.drops.count(reason);
            }
        }
    }

    fn is_own(&self, address: IpAddr) -> bool {
        self.config.addresses.contains(&address)
    }
}
