//! One path's state at the receiver: the engine turned around, and the requests that leave for one sender.
//!
//! The engine counts *units*: a request sent is a unit outstanding, its data a unit returned. Units are numbered in
//! the pipe's own local space, one position per byte asked for, and only the owner of the pipe knows which data a
//! unit stands for: [`Receiver`](crate::Receiver) binds them one after the other to its stream, a connection over
//! several pipes binds them as it schedules.
//!
//! `opening`: handshake, goodbye, resets. `requests`: building what leaves. `blocks`: earlier pulls named in requests.
//! `poll`: requests in bundles, for STP. `sleep`: freezing. `timers`: deadlines beside the engine's.
mod blocks;
mod opening;
mod poll;
mod requests;
mod sleep;
mod timers;

use crate::config::{MAX_SHIFT, MIN_MSS, RcpConfig, TIMESTAMP_BYTES, shift_for};
use crate::header::{RcpFlags, RcpHeader};
use crate::packet::PacketIn;
use crate::ranges::Ranges;
use alloc::sync::Arc;
use blocks::NamedPulls;
use core::ops::Range;
use poll::Bundles;
use prismux_tcp::engine::{Ack, Engine, EngineMetrics, SackRanges, Send, SendLimits};
use prismux_units::{Duration, Instant};
use prismux_wire::{Ecn, SeqNumber};
use timers::Timers;

pub use requests::Ask;

/// State of a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PipeState {
    /// We opened and wait for the sender's answer.
    SynSent,
    /// The sender opened; our answer is out.
    SynReceived,
    /// The handshake is over: requests may leave.
    Established,
    /// Everything has arrived; our goodbye is not answered yet.
    Closing,
    /// There is no connection, or none any more.
    Closed,
}

/// Data from the sender (perhaps none of it, when the packet only tells the limit or the end), in positions of the
/// stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataArrival {
    /// Positions of the payload; empty for a bare limit.
    pub range: Range<u64>,
    /// The stream ends with this packet.
    pub fin: bool,
    /// The network marked congestion on the packet (RFC 3168).
    pub congested: bool,
    /// Time since the request that the sender says it answers.
    pub rtt: Option<Duration>,
}

/// How a unit returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Returned {
    /// The network marked congestion on the packet (RFC 3168).
    pub congested: bool,
    /// Time since the request, by timestamp.
    pub rtt: Option<Duration>,
}

/// Why a pipe ended, for its owner's events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Goodbye was said and answered, or the owner aborted.
    Closed,
    /// The sender refused or reset the connection.
    Reset,
    /// The sender has been silent for too long.
    TimedOut,
}

/// Counters of a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PipeCounters {
    /// Requests that were sent.
    pub requests: u64,
    /// Pull requests among [`PipeCounters::requests`].
    pub pulls: u64,
    /// Standing requests and probes of a sender without data.
    pub probes: u64,
    /// Packets that did not carry the token.
    pub forged: u64,
    /// Packets with flags or numbers that make no sense.
    pub malformed: u64,
    /// Units given up for lost by the link, without reduction of the window.
    pub link_losses: u64,
    /// Times the pipe was frozen.
    pub freezes: u64,
}

/// A packet that waits for its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Control {
    Syn,
    SynAck,
    Goodbye,
    Reset,
}

/// One path's state at the receiver: handshake, requests, and TCP's engine turned around.
#[derive(Debug)]
pub struct Pipe {
    config: Arc<RcpConfig>,
    state: PipeState,
    engine: Engine,
    /// Units that have returned.
    returned: Ranges,
    initial: SeqNumber,
    peer_initial: SeqNumber,
    token: u64,
    /// The sender lets us request up to this position.
    limit: u64,
    /// Just after the highest position that arrived: where numbers are unwrapped.
    newest: u64,
    /// Everything below has been declared ready for purging.
    in_order: u64,
    segment_bytes: u32,
    distance_shift: u8,
    limit_shift: u8,
    timestamps: bool,
    ecn: bool,
    named: NamedPulls,
    control: Option<Control>,
    timers: Timers,
    bundles: Bundles,
    frozen: bool,
    counters: PipeCounters,
    connected_event: bool,
    ending_event: Option<Ending>,
}

impl Pipe {
    /// Opens from the receiver's side: the first packet is SYN. `initial` should be unpredictable on a real network.
    pub fn connect(config: impl Into<Arc<RcpConfig>>, initial: SeqNumber, now: Instant) -> Self {
        Self::new(config.into(), PipeState::SynSent, Control::Syn, initial, now)
    }

    /// As [`Pipe::connect`], for a stream of which everything below `position` is here already.
    pub fn connect_from(
        config: impl Into<Arc<RcpConfig>>,
        initial: SeqNumber,
        position: u64,
        now: Instant,
    ) -> Self {
        let mut pipe = Self::connect(config, initial, now);
        (pipe.newest, pipe.in_order) = (position, position);
        pipe
    }

    /// Answers a sender's SYN.
    pub fn accept(
        config: impl Into<Arc<RcpConfig>>,
        syn: &RcpHeader,
        initial: SeqNumber,
        now: Instant,
    ) -> Self {
        let mut pipe = Self::new(config.into(), PipeState::SynReceived, Control::SynAck, initial, now);
        pipe.learn(syn);
        pipe
    }

    fn new(
        config: Arc<RcpConfig>,
        state: PipeState,
        control: Control,
        initial: SeqNumber,
        now: Instant,
    ) -> Self {
        let segment_bytes = u32::from(config.mss.max(MIN_MSS));
        Self {
            engine: Engine::new(&config.engine, segment_bytes),
            state,
            returned: Ranges::default(),
            initial,
            peer_initial: SeqNumber(0),
            token: 0,
            limit: 0,
            newest: 0,
            in_order: 0,
            segment_bytes,
            distance_shift: shift_for(config.receive_buffer.as_u64()),
            limit_shift: 0,
            timestamps: config.timestamps,
            ecn: false,
            named: NamedPulls::new(config.request_blocks),
            control: Some(control),
            timers: Timers::starting(now),
            bundles: Bundles::default(),
            frozen: false,
            counters: PipeCounters::default(),
            connected_event: false,
            ending_event: None,
            config,
        }
    }

    /// Takes over what the sender's SYN or SYN-ACK says.
    fn learn(&mut self, syn: &RcpHeader) {
        let options = &syn.options;
        self.peer_initial = syn.number;
        self.token = options.token.unwrap_or(0);
        let mss = options.mss.unwrap_or(self.config.mss).min(self.config.mss).max(MIN_MSS);
        self.timestamps = self.config.timestamps && options.timestamps.is_some();
        let overhead = if self.timestamps { TIMESTAMP_BYTES } else { 0 };
        self.segment_bytes = u32::from(mss) - overhead;
        self.engine = Engine::new(&self.config.engine, self.segment_bytes);
        self.limit_shift = options.window_scale.unwrap_or(0).min(MAX_SHIFT);
        self.limit = self.in_order + u64::from(syn.window);
        self.ecn = self.config.ecn && syn.flags.contains(RcpFlags::ECN);
    }

    /// A packet arrived. What it holds for the stream is returned, the rest is done.
    pub fn receive(&mut self, now: Instant, packet: &PacketIn) -> Option<DataArrival> {
        let header = &packet.header;
        if header.flags.contains(RcpFlags::REQ) || self.state == PipeState::Closed {
            self.counters.malformed += 1;
            return None;
        }
        if header.flags.contains(RcpFlags::SYN) {
            self.take_syn(now, header);
            return None;
        }
        if self.state == PipeState::SynSent || !header.proves(self.token) {
            self.counters.forged += 1;
            return None;
        }
        self.timers.heard(now);
        if header.flags.intersects(RcpFlags::RST | RcpFlags::ACK) {
            self.take_control(now, header.flags);
            return None;
        }
        if self.state == PipeState::SynReceived {
            // Data says what the ACK would have said.
            self.establish(now);
        }
        self.take_data(now, packet)
    }

    /// Positions of the data that a damaged packet carried, as far as its header can be believed.
    pub fn receive_damaged(&self, packet: &PacketIn) -> Option<Range<u64>> {
        let header = &packet.header;
        let is_data = header.flags.0 & !RcpFlags::FIN.0 == 0 && packet.payload_bytes > 0;
        let believed = is_data && self.state == PipeState::Established && header.proves(self.token);
        let start = header.number.unwrap_near(self.peer_initial + 1, self.newest).filter(|_| believed)?;
        Some(start..start + u64::from(packet.payload_bytes))
    }

    fn take_data(&mut self, now: Instant, packet: &PacketIn) -> Option<DataArrival> {
        let header = &packet.header;
        let Some(start) = header.number.unwrap_near(self.peer_initial + 1, self.newest) else {
            self.counters.malformed += 1;
            return None;
        };
        let end = start + u64::from(packet.payload_bytes);
        self.newest = self.newest.max(end);
        self.named.arrived(&(start..end.max(start + 1)));
        self.limit = self.limit.max(start + (u64::from(header.window) << self.limit_shift));
        let echo = header.options.timestamps.map(|stamps| stamps.echo).filter(|&echo| echo != 0);
        Some(DataArrival {
            range: start..end,
            fin: header.flags.contains(RcpFlags::FIN),
            congested: self.ecn && packet.ecn == Ecn::Ce,
            rtt: echo.and_then(|echo| self.elapsed(now, echo)),
        })
    }

    /// What the engine wants to ask for next, in local units: `fresh` new units may be asked for, and more would be if
    /// there were room (`cut`) or not. Nothing while the pipe may not send.
    pub fn wish(&mut self, now: Instant, fresh: u64, cut: bool) -> Option<Send> {
        if self.state != PipeState::Established || self.frozen || self.control.is_some() {
            return None;
        }
        let window_end = self.engine.next() + fresh;
        let limits = SendLimits {
            stream_end: if cut { u64::MAX } else { window_end },
            window_end,
            max_segment_bytes: self.segment_bytes,
            nagle: false,
        };
        let send = self.engine.poll_send(now, &limits)?;
        (self.is_repeated(&send) || self.may_ask_anew(now)).then_some(send)
    }

    /// The request for these units is being sent.
    pub fn asked(&mut self, now: Instant, send: &Send) {
        if self.engine.is_idle() {
            self.timers.heard_at = self.timers.heard_at.max(now);
        }
        if !self.is_repeated(send) {
            self.note_bundle(now, send.length());
        }
        self.engine.on_sent(now, send);
    }

    /// True for units that have been asked for before.
    pub fn is_repeated(&self, send: &Send) -> bool {
        send.range.start < self.engine.next()
    }

    /// The data of these units is here. Called once for each arrival and range.
    pub fn units_returned(&mut self, now: Instant, units: Range<u64>, how: Returned) {
        let news = self.returned.insert(units.clone());
        let cumulative = self.returned.next();
        let mut ack = Ack {
            cumulative,
            rtt_from_timestamp: how.rtt,
            ecn_echo: how.congested,
            is_pure: true,
            ..Ack::default()
        };
        if !news {
            ack.dsack = Some(units);
        } else if let Some(run) = self.returned.around(units.start).filter(|_| units.start >= cumulative) {
            ack.sack = SackRanges::from_iter([run]);
        }
        self.engine.on_ack(now, &ack);
    }

    /// The link lost these units (as its own layer says), so their loss says nothing of congestion: they leave the
    /// books as if returned, and their data can be asked for again through other units at once.
    pub fn units_lost_by_link(&mut self, now: Instant, units: Range<u64>) {
        self.counters.link_losses += 1;
        self.units_returned(now, units, Returned::default());
    }

    /// Forgets all units outstanding without blame for the path. Their data must be asked for anew.
    pub fn write_off(&mut self) {
        self.engine.write_off();
        self.returned.advance_to(self.engine.next());
    }

    /// The state of the pipe.
    pub const fn state(&self) -> PipeState {
        self.state
    }

    /// The engine, for traces, schedulers and closed-form checks.
    pub const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Measures of the engine: window, round trip, losses.
    pub fn metrics(&self) -> EngineMetrics {
        self.engine.metrics()
    }

    /// Counters of the pipe so far.
    pub const fn counters(&self) -> PipeCounters {
        self.counters
    }

    /// First local unit not yet returned.
    pub const fn units_returned_to(&self) -> u64 {
        self.returned.next()
    }

    /// The sender lets us request up to this position.
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// Most payload of one data packet.
    pub const fn segment_bytes(&self) -> u32 {
        self.segment_bytes
    }

    /// True once, after the handshake.
    pub fn take_connected(&mut self) -> bool {
        core::mem::take(&mut self.connected_event)
    }

    /// Once, why the pipe ended.
    pub fn take_ending(&mut self) -> Option<Ending> {
        self.ending_event.take()
    }
}
