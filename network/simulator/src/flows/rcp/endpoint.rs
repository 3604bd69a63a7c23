//! One end of an RCP flow on a simulated host.
use crate::core::checker::StreamCheck;
use crate::core::packet::Content;
use crate::flows::application::{ENDLESS, Notes};
use crate::flows::context::{Arrival, FlowContext};
use prismux_endpoint::random::RandomStream;
use prismux_endpoint::{Alarm, Endpoint, Host, drive, expire};
use prismux_rcp::{
    PacketIn, PacketOut, RcpConfig, RcpEvent, RcpFlags, RcpHeader, Receiver, Sender, StreamEvent,
};
use prismux_tcp::engine::EngineMetrics;
use prismux_units::Instant;
use prismux_wire::SeqNumber;
use std::sync::Arc;

/// What it takes to open a connection.
#[derive(Debug)]
pub(crate) struct RcpSetup {
    pub config: Arc<RcpConfig>,
    /// Bytes that the sending end has; [`ENDLESS`] for a stream without end.
    pub bytes: u64,
    /// This end has the data.
    pub sends: bool,
    /// The stream ends after these bytes.
    pub ends: bool,
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
    /// Its number among the ends of its flow.
    pub number: usize,
    pub alarm: Alarm,
    /// In-order bytes at which the application wants to know.
    pub next_mark: u64,
    pub end: RcpEnd,
    pub setup: Box<RcpSetup>,
    pub check: Option<Box<StreamCheck>>,
}

/// Carries packets into the network and events to [`Notes`].
struct Carrier<'a, 'b> {
    context: &'a mut FlowContext<'b>,
    number: usize,
    notes: Notes,
    check: Option<&'a mut StreamCheck>,
    arriving_offset: u64,
}

impl<E: Endpoint<Transmit = PacketOut, Event = RcpEvent>> Host<E> for Carrier<'_, '_> {
    fn transmit(&mut self, _now: Instant, out: PacketOut) {
        send(self.context, self.number, &out);
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

/// Sends a packet from an end to its peer.
pub(crate) fn send(context: &mut FlowContext<'_>, number: usize, out: &PacketOut) {
    let content = RcpContent { header: out.header, stream_offset: out.stream_offset };
    context.send(number, content, out.payload_bytes, out.ecn);
}

/// What its datagrams carry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RcpContent {
    pub header: RcpHeader,
    /// Offset of the payload in the sender's stream.
    stream_offset: u64,
}

impl RcpContent {
    /// Takes a packet out of a datagram, and the offset of its payload in the stream.
    pub fn take(context: &mut FlowContext<'_>, arrival: &Arrival) -> Option<(PacketIn, u64)> {
        let Self { header, stream_offset } = context.take(arrival)?;
        let (payload_bytes, ecn) = (arrival.payload_bytes(), arrival.ecn());
        Some((PacketIn { header, payload_bytes, ecn }, stream_offset))
    }
}

impl Content for RcpContent {
    fn header_bytes(&self) -> usize {
        self.header.wire_bytes()
    }

    fn stream_offset(&self) -> Option<u64> {
        Some(self.stream_offset)
    }

    fn emit(&self, bytes: &mut [u8]) {
        // It fits: the length was reckoned from the same header.
        let _ = self.header.emit(bytes);
    }
}

impl RcpEndpoint {
    /// An end that waits, a sender's for `bytes` bytes of data.
    pub fn new(number: usize, config: &RcpConfig, bytes: Option<u64>, numbers: &mut RandomStream) -> Self {
        // Simulated applications read at once.
        let config = Arc::new(RcpConfig { consume_on_arrival: true, ..config.clone() });
        let (initial, token) = (SeqNumber(numbers.next_u64() as u32), numbers.next_u64());
        let (bytes, ends) = (bytes.unwrap_or(ENDLESS), bytes.is_some());
        let setup = RcpSetup { config, bytes, sends: true, ends, initial, token, hears_damage: false };
        let setup = Box::new(setup);
        let (alarm, next_mark) = (Alarm::new(), u64::MAX);
        Self { number, alarm, next_mark, end: RcpEnd::Idle, setup, check: None }
    }

    /// This end opens the connection.
    pub fn open(&mut self, context: &mut FlowContext<'_>) -> Notes {
        let (now, RcpSetup { config, initial, token, sends, .. }) = (context.now(), &*self.setup);
        let config = Arc::clone(config);
        self.end = match sends {
            true => RcpEnd::Sender(self.loaded(Sender::connect(config, *initial, *token, now))),
            false => RcpEnd::Receiver(Receiver::connect(config, *initial, now)),
        };
        self.drain(context, 0)
    }

    /// `sender` with what the application has at once.
    fn loaded(&self, mut sender: Sender) -> Sender {
        sender.write(self.setup.bytes);
        if self.setup.ends {
            sender.finish();
        }
        sender
    }

    /// A packet has arrived; `damaged` ones only tell a receiver that the link lost them.
    pub fn receive(
        &mut self,
        context: &mut FlowContext<'_>,
        packet: &PacketIn,
        offset: u64,
        damaged: bool,
    ) -> Notes {
        let now = context.now();
        match &mut self.end {
            RcpEnd::Receiver(receiver) if damaged => receiver.damaged(now, packet),
            _ if damaged => {}
            RcpEnd::Receiver(receiver) => receiver.handle_input(now, *packet),
            RcpEnd::Sender(sender) => sender.handle_input(now, *packet),
            RcpEnd::Idle if packet.header.flags.contains(RcpFlags::SYN) => self.answer_syn(now, packet),
            RcpEnd::Idle => {}
        }
        self.drain(context, offset)
    }

    #[cold]
    fn answer_syn(&mut self, now: Instant, packet: &PacketIn) {
        let (RcpSetup { config, initial, token, sends, .. }, syn) = (&*self.setup, &packet.header);
        let config = Arc::clone(config);
        self.end = match sends {
            true => RcpEnd::Sender(self.loaded(Sender::accept(config, syn, *initial, *token, now))),
            false => RcpEnd::Receiver(Receiver::accept(config, syn, *initial, now)),
        };
    }

    /// A timer has fired, unless it is a leftover.
    pub fn fire(&mut self, context: &mut FlowContext<'_>) -> Notes {
        if !self.alarm.rings(context.now()) {
            return Notes::default();
        }
        match &mut self.end {
            RcpEnd::Sender(sender) => expire(sender, context.now()),
            RcpEnd::Receiver(receiver) => expire(receiver, context.now()),
            RcpEnd::Idle => false,
        };
        self.drain(context, 0)
    }

    /// Cut off: the receiving end resets the connection.
    pub fn abort(&mut self, context: &mut FlowContext<'_>) {
        match &mut self.end {
            RcpEnd::Receiver(receiver) => receiver.abort(),
            RcpEnd::Sender(sender) => sender.abort(),
            RcpEnd::Idle => {}
        }
        self.drain(context, 0);
    }

    /// The application of the sending end adds `bytes`.
    pub fn write(&mut self, context: &mut FlowContext<'_>, bytes: u64) {
        if let RcpEnd::Sender(sender) = &mut self.end {
            sender.write(bytes);
        }
        self.drain(context, 0);
    }

    /// The application of the sending end has no more.
    pub fn finish(&mut self, context: &mut FlowContext<'_>) {
        if let RcpEnd::Sender(sender) = &mut self.end {
            sender.finish();
        }
        self.drain(context, 0);
    }

    /// Uses the receiver as `action` says, then drains it.
    pub fn with_receiver(
        &mut self,
        context: &mut FlowContext<'_>,
        action: impl FnOnce(&mut Receiver, Instant),
    ) {
        if let RcpEnd::Receiver(receiver) = &mut self.end {
            action(receiver, context.now());
        }
        self.drain(context, 0);
    }

    fn drain(&mut self, context: &mut FlowContext<'_>, arriving_offset: u64) -> Notes {
        let now = context.now();
        let (number, check) = (self.number, self.check.as_deref_mut());
        let notes = Notes::default();
        let mut carrier = Carrier { context, number, notes, check, arriving_offset };
        let deadline = match &mut self.end {
            RcpEnd::Sender(sender) => drive(sender, now, &mut carrier),
            RcpEnd::Receiver(receiver) => drive(receiver, now, &mut carrier),
            RcpEnd::Idle => None,
        };
        let notes = carrier.notes;
        if let Some(at) = self.alarm.set(now, deadline) {
            context.wake(number, at);
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
