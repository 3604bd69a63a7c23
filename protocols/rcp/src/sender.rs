//! The sending end: it answers requests and knows nothing of congestion.
//!
//! Its state is a buffer (kept by the host), SND.NXT, how far the receiver has asked, and a ring of the last pulls it
//! answered. It times nothing: a lost packet is the receiver's affair. Only a vanished receiver is given up, by a
//! deadline that moves for free with every packet heard, and a rate cap, where set, spreads its answers.
//!
//! `requests`: what a request does. `answer`: what leaves. `ring`: blocks against pulls lost.
mod answer;
mod requests;
mod ring;

use crate::config::{MAX_SHIFT, MIN_MSS, RcpConfig, TIMESTAMP_BYTES, shift_for};
use crate::header::{RcpFlags, RcpHeader};
use crate::packet::{PacketIn, PacketOut, RcpEvent};
use crate::rate_cap::RateCap;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_units::Instant;
use prismux_wire::SeqNumber;
use ring::Ring;

/// Pulls waiting for their turn (rate cap) or for data that does not exist yet; more are dropped, the receiver asks
/// again.
const MAX_WAITING_PULLS: usize = 64;

/// State of the sending end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SenderState {
    /// We opened and wait for the receiver's answer.
    SynSent,
    /// The receiver opened; nothing under our token has come yet.
    SynReceived,
    /// The handshake is over: requests are answered.
    Established,
    /// The receiver has everything, or went away.
    Closed,
}

/// Packets that were not processed, and requests that were cut, by cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SenderDrops {
    /// Packets without the token.
    pub forged: u64,
    /// Packets with flags that make no sense in the state.
    pub malformed: u64,
    /// Requests, or parts of them, beyond the limit we advertise.
    pub beyond_limit: u64,
    /// Pulls of what lies beyond the end of a complete stream; they are answered with its end.
    pub beyond_end: u64,
    /// Requests for what is purged already, or numbers before the stream.
    pub below_purge: u64,
    /// Pulls for which there was no room to wait.
    pub crowded: u64,
}

/// A snapshot of the sender's measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SenderMetrics {
    /// Requests that were processed.
    pub requests: u64,
    /// Data packets sent.
    pub data_packets: u64,
    /// Payload bytes sent, those sent again included.
    pub data_bytes: u64,
    /// Pulls answered because a request named them itself.
    pub pulls: u64,
    /// Pulls answered because a later request's blocks showed that they were lost.
    pub recovered_pulls: u64,
    /// Payload bytes sent below SND.NXT, that is, not for the first time.
    pub repeated_bytes: u64,
    /// Packets and requests that were refused, by cause.
    pub drops: SenderDrops,
}

/// A segment to be sent on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pull {
    start: u64,
    /// The requesting packet's clock, to be echoed; 0 for none.
    echo: u32,
}

/// A packet that waits for its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Control {
    Syn,
    SynAck,
    Ack,
    FinAck,
    Reset,
}

/// The sending end of a connection, without bytes: payload is (stream offset, length).
///
/// Position `p` of the stream has number `initial + 1 + p`; the end takes the position after the last byte.
#[derive(Debug)]
pub struct Sender {
    config: Arc<RcpConfig>,
    state: SenderState,
    initial: SeqNumber,
    peer_initial: SeqNumber,
    token: u64,
    /// Bytes that the application has handed over, and whether the stream ends there.
    written: u64,
    finished: bool,
    /// SND.NXT: first position that cumulative requests have not had sent.
    next: u64,
    /// The receiver has everything below.
    purged: u64,
    /// Cumulative requests reach up to here.
    requested: u64,
    pulls: VecDeque<Pull>,
    ring: Ring,
    cap: Option<RateCap>,
    segment_bytes: u32,
    /// Shift of the receiver's SEG.DEQ, and of our limit.
    distance_shift: u8,
    limit_shift: u8,
    timestamps: bool,
    ecn: bool,
    /// Clock of the last request, to be echoed; 0 once an answer had to wait.
    echo: u32,
    /// Tell the receiver the limit although there is no data to send.
    update_due: bool,
    control: Option<Control>,
    heard_at: Instant,
    open_at: Option<Instant>,
    open_retries: u8,
    metrics: SenderMetrics,
    events: VecDeque<RcpEvent>,
}

impl Sender {
    /// Answers the SYN of a receiver.
    ///
    /// On a real network `initial` and `token` must be unpredictable; a host without state for half-open connections
    /// derives both from the flow by a keyed hash and calls this with the first request instead of the SYN.
    pub fn accept(
        config: impl Into<Arc<RcpConfig>>,
        syn: &RcpHeader,
        initial: SeqNumber,
        token: u64,
        now: Instant,
    ) -> Self {
        let mut sender = Self::new(config.into(), SenderState::SynReceived, initial, token, now);
        sender.learn(syn);
        let start = syn.options.start;
        (sender.next, sender.purged, sender.requested) = (start, start, start);
        sender.control = Some(Control::SynAck);
        sender
    }

    /// Opens from the sender's side: the first packet is SYN.
    pub fn connect(config: impl Into<Arc<RcpConfig>>, initial: SeqNumber, token: u64, now: Instant) -> Self {
        let mut sender = Self::new(config.into(), SenderState::SynSent, initial, token, now);
        sender.control = Some(Control::Syn);
        sender.open_at = Some(now + sender.config.engine.initial_rto);
        sender
    }

    fn new(config: Arc<RcpConfig>, state: SenderState, initial: SeqNumber, token: u64, now: Instant) -> Self {
        Self {
            state,
            initial,
            peer_initial: SeqNumber(0),
            token,
            written: 0,
            finished: false,
            next: 0,
            purged: 0,
            requested: 0,
            pulls: VecDeque::new(),
            ring: Ring::new(config.answer_ring),
            cap: config.rate_cap.map(|rate| RateCap::new(rate, config.rate_burst, now)),
            segment_bytes: u32::from(config.mss.max(MIN_MSS)),
            distance_shift: 0,
            limit_shift: shift_for(config.request_limit.as_u64()),
            timestamps: false,
            ecn: false,
            echo: 0,
            update_due: false,
            control: None,
            heard_at: now,
            open_at: None,
            open_retries: 0,
            metrics: SenderMetrics::default(),
            events: VecDeque::new(),
            config,
        }
    }

    /// Takes over what the receiver's SYN or SYN-ACK says.
    fn learn(&mut self, syn: &RcpHeader) {
        let options = &syn.options;
        self.peer_initial = syn.number;
        let mss = options.mss.unwrap_or(self.config.mss).min(self.config.mss).max(MIN_MSS);
        self.timestamps = self.config.timestamps && options.timestamps.is_some();
        let overhead = if self.timestamps { TIMESTAMP_BYTES } else { 0 };
        self.segment_bytes = u32::from(mss) - overhead;
        self.distance_shift = options.window_scale.unwrap_or(0).min(MAX_SHIFT);
        self.ecn = self.config.ecn && syn.flags.contains(RcpFlags::ECN);
        self.echo = options.timestamps.map_or(0, |timestamps| timestamps.value);
    }

    /// Bytes that the application adds to the stream; the host keeps them until [`RcpEvent::Purged`].
    pub fn write(&mut self, bytes: u64) {
        if !self.finished && bytes > 0 {
            self.written = self.written.saturating_add(bytes);
            self.data_appeared();
        }
    }

    /// The stream ends after the last byte written.
    pub fn finish(&mut self) {
        if !self.finished {
            self.finished = true;
            self.data_appeared();
        }
    }

    /// What was requested and did not exist may exist now: answers that waited are given. The receiver that waits for
    /// nothing in particular is told of the new limit.
    fn data_appeared(&mut self) {
        self.echo = 0;
        self.update_due |= self.state == SenderState::Established && self.requested <= self.next;
    }

    /// Ends the connection at once.
    pub fn abort(&mut self) {
        if self.state != SenderState::Closed {
            self.close();
            self.control = Some(Control::Reset);
        }
    }

    /// The state of the sending end.
    pub const fn state(&self) -> SenderState {
        self.state
    }

    /// Bytes handed over so far.
    pub const fn stream_written(&self) -> u64 {
        self.written
    }

    /// The receiver has every byte below.
    pub fn stream_purged(&self) -> u64 {
        self.purged.min(self.written)
    }

    /// Most payload of one packet.
    pub const fn segment_bytes(&self) -> u32 {
        self.segment_bytes
    }

    /// The token of this connection.
    pub const fn token(&self) -> u64 {
        self.token
    }

    /// Counters of the sending end so far.
    pub const fn metrics(&self) -> SenderMetrics {
        self.metrics
    }

    /// Just after the last position there is, the end counted.
    const fn stream_end(&self) -> u64 {
        self.written + self.finished as u64
    }

    /// No request may reach beyond this position.
    fn limit(&self) -> u64 {
        let reach = self.purged + self.config.request_limit.as_u64();
        // Of a complete stream the end is no secret: requests beyond it are answered with FIN.
        if self.finished { reach } else { reach.min(self.written) }
    }

    fn number(&self, position: u64) -> SeqNumber {
        self.initial + 1 + (position as u32)
    }

    fn close(&mut self) {
        self.state = SenderState::Closed;
        self.pulls.clear();
        self.requested = self.next;
        self.update_due = false;
        self.open_at = None;
        self.events.push_back(RcpEvent::Closed);
    }

    fn next_deadline(&self) -> Option<Deadline> {
        if self.state == SenderState::Closed {
            return None;
        }
        let vanished = Deadline { at: self.heard_at + self.config.keep_alive, why: "keep-alive" };
        let opening = self.open_at.map(|at| Deadline { at, why: "handshake" });
        let capped =
            self.cap.as_ref().and_then(|cap| cap.wakes_at()).map(|at| Deadline { at, why: "rate-cap" });
        Deadline::earliest(Some(vanished), Deadline::earliest(opening, capped))
    }
}

impl Endpoint for Sender {
    type Input<'a> = PacketIn;
    type Transmit = PacketOut;
    type Event = RcpEvent;

    fn handle_input(&mut self, now: Instant, packet: PacketIn) {
        self.take(now, &packet);
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.state == SenderState::Closed {
            return;
        }
        if now >= self.heard_at + self.config.keep_alive {
            self.events.push_back(RcpEvent::TimedOut);
            self.close();
            return;
        }
        if self.open_at.is_some_and(|at| at <= now) {
            self.retry_opening(now);
        }
        if let Some(cap) = &mut self.cap {
            cap.wake(now);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<PacketOut> {
        self.answer(now)
    }

    fn poll_event(&mut self) -> Option<RcpEvent> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        self.next_deadline()
    }
}
