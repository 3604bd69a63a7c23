//! The connection: its pipes, its stream, and what happens to them.
//!
//! * `schedule`: which segment a pipe's next request takes. `policy`: which pipes may ask.
//! * `deliver`: arriving data, losses, the end of the stream. `interface`: what a pipe's interface knows.
mod deliver;
mod interface;
mod policy;
mod schedule;

use crate::binding::Binding;
use crate::config::{R2cpConfig, Scheduling};
use crate::event::R2cpEvent;
use crate::pending::Pending;
use crate::policy::{Buckets, Cost};
use crate::scheduler::Scheduler;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_rcp::ranges::Ranges;
use prismux_rcp::{Ending, PacketIn, PacketOut, Pipe, PipeState, RcpConfig};
use prismux_tcp::engine::{CongestionKind, EngineMetrics, Phase};
use prismux_units::{ByteCount, Instant};
use prismux_wire::SeqNumber;

/// Requests reach no further ahead than this many receive buffers.
const MAX_SPANS: u64 = 8;

/// A pipe of a connection, numbered as opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PipeId(pub usize);

/// One pipe and what it owes.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) pipe: Pipe,
    pub(crate) binding: Binding,
    pub(crate) cost: Cost,
    /// Timed out and not heard since.
    pub(crate) is_silent: bool,
    /// Asks for nothing more and ends when what it owes has come.
    pub(crate) is_leaving: bool,
    /// Could ask, but there was nothing to ask for or no room.
    pub(crate) is_waiting: bool,
    pub(crate) waits_for_tokens: bool,
    pub(crate) requested_bytes: u64,
    pub(crate) received_bytes: u64,
}

impl Slot {
    pub(crate) fn is_usable(&self) -> bool {
        let can_ask = self.pipe.state() == PipeState::Established && !self.pipe.is_frozen();
        can_ask && !self.is_silent && !self.is_leaving
    }
}

/// Counters of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConnectionMetrics {
    /// Data packets that arrived.
    pub data_packets: u64,
    /// Those after which data that waits for gaps takes three quarters of the receive buffer.
    pub found_buffer_nearly_full: u64,
    /// Payload bytes that had arrived before.
    pub duplicate_bytes: u64,
    /// Data beyond anything asked for, or for which the out-of-order store had no room.
    pub unrequested: u64,
}

/// Measures of one pipe.
#[derive(Debug, Clone, PartialEq)]
pub struct PipeMetrics {
    /// The state of the pipe.
    pub state: PipeState,
    /// Congestion window, round trip and losses.
    pub engine: EngineMetrics,
    /// Bytes asked for over it, those asked for again included.
    pub requested_bytes: u64,
    /// Bytes it was the first to bring.
    pub received_bytes: u64,
}

/// One stream over several pipes, without bytes: payload is (stream offset, length).
///
/// Drive it as an [`Endpoint`] whose packets carry the number of their pipe.
#[derive(Debug)]
pub struct Connection {
    pub(crate) config: R2cpConfig,
    rcp: Arc<RcpConfig>,
    /// Chooses segments in place of [`R2cpConfig::scheduling`].
    pub(crate) scheduler: Option<Box<dyn Scheduler>>,
    pub(crate) pipes: Vec<Slot>,
    /// Positions that have arrived, the end counted.
    pub(crate) stream: Ranges,
    pub(crate) pending: Pending,
    /// Just after the stream's last position, once known (its end takes one).
    pub(crate) end: Option<u64>,
    /// Nothing from here on is asked for.
    pub(crate) ask_limit: u64,
    read: u64,
    pub(crate) buckets: Option<Buckets>,
    pub(crate) completed: bool,
    stranded: bool,
    pub(crate) metrics: ConnectionMetrics,
    pub(crate) events: VecDeque<R2cpEvent>,
}

impl Connection {
    /// A connection without pipes.
    pub fn new(config: R2cpConfig, now: Instant) -> Self {
        Self {
            rcp: Arc::new(RcpConfig {
                receive_buffer: ByteCount::new(config.rcp.receive_buffer.as_u64() * MAX_SPANS),
                ..config.rcp.clone()
            }),
            scheduler: None,
            pipes: Vec::new(),
            stream: Ranges::default(),
            pending: Pending::default(),
            end: config.length.map(|length| length.as_u64() + 1),
            ask_limit: u64::MAX,
            read: 0,
            buckets: config.target_rate.map(|rate| Buckets::new(rate, now)),
            completed: false,
            stranded: false,
            metrics: ConnectionMetrics::default(),
            events: VecDeque::new(),
            config,
        }
    }

    /// Lets a scheduler from outside choose segments, in place of [`R2cpConfig::scheduling`].
    pub fn set_scheduler(&mut self, scheduler: Box<dyn Scheduler>) {
        self.scheduler = Some(scheduler);
    }

    /// Opens a pipe: over another interface, to another server, or both. `initial` should be unpredictable on a real
    /// network. A new pipe asks for gaps and for what no pipe was asked for, never for what is here or on its way.
    pub fn open(&mut self, now: Instant, initial: SeqNumber, cost: Cost) -> PipeId {
        self.open_with(now, initial, cost, self.rcp.engine.congestion)
    }

    /// As [`Connection::open`], with a congestion control for this pipe alone: what suits one interface need not suit
    /// another (RCP-NewReno, RCP-STP).
    pub fn open_with(
        &mut self,
        now: Instant,
        initial: SeqNumber,
        cost: Cost,
        congestion: CongestionKind,
    ) -> PipeId {
        let mut config = Arc::clone(&self.rcp);
        if congestion != config.engine.congestion {
            Arc::make_mut(&mut config).engine.congestion = congestion;
        }
        if let Some(buckets) = &mut self.buckets {
            buckets.add(cost);
        }
        let pipe = Pipe::connect_from(config, initial, self.stream.next(), now);
        self.pipes.push(Slot {
            pipe,
            binding: Binding::default(),
            cost,
            is_silent: false,
            is_leaving: false,
            is_waiting: false,
            waits_for_tokens: false,
            requested_bytes: 0,
            received_bytes: 0,
        });
        self.stranded = false;
        PipeId(self.pipes.len() - 1)
    }

    /// From now on nothing is asked for that ends beyond `position`: for who wants the stream bit by bit. What was
    /// asked for before still comes.
    pub const fn ask_up_to(&mut self, position: u64) {
        self.ask_limit = position;
    }

    /// These bytes are here from elsewhere: no pipe asks for them (any more). What was asked for still comes, and is
    /// told of only as far as it is new.
    pub fn already_here(&mut self, range: &core::ops::Range<u64>) {
        let range = range.start..self.end.map_or(range.end, |end| range.end.min(end - 1));
        if range.start < range.end {
            self.stream.insert(range.clone());
            self.pending.take(&range);
        }
    }

    /// Ends a pipe in peace: it asks for nothing more, what is on its way still arrives.
    pub fn close_pipe(&mut self, id: PipeId) {
        if let Some(slot) = self.pipes.get_mut(id.0) {
            slot.is_leaving = true;
            self.let_go(id);
        }
    }

    /// Ends a pipe at once (its interface is gone): what it owes is asked for elsewhere.
    pub fn drop_pipe(&mut self, id: PipeId) {
        if let Some(slot) = self.pipes.get_mut(id.0) {
            slot.is_leaving = true;
            slot.pipe.abort();
            self.requeue_all(id);
            self.note_pipe(id);
        }
    }

    /// The application has taken `bytes` of what is readable.
    pub fn read(&mut self, bytes: u64) {
        self.read = (self.read + bytes).min(self.bytes_received_in_order());
    }

    /// Ends every pipe at once.
    pub fn abort(&mut self) {
        for index in 0..self.pipes.len() {
            self.drop_pipe(PipeId(index));
        }
    }

    /// Bytes that arrived without a gap.
    pub fn bytes_received_in_order(&self) -> u64 {
        let next = self.stream.next();
        self.end.map_or(next, |end| next.min(end - 1))
    }

    /// Requests never reach beyond this position: segments in turn no further than the buffer, others as
    /// far as the room that they take lets them, but no further than a purge distance can say.
    pub fn request_edge(&self) -> u64 {
        let read =
            if self.config.rcp.consume_on_arrival { self.bytes_received_in_order() } else { self.read };
        let spans = if self.config.scheduling == Scheduling::RoundRobin { 1 } else { MAX_SPANS };
        read + self.config.rcp.receive_buffer.as_u64() * spans
    }

    /// Bytes of the receive buffer that are taken: by data the application has not read or cannot read yet, and by
    /// what has been asked for. What a slow pipe leaves out on its way ahead takes no room until it is asked for.
    pub(crate) fn taken(&self) -> u64 {
        let in_order = self.bytes_received_in_order();
        let unread = if self.config.rcp.consume_on_arrival { 0 } else { in_order - self.read };
        unread + self.stream.beyond() + self.pipes.iter().map(|slot| slot.binding.bytes()).sum::<u64>()
    }

    /// True once every byte is here.
    pub const fn is_complete(&self) -> bool {
        self.completed
    }

    /// Number of pipes ever opened.
    pub fn pipe_count(&self) -> usize {
        self.pipes.len()
    }

    /// Counters of the connection so far.
    pub const fn metrics(&self) -> ConnectionMetrics {
        self.metrics
    }

    /// Measures of one pipe.
    pub fn pipe_metrics(&self, id: PipeId) -> Option<PipeMetrics> {
        self.pipes.get(id.0).map(|slot| PipeMetrics {
            state: slot.pipe.state(),
            engine: slot.pipe.metrics(),
            requested_bytes: slot.requested_bytes,
            received_bytes: slot.received_bytes,
        })
    }

    /// Passes on what happened to a pipe.
    fn note_pipe(&mut self, id: PipeId) {
        if self.pipes[id.0].pipe.take_connected() {
            self.events.push_back(R2cpEvent::PipeOpened(id));
        }
        if let Some(ending) = self.pipes[id.0].pipe.take_ending() {
            self.requeue_all(id);
            self.events.push_back(R2cpEvent::PipeEnded { pipe: id, failed: ending != Ending::Closed });
            let alive = self.pipes.iter().any(|slot| slot.pipe.state() != PipeState::Closed);
            if !alive && !self.completed && !self.stranded {
                self.stranded = true;
                self.events.push_back(R2cpEvent::Stranded);
            }
        }
    }

    /// A leaving pipe that owes nothing says goodbye. (Its server drops what it holds; the others do not care.)
    fn let_go(&mut self, id: PipeId) {
        let slot = &mut self.pipes[id.0];
        if slot.is_leaving && (slot.binding.is_empty() || slot.is_silent) && !self.completed {
            slot.pipe.close();
            self.requeue_all(id);
            self.note_pipe(id);
        }
    }
}

impl Endpoint for Connection {
    type Input<'a> = (PipeId, PacketIn);
    type Transmit = (PipeId, PacketOut);
    type Event = R2cpEvent;

    fn handle_input(&mut self, now: Instant, (id, packet): (PipeId, PacketIn)) {
        let Some(slot) = self.pipes.get_mut(id.0) else { return };
        if let Some(data) = slot.pipe.receive(now, &packet) {
            self.deliver(now, id, &data);
        }
        self.note_pipe(id);
        self.let_go(id);
    }

    fn handle_timeout(&mut self, now: Instant) {
        for index in 0..self.pipes.len() {
            let slot = &mut self.pipes[index];
            if slot.pipe.deadline().is_none_or(|deadline| deadline.at > now) {
                continue;
            }
            let timeouts = slot.pipe.metrics().counters.timeouts;
            slot.pipe.fire(now);
            let id = PipeId(index);
            if slot.pipe.metrics().counters.timeouts > timeouts && slot.pipe.engine().phase() == Phase::Loss {
                // Silence for a whole timeout: whatever it owes goes to the others, and it is asked for copies only
                // until it is heard again.
                slot.is_silent = true;
                self.requeue_all(id);
            }
            self.requeue_losses(id);
            self.note_pipe(id);
            self.let_go(id);
        }
        self.rescue_head(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(PipeId, PacketOut)> {
        // The shortest round trip first: where room is scarce it should go to who fills it soonest.
        let mut last = None;
        for _ in 0..self.pipes.len() {
            let key = |index: usize| (self.round_trip(PipeId(index)), index);
            let next =
                (0..self.pipes.len()).map(key).filter(|key| last.is_none_or(|last| *key > last)).min()?;
            last = Some(next);
            if let Some(packet) = self.ask(now, PipeId(next.1)) {
                return Some((PipeId(next.1), packet));
            }
        }
        None
    }

    fn poll_event(&mut self) -> Option<R2cpEvent> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let pipes = self.pipes.iter().map(|slot| slot.pipe.deadline());
        let policy = self.policy_deadline().map(|at| Deadline { at, why: "policy" });
        let rescue = self.rescue_deadline().map(|at| Deadline { at, why: "rescue" });
        pipes.fold(Deadline::earliest(policy, rescue), Deadline::earliest)
    }
}
