//! Carrying out the cores' verdicts: into a tunnel, or to the kernel.
use super::community::Links;
use crate::carrier::rewrite::{change_ack, change_data};
use crate::carrier::{Core, Exits};
use crate::config::SealedPeer;
use crate::counters::DropCounters;
use crate::events::{self, Events};
use crate::tunnel::sealing::Sealing;
use crate::tunnel::socket::TunnelSender;
use crate::tunnel::{Peer, Transport};
use crate::{daemon, device};
use prismux_endpoint::Host;
use prismux_fec::Shard;
use prismux_linux::offload::OffloadTun;
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_prism::{AckRewrite, DataRewrite, LinkId, ProxyEvent, Verdict};
use prismux_prism_trace::{ack_released, drop_reason, link_event};
use prismux_sharing::Carried;
use prismux_trace::event::{DropReason, Event, EventSink, PacketSummary};
use prismux_units::Instant;
use prismux_wire::gre::{KEY_BYTES, SEQUENCE_BYTES};
use prismux_wire::{Ecn, GreHeader, TcpPacket};
use std::net::IpAddr;

/// Everything that packets leave by, whatever their community.
pub(super) struct Outlet {
    /// Towards senders.
    pub tun: OffloadTun,
    /// Buffers for packets of our own.
    pub pool: PacketPool,
    /// Towards members, one for each transport.
    pub senders: Vec<TunnelSender>,
    /// What went nowhere.
    pub drops: DropCounters,
    /// Bytes that the tunnel with the largest headers adds.
    pub overhead_bytes: usize,
    /// Members that have keys.
    pub peers: Vec<SealedPeer>,
    /// What the proxy is called in its events.
    pub name: String,
    /// What it tells.
    pub events: Events,
}

/// Where a community's core is drained to.
pub(super) struct Way<'a> {
    pub links: &'a mut Links,
    pub outlet: &'a mut Outlet,
}

impl Host<Core> for Way<'_> {
    fn transmit(&mut self, now: Instant, verdict: Verdict<PacketBuf>) {
        if events::packets_are_logged() {
            self.tell_verdict(now, &verdict);
        }
        match verdict {
            Verdict::Forward { link, packet, rewrite, position } => {
                self.forward(now, link, packet, &rewrite, position);
            }
            Verdict::Release { packet, rewrite } => self.release(now, packet, &rewrite),
            Verdict::Drop { packet, reason } => {
                self.links.record(|recorder| recorder.dropped(now, &packet, reason.name()));
                self.outlet.drops.count(drop_reason(reason));
            }
        }
    }

    fn event(&mut self, now: Instant, event: ProxyEvent) {
        let Some(member) = self.links.members.get(event.link()).map(|member| member.name.clone()) else {
            return;
        };
        let event = link_event(event, self.outlet.name.clone().into(), member.into());
        self.outlet.events.event(now, &event);
        self.links.record(|recorder| recorder.event(now, &event));
    }
}

impl Exits for Way<'_> {
    fn pool(&self) -> &PacketPool {
        &self.outlet.pool
    }

    fn hand_to_kernel(&mut self, packet: &[u8]) {
        self.outlet.hand_to_kernel(packet);
    }

    fn send(&mut self, now: Instant, link: LinkId, packet: PacketBuf, order: Option<u32>) {
        self.push(now, link, packet, None, order);
    }

    fn count(&mut self, reason: DropReason) {
        self.outlet.drops.count(reason);
    }

    fn note_outbound(&mut self, now: Instant, packet: &[u8]) {
        self.links.record(|recorder| recorder.from_sender(now, packet));
    }

    fn note_inbound(&mut self, now: Instant, link: LinkId, packet: &[u8]) {
        self.links.record(|recorder| recorder.from_member(now, link, packet));
    }
}

impl Way<'_> {
    /// Tells what the core decided about a packet.
    #[cold]
    fn tell_verdict(&mut self, now: Instant, verdict: &Verdict<PacketBuf>) {
        let (Verdict::Forward { packet, .. }
        | Verdict::Release { packet, .. }
        | Verdict::Drop { packet, .. }) = verdict;
        let tcp = TcpPacket::parse(packet).ok();
        let name = tcp.as_ref().map_or_else(|| "no TCP".to_owned(), |tcp| tcp.flow().to_string());
        let header = tcp.map(|tcp| tcp.header);
        let (node, flow) = (self.outlet.name.as_str().into(), name.as_str().into());
        let event = match verdict {
            Verdict::Forward { link, .. } => {
                let member = self.links.members.get(*link).map_or("", |member| &member.name).into();
                Event::PacketScheduled { node, flow, member }
            }
            Verdict::Release { rewrite, .. } => ack_released(node, flow, header.as_ref(), rewrite),
            Verdict::Drop { reason, packet } => Event::PacketDropped {
                at: node,
                from: None,
                reason: drop_reason(*reason),
                packet: PacketSummary::opaque(Some(&name), packet.len() as u32),
            },
        };
        self.outlet.events.event(now, &event);
    }

    fn forward(
        &mut self,
        now: Instant,
        link: LinkId,
        mut packet: PacketBuf,
        rewrite: &DataRewrite,
        position: Option<u32>,
    ) {
        if !rewrite.is_identity() {
            let length = packet.len();
            // Parsed when it came in, so it cannot fail.
            let _ = change_data(rewrite, packet.buffer_mut(), length);
        }
        self.links.record(|recorder| recorder.to_member(now, link, &packet));
        self.push(now, link, packet, position, None);
    }

    /// Puts a packet into the tunnel of a link, with what stands beside it.
    fn push(
        &mut self,
        now: Instant,
        link: LinkId,
        packet: PacketBuf,
        position: Option<u32>,
        order: Option<u32>,
    ) {
        let Self { links, outlet } = self;
        match links.members.sent(now, link, packet.len()) {
            Some(peer) if !outlet.is_behind(peer, device::destination(&packet)) => {
                outlet.drops.count(DropReason::ForeignDestination);
            }
            Some(peer) => {
                let (protocol, ecn) = device::protocol_and_ecn(&packet);
                let order_bytes = order.map_or(0, |_| KEY_BYTES);
                let bytes = packet.len() + peer.overhead_bytes() + SEQUENCE_BYTES + order_bytes;
                let shard = Shard { protocol, order, inner: &packet };
                let number = links.meters.number(now, link, (bytes, position), &shard);
                let sequence = number.map(|number| number.0);
                links.homes.sent(now, link);
                let on_line = peer.line_bytes(packet.len(), sequence.is_some(), order.is_some());
                links.members.carry(link, Carried { forward_bytes: on_line, return_bytes: 0 });
                let header = GreHeader { sequence, key: order, ..GreHeader::plain(protocol) };
                self.pass(now, link, (peer, header, ecn, packet));
                self.push_repairs(now, link);
            }
            None => outlet.drops.count(DropReason::NoLink),
        }
    }

    /// Puts the repairs that are due into the tunnel of a link.
    pub fn push_repairs(&mut self, now: Instant, link: LinkId) {
        let Some(peer) = self.links.members.get(link).map(|member| member.peer) else { return };
        let overhead_bytes = peer.overhead_bytes() + SEQUENCE_BYTES;
        while let Some(repair) = self.links.meters.poll_repair(now, link, overhead_bytes) {
            let Some(packet) = self.outlet.pool.copy_of(&repair.bytes) else { continue };
            let forward_bytes = peer.line_bytes(packet.len(), true, false);
            self.links.members.carry(link, Carried { forward_bytes, return_bytes: 0 });
            self.pass(now, link, (peer, repair.gre(), Ecn::NotEct, packet));
        }
    }

    fn release(&mut self, now: Instant, mut packet: PacketBuf, rewrite: &AckRewrite) {
        if change_ack(rewrite, &mut packet).is_err() {
            return self.outlet.drops.count(DropReason::MalformedPacket);
        }
        self.links.record(|recorder| recorder.to_sender(now, &packet));
        self.outlet.hand_to_kernel(&packet);
    }
}

impl Outlet {
    /// The sessions of members that have keys.
    pub fn sealing(&self) -> Option<&Sealing> {
        self.senders.iter().find_map(TunnelSender::sealing)
    }

    /// Whether a receiver may be behind a member.
    pub fn is_behind(&self, peer: Peer, receiver: Option<IpAddr>) -> bool {
        let number = (peer.transport == Transport::Sealed).then_some(usize::from(peer.number));
        let own = number.and_then(|number| self.peers.get(number)).map_or(&[][..], |peer| &peer.receivers);
        own.is_empty() || receiver.is_some_and(|receiver| own.iter().any(|prefix| prefix.contains(receiver)))
    }

    /// A packet towards a sender.
    pub fn hand_to_kernel(&mut self, packet: &[u8]) {
        device::write(&self.tun, packet, &mut self.drops);
    }

    /// Queues a packet behind a tunnel's header for a peer.
    pub fn push(&mut self, peer: Peer, header: &GreHeader, ecn: Ecn, packet: PacketBuf) {
        let device = (&self.tun, &self.pool);
        let Some(sender) = self.senders.iter_mut().find(|s| s.transport() == peer.transport) else {
            return self.drops.count(DropReason::NoLink);
        };
        if sender.is_full() {
            flush_sender(sender, device, self.overhead_bytes, &mut self.drops);
        }
        sender.push(peer, header, ecn, packet);
    }

    /// Sends everything that is queued.
    pub fn flush(&mut self) {
        for sender in &mut self.senders {
            flush_sender(sender, (&self.tun, &self.pool), self.overhead_bytes, &mut self.drops);
        }
        device::flush(&self.tun, &mut self.drops);
    }
}

fn flush_sender(
    sender: &mut TunnelSender,
    device: (&OffloadTun, &PacketPool),
    overhead_bytes: usize,
    drops: &mut DropCounters,
) {
    sender.flush(|error, to, packet| {
        daemon::send_failed(&error, to, packet, overhead_bytes, device, drops);
    });
}
