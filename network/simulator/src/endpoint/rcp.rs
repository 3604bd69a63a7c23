//! The two ends of an RCP flow on simulated hosts.
use super::{Notes, Site};
use crate::checker::StreamCheck;
use crate::fabric::{Fabric, Target};
use crate::packet::{Body, Packet};
use prismux_endpoint::{Deadline, Endpoint, Host, drive};
use prismux_rcp::{PacketIn, PacketOut, RcpConfig, RcpEvent, RcpFlags, Receiver, Sender, StreamEvent};
use prismux_tcp::engine::EngineMetrics;
use prismux_units::Instant;
use prismux_wire::SeqNumber;
use std::sync::Arc;

/// What it takes to open a connection.
#[derive(Debug)]
pub(crate) struct RcpSetup {
    pub config: Arc<RcpConfig>,
    /// Bytes that the sending end has; [`super::ENDLESS`] for a stream without end.
    pub bytes: u64,
    pub initial: SeqNumber,
    pub token: u64,
    /// The receiver learns of damaged packets from its link layer.
    pub hears_damage: bool,
}

/// Which end, once it is open.
#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // one for each flow, and met with every packet: a box would cost a look-up
pub(crate) enum RcpEnd {
    /// Waits for a receiver.
    Idle,
    Sender(Sender),
    Receiver(Receiver),
}

/// One end of an RCP flow.
#[derive(Debug)]
pub(crate) struct RcpEndpoint {
    pub site: Site,
    /// When the timer event is due; [`Instant::MAX`] for none.
    pub armed: Instant,
    /// In-order bytes at which the application wants to know.
    pub next_mark: u64,
    pub end: RcpEnd,
    pub setup: Box<RcpSetup>,
    pub check: Option<Box<StreamCheck>>,
}

/// Carries packets into the network and events to [`Notes`].
struct Carrier<'a> {
    fabric: &'a mut Fabric,
    site: Site,
    notes: Notes,
    check: Option<&'a mut StreamCheck>,
    arriving_offset: u64,
}

impl<E: Endpoint<Transmit = PacketOut, Event = RcpEvent>> Host<E> for Carrier<'_> {
    fn transmit(&mut self, _now: Instant, out: PacketOut) {
        self.fabric.inject(self.site.node, self.site.exit, packet(&self.site, &out));
    }

    fn event(&mut self, now: Instant, event: RcpEvent) {
        match event {
            RcpEvent::Stream(StreamEvent::Readable { up_to }) => {
                self.notes.readable = up_to;
                if let Some(check) = &mut self.check {
                    check.readable(now, up_to);
                }
            }
            RcpEvent::Stream(StreamEvent::Accepted { packet_offset, stream_offset, bytes }) => {
                if let Some(check) = &mut self.check {
                    check.accepted(
                        now,
                        self.arriving_offset + u64::from(packet_offset),
                        stream_offset,
                        bytes,
                    );
                }
            }
            RcpEvent::Connected => self.notes.connected = true,
            RcpEvent::Closed | RcpEvent::Reset | RcpEvent::TimedOut => self.notes.ended = true,
            RcpEvent::Stream(StreamEvent::Complete) | RcpEvent::Purged { .. } => {}
        }
    }
}

pub(super) fn packet(site: &Site, out: &PacketOut) -> Packet {
    Packet {
        body: Body::Rcp { header: out.header, stream_offset: out.stream_offset },
        payload_bytes: out.payload_bytes,
        endpoint: site.peer,
        flow: site.flow,
        source: site.node,
        destination: site.peer_node,
        ecn: out.ecn,
        tunnelled: false,
        damaged: false,
    }
}

impl RcpEndpoint {
    /// The receiving end opens the connection.
    pub fn open(&mut self, fabric: &mut Fabric) -> Notes {
        let config = Arc::clone(&self.setup.config);
        self.end = RcpEnd::Receiver(Receiver::connect(config, self.setup.initial, fabric.now));
        self.drain(fabric, 0)
    }

    /// A packet has arrived; `damaged` ones only tell a receiver that the link lost them.
    pub fn receive(&mut self, fabric: &mut Fabric, packet: &PacketIn, offset: u64, damaged: bool) -> Notes {
        let now = fabric.now;
        match &mut self.end {
            RcpEnd::Receiver(receiver) if damaged => receiver.damaged(now, packet),
            _ if damaged => {}
            RcpEnd::Receiver(receiver) => receiver.handle_input(now, *packet),
            RcpEnd::Sender(sender) => sender.handle_input(now, *packet),
            RcpEnd::Idle if packet.header.flags.contains(RcpFlags::SYN) => self.answer_syn(now, packet),
            RcpEnd::Idle => {}
        }
        self.drain(fabric, offset)
    }

    #[cold]
    fn answer_syn(&mut self, now: Instant, packet: &PacketIn) {
        let RcpSetup { config, bytes, initial, token, .. } = &*self.setup;
        let mut sender = Sender::accept(Arc::clone(config), &packet.header, *initial, *token, now);
        sender.write(now, *bytes);
        if *bytes < super::ENDLESS {
            sender.finish(now);
        }
        self.end = RcpEnd::Sender(sender);
    }

    /// The timer event fired at `fabric.now`.
    pub fn fire(&mut self, fabric: &mut Fabric) -> Notes {
        self.armed = Instant::MAX;
        let due = |deadline: Option<Deadline>| deadline.is_some_and(|deadline| deadline.at <= fabric.now);
        match &mut self.end {
            RcpEnd::Sender(sender) if due(sender.poll_timeout()) => sender.handle_timeout(fabric.now),
            RcpEnd::Receiver(receiver) if due(receiver.poll_timeout()) => receiver.handle_timeout(fabric.now),
            _ => {}
        }
        self.drain(fabric, 0)
    }

    /// Cut off: the receiving end resets the connection.
    pub fn abort(&mut self, fabric: &mut Fabric) {
        match &mut self.end {
            RcpEnd::Receiver(receiver) => receiver.abort(fabric.now),
            RcpEnd::Sender(sender) => sender.abort(fabric.now),
            RcpEnd::Idle => {}
        }
        self.drain(fabric, 0);
    }

    /// Uses the receiver as `action` says, then drains it.
    pub fn with_receiver(&mut self, fabric: &mut Fabric, action: impl FnOnce(&mut Receiver, Instant)) {
        if let RcpEnd::Receiver(receiver) = &mut self.end {
            action(receiver, fabric.now);
        }
        self.drain(fabric, 0);
    }

    fn drain(&mut self, fabric: &mut Fabric, arriving_offset: u64) -> Notes {
        let now = fabric.now;
        let (site, check) = (self.site, self.check.as_deref_mut());
        let mut carrier = Carrier { fabric, site, notes: Notes::default(), check, arriving_offset };
        let deadline = match &mut self.end {
            RcpEnd::Sender(sender) => drive(sender, now, &mut carrier),
            RcpEnd::Receiver(receiver) => drive(receiver, now, &mut carrier),
            RcpEnd::Idle => None,
        };
        let notes = carrier.notes;
        if let Some(at) = deadline.map(|deadline| deadline.at).filter(|&at| at < self.armed) {
            self.armed = at.max(now);
            fabric.queue.push(self.armed, Target::Endpoint(self.site.own));
        }
        notes
    }

    /// In-order bytes received.
    pub fn received(&self) -> u64 {
        match &self.end {
            RcpEnd::Receiver(receiver) => receiver.bytes_received_in_order(),
            _ => 0,
        }
    }

    /// Measures of the engine, which the receiving end has.
    pub fn engine_metrics(&self) -> Option<EngineMetrics> {
        match &self.end {
            RcpEnd::Receiver(receiver) => Some(receiver.pipe().metrics()),
            _ => None,
        }
    }
}
