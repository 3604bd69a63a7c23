//! Carrying out the core's verdicts: into a tunnel, or to the kernel.
use crate::config::SealedPeer;
use crate::counters::DropCounters;
use crate::events::{self, Events};
use crate::proxy::homes::HomeLinks;
use crate::proxy::members::Members;
use crate::proxy::meters::Meters;
use crate::proxy::recorder::{CoreInput, Recorder};
use crate::tunnel::sealing::Sealing;
use crate::tunnel::socket::TunnelSender;
use crate::tunnel::{Peer, Transport};
use crate::{daemon, device};
use prismux_endpoint::Host;
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_linux::tun::Tun;
use prismux_prism::{AckRewrite, DataRewrite, LinkConfig, LinkId, ProxyEvent, SackRewrite, Verdict};
use prismux_prism_trace::{ack_released, drop_reason, link_event};
use prismux_trace::event::{DropReason, Event, EventSink, PacketSummary};
use prismux_units::Instant;
use prismux_wire::gre::SEQUENCE_BYTES;
use prismux_wire::rewrite::clamp_mss;
use prismux_wire::{Ecn, GreHeader, SegmentRewrite, TcpPacket, WireError};
use std::io;
use std::net::IpAddr;

/// The protocol machine, with packets as bytes.
pub(crate) type Core = prismux_prism::Proxy<PacketBuf>;

/// Everything that packets leave by. It stands apart from the core, which is drained into it.
pub(super) struct Outlet {
    /// Towards senders.
    pub tun: Tun,
    /// Buffers for packets of our own.
    pub pool: PacketPool,
    /// Towards members, one for each transport.
    pub senders: Vec<TunnelSender>,
    /// Which link is where.
    pub members: Members,
    /// Links whose members write receipts.
    pub meters: Meters,
    /// Uplinks of homes.
    pub homes: HomeLinks,
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
    /// What passes is recorded, if asked for.
    pub recorder: Option<Box<Recorder>>,
}

impl Host<Core> for Outlet {
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
                self.record(|recorder| recorder.dropped(now, &packet, reason.name()));
                self.drops.count(drop_reason(reason));
            }
        }
    }

    fn event(&mut self, now: Instant, event: ProxyEvent) {
        let Some(member) = self.members.get(event.link()).map(|member| member.name.clone()) else { return };
        let node = self.name.clone();
        self.tell(now, &link_event(event, node.into(), member.into()));
    }
}

impl Outlet {
    /// Tells an event to log, status page and recording.
    pub fn tell(&mut self, now: Instant, event: &Event<'_>) {
        self.events.event(now, event);
        self.record(|recorder| recorder.event(now, event));
    }

    /// Tells what the core decided about a packet.
    #[cold]
    fn tell_verdict(&mut self, now: Instant, verdict: &Verdict<PacketBuf>) {
        let (Verdict::Forward { packet, .. }
        | Verdict::Release { packet, .. }
        | Verdict::Drop { packet, .. }) = verdict;
        let tcp = TcpPacket::parse(packet).ok();
        let name = tcp.as_ref().map_or_else(|| "no TCP".to_owned(), |tcp| tcp.flow().to_string());
        let header = tcp.map(|tcp| tcp.header);
        let (node, flow) = (self.name.as_str().into(), name.as_str().into());
        let event = match verdict {
            Verdict::Forward { link, .. } => {
                let member = self.members.get(*link).map_or("", |member| &member.name).into();
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
        self.events.event(now, &event);
    }

    /// Adds to the recording, if there is one; a recording that cannot be written ends.
    pub fn record(&mut self, write: impl FnOnce(&mut Recorder) -> io::Result<()>) {
        if let Some(recorder) = &mut self.recorder
            && let Err(error) = write(recorder)
        {
            tracing::warn!(%error, "the recording could not be written and ends here");
            self.recorder = None;
        }
    }

    /// Records that a member offers its link.
    pub fn record_join(&mut self, now: Instant, link: LinkId, config: &LinkConfig) {
        self.record(|recorder| {
            let (name, rate) = (config.name.clone(), config.advertised_rate);
            let advertised_rate_bps = rate.map(prismux_units::Rate::as_bps);
            let round_trip_ns = config.round_trip.map(prismux_units::Duration::as_nanos);
            recorder
                .core_input(now, &CoreInput::Join { link: link.0, name, advertised_rate_bps, round_trip_ns })
        });
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
        self.record(|recorder| recorder.to_member(now, link, &packet));
        match self.members.sent(now, link, packet.len()) {
            Some(peer) if !self.is_behind(peer, device::destination(&packet)) => {
                self.drops.count(DropReason::ForeignDestination);
            }
            Some(peer) => {
                let (protocol, ecn) = device::protocol_and_ecn(&packet);
                let bytes = packet.len() + peer.overhead_bytes() + SEQUENCE_BYTES;
                let sequence = self.meters.number(now, link, bytes, position).map(|number| number.0);
                self.homes.sent(now, link);
                self.push(peer, &GreHeader { sequence, ..GreHeader::plain(protocol) }, ecn, packet);
            }
            None => self.drops.count(DropReason::NoLink),
        }
    }

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

    fn release(&mut self, now: Instant, mut packet: PacketBuf, rewrite: &AckRewrite) {
        let length = packet.len();
        match to_bytes(rewrite).apply(packet.buffer_mut(), length) {
            Ok(length) => {
                packet.set_length(length);
                if let Some(mss) = rewrite.mss_clamp {
                    let _ = clamp_mss(packet.buffer_mut(), mss);
                }
                self.record(|recorder| recorder.to_sender(now, &packet));
                self.hand_to_kernel(&packet);
            }
            Err(_) => self.drops.count(DropReason::MalformedPacket),
        }
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
        self.record(Recorder::flush);
    }
}

fn flush_sender(
    sender: &mut TunnelSender,
    device: (&Tun, &PacketPool),
    overhead_bytes: usize,
    drops: &mut DropCounters,
) {
    sender.flush(|error, to, packet| {
        daemon::send_failed(&error, to, &packet, overhead_bytes, device, drops);
    });
}

/// Changes the data packet in `buffer[..length]` as the core says.
///
/// # Errors
/// When it is no well-formed TCP segment.
pub(crate) fn change_data(rewrite: &DataRewrite, buffer: &mut [u8], length: usize) -> Result<(), WireError> {
    if rewrite.tsval_at_least.is_some() {
        let header = TcpPacket::parse(buffer.get(..length).unwrap_or_default())?.header;
        let tsval = rewrite.new_tsval(&header);
        if tsval.is_some() {
            SegmentRewrite { tsval, ..SegmentRewrite::default() }.apply(buffer, length)?;
        }
    }
    if let Some(mss) = rewrite.mss_clamp {
        clamp_mss(buffer, mss)?;
    }
    Ok(())
}

/// The core's verdict on an ACK as changes to bytes.
pub(crate) fn to_bytes(rewrite: &AckRewrite) -> SegmentRewrite {
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
