//! The receiving end: one pipe and one stream.
//!
//! `binding`: which data each unit stands for. `deliver`: arriving data. `ask`: what to request next, and the standing
//! request of a receiver that has all there is.
mod ask;
mod binding;
mod deliver;

use crate::config::RcpConfig;
use crate::header::RcpHeader;
use crate::packet::{PacketIn, PacketOut, RcpEvent};
use crate::pipe::{Ending, Pipe, PipeCounters, PipeState};
use crate::ranges::Ranges;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use binding::Binding;
use core::ops::Range;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_tcp::engine::EngineMetrics;
use prismux_units::Instant;
use prismux_wire::SeqNumber;

/// A snapshot of the receiver's measures.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceiverMetrics {
    /// State of the receiver's pipe.
    pub state: PipeState,
    /// Congestion window, round trip and losses.
    pub engine: EngineMetrics,
    /// Requests and what they were.
    pub pipe: PipeCounters,
    /// Data packets that arrived.
    pub data_packets: u64,
    /// Payload bytes that had arrived before.
    pub duplicate_bytes: u64,
    /// Data packets that arrived beyond a hole.
    pub out_of_order_packets: u64,
    /// Data packets that were not asked for, or lie after the end of the stream.
    pub unrequested: u64,
    /// Data packets for which the out-of-order store had no room.
    pub store_full: u64,
}

/// Counters behind [`ReceiverMetrics`].
#[derive(Debug, Clone, Copy, Default)]
struct Counters {
    data_packets: u64,
    duplicate_bytes: u64,
    out_of_order_packets: u64,
    unrequested: u64,
    store_full: u64,
}

/// The standing request: what is asked for beyond all that the sender said it has.
#[derive(Debug, Clone, Copy, Default)]
struct Standing {
    /// First position not asked for when it was made.
    at: Option<u64>,
    /// When to probe, in case it or its answer was lost.
    probe_at: Option<Instant>,
    probe_due: bool,
    backoff: u8,
}

/// The receiving end of a connection, without bytes: payload is (stream offset, length).
///
/// Drive it as an [`Endpoint`]: one mutation, then drain transmits and events.
#[derive(Debug)]
pub struct Receiver {
    pipe: Pipe,
    config: Arc<RcpConfig>,
    /// Positions that have arrived, the end counted.
    stream: Ranges,
    binding: Binding,
    /// First position never asked for.
    fresh: u64,
    /// To be asked for anew, each as a pull: what was written off, lost by the link, or skipped by a standing request's
    /// answers.
    holes: VecDeque<Range<u64>>,
    /// Just after the stream's last position, once known (its end takes one).
    end: Option<u64>,
    /// The application has taken everything below.
    read: u64,
    standing: Standing,
    completed: bool,
    counters: Counters,
    events: VecDeque<RcpEvent>,
}

impl Receiver {
    /// Opens from the receiver's side: the first packet is SYN. `initial` should be unpredictable on a real network.
    pub fn connect(config: impl Into<Arc<RcpConfig>>, initial: SeqNumber, now: Instant) -> Self {
        let config = config.into();
        Self::over(Pipe::connect(Arc::clone(&config), initial, now), config)
    }

    /// Answers a sender's SYN.
    pub fn accept(
        config: impl Into<Arc<RcpConfig>>,
        syn: &RcpHeader,
        initial: SeqNumber,
        now: Instant,
    ) -> Self {
        let config = config.into();
        Self::over(Pipe::accept(Arc::clone(&config), syn, initial, now), config)
    }

    fn over(pipe: Pipe, config: Arc<RcpConfig>) -> Self {
        Self {
            pipe,
            config,
            stream: Ranges::default(),
            binding: Binding::default(),
            fresh: 0,
            holes: VecDeque::new(),
            end: None,
            read: 0,
            standing: Standing::default(),
            completed: false,
            counters: Counters::default(),
            events: VecDeque::new(),
        }
    }

    /// The application has taken `bytes` of what is readable.
    pub fn read(&mut self, bytes: u64) {
        self.read = (self.read + bytes).min(self.bytes_received_in_order());
    }

    /// Ends the connection at once.
    pub fn abort(&mut self) {
        self.pipe.abort();
        self.note_pipe();
    }

    /// Stops asking and timing, for an interface about to sleep.
    pub fn freeze(&mut self) {
        self.pipe.freeze();
        self.standing = Standing::default();
    }

    /// Goes on after [`Receiver::freeze`]: the window is what it was, and requests are rebuilt from the holes.
    pub fn thaw(&mut self, now: Instant) {
        if self.pipe.is_frozen() {
            self.pipe.thaw(now);
            self.binding.clear();
            self.holes.clear();
            let mut from = self.stream.next();
            while let Some(hole) = self.stream.first_missing(from..self.fresh) {
                from = hole.end;
                self.holes.push_back(hole);
            }
        }
    }

    /// The link layer says that it lost data at these positions: asked for again at once, with the window untouched.
    pub fn lost_by_link(&mut self, now: Instant, positions: Range<u64>) {
        for units in self.binding.unbind(&positions) {
            if units.start >= self.pipe.units_returned_to() {
                self.pipe.units_lost_by_link(now, units);
            }
        }
        let mut from = positions.start;
        while let Some(hole) = self.stream.first_missing(from..positions.end.min(self.fresh)) {
            from = hole.end;
            self.holes.push_back(hole);
        }
    }

    /// A data packet arrived damaged, its header readable: the link lost it, not a queue.
    pub fn damaged(&mut self, now: Instant, packet: &PacketIn) {
        if let Some(data) = self.pipe.receive_damaged(packet) {
            self.lost_by_link(now, data);
        }
    }

    /// Bytes that arrived without a gap.
    pub fn bytes_received_in_order(&self) -> u64 {
        let next = self.stream.next();
        self.end.map_or(next, |end| next.min(end - 1))
    }

    /// Bytes that are readable and not read.
    pub fn bytes_readable(&self) -> u64 {
        self.bytes_received_in_order() - self.read.min(self.bytes_received_in_order())
    }

    /// Bytes that are here and not read, those beyond holes counted.
    pub fn bytes_held(&self) -> u64 {
        self.bytes_readable() + self.stream.beyond()
    }

    /// Requests never reach beyond this position.
    pub fn request_edge(&self) -> u64 {
        let read = if self.config.consume_on_arrival { self.bytes_received_in_order() } else { self.read };
        read + self.config.receive_buffer.as_u64()
    }

    /// The pipe, for traces and closed-form checks.
    pub const fn pipe(&self) -> &Pipe {
        &self.pipe
    }

    /// True once every byte is here.
    pub const fn is_complete(&self) -> bool {
        self.completed
    }

    /// Counters and measures so far.
    pub fn metrics(&self) -> ReceiverMetrics {
        let Counters { data_packets, duplicate_bytes, out_of_order_packets, unrequested, store_full } =
            self.counters;
        ReceiverMetrics {
            state: self.pipe.state(),
            engine: self.pipe.metrics(),
            pipe: self.pipe.counters(),
            data_packets,
            duplicate_bytes,
            out_of_order_packets,
            unrequested,
            store_full,
        }
    }

    /// Passes on what happened to the pipe.
    fn note_pipe(&mut self) {
        if self.pipe.take_connected() {
            self.events.push_back(RcpEvent::Connected);
        }
        if let Some(ending) = self.pipe.take_ending() {
            self.standing = Standing::default();
            match ending {
                Ending::Reset => self.events.push_back(RcpEvent::Reset),
                Ending::TimedOut => self.events.push_back(RcpEvent::TimedOut),
                Ending::Closed => {}
            }
            self.events.push_back(RcpEvent::Closed);
        }
    }
}

impl Endpoint for Receiver {
    type Input<'a> = PacketIn;
    type Transmit = PacketOut;
    type Event = RcpEvent;

    fn handle_input(&mut self, now: Instant, packet: PacketIn) {
        if let Some(data) = self.pipe.receive(now, &packet) {
            self.deliver(now, &data);
        }
        self.note_pipe();
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.pipe.deadline().is_some_and(|deadline| deadline.at <= now) {
            self.pipe.fire(now);
        }
        if self.standing.probe_at.is_some_and(|at| at <= now) {
            self.standing.probe_at = None;
            self.standing.probe_due = true;
            self.standing.backoff = self.standing.backoff.saturating_add(1);
        }
        self.note_pipe();
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<PacketOut> {
        self.ask(now)
    }

    fn poll_event(&mut self) -> Option<RcpEvent> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let probe = self.standing.probe_at.map(|at| Deadline { at, why: "persist" });
        Deadline::earliest(self.pipe.deadline(), probe)
    }
}
