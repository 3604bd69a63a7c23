//! One packet into a community's core: from the kernel on its way to a receiver, or from a member on its way to a
//! sender.
use super::Proxy;
use super::community::Turn;
use crate::carrier::batches::Carrier;
use crate::counters::DropCounters;
use crate::icmp;
use crate::tunnel::control::Message;
use crate::tunnel::socket::{Frame, TunnelReceiver};
use crate::tunnel::{control, repairs};
use prismux_linux::offload::OffloadTun;
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_prism::LinkId;
use prismux_sharing::Carried;
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use prismux_wire::IpPacket;
use prismux_wire::gre::ether_type;

impl Carrier for Proxy {
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
        let community = self.communities.of_receiver(ip.header.destination);
        let Some(mut turn) = community.and_then(|index| self.turn(index)) else {
            return Err(DropReason::ForeignDestination);
        };
        let (striping, mut way) = turn.way();
        striping.outbound(now, ip, packet, &mut way);
        Ok(())
    }

    fn frame(&mut self, now: Instant, _socket: usize, frame: &Frame<'_>) -> Result<(), DropReason> {
        let index = self.communities.of_peer(frame.peer);
        match frame.protocol {
            control::PROTOCOL_TYPE => self.control(now, index, frame),
            ether_type::IPV4 | ether_type::IPV6 | repairs::PROTOCOL_TYPE => {
                self.delivery(now, index, frame)?
            }
            _ => return Err(DropReason::OtherProtocol),
        }
        Ok(())
    }
}

impl Proxy {
    fn control(&mut self, now: Instant, index: usize, frame: &Frame<'_>) {
        if Message::is_settlement(frame.inner)
            && let Err(reason) = self.settlement(now, frame)
        {
            self.outlet.drops.count(reason);
        }
        if let Some(mut turn) = self.turn(index) {
            if !Message::is_settlement(frame.inner) {
                turn.control(now, frame);
            }
            if let Some(link) = turn.links.members.link_of(frame.peer) {
                turn.links.members.carry(link, came(frame));
            }
        }
    }

    /// A packet from a receiver, or a repair of such packets.
    fn delivery(&mut self, now: Instant, index: usize, frame: &Frame<'_>) -> Result<(), DropReason> {
        let Some(mut turn) = self.turn(index) else { return Err(DropReason::UnknownPeer) };
        let Some(link) = turn.links.members.heard(now, frame.peer, frame.inner.len()) else {
            turn.challenge_known(now, frame.peer);
            return Err(DropReason::UnknownPeer);
        };
        turn.links.members.carry(link, came(frame));
        let handled = match frame.protocol {
            repairs::PROTOCOL_TYPE => turn.links.homes.repair(now, link, frame),
            _ if turn.links.homes.arrived(now, link, frame) => self.returned(now, (index, link), frame),
            _ => Ok(()),
        };
        while let Some(packet) = self.turn(index).and_then(|turn| turn.links.homes.poll_recovered(now, link))
        {
            let given_back = packet.frame(frame.peer).map_err(|_| DropReason::MalformedTunnel);
            if let Err(reason) = given_back.and_then(|frame| self.returned(now, (index, link), &frame)) {
                self.outlet.drops.count(reason);
            }
        }
        handled
    }

    /// A packet from a receiver, for a community and from the member of one of its links.
    fn returned(
        &mut self,
        now: Instant,
        (index, link): (usize, LinkId),
        frame: &Frame<'_>,
    ) -> Result<(), DropReason> {
        let source = IpPacket::parse(frame.inner).map(|ip| ip.header.source);
        let of_source = source.ok().and_then(|source| self.communities.of_receiver(source));
        let Some(mut turn) = self.turn(index) else { return Err(DropReason::UnknownPeer) };
        turn.reverse(now, link, frame, of_source.map(|source| source == index))
    }
}

/// What a frame is on its member's line.
fn came(frame: &Frame<'_>) -> Carried {
    Carried { forward_bytes: 0, return_bytes: frame.line_bytes() }
}

impl Turn<'_> {
    /// A packet from a member, whose source is a receiver of this community (`Some(true)`), of another, or none.
    fn reverse(
        &mut self,
        now: Instant,
        link: LinkId,
        frame: &Frame<'_>,
        is_own: Option<bool>,
    ) -> Result<(), DropReason> {
        let ip = IpPacket::parse(frame.inner).map_err(|_| DropReason::MalformedPacket)?;
        let may_pass = match is_own {
            Some(is_own) => is_own && self.outlet.is_behind(frame.peer, Some(ip.header.source)),
            // ICMP errors come from routers on the way; nothing else comes from where no receiver is.
            None => icmp::is_error(&ip, frame.inner),
        };
        if !may_pass {
            return Err(DropReason::ForeignSource);
        }
        let (striping, mut way) = self.way();
        striping.inbound(now, link, ip, frame, &mut way)
    }
}
