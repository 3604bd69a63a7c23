//! One connection: the state machine around an [`Engine`].
//!
//! | phase | file | RFC 9293 |
//! |---|---|---|
//! | open: SYN and what answers it | `handshake.rs` | 3.10.7.3, 3.10.7.4 (SYN-RECEIVED) |
//! | accept: timestamps, sequence, RST, SYN, ACK bit | `accept.rs` | 3.10.7.4, first to fifth check |
//! | acknowledge: window, SACK, the engine, our FIN | `acknowledge.rs` | 3.10.7.4, fifth check |
//! | recover | the engine | RFC 6675, 8985 |
//! | deliver: payload, the peer's FIN, when to ACK | `deliver.rs` | 3.10.7.4, seventh and eighth check |
//! | watch: the order of sending against that of arrival | `watch.rs` | |
//! | extend: what a sender's extension asks, notices of a handoff | `extend.rs` | |
//! | choose: what to send next | `choose.rs` | 3.8.6, 3.7.4 |
//! | build: the header | `build.rs` | 3.1 |
//! | timers | `timeouts.rs` | 3.8.1, 3.8.4, 3.8.6.1 |

mod accept;
mod acking;
mod acknowledge;
mod agreed;
mod build;
mod choose;
mod clock;
mod deliver;
mod event;
mod extend;
mod handshake;
mod metrics;
mod poll;
mod polling;
mod reassembly;
mod receive_window;
mod receiving;
mod segment;
mod state;
mod timeouts;
mod timers;
mod watch;

pub use event::TcpEvent;
pub use metrics::{ConnectionMetrics, DropCounters};
pub use segment::{SegmentIn, SegmentOut, reset_for};
pub use state::State;

use crate::config::TcpConfig;
use crate::engine::Engine;
use crate::engine::congestion::UnscalableIncrease;
use crate::extension::SenderExtension;
use crate::order::OrderWatch;
use acking::{AckNeed, Acking};
use agreed::Agreed;
use alloc::boxed::Box;
use alloc::sync::Arc;
use clock::Clock;
use event::Events;
use metrics::{Counters, Traffic};
use polling::Polling;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_units::Instant;
use prismux_wire::{HandoffNotice, SeqNumber};
use receiving::Receiving;
use timers::Timers;

/// Our direction: what the application gave and what the peer allows.
#[derive(Debug)]
struct Sending {
    initial: SeqNumber,
    /// Bytes handed over by the application.
    written: u64,
    /// The application closed: FIN takes position `written`.
    fin: bool,
    /// Everything below is acknowledged.
    acknowledged: u64,
    /// Just after the highest position ever sent.
    sent_end: u64,
    /// The peer's right edge.
    window_end: u64,
    /// The largest window the peer ever offered, for silly-window avoidance.
    largest_window: u64,
    /// Peer position and acknowledgement of the last window update (SND.WL1; SND.WL2 is `acknowledged`).
    window_from: u64,
    /// Window field of that update, unscaled, to tell duplicates from updates.
    window_field: u16,
    /// Shift of the peer's window field.
    shift: u8,
    /// The most payload a segment without SACK blocks carries.
    segment_bytes: u32,
    /// Send a partial segment although the window is silly (override timer).
    override_silly: bool,
}

/// A control segment that waits for its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Control {
    /// SYN, or SYN-ACK in SYN-RECEIVED.
    Syn,
    /// RST with this sequence number; with our ACK for resets of synchronised states.
    Reset { seq: SeqNumber, with_ack: bool },
    /// A segment below the peer's window that makes it say where it stands.
    Probe,
    /// A duplicate ACK that tells of our handoff.
    Notice(HandoffNotice),
    /// An acknowledgement of what had arrived before this position, marked or not, ahead of what differs in that.
    Echo { ack: SeqNumber, marked: bool },
}

/// ECN of both directions (RFC 3168 section 6.1).
#[derive(Debug, Default)]
struct EcnState {
    negotiated: bool,
    /// CE has arrived: echo until CWR.
    echo: bool,
    /// Tell the peer that the window was reduced.
    cwr_due: bool,
}

/// One TCP connection, without bytes: payload is (stream offset, length).
///
/// Drive it as an [`Endpoint`]: one mutation (a segment, a timeout, [`write`](Self::write),
/// [`read`](Self::read), [`close`](Self::close), [`abort`](Self::abort)), then drain transmits and events.
///
/// The order of the fields matters where there are thousands of connections: what every segment touches lies
/// together, so that it takes few cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Connection {
    config: Arc<TcpConfig>,
    order: Option<Box<dyn OrderWatch>>,
    /// Last time our stream's acknowledgement advanced, or began to be waited for.
    progress_at: Instant,
    /// When an acknowledgement that is delayed leaves at the latest; [`Instant::MAX`] for none.
    delayed_ack: Instant,
    control: Option<Control>,
    local_port: u16,
    remote_port: u16,
    state: State,
    agreed: Agreed,
    acking: Acking,
    ecn: EcnState,
    /// There is an extension.
    extended: bool,
    // The second line.
    sending: Sending,
    // The third, as far as the first deadline among the timers.
    events: Events,
    traffic: Traffic,
    timers: Timers,
    /// Echoes of congestion below this position belong to a reduction already made.
    ecn_reduced_until: u64,
    // The fifth.
    receiving: Receiving,
    clock: Clock,
    polling: Polling,
    extension: Option<Box<dyn SenderExtension>>,
    counters: Counters,
    engine: Engine,
}

const _: () = assert!(core::mem::offset_of!(Connection, sending) == 64, "the second cache line");
const _: () = assert!(core::mem::offset_of!(Connection, events) == 128, "the third cache line");
const _: () = assert!(core::mem::offset_of!(Connection, timers) == 176, "the end of the third cache line");
const _: () = assert!(core::mem::offset_of!(Connection, receiving) == 256, "the fifth cache line");

impl Connection {
    /// [`Endpoint::handle_input`] of a segment that stays where it is: to move a header costs more than to read it.
    pub fn handle_segment(&mut self, now: Instant, segment: &SegmentIn) {
        self.traffic.segments_received += 1;
        match self.state {
            State::Closed => self.counters.drops.closed += 1,
            State::SynSent => self.handle_in_syn_sent(now, segment),
            _ => self.handle_synchronised(now, segment),
        }
    }

    /// Bytes that the application adds to our stream; the host keeps them until
    /// [`TcpEvent::Acknowledged`]. Ignored once the connection is closed for sending.
    pub fn write(&mut self, bytes: u64) {
        if self.state.can_send() && !self.sending.fin {
            self.sending.written = self.sending.written.saturating_add(bytes);
        }
    }

    /// Replaces what was handed over and not yet sent by `bytes` new bytes. For hosts that decide at the last moment
    /// what to send, and take back what the window did not let go.
    pub fn offer(&mut self, bytes: u64) {
        if self.state.can_send() && !self.sending.fin {
            self.sending.written = self.sending.sent_end.saturating_add(bytes);
        }
    }

    /// Owes the peer an acknowledgement now: something that travels with it has changed.
    pub fn request_ack(&mut self) {
        if self.state >= State::Established && self.state != State::Closed {
            self.acking.need = AckNeed::Now;
        }
    }

    /// Sends a segment without payload from below the peer's window, which the peer has to answer.
    pub fn request_probe(&mut self) {
        if self.state.may_transmit_data() && self.control.is_none() {
            self.control = Some(Control::Probe);
        }
    }

    /// The application has taken `bytes` of what is readable; opens the window.
    pub fn read(&mut self, bytes: u64) {
        let position = (self.receiving.window.read() + bytes).min(self.receiving.reassembly.next());
        self.receiving.window.set_read(position);
        let synchronised = self.state.can_receive();
        if synchronised && self.receiving.window.update_is_due(self.receiving.next()) {
            self.acking.need = AckNeed::Now;
        }
    }

    /// No more data from us: FIN follows the last byte written (RFC 9293 section 3.10.4).
    pub fn close(&mut self) {
        match self.state {
            State::SynSent => self.enter_closed(),
            State::SynReceived => self.sending.fin = true,
            State::Established => self.queue_fin(State::FinWait1),
            State::CloseWait => self.queue_fin(State::LastAck),
            _ => {}
        }
    }

    /// Ends the connection at once, with RST where the peer knows of it (RFC 9293 section 3.10.5).
    pub fn abort(&mut self) {
        let quiet = matches!(self.state, State::SynSent | State::TimeWait | State::Closed);
        let seq = self.next_sequence();
        self.enter_closed();
        if !quiet {
            self.control = Some(Control::Reset { seq, with_ack: true });
        }
    }

    /// The state of RFC 9293.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Bytes of our stream handed over so far.
    pub const fn stream_written(&self) -> u64 {
        self.sending.written
    }

    /// Bytes of our stream that the peer has acknowledged.
    pub fn stream_acked(&self) -> u64 {
        self.sending.acknowledged.min(self.sending.written)
    }

    /// Bytes of the peer's stream that arrived without a gap.
    pub const fn bytes_received_in_order(&self) -> u64 {
        self.receiving.reassembly.next()
    }

    /// Bytes that are readable and not read.
    pub const fn bytes_readable(&self) -> u64 {
        self.receiving.reassembly.next() - self.receiving.window.read()
    }

    /// Bytes the peer may still send within the window last advertised.
    pub fn receive_window(&self) -> u64 {
        self.receiving.window.advertised().saturating_sub(self.receiving.next())
    }

    /// Stream position of the last advertised right edge; it never decreases.
    pub const fn receive_window_edge(&self) -> u64 {
        self.receiving.window.advertised()
    }

    /// How far beyond the read position a receive buffer must reach to hold all that can be accepted.
    pub const fn receive_buffer_bytes(&self) -> u64 {
        self.receiving.window.buffer_bytes()
    }

    /// Our port.
    pub const fn local_port(&self) -> u16 {
        self.local_port
    }

    /// The peer's port.
    pub const fn remote_port(&self) -> u16 {
        self.remote_port
    }

    /// The most payload one of our segments carries.
    pub const fn segment_bytes(&self) -> u32 {
        self.sending.segment_bytes
    }

    /// See [`Engine::set_increase_share`].
    ///
    /// # Errors
    /// The congestion control has no such increase (BBR).
    pub fn set_increase_share(&mut self, share: f64) -> Result<(), UnscalableIncrease> {
        self.engine.set_increase_share(share)
    }

    /// The engine, for traces and closed-form checks.
    pub const fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Counters and measures so far.
    pub fn metrics(&self) -> ConnectionMetrics {
        self.counters.metrics(self.state, self.traffic, self.engine.metrics())
    }

    /// Switches this connection was made with.
    pub fn config(&self) -> &TcpConfig {
        &self.config
    }

    fn queue_fin(&mut self, next: State) {
        self.sending.fin = true;
        self.state = next;
    }

    /// The next sequence number we would send (SND.NXT).
    fn next_sequence(&self) -> SeqNumber {
        let syn = u32::from(self.state != State::SynSent || self.counters.syns_sent > 0);
        self.sending.initial + syn + (self.sending.sent_end as u32)
    }

    /// Just after the last position there is to send, FIN counted.
    fn stream_end(&self) -> u64 {
        self.sending.written + u64::from(self.sending.fin)
    }

    /// The application closed our direction.
    pub const fn is_closing(&self) -> bool {
        self.sending.fin
    }

    /// Whether anything sent is unacknowledged.
    fn has_outstanding(&self) -> bool {
        self.sending.acknowledged < self.sending.sent_end
    }

    fn enter_closed(&mut self) {
        if self.state != State::Closed {
            self.state = State::Closed;
            self.timers = Timers::NONE;
            self.delayed_ack = Instant::MAX;
            self.acking.need = AckNeed::None;
            self.control = None;
            self.events.closed();
        }
    }
}

impl Endpoint for Connection {
    type Input<'a> = SegmentIn;
    type Transmit = SegmentOut;
    type Event = TcpEvent;

    fn handle_input(&mut self, now: Instant, segment: SegmentIn) {
        self.handle_segment(now, &segment);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.fire_timers(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<SegmentOut> {
        self.choose(now)
    }

    #[inline]
    fn poll_event(&mut self) -> Option<TcpEvent> {
        self.events.pop(self.receiving.reassembly.next(), self.stream_acked())
    }

    #[inline]
    fn poll_timeout(&self) -> Option<Deadline> {
        self.deadline()
    }
}
