//! One packet through the proxy: classification, the core's verdict, encapsulation; and the way back.
use super::ProxyDaemon;
use super::members::Registration;
use crate::clock::Clock;
use crate::counters::Drop;
use crate::daemon;
use crate::device;
use crate::event_loop::BATCH_PACKETS;
use crate::packet::PacketBuf;
use crate::tunnel::Peer;
use crate::tunnel::control::{self, ControlError, Message};
use crate::tunnel::socket::{Frame, FrameError};
use prismux_prism::{AckRewrite, DataRewrite, DropReason, LinkConfig, LinkId, SackRewrite, Verdict};
use prismux_units::{Duration, Instant};
use prismux_wire::gre::ether_type;
use prismux_wire::ip::protocol;
use prismux_wire::rewrite::clamp_mss;
use prismux_wire::{Ecn, IpPacket, SegmentRewrite, TcpFlags, TcpHeader, TcpPacket, flow_hash};
use std::io;
use std::net::IpAddr;

/// Strangers are challenged at most this often, so that nobody can use the proxy to flood somebody else.
const CHALLENGE_INTERVAL: Duration = Duration::from_millis(50);

impl ProxyDaemon {
    /// One batch from the kernel, on its way to receivers.
    pub(super) fn read_tun(&mut self, clock: Clock) -> io::Result<()> {
        for _ in 0..BATCH_PACKETS {
            let Some(packet) = device::read(&self.tun, &self.pool)? else { break };
            self.data(clock.now(), packet);
        }
        Ok(())
    }

    fn data(&mut self, now: Instant, mut packet: PacketBuf) {
        let Ok(ip) = IpPacket::parse(&packet) else {
            return self.drops.count(Drop::MalformedPacket);
        };
        if !self.is_receiver(ip.header.destination) {
            return self.drops.count(Drop::ForeignDestination);
        }
        match TcpPacket::from_ip(ip, &packet) {
            Ok(tcp) => {
                self.clamp(&mut packet, &tcp.header);
                let wire_bytes = (ip.total_bytes + self.config.tunnel.overhead_bytes()) as u32;
                self.core.handle_data(now, tcp.flow(), &tcp.header, tcp.payload_bytes(), wire_bytes, packet);
            }
            // Another protocol, a fragment, or a segment that its receiver must judge: whole, by flow.
            Err(_) => {
                let hash = flow_hash(&ip, &packet);
                self.core.handle_opaque(now, hash, packet);
            }
        }
        self.drain(now);
    }

    /// One batch from a tunnel socket.
    pub(super) fn read_tunnel(&mut self, index: usize, clock: Clock) -> io::Result<()> {
        // Taken out for the time being: its frames borrow it while the rest of the proxy handles them.
        let mut receivers = std::mem::take(&mut self.receivers);
        let received = receivers[index].receive(|frame| match frame {
            Ok(frame) => self.frame(clock.now(), &frame),
            Err(FrameError::TooLong) => self.drops.count(Drop::TooLong),
            Err(FrameError::Malformed(_)) => self.drops.count(Drop::MalformedTunnel),
        });
        self.receivers = receivers;
        received.map(drop)
    }

    fn frame(&mut self, now: Instant, frame: &Frame<'_>) {
        match frame.protocol {
            control::PROTOCOL_TYPE => self.control(now, frame),
            ether_type::IPV4 | ether_type::IPV6 => {
                if self.members.heard(now, frame.peer, frame.inner.len()).is_none() {
                    self.drops.count(Drop::UnknownPeer);
                    return self.challenge(now, frame.peer);
                }
                if let Err(reason) = self.reverse(now, frame) {
                    self.drops.count(reason);
                }
            }
            _ => self.drops.count(Drop::OtherProtocol),
        }
    }

    /// A packet from a receiver, on its way to a sender.
    fn reverse(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), Drop> {
        let ip = IpPacket::parse(frame.inner).map_err(|_| Drop::MalformedPacket)?;
        let is_icmp = matches!(ip.header.protocol, protocol::ICMP | protocol::ICMPV6);
        // ICMP errors come from routers on the way.
        if !is_icmp && !self.is_receiver(ip.header.source) {
            return Err(Drop::ForeignSource);
        }
        let mut packet = self.pool.copy_of(&frame.inner[..ip.total_bytes]).ok_or(Drop::TooLong)?;
        if !device::carry_ecn_over(&mut packet, ip.header.ecn, frame.outer_ecn) {
            return Err(Drop::CongestionMark);
        }
        let Ok(tcp) = TcpPacket::from_ip(ip, &packet) else {
            device::write(&self.tun, &packet, &mut self.drops);
            return Ok(());
        };
        self.clamp(&mut packet, &tcp.header);
        self.core.handle_reverse(now, tcp.flow().reversed(), &tcp.header, tcp.payload_bytes(), packet);
        self.drain(now);
        Ok(())
    }

    fn is_receiver(&self, address: IpAddr) -> bool {
        self.config.receivers.iter().any(|prefix| prefix.contains(address))
    }

    /// Lowers the MSS of a SYN so that full segments fit the tunnel.
    fn clamp(&self, packet: &mut PacketBuf, header: &TcpHeader) {
        if header.flags.contains(TcpFlags::SYN) {
            let is_ipv6 = packet.first().is_some_and(|b| b >> 4 == 6);
            let headers_bytes = if is_ipv6 { 60 } else { 40 };
            let mss = u16::try_from(self.inner_mtu_bytes - headers_bytes).unwrap_or(u16::MAX);
            // Parsed before, so it cannot fail; an unchanged SYN would still work, by path MTU discovery.
            let _ = clamp_mss(packet.buffer_mut(), mss);
        }
    }

    /// Carries out what the core decided.
    pub(super) fn drain(&mut self, now: Instant) {
        while let Some(verdict) = self.core.poll_verdict() {
            match verdict {
                Verdict::Forward { link, packet, rewrite } => self.forward(now, link, packet, &rewrite),
                Verdict::Release { packet, rewrite } => self.release(packet, &rewrite),
                Verdict::Drop { reason, .. } => self.drops.count(match reason {
                    DropReason::NoLink => Drop::NoLink,
                    DropReason::RepeatedAck => Drop::RepeatedAck,
                    DropReason::StaleAck => Drop::StaleAck,
                }),
            }
        }
    }

    fn forward(&mut self, now: Instant, link: LinkId, mut packet: PacketBuf, rewrite: &DataRewrite) {
        if let Some(mss) = rewrite.mss_clamp {
            let _ = clamp_mss(packet.buffer_mut(), mss);
        }
        match self.members.sent(now, link, packet.len()) {
            Some(peer) => {
                let (protocol, ecn) = device::protocol_and_ecn(&packet);
                self.push(peer, protocol, ecn, packet);
            }
            None => self.drops.count(Drop::NoLink),
        }
    }

    fn release(&mut self, mut packet: PacketBuf, rewrite: &AckRewrite) {
        let length = packet.len();
        match to_bytes(rewrite).apply(packet.buffer_mut(), length) {
            Ok(length) => {
                packet.set_length(length);
                if let Some(mss) = rewrite.mss_clamp {
                    let _ = clamp_mss(packet.buffer_mut(), mss);
                }
                device::write(&self.tun, &packet, &mut self.drops);
            }
            Err(_) => self.drops.count(Drop::MalformedPacket),
        }
    }

    fn push(&mut self, peer: Peer, protocol: u16, ecn: Ecn, packet: PacketBuf) {
        let Some(index) = self.senders.iter().position(|s| s.transport() == peer.transport) else {
            return self.drops.count(Drop::NoLink);
        };
        if self.senders[index].is_full() {
            self.flush_sender(index);
        }
        self.senders[index].push(peer.address, protocol, ecn, packet);
    }

    /// Sends everything that is queued.
    pub(super) fn flush(&mut self) {
        for index in 0..self.senders.len() {
            self.flush_sender(index);
        }
    }

    fn flush_sender(&mut self, index: usize) {
        let (device, drops) = ((&self.tun, &self.pool), &mut self.drops);
        let overhead_bytes = self.config.tunnel.overhead_bytes();
        self.senders[index].flush(|error, to, packet| {
            daemon::send_failed(&error, to, &packet, overhead_bytes, device, drops);
        });
    }

    fn control(&mut self, now: Instant, frame: &Frame<'_>) {
        let Some(token) = &self.token else { return self.drops.count(Drop::BadToken) };
        let registration = match Message::parse(frame.inner, token) {
            Ok(Message::Hello(hello)) => {
                let registration = self.members.hello(now, frame.peer, &hello);
                if let Registration::Joined(link, _) = registration {
                    tracing::info!(member = hello.name, peer = %frame.peer, "member joined");
                    self.core.join(now, link, LinkConfig { name: hello.name, advertised_rate: hello.rate });
                }
                registration
            }
            Ok(Message::Bye(bye)) => self.members.bye(&bye),
            Ok(Message::Welcome(_) | Message::Challenge(_)) | Err(ControlError::Malformed) => {
                return self.drops.count(Drop::MalformedControl);
            }
            Err(ControlError::BadTag) => return self.drops.count(Drop::BadToken),
        };
        match registration {
            Registration::Joined(_, welcome) | Registration::Refreshed(_, welcome) => {
                self.reply(frame.peer, &Message::Welcome(welcome));
            }
            Registration::Repeat(challenge) => self.reply(frame.peer, &Message::Challenge(challenge)),
            Registration::Left(link) => {
                tracing::info!(peer = %frame.peer, %link, "member left");
                self.core.leave(now, link);
            }
            Registration::Ignored => self.drops.count(Drop::ReplayedControl),
            Registration::Full => self.drops.count(Drop::TooManyMembers),
        }
        self.drain(now);
    }

    /// Asks a stranger to register: after a restart that is how members are found again.
    fn challenge(&mut self, now: Instant, peer: Peer) {
        if now >= self.next_challenge {
            self.next_challenge = now + CHALLENGE_INTERVAL;
            self.reply(peer, &Message::Challenge(self.members.challenge()));
        }
    }

    fn reply(&mut self, peer: Peer, message: &Message) {
        let packet = self.token.as_ref().and_then(|token| self.pool.copy_of(&message.emit(token)));
        if let Some(packet) = packet {
            self.push(peer, control::PROTOCOL_TYPE, Ecn::NotEct, packet);
        }
    }
}

/// The core's verdict on an ACK as changes to bytes.
fn to_bytes(rewrite: &AckRewrite) -> SegmentRewrite {
    SegmentRewrite {
        ack: Some(rewrite.ack),
        window: Some(rewrite.window),
        tsval: rewrite.tsval,
        set_flags: rewrite.ecn_echo,
        sack: match rewrite.sack {
            SackRewrite::Keep => prismux_wire::SackRewrite::Keep,
            SackRewrite::Truncate(count) => prismux_wire::SackRewrite::Truncate(count),
            SackRewrite::Remove => prismux_wire::SackRewrite::Remove,
        },
        report: rewrite.report,
        ..SegmentRewrite::default()
    }
}
