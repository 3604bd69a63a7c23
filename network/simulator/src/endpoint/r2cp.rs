//! The receiving end of an R²CP flow: one connection, one port per pipe. Its servers are plain RCP senders.
use super::{Notes, Site};
use crate::checker::StreamCheck;
use crate::fabric::{Fabric, Target};
use crate::ids::EndpointId;
use prismux_endpoint::{Endpoint, Host, drive};
use prismux_r2cp::policy::Cost;
use prismux_r2cp::{Connection, PipeId, R2cpConfig, R2cpEvent};
use prismux_rcp::{PacketIn, PacketOut, StreamEvent};
use prismux_tcp::engine::EngineMetrics;
use prismux_units::Instant;
use prismux_wire::SeqNumber;

/// Where packets for one pipe arrive.
#[derive(Debug)]
pub(crate) struct RcpPort {
    pub site: Site,
    /// The connection, and which of its ways this is.
    pub main: EndpointId,
    pub way: usize,
}

/// A way to a server, from plan to pipe.
#[derive(Debug)]
pub(crate) struct WayState {
    pub name: String,
    pub port: EndpointId,
    pub initial: SeqNumber,
    pub cost: u8,
    pub opens: Instant,
    pub closes: Option<Instant>,
    pub drops: Option<Instant>,
    pub pipe: Option<PipeId>,
}

/// The receiving end.
#[derive(Debug)]
pub(crate) struct R2cpEndpoint {
    pub site: Site,
    pub armed: Instant,
    pub next_mark: u64,
    pub config: R2cpConfig,
    pub connection: Option<Connection>,
    pub ways: Vec<WayState>,
    pub check: Option<Box<StreamCheck>>,
}

/// What leaves, and what the application must know; gathered while the connection is borrowed.
#[derive(Debug, Default)]
struct Outbox {
    packets: Vec<(PipeId, PacketOut)>,
    events: Vec<R2cpEvent>,
}

impl Host<Connection> for Outbox {
    fn transmit(&mut self, _now: Instant, packet: (PipeId, PacketOut)) {
        self.packets.push(packet);
    }
    fn event(&mut self, _now: Instant, event: R2cpEvent) {
        self.events.push(event);
    }
}

impl R2cpEndpoint {
    /// Opens the connection; its ways open at their times.
    pub fn open(&mut self, fabric: &mut Fabric) {
        self.connection = Some(Connection::new(self.config.clone(), fabric.now));
        for way in &mut self.ways {
            way.opens = way.opens.max(fabric.now);
            for at in [Some(way.opens), way.closes, way.drops].into_iter().flatten() {
                fabric.queue.push(at.max(fabric.now), Target::Endpoint(self.site.own));
            }
        }
    }

    /// A planned change or a timer is due (or neither: leftovers are harmless).
    pub fn fire(&mut self, fabric: &mut Fabric, sites: &[Site]) -> Notes {
        let now = fabric.now;
        let Some(connection) = &mut self.connection else { return Notes::default() };
        for way in &mut self.ways {
            let due = |at: &Option<Instant>| at.is_some_and(|at| at <= now);
            match way.pipe {
                None if way.opens <= now => {
                    way.opens = Instant::MAX;
                    way.pipe = Some(connection.open(now, way.initial, Cost(way.cost)));
                }
                Some(pipe) if due(&way.closes) => {
                    way.closes = None;
                    connection.close_pipe(now, pipe);
                }
                Some(pipe) if due(&way.drops) => {
                    way.drops = None;
                    connection.drop_pipe(now, pipe);
                }
                _ => {}
            }
        }
        if self.armed <= now {
            self.armed = Instant::MAX;
        }
        if connection.poll_timeout().is_some_and(|deadline| deadline.at <= now) {
            connection.handle_timeout(now);
        }
        self.drain(fabric, sites, 0)
    }

    /// A packet for one of the pipes has arrived.
    pub fn receive(
        &mut self,
        fabric: &mut Fabric,
        sites: &[Site],
        way: usize,
        packet: PacketIn,
        offset: u64,
    ) -> Notes {
        let pipe = self.ways[way].pipe;
        if let (Some(connection), Some(pipe)) = (&mut self.connection, pipe) {
            connection.handle_input(fabric.now, (pipe, packet));
        }
        self.drain(fabric, sites, offset)
    }

    pub fn abort(&mut self, fabric: &mut Fabric, sites: &[Site]) {
        if let Some(connection) = &mut self.connection {
            connection.abort(fabric.now);
        }
        self.drain(fabric, sites, 0);
    }

    /// `sites`: of the ports, by way.
    fn drain(&mut self, fabric: &mut Fabric, sites: &[Site], offset: u64) -> Notes {
        let Some(connection) = &mut self.connection else { return Notes::default() };
        let now = fabric.now;
        let mut outbox = Outbox::default();
        let deadline = drive(connection, now, &mut outbox);
        for (pipe, out) in &outbox.packets {
            if let Some(way) = self.ways.iter().position(|way| way.pipe == Some(*pipe)) {
                let site = &sites[way];
                fabric.inject(site.node, site.exit, super::rcp::packet(site, out));
            }
        }
        let mut notes = Notes::default();
        for event in outbox.events {
            match event {
                R2cpEvent::Stream(StreamEvent::Readable { up_to }) => {
                    notes.readable = up_to;
                    if let Some(check) = &mut self.check {
                        check.readable(now, up_to);
                    }
                }
                R2cpEvent::Stream(StreamEvent::Accepted { packet_offset, stream_offset, bytes }) => {
                    if let Some(check) = &mut self.check {
                        check.accepted(now, offset + u64::from(packet_offset), stream_offset, bytes);
                    }
                }
                _ => {}
            }
        }
        if let Some(at) = deadline.map(|deadline| deadline.at).filter(|&at| at < self.armed) {
            self.armed = at.max(now);
            fabric.queue.push(self.armed, Target::Endpoint(self.site.own));
        }
        notes
    }

    /// Measures of all pipes together: windows and counters added up, times of the first open pipe.
    pub fn engine_metrics(&self) -> Option<EngineMetrics> {
        let connection = self.connection.as_ref()?;
        let pipes = (0..connection.pipe_count()).filter_map(|pipe| connection.pipe_metrics(PipeId(pipe)));
        pipes.map(|pipe| pipe.engine).reduce(|mut sum, pipe| {
            sum.cwnd_bytes += pipe.cwnd_bytes;
            sum.outstanding_bytes += pipe.outstanding_bytes;
            sum.pipe_bytes += pipe.pipe_bytes;
            sum.counters.segments_sent += pipe.counters.segments_sent;
            sum.counters.retransmitted_segments += pipe.counters.retransmitted_segments;
            sum.counters.spurious_retransmissions += pipe.counters.spurious_retransmissions;
            sum.counters.timeouts += pipe.counters.timeouts;
            sum.counters.fast_recoveries += pipe.counters.fast_recoveries;
            sum
        })
    }

    /// In-order bytes received.
    pub fn received(&self) -> u64 {
        self.connection.as_ref().map_or(0, Connection::bytes_received_in_order)
    }
}
