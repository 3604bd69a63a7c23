//! The connection: its subflows, its two streams, its state.
//!
//! * `open`: the first subflow, those that join, announced addresses. `agree`: keys, proofs, fallback.
//! * `receive`: arriving segments. `closing`: DATA_FIN, subflows that end.
//! * `transmit`: who sends what. `dress`: the options of a segment.
//! * `timers`: signals that want an answer, and stalls. `metrics`: counters and invariants.
mod agree;
mod closing;
mod dress;
mod metrics;
mod open;
mod receive;
mod timers;
mod transmit;

pub use metrics::{Drops, SubflowMetrics};
pub use open::Refusal;

use crate::config::{MptcpConfig, Scheduler};
use crate::event::{Events, MptcpEvent};
use crate::keys::Key;
use crate::options::AddAddress;
use crate::receive_buffer::ReceiveBuffer;
use crate::scheduler::{Chooser, CustomScheduler, SubflowView};
use crate::segment::{Path, Segment, SegmentOut};
use crate::send_buffer::SendBuffer;
use crate::subflow::Subflow;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use prismux_endpoint::random::RandomStream;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_tcp::{TcpConfig, TcpEvent};
use prismux_units::Instant;

/// State of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// The first subflow is not established yet.
    Opening,
    /// Data flows.
    Established,
    /// Both streams have ended and been acknowledged: subflows are closing.
    Closing,
    /// No subflow is left: the connection may be dropped.
    Closed,
}

/// Which protocol is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Not known yet.
    Open,
    /// MPTCP.
    Multipath,
    /// Plain TCP on the first subflow (section 3.7).
    Plain,
}

/// What identifies this end, and what it knows of the peer.
#[derive(Debug)]
struct Identity {
    opened_here: bool,
    key: Key,
    peer_key: Option<Key>,
    /// Data sequence numbers of the first bytes of both streams.
    first: u64,
    peer_first: u64,
    /// A data sequence signal of the peer has come: it knows our key.
    is_proven: bool,
    ports: (u16, u16),
}

/// The end of both streams.
#[derive(Debug, Default)]
struct Ends {
    /// The application closed our direction.
    closing: bool,
    /// DATA_FIN has been acknowledged.
    acked: bool,
    /// Where the peer's stream ends, once its DATA_FIN has come.
    peer_at: Option<u64>,
    /// Everything before it has arrived.
    peer_closed: bool,
}

/// Signals that are repeated until they are answered, and bytes that nobody has on the way.
#[derive(Debug, Default)]
struct Waits {
    signal_at: Option<Instant>,
    signal_tries: u8,
    stall_at: Option<Instant>,
    stall_tries: u8,
    /// When subflows that wait for the peer's FIN alone are given up.
    linger_at: Option<Instant>,
}

/// One MPTCP connection, without bytes: payload is (stream offset, length).
///
/// Drive it as an [`Endpoint`]: one mutation, then drain.
#[derive(Debug)]
pub struct Connection {
    config: MptcpConfig,
    tcp_config: Arc<TcpConfig>,
    identity: Identity,
    random: RandomStream,
    state: State,
    mode: Mode,
    subflows: Vec<Subflow>,
    /// Paths on which to open subflows once the first one has proven itself.
    to_join: VecDeque<Path>,
    /// Addresses to announce; the first is being announced.
    to_announce: VecDeque<AddAddress>,
    chooser: Chooser,
    /// Room for the views of the subflows.
    views: Vec<SubflowView>,
    send_buffer: SendBuffer,
    receive_buffer: ReceiveBuffer,
    /// Shift of our window field.
    shift: u8,
    ends: Ends,
    waits: Waits,
    /// Bytes below have been repeated for a full window.
    repeated_until: u64,
    /// Last told as acknowledged.
    told_acknowledged: u64,
    resets: VecDeque<Segment>,
    events: Events,
    drops: Drops,
}

impl Connection {
    /// Bytes that the application adds to our stream; the host keeps them until [`TcpEvent::Acknowledged`].
    pub fn write(&mut self, bytes: u64) {
        if !self.ends.closing && self.state != State::Closed {
            self.send_buffer.written = self.send_buffer.written.saturating_add(bytes);
            self.resume_all();
        }
    }

    /// Lets a scheduler from outside choose. All else goes as [`Scheduler::MinRtt`] has it.
    pub fn set_scheduler(&mut self, scheduler: Box<dyn CustomScheduler>) {
        self.config.scheduler = Scheduler::MinRtt;
        self.chooser = Chooser::custom(scheduler);
    }

    /// The application has taken `bytes` of what is readable.
    pub fn read(&mut self, bytes: u64) {
        self.receive_buffer.set_read(self.receive_buffer.read() + bytes);
        let segment_bytes = u32::from(self.config.tcp.mss);
        if self.state == State::Established
            && self.receive_buffer.update_is_due(segment_bytes, self.shift)
            && let Some(best) = self.best_subflow(|subflow| subflow.established)
        {
            self.subflows[best].request_ack();
        }
    }

    /// No more data from us: DATA_FIN follows the last byte (section 3.3.3).
    pub fn close(&mut self) {
        if !self.ends.closing {
            self.ends.closing = true;
            self.signal_end();
            self.close_when_complete();
        }
    }

    /// Ends the connection at once: every subflow is reset, with MP_FASTCLOSE (section 3.5).
    pub fn abort(&mut self) {
        let peer_key = self.identity.peer_key.filter(|_| self.mode == Mode::Multipath);
        for subflow in &mut self.subflows {
            subflow.rare.fast_close = peer_key.map(|key| key.0);
            subflow.abort();
        }
        self.enter_closed();
    }

    /// The path of a subflow is gone, as the host knows: its address is taken back (REMOVE_ADDR, section 3.4.2) and its
    /// bytes go by others. The connection goes on even without any subflow, until one joins.
    pub fn drop_path(&mut self, path: Path) {
        let Some(place) = self.place_of(path) else { return };
        self.subflows[place].abort();
        let id = self.subflows[place].address_id;
        self.release(place);
        if self.state == State::Opening {
            self.enter_closed();
        } else if let Some(other) = self.best_subflow(Subflow::is_live) {
            self.subflows[other].rare.remove_address = Some(id);
            self.subflows[other].request_ack();
        }
    }

    /// Wants the subflow over `path` used only when no other works, or again as any other (MP_PRIO, section 3.3.8).
    pub fn set_backup(&mut self, path: Path, backup: bool) {
        if let Some(place) = self.place_of(path) {
            let subflow = &mut self.subflows[place];
            subflow.backup[0] = backup;
            subflow.rare.backup = Some(backup);
            subflow.request_ack();
            self.resume_all();
        }
    }

    /// The state of the connection.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Which protocol is spoken.
    pub const fn mode(&self) -> Mode {
        self.mode
    }

    /// What further subflows of the peer must show.
    pub fn token(&self) -> u32 {
        self.identity.key.token()
    }

    /// Bytes of our stream handed over so far.
    pub const fn stream_written(&self) -> u64 {
        self.send_buffer.written
    }

    /// Bytes of our stream that the peer has acknowledged (DATA_ACK).
    pub const fn stream_acked(&self) -> u64 {
        self.send_buffer.acked
    }

    /// Bytes of the peer's stream that arrived without a gap.
    pub fn bytes_received_in_order(&self) -> u64 {
        self.receive_buffer.next()
    }

    /// Bytes that are readable and not read.
    pub fn bytes_readable(&self) -> u64 {
        self.receive_buffer.next() - self.receive_buffer.read()
    }

    /// The subflow over this path that has not ended.
    fn place_of(&self, path: Path) -> Option<usize> {
        self.subflows.iter().position(|subflow| subflow.path == path && !subflow.ended)
    }

    fn resume_all(&mut self) {
        for subflow in &mut self.subflows {
            subflow.resume();
        }
    }

    /// The subflow with the least round-trip time for which `wanted` holds; those without a sample come last.
    fn best_subflow(&self, wanted: impl Fn(&Subflow) -> bool) -> Option<usize> {
        let candidates = self.subflows.iter().enumerate().filter(|(_, subflow)| wanted(subflow));
        candidates
            .min_by_key(|(_, subflow)| subflow.srtt().unwrap_or(prismux_units::Duration::MAX))
            .map(|(place, _)| place)
    }

    fn enter_closed(&mut self) {
        if self.state != State::Closed {
            self.state = State::Closed;
            self.waits = Waits::default();
            self.events.push(TcpEvent::Closed);
        }
    }
}

impl Endpoint for Connection {
    type Input<'a> = Segment;
    type Transmit = SegmentOut;
    type Event = MptcpEvent;

    fn handle_input(&mut self, now: Instant, segment: Segment) {
        self.receive(now, &segment);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.fire(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<SegmentOut> {
        self.transmit(now)
    }

    fn poll_event(&mut self) -> Option<MptcpEvent> {
        self.events.pop()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        self.deadline()
    }
}
