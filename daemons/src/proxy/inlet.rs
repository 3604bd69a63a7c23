//! One packet into the core: from the kernel on its way to a receiver, or from a member on its way to a sender.
use super::Proxy;
use crate::counters::sealed_refusal;
use crate::device;
use crate::icmp;
use crate::tunnel::control;
use crate::tunnel::socket::{Frame, FrameError};
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::BATCH_PACKETS;
use prismux_linux::packet::PacketBuf;
use prismux_prism::LinkId;
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use prismux_wire::gre::ether_type;
use prismux_wire::{IpPacket, TcpPacket, flow_hash};
use std::io;
use std::net::IpAddr;

impl Proxy {
    /// One batch from the kernel.
    pub(super) fn read_packets(&mut self, clock: Clock) -> io::Result<()> {
        for _ in 0..BATCH_PACKETS {
            let Some(packet) = device::read(&self.outlet.tun, &self.outlet.pool)? else { break };
            if let Err(reason) = self.data(clock.now(), packet) {
                self.outlet.drops.count(reason);
            }
        }
        Ok(())
    }

    fn data(&mut self, now: Instant, mut packet: PacketBuf) -> Result<(), DropReason> {
        let ip = IpPacket::parse(&packet).map_err(|_| DropReason::MalformedPacket)?;
        if !self.is_receiver(ip.header.destination) {
            return Err(DropReason::ForeignDestination);
        }
        match TcpPacket::from_ip(ip, &packet) {
            Ok(tcp) => {
                device::clamp_syn(&mut packet, &tcp.header, self.inner_mtu_bytes);
                self.outlet.record(|recorder| recorder.from_sender(now, &packet));
                self.core.handle_data(now, tcp.flow(), &tcp.header, tcp.payload_bytes(), packet);
            }
            // Another protocol, a fragment, or a segment that its receiver must judge: whole, by flow.
            Err(_) => {
                let hash = flow_hash(&ip, &packet);
                self.outlet.record(|recorder| recorder.from_sender(now, &packet));
                self.core.handle_opaque(hash, packet);
            }
        }
        self.drain(now);
        Ok(())
    }

    /// One batch from a tunnel socket.
    pub(super) fn read_frames(&mut self, index: usize, clock: Clock) -> io::Result<()> {
        // Taken out for the time being: its frames borrow it while the rest of the proxy handles them.
        let mut receivers = std::mem::take(&mut self.receivers);
        let Some(socket) = receivers.get_mut(index) else {
            self.receivers = receivers;
            return Ok(());
        };
        let received = socket.receive(|frame| match frame {
            Ok(frame) => self.frame(clock.now(), &frame),
            Err(FrameError::TooLong) => self.outlet.drops.count(DropReason::TooLong),
            Err(FrameError::Malformed(_)) => self.outlet.drops.count(DropReason::MalformedTunnel),
            Err(FrameError::Sealed(refusal)) => self.outlet.drops.count(sealed_refusal(refusal)),
        });
        self.receivers = receivers;
        self.session_events(clock.now());
        self.write_receipts(clock.now());
        received.map(drop)
    }

    fn frame(&mut self, now: Instant, frame: &Frame<'_>) {
        match frame.protocol {
            control::PROTOCOL_TYPE => self.control(now, frame),
            ether_type::IPV4 | ether_type::IPV6 => {
                let Some(link) = self.outlet.members.heard(now, frame.peer, frame.inner.len()) else {
                    self.outlet.drops.count(DropReason::UnknownPeer);
                    return self.challenge_known(now, frame.peer);
                };
                self.outlet.homes.arrived(now, link, frame);
                if let Err(reason) = self.reverse(now, link, frame) {
                    self.outlet.drops.count(reason);
                }
            }
            _ => self.outlet.drops.count(DropReason::OtherProtocol),
        }
    }

    /// A packet from a receiver.
    fn reverse(&mut self, now: Instant, link: LinkId, frame: &Frame<'_>) -> Result<(), DropReason> {
        let ip = IpPacket::parse(frame.inner).map_err(|_| DropReason::MalformedPacket)?;
        // ICMP errors come from routers on the way; nothing else comes from where no receiver is.
        if !self.is_receiver(ip.header.source) && !icmp::is_error(&ip, frame.inner) {
            return Err(DropReason::ForeignSource);
        }
        if self.is_receiver(ip.header.source) && !self.outlet.is_behind(frame.peer, Some(ip.header.source)) {
            return Err(DropReason::ForeignSource);
        }
        let inner = frame.inner.get(..ip.total_bytes).ok_or(DropReason::MalformedPacket)?;
        let mut packet = self.outlet.pool.copy_of(inner).ok_or(DropReason::TooLong)?;
        if !device::carry_ecn_over(&mut packet, ip.header.ecn, frame.outer_ecn) {
            return Err(DropReason::CongestionMark);
        }
        let Ok(tcp) = TcpPacket::from_ip(ip, &packet) else {
            self.outlet.hand_to_kernel(&packet);
            return Ok(());
        };
        device::clamp_syn(&mut packet, &tcp.header, self.inner_mtu_bytes);
        self.outlet.record(|recorder| recorder.from_member(now, link, &packet));
        self.core.handle_reverse(now, tcp.flow().reversed(), &tcp.header, tcp.payload_bytes(), packet);
        self.drain(now);
        Ok(())
    }

    fn is_receiver(&self, address: IpAddr) -> bool {
        self.config.receivers.iter().any(|prefix| prefix.contains(address))
    }
}
