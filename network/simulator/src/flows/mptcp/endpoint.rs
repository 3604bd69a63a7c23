//! One end of an MPTCP connection on a simulated host.
use crate::core::checker::StreamCheck;
use crate::core::packet::{Body, Content, Packet, node_at};
use crate::flows::application::Notes;
use crate::flows::context::{Arrival, FlowContext, packet};
use crate::flows::pipes::PipesRole;
use prismux_endpoint::random::RandomStream;
use prismux_endpoint::{Alarm, Endpoint as _, Host, drive, expire};
use prismux_mptcp::scheduler::CustomScheduler;
use prismux_mptcp::{Connection, MptcpConfig, MptcpEvent, Path, Segment, SegmentOut, State, reset_for};
use prismux_tcp::TcpEvent;
use prismux_units::Instant;

/// What it takes to open a connection.
#[derive(Debug)]
pub(super) struct MptcpSetup {
    pub config: MptcpConfig,
    /// As this end sees them.
    pub paths: Vec<Path>,
    /// Of the opening side, of the other.
    pub ports: (u16, u16),
    pub random: RandomStream,
}

/// One end of an MPTCP flow.
#[derive(Debug)]
pub(super) struct MptcpEndpoint {
    /// Its number among the ends of its flow.
    pub number: usize,
    pub alarm: Alarm,
    /// In-order bytes at which the application wants to know.
    pub next_mark: u64,
    pub connection: Option<Connection>,
    pub role: PipesRole,
    pub setup: MptcpSetup,
    /// From outside, until the connection exists.
    pub scheduler: Option<Box<dyn CustomScheduler>>,
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

    fn event(&mut self, now: Instant, event: MptcpEvent) {
        let MptcpEvent::Connection(event) = event else { return };
        match event {
            TcpEvent::Readable { up_to } => {
                self.notes.readable = up_to;
                if let Some(check) = &mut self.check {
                    check.readable(now, up_to);
                }
            }
            TcpEvent::Accepted { segment_offset, stream_offset, bytes } => {
                if let Some(check) = &mut self.check {
                    let carried = self.arriving_offset + u64::from(segment_offset);
                    check.accepted(now, carried, stream_offset, bytes);
                }
            }
            TcpEvent::Connected => self.notes.connected = true,
            TcpEvent::PeerClosed => self.notes.peer_closed = true,
            TcpEvent::Closed | TcpEvent::Reset | TcpEvent::TimedOut => self.notes.ended = true,
            TcpEvent::Acknowledged { .. } => {}
        }
    }
}

/// What its packets carry.
#[derive(Debug, Clone)]
struct MptcpContent(SegmentOut);

impl Content for MptcpContent {
    fn header_bytes(&self) -> usize {
        self.0.segment.header_bytes() as usize
    }

    fn is_segment(&self) -> bool {
        true
    }

    fn stream_offset(&self) -> Option<u64> {
        Some(self.0.stream_offset)
    }

    fn emit(&self, bytes: &mut [u8]) {
        let Segment { tcp, mptcp, .. } = &self.0.segment;
        // It fits: the length was reckoned from the same header.
        let _ = prismux_mptcp::options::emit(tcp, mptcp, bytes);
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
    let datagram = context.datagram(MptcpContent(out), ports);
    let exit = context.network.direct_exit(source, destination);
    let packet =
        Packet { source, destination, ..packet(&site, Body::Datagram(datagram), payload_bytes, ecn) };
    context.network.inject(source, exit, packet);
}

impl MptcpEndpoint {
    /// Opens the connection from this side.
    pub fn open(&mut self, context: &mut FlowContext<'_>) -> Notes {
        let MptcpSetup { config, paths, ports, random } = &self.setup;
        let connection = Connection::connect(config.clone(), paths, *ports, random.clone(), context.now());
        self.begin(connection);
        self.drain(context, 0)
    }

    /// The connection exists: the application of a source writes all it has.
    fn begin(&mut self, mut connection: Connection) {
        if let Some(scheduler) = self.scheduler.take() {
            connection.set_scheduler(scheduler);
        }
        if let PipesRole::Source { bytes } = self.role {
            connection.write(bytes);
        }
        self.connection = Some(connection);
    }

    /// A segment has arrived; one that `listens` takes connections.
    pub fn receive(&mut self, context: &mut FlowContext<'_>, arrival: &Arrival, listens: bool) -> Notes {
        let Some(MptcpContent(mut out)) = context.take(arrival) else { return Notes::default() };
        out.segment.ecn = arrival.ecn();
        let Path { local, remote } = out.segment.path;
        let segment = Segment { path: Path { local: remote, remote: local }, ..out.segment };
        match &mut self.connection {
            Some(connection) if connection.state() != State::Closed => {
                connection.handle_input(context.now(), segment);
            }
            known => {
                let MptcpSetup { config, random, .. } = &self.setup;
                let (config, random) = (config.clone(), random.clone());
                let accepted = Connection::accept(config, &[], &segment, random, context.now());
                match accepted {
                    Ok(connection) if listens && known.is_none() => self.begin(connection),
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
            connection.close();
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
