//! The receiving end of an R²CP flow: one connection, one port for each pipe.
use crate::core::checker::StreamCheck;
use crate::flows::application::Notes;
use crate::flows::context::FlowContext;
use crate::flows::rcp::endpoint::send;
use prismux_endpoint::{Alarm, Host, drive, expire};
use prismux_r2cp::policy::Cost;
use prismux_r2cp::scheduler::Scheduler;
use prismux_r2cp::{Connection, PipeId, R2cpConfig, R2cpEvent};
use prismux_rcp::{PacketIn, PacketOut, StreamEvent};
use prismux_tcp::engine::{CongestionKind, EngineMetrics};
use prismux_units::Instant;
use prismux_wire::SeqNumber;

/// The end of the flow that the receiver itself is.
pub(super) const RECEIVER: usize = 0;

/// The end of the flow that serves the pipe of path `path`.
pub(super) const fn server(path: usize) -> usize {
    1 + 2 * path
}

/// The end of the flow where packets for that pipe arrive.
pub(super) const fn port(path: usize) -> usize {
    2 + 2 * path
}

/// A path to a server, from plan to pipe.
#[derive(Debug)]
pub(super) struct PathState {
    pub name: String,
    pub initial: SeqNumber,
    pub cost: u8,
    pub congestion: CongestionKind,
    pub opens: Instant,
    pub closes: Option<Instant>,
    pub drops: Option<Instant>,
    pub pipe: Option<PipeId>,
}

/// The receiving end.
#[derive(Debug)]
pub(super) struct R2cpReceiver {
    pub config: R2cpConfig,
    pub connection: Option<Connection>,
    /// From outside, for the connection that opens.
    pub scheduler: Option<Box<dyn Scheduler>>,
    pub paths: Vec<PathState>,
    pub check: Option<Box<StreamCheck>>,
    pub alarm: Alarm,
    /// In-order bytes at which the application wants to know.
    pub next_mark: u64,
}

/// Carries packets into the network and events to [`Notes`].
struct Carrier<'a, 'b> {
    context: &'a mut FlowContext<'b>,
    paths: &'a [PathState],
    notes: Notes,
    check: Option<&'a mut StreamCheck>,
    arriving_offset: u64,
}

impl Host<Connection> for Carrier<'_, '_> {
    fn transmit(&mut self, _now: Instant, (pipe, out): (PipeId, PacketOut)) {
        if let Some(path) = self.paths.iter().position(|path| path.pipe == Some(pipe)) {
            send(self.context, port(path), &out);
        }
    }

    fn event(&mut self, now: Instant, event: R2cpEvent) {
        match event {
            R2cpEvent::Stream(StreamEvent::Readable { up_to }) => {
                self.notes.readable = up_to;
                if let Some(check) = &mut self.check {
                    check.readable(now, up_to);
                }
            }
            R2cpEvent::Stream(StreamEvent::Accepted { packet_offset, stream_offset, bytes }) => {
                if let Some(check) = &mut self.check {
                    let carried = self.arriving_offset + u64::from(packet_offset);
                    check.accepted(now, carried, stream_offset, bytes);
                }
            }
            _ => {}
        }
    }
}

impl R2cpReceiver {
    /// Opens the connection; its pipes open at their times.
    pub fn open(&mut self, context: &mut FlowContext<'_>) {
        let now = context.now();
        let mut connection = Connection::new(self.config.clone(), now);
        if let Some(scheduler) = self.scheduler.take() {
            connection.set_scheduler(scheduler);
        }
        self.connection = Some(connection);
        for path in &mut self.paths {
            path.opens = path.opens.max(now);
            for at in [Some(path.opens), path.closes, path.drops].into_iter().flatten() {
                context.wake(RECEIVER, at.max(now));
            }
        }
    }

    /// A planned change or a timer is due (or neither: leftovers are harmless).
    pub fn fire(&mut self, context: &mut FlowContext<'_>) -> Notes {
        let now = context.now();
        let Some(connection) = &mut self.connection else { return Notes::default() };
        for path in &mut self.paths {
            let due = |at: &Option<Instant>| at.is_some_and(|at| at <= now);
            match path.pipe {
                None if path.opens <= now => {
                    path.opens = Instant::MAX;
                    path.pipe =
                        Some(connection.open_with(now, path.initial, Cost(path.cost), path.congestion));
                }
                Some(pipe) if due(&path.closes) => {
                    path.closes = None;
                    connection.close_pipe(pipe);
                }
                Some(pipe) if due(&path.drops) => {
                    path.drops = None;
                    connection.drop_pipe(pipe);
                }
                _ => {}
            }
        }
        self.alarm.rings(now);
        expire(connection, now);
        self.drain(context, 0)
    }

    /// A packet for the pipe of `path` has arrived.
    pub fn receive(
        &mut self,
        context: &mut FlowContext<'_>,
        path: usize,
        packet: PacketIn,
        offset: u64,
    ) -> Notes {
        let pipe = self.paths[path].pipe;
        if let (Some(connection), Some(pipe)) = (&mut self.connection, pipe) {
            prismux_endpoint::Endpoint::handle_input(connection, context.now(), (pipe, packet));
        }
        self.drain(context, offset)
    }

    /// Cut off.
    pub fn abort(&mut self, context: &mut FlowContext<'_>) {
        if let Some(connection) = &mut self.connection {
            connection.abort();
        }
        self.drain(context, 0);
    }

    fn drain(&mut self, context: &mut FlowContext<'_>, arriving_offset: u64) -> Notes {
        let Some(connection) = &mut self.connection else { return Notes::default() };
        let now = context.now();
        let (paths, check, notes) = (&self.paths, self.check.as_deref_mut(), Notes::default());
        let mut carrier = Carrier { context, paths, notes, check, arriving_offset };
        let deadline = drive(connection, now, &mut carrier);
        let notes = carrier.notes;
        if let Some(at) = self.alarm.set(now, deadline) {
            context.wake(RECEIVER, at);
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
