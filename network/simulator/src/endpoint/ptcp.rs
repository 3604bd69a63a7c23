//! A pTCP connection on a simulated host.
use super::{Notes, Site};
use crate::checker::StreamCheck;
use crate::fabric::{Fabric, Target};
use crate::packet::{Body, Packet, node_at};
use prismux_endpoint::random::RandomStream;
use prismux_endpoint::{Endpoint as _, Host, drive};
use prismux_ptcp::{Connection, Path, PtcpConfig, PtcpEvent, Segment, SegmentOut, State, reset_for};
use prismux_tcp::TcpEvent;
use prismux_units::Instant;
use std::net::IpAddr;

/// What the application at one end of a striped flow does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StripedRole {
    /// Writes so many bytes, then closes.
    Source { bytes: u64 },
    /// Reads until the peer closes.
    Sink,
}

/// What it takes to open a connection.
#[derive(Debug)]
pub(crate) struct PtcpSetup {
    pub config: PtcpConfig,
    pub locals: Vec<IpAddr>,
    pub remote: IpAddr,
    /// Of the opening side, of the other.
    pub ports: (u16, u16),
    pub random: RandomStream,
}

/// One end of a pTCP flow.
#[derive(Debug)]
pub(crate) struct PtcpEndpoint {
    pub site: Site,
    /// When the timer event is due; [`Instant::MAX`] for none.
    pub armed: Instant,
    /// In-order bytes at which the application wants to know.
    pub next_mark: u64,
    pub connection: Option<Connection>,
    pub role: StripedRole,
    pub setup: PtcpSetup,
    pub check: Option<Box<StreamCheck>>,
}

/// Carries a connection's segments into the network and its events to [`Notes`].
struct Carrier<'a> {
    fabric: &'a mut Fabric,
    site: Site,
    notes: Notes,
    check: Option<&'a mut StreamCheck>,
    /// Stream offset of the payload of the segment being handled.
    arriving_offset: u64,
}

impl Host<Connection> for Carrier<'_> {
    fn transmit(&mut self, _now: Instant, out: SegmentOut) {
        send(self.fabric, &self.site, out);
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

/// Puts a segment on its way, by the interface that its path names.
fn send(fabric: &mut Fabric, site: &Site, out: SegmentOut) {
    let Segment { path, tcp, payload_bytes, ecn, .. } = &out.segment;
    let (path, payload_bytes, ecn) = (*path, *payload_bytes, *ecn);
    let ports = (tcp.source_port, tcp.destination_port);
    let source = node_at(path.local).unwrap_or(site.node);
    let destination = node_at(path.remote).unwrap_or(site.peer_node);
    let header_bytes = out.segment.header_bytes() as u16;
    let exit = fabric.direct_exit(source, destination);
    let segment = fabric.pool.keep(out);
    let packet = Packet {
        body: Body::Ptcp { segment, header_bytes, ports },
        payload_bytes,
        endpoint: site.peer,
        flow: site.flow,
        source,
        destination,
        ecn,
        tunnelled: false,
        damaged: false,
    };
    fabric.inject(source, exit, packet);
}

impl PtcpEndpoint {
    /// Opens the connection from this side.
    pub fn open(&mut self, fabric: &mut Fabric) -> Notes {
        let PtcpSetup { config, locals, remote, ports, random } = &self.setup;
        let (config, random) = (config.clone(), random.clone());
        let mut connection = Connection::connect(config, locals, *remote, *ports, random, fabric.now);
        if let StripedRole::Source { bytes } = self.role {
            connection.write(fabric.now, bytes);
        }
        self.connection = Some(connection);
        self.drain(fabric, 0)
    }

    /// A segment has arrived damaged, its headers readable.
    pub fn receive_damaged(&mut self, segment: &Segment) {
        if let Some(connection) = &mut self.connection {
            connection.damaged(segment);
        }
    }

    /// A segment has arrived.
    pub fn receive(&mut self, fabric: &mut Fabric, out: SegmentOut) -> Notes {
        let Path { local, remote } = out.segment.path;
        let path = Path { local: remote, remote: local };
        let segment = Segment { path, ..out.segment };
        match &mut self.connection {
            Some(connection) if connection.state() != State::Closed => {
                connection.handle_input(fabric.now, segment);
            }
            _ => {
                let setup = &self.setup;
                let (config, random) = (setup.config.clone(), setup.random.clone());
                let listens = self.role == StripedRole::Sink && self.connection.is_none();
                let accepted = Connection::accept(config, &setup.locals, &segment, random, fabric.now);
                match (listens, accepted) {
                    (true, Ok(connection)) => self.connection = Some(connection),
                    _ => {
                        if let Some(segment) = reset_for(&segment) {
                            send(fabric, &self.site, SegmentOut { segment, stream_offset: 0 });
                        }
                        return Notes::default();
                    }
                }
            }
        }
        self.drain(fabric, out.stream_offset)
    }

    /// The timer event fired at `fabric.now`.
    pub fn fire(&mut self, fabric: &mut Fabric) -> Notes {
        self.armed = Instant::MAX;
        let Some(connection) = &mut self.connection else { return Notes::default() };
        if connection.poll_timeout().is_some_and(|deadline| deadline.at <= fabric.now) {
            connection.handle_timeout(fabric.now);
        }
        self.drain(fabric, 0)
    }

    /// After one mutation: carries segments and events away and re-arms the timer.
    fn drain(&mut self, fabric: &mut Fabric, arriving_offset: u64) -> Notes {
        let Some(connection) = &mut self.connection else { return Notes::default() };
        let (now, site, check) = (fabric.now, self.site, self.check.as_deref_mut());
        let mut carrier = Carrier { fabric, site, notes: Notes::default(), check, arriving_offset };
        let deadline = drive(connection, now, &mut carrier);
        let notes = carrier.notes;
        if let Some(at) = deadline.map(|deadline| deadline.at).filter(|&at| at < self.armed) {
            self.armed = at.max(fabric.now);
            fabric.queue.push(self.armed, Target::Endpoint(self.site.own));
        }
        notes
    }

    /// No more data from this side.
    pub fn close(&mut self, fabric: &mut Fabric) -> Notes {
        if let Some(connection) = &mut self.connection {
            connection.close(fabric.now);
        }
        self.drain(fabric, 0)
    }

    /// Cuts the connection off.
    pub fn abort(&mut self, fabric: &mut Fabric) -> Notes {
        if let Some(connection) = &mut self.connection {
            connection.abort(fabric.now);
        }
        self.drain(fabric, 0)
    }

    /// In-order bytes received.
    pub fn received(&self) -> u64 {
        self.connection.as_ref().map_or(0, Connection::bytes_received_in_order)
    }
}
