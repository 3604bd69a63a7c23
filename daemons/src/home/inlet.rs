//! One packet into the core: from the kernel on its way to the internet, or from the gateway.
use super::Home;
use crate::counters::sealed_refusal;
use crate::device;
use crate::tunnel::control;
use crate::tunnel::socket::{Frame, FrameError};
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::BATCH_PACKETS;
use prismux_linux::packet::PacketBuf;
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use prismux_wire::gre::ether_type;
use prismux_wire::{IpPacket, TcpPacket, flow_hash};
use std::io;
use std::net::IpAddr;

impl Home {
    /// One batch from the kernel.
    pub(super) fn read_packets(&mut self, clock: Clock) -> io::Result<()> {
        let mut any = false;
        for _ in 0..BATCH_PACKETS {
            let Some(packet) = device::read(&self.outlet.tun, &self.outlet.pool)? else { break };
            any = true;
            if let Err(reason) = self.data(clock.now(), packet) {
                self.outlet.drops.count(reason);
            }
        }
        if any {
            self.note_traffic(clock.now());
        }
        Ok(())
    }

    fn data(&mut self, now: Instant, mut packet: PacketBuf) -> Result<(), DropReason> {
        let ip = IpPacket::parse(&packet).map_err(|_| DropReason::MalformedPacket)?;
        // The kernel's own multicast chatter on the device has another source.
        if !self.is_own(ip.header.source) {
            return Err(DropReason::ForeignSource);
        }
        match TcpPacket::from_ip(ip, &packet) {
            Ok(tcp) => {
                device::clamp_syn(&mut packet, &tcp.header, self.inner_mtu_bytes);
                self.core.handle_data(now, tcp.flow(), &tcp.header, tcp.payload_bytes(), packet);
            }
            // Another protocol, a fragment, or a segment that its receiver must judge: whole, by flow.
            Err(_) => self.core.handle_opaque(flow_hash(&ip, &packet), packet),
        }
        self.drain(now);
        Ok(())
    }

    /// One batch from the gateway over the uplink `index`.
    pub(super) fn read_frames(&mut self, index: usize, clock: Clock) -> io::Result<()> {
        // Taken out for the time being: its frames borrow it while the rest of the home handles them.
        let mut receivers = std::mem::take(&mut self.receivers);
        let Some(socket) = receivers.get_mut(index) else {
            self.receivers = receivers;
            return Ok(());
        };
        let received = socket.receive(|frame| {
            let handled = match frame {
                Ok(frame) => self.frame(clock.now(), index, &frame),
                Err(FrameError::TooLong) => Err(DropReason::TooLong),
                Err(FrameError::Malformed(_)) => Err(DropReason::MalformedTunnel),
                Err(FrameError::Sealed(refusal)) => Err(sealed_refusal(refusal)),
            };
            if let Err(reason) = handled {
                self.outlet.drops.count(reason);
            }
        });
        self.receivers = receivers;
        self.session_events(clock.now(), index);
        self.write_receipts(clock.now());
        received.map(drop)
    }

    fn frame(&mut self, now: Instant, index: usize, frame: &Frame<'_>) -> Result<(), DropReason> {
        if let Some(uplink) = self.outlet.uplinks.get_mut(index) {
            uplink.liveness.heard();
        }
        match frame.protocol {
            control::PROTOCOL_TYPE => self.control(now, index, frame),
            ether_type::IPV4 | ether_type::IPV6 => self.delivery(now, index, frame),
            _ => Err(DropReason::OtherProtocol),
        }
    }

    /// A packet for this box, or for a network behind it.
    fn delivery(&mut self, now: Instant, index: usize, frame: &Frame<'_>) -> Result<(), DropReason> {
        let ip = IpPacket::parse(frame.inner).map_err(|_| DropReason::MalformedPacket)?;
        let inner = frame.inner.get(..ip.total_bytes).ok_or(DropReason::MalformedPacket)?;
        if !self.is_own(ip.header.destination) {
            return Err(DropReason::ForeignDestination);
        }
        if self.is_own(ip.header.source) {
            return Err(DropReason::ForeignSource);
        }
        let Some(uplink) = self.outlet.uplinks.get_mut(index) else { return Err(DropReason::NoLink) };
        uplink.traffic.forward_packets += 1;
        uplink.traffic.forward_bytes += inner.len() as u64;
        if let Some(number) = frame.number {
            uplink.receipts.arrived(now, number, frame.inner.len(), frame.outer_ecn);
        }
        uplink.registration.note_traffic(now);
        let mut packet = self.outlet.pool.copy_of(inner).ok_or(DropReason::TooLong)?;
        if !device::carry_ecn_over(&mut packet, ip.header.ecn, frame.outer_ecn) {
            return Err(DropReason::CongestionMark);
        }
        let Ok(tcp) = TcpPacket::from_ip(ip, &packet) else {
            self.outlet.hand_to_kernel(&packet);
            return Ok(());
        };
        device::clamp_syn(&mut packet, &tcp.header, self.inner_mtu_bytes);
        self.core.handle_reverse(now, tcp.flow().reversed(), &tcp.header, tcp.payload_bytes(), packet);
        self.drain(now);
        Ok(())
    }

    fn is_own(&self, address: IpAddr) -> bool {
        self.config.addresses.contains(&address)
    }
}
