//! One end of a pTCP connection on a simulated host.
use crate::core::checker::StreamCheck;
use crate::core::packet::{Body, Content, Packet, node_at};
use crate::flows::application::Notes;
use crate::flows::context::{Arrival, FlowContext, packet};
use crate::flows::pipes::PipesRole;
use prismux_endpoint::random::RandomStream;
use prismux_endpoint::{Alarm, Endpoint as _, Host, drive, expire};
use prismux_ptcp::scheduler::Scheduler;
use prismux_ptcp::{Connection, Path, PtcpConfig, PtcpEvent, Segment, SegmentOut, State, reset_for};
use prismux_tcp::TcpEvent;
use prismux_units::Instant;
use std::net::IpAddr;

/// What it takes to open a connection.
#[derive(Debug)]
pub(super) struct PtcpSetup {
    pub config: PtcpConfig,
    pub locals: Vec<IpAddr>,
    pub remote: IpAddr,
    /// Of the opening side, of the other.
    pub ports: (u16, u16),
    pub random: RandomStream,
}

/// One end of a pTCP flow.
#[derive(Debug)]
pub(super) struct PtcpEndpoint {
    /// Its number among the ends of its flow.
    pub number: usize,
    pub alarm: Alarm,
    /// In-order bytes at which the application wants to know.
    pub next_mark: u64,
    pub connection: Option<Connection>,
    pub role: PipesRole,
    pub setup: PtcpSetup,
    /// From outside, for the connection that opens.
    pub scheduler: Option<Box<dyn Scheduler>>,
    pub check: Option<Box<StreamCheck>>,
}

/// Carries a connection's segments into the network and its events to [`Notes`].
struct Carrier<'a, 'b> {
    context: &'a mut FlowContext<'b>,
    number: usize,
    notes: Notes,
    check: Option<&'a mut StreamCheck>,
    /// Stream offset of the payload of the segment being handled.
    arriving_offset: u64,
}

impl Host<Connection> for Carrier<'_, '_> {
    fn transmit(&mut self, _now: Instant, out: SegmentOut) {
        send(self.context, self.number, out);
    }

    fn event(&mut self, now: Instant, event: PtcpEvent) {
        let PtcpEvent::Connection(event) = event else { return };
        match event {
            TcpEvent::Readable { up_to } => {
                self.notes.readable = up_to;
                if let Some(check) = &mut self.check {
                    check.readable(now, up_to);
                }
            }
            TcpEvent::Accepted { segment_offset, stream_offset, bytes } => {
                if let Some(check) = &mut self.check {
                    check.accepted(
                        now,
                        self.arriving_offset + u64::from(segment_offset),
                        stream_offset,
                        bytes,
                    );
                }
            }
            TcpEvent::Connected => self.notes.connected = true,
            TcpEvent::PeerClosed => self.notes.peer_closed = true,
            TcpEvent::Closed | TcpEvent::Reset | TcpEvent::TimedOut => self.notes.ended = true,
            TcpEvent::Acknowledged { .. } => {}
        }
    }
}

/// What its datagrams carry.
#[derive(Debug, Clone)]
struct PtcpContent(SegmentOut);

impl Content for PtcpContent {
    fn header_bytes(&self) -> usize {
        self.0.segment.header_bytes() as usize
    }

    fn stream_offset(&self) -> Option<u64> {
        Some(self.0.stream_offset)
    }

    fn emit(&self, bytes: &mut [u8]) {
        let Segment { header, set_up, tcp, .. } = &self.0.segment;
        // It fits: the length was reckoned from the same header.
        let _ = prismux_ptcp::header::emit(header, set_up.as_deref(), tcp, bytes);
    }
}

/// Puts a segment on its way, by the interface that its path names.
fn send(context: &mut FlowContext<'_>, number: usize, out: SegmentOut) {
    let site = context.sites[number];
    let Segment { path, tcp, payload_bytes, ecn, .. } = &out.segment;
    let (path, payload_bytes, ecn) = (*path, *payload_bytes, *ecn);
    let ports = (tcp.source_port, tcp.destination_port);
    let source = node_at(path.local).unwrap_or(site.node);
    let destination = node_at(path.remote).unwrap_or(site.peer_node);
    let datagram = context.datagram(PtcpContent(out), ports);
    let exit = context.network.direct_exit(source, destination);
    let packet =
        Packet { source, destination, ..packet(&site, Body::Datagram(datagram), payload_bytes, ecn) };
    context.network.inject(source, exit, packet);
}

impl PtcpEndpoint {
    /// Opens the connection from this side.
    pub fn open(&mut self, context: &mut FlowContext<'_>) -> Notes {
        let PtcpSetup { config, locals, remote, ports, random } = &self.setup;
        let (config, random) = (config.clone(), random.clone());
        let mut connection = Connection::connect(config, locals, *remote, *ports, random, context.now());
        if let Some(scheduler) = self.scheduler.take() {
            connection.set_scheduler(scheduler);
        }
        if let PipesRole::Source { bytes } = self.role {
            connection.write(bytes);
        }
        self.connection = Some(connection);
        self.drain(context, 0)
    }

    /// A segment has arrived damaged, its headers readable.
    pub fn receive_damaged(&mut self, context: &mut FlowContext<'_>, arrival: &Arrival) {
        if let (Some(connection), Some(PtcpContent(out))) = (&mut self.connection, context.take(arrival)) {
            connection.damaged(&out.segment);
        }
    }

    /// A segment has arrived.
    pub fn receive(&mut self, context: &mut FlowContext<'_>, arrival: &Arrival) -> Notes {
        let Some(PtcpContent(mut out)) = context.take(arrival) else { return Notes::default() };
        out.segment.ecn = arrival.ecn();
        let Path { local, remote } = out.segment.path;
        let path = Path { local: remote, remote: local };
        let segment = Segment { path, ..out.segment };
        match &mut self.connection {
            Some(connection) if connection.state() != State::Closed => {
                connection.handle_input(context.now(), segment);
            }
            _ => {
                let setup = &self.setup;
                let (config, random) = (setup.config.clone(), setup.random.clone());
                let listens = self.role == PipesRole::Sink && self.connection.is_none();
                let accepted = Connection::accept(config, &setup.locals, &segment, random, context.now());
                match (listens, accepted) {
                    (true, Ok(connection)) => self.connection = Some(connection),
                    _ => {
                        if let Some(segment) = reset_for(&segment) {
                            send(context, self.number, SegmentOut { segment, stream_offset: 0 });
                        }
                        return Notes::default();
                    }
                }
            }
        }
        self.drain(context, out.stream_offset)
    }

    /// A timer has fired, unless it is a leftover.
    pub fn fire(&mut self, context: &mut FlowContext<'_>) -> Notes {
        let now = context.now();
        if !self.alarm.rings(now) {
            return Notes::default();
        }
        if let Some(connection) = &mut self.connection {
            expire(connection, now);
        }
        self.drain(context, 0)
    }

    /// After one mutation: carries segments and events away and re-arms the timer.
    fn drain(&mut self, context: &mut FlowContext<'_>, arriving_offset: u64) -> Notes {
        let Some(connection) = &mut self.connection else { return Notes::default() };
        let (now, number, check) = (context.now(), self.number, self.check.as_deref_mut());
        let mut carrier = Carrier { context, number, notes: Notes::default(), check, arriving_offset };
        let deadline = drive(connection, now, &mut carrier);
        let notes = carrier.notes;
        if let Some(at) = self.alarm.set(now, deadline) {
            context.wake(number, at);
        }
        notes
    }

    /// No more data from this side.
    pub fn close(&mut self, context: &mut FlowContext<'_>) -> Notes {
        if let Some(connection) = &mut self.connection {
            connection.close(context.now());
        }
        self.drain(context, 0)
    }

    /// Cuts the connection off.
    pub fn abort(&mut self, context: &mut FlowContext<'_>) -> Notes {
        if let Some(connection) = &mut self.connection {
            connection.abort();
        }
        self.drain(context, 0)
    }

    /// In-order bytes received.
    pub fn received(&self) -> u64 {
        self.connection.as_ref().map_or(0, Connection::bytes_received_in_order)
    }
}
