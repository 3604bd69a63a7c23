//! One subflow: a TCP connection of its own, with the record of which bytes of the stream its bytes are.
//!
//! Flow control is the connection's: the subflow's TCP sees windows without a limit, and the window field means the
//! connection's buffer on every subflow (RFC 8684 section 3.3.4).
mod incoming;
mod outgoing;
mod queue;

pub(crate) use outgoing::Spoken;

use crate::config::MptcpConfig;
use crate::options::RareOptions;
use crate::segment::{Path, Segment};
use alloc::sync::Arc;
use incoming::Incoming;
use outgoing::Outgoing;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_tcp::engine::Engine;
use prismux_tcp::{Connection as Tcp, SegmentIn, State, TcpConfig, TcpEvent};
use prismux_units::{ByteCount, Duration, Instant};
use prismux_wire::{SeqNumber, TcpFlags, TcpHeader};

/// Bytes that a data sequence signal with its mapping takes of every segment.
pub(crate) const DSS_BYTES: u16 = 24;
/// SACK blocks that fit beside timestamps and a DATA_ACK.
const SACK_BLOCKS: u8 = 2;
/// What subflows have as buffer: none that matters.
const NO_BUFFER: ByteCount = ByteCount::new(1 << 29);
/// The window that subflows see.
const NO_LIMIT: u16 = u16::MAX;
/// The window scale that goes with [`NO_LIMIT`].
const NO_LIMIT_SHIFT: u8 = 14;

/// Linux: timeouts in a row after which a subflow counts as stale (`stale_loss_cnt`).
const MAX_SILENT_TIMEOUTS: u32 = 4;

/// The switches of every subflow's TCP.
pub(crate) fn tcp_config(config: &MptcpConfig) -> TcpConfig {
    TcpConfig {
        mss: config.tcp.mss.saturating_sub(DSS_BYTES),
        receive_buffer: NO_BUFFER,
        window_scaling: true,
        consume_on_arrival: true,
        nagle: false,
        max_sack_blocks: config.tcp.max_sack_blocks.min(SACK_BLOCKS),
        ..config.tcp.clone()
    }
}

/// How a subflow came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// By MP_CAPABLE, with the connection.
    First,
    /// By MP_JOIN.
    Join {
        own_nonce: u32,
        peer_nonce: u32,
        opened_here: bool,
        /// Both sides have seen the other's proof.
        confirmed: bool,
    },
}

/// How a subflow ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Closed,
    Reset,
    TimedOut,
}

/// New payload of the segment that has just arrived, by its place in the subflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Payload {
    pub segment_offset: u32,
    pub position: u64,
    pub bytes: u32,
}

/// What a subflow tells the connection after a segment or a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Update {
    pub established: bool,
    pub closed: Option<Ending>,
    pub accepted: Option<Payload>,
    /// In order up to here.
    pub readable: Option<u64>,
    pub peer_closed: bool,
    /// A retransmission timeout.
    pub timeout: bool,
}

/// What decides a subflow's path and names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    pub path: Path,
    pub opening: Opening,
    /// The number of our address on it.
    pub address_id: u8,
}

/// One subflow.
#[derive(Debug)]
pub(crate) struct Subflow {
    pub path: Path,
    pub opening: Opening,
    pub address_id: u8,
    tcp: Tcp,
    /// The peer's sequence number before its first byte, once its SYN has come.
    peer_initial: SeqNumber,
    /// Shift of the peer's window field; none when either side does not scale.
    pub peer_shift: Option<u8>,
    outgoing: Outgoing,
    incoming: Incoming,
    timeouts: u64,
    /// Timeouts since the last acknowledgement of something.
    pub silent_timeouts: u32,
    /// Either side wants it used only when no other works: ours, the peer's wish.
    pub backup: [bool; 2],
    /// It may have something to say by itself.
    pub resumed: bool,
    /// It has just had no room for new bytes.
    pub full: bool,
    pub established: bool,
    pub ended: bool,
    /// Options to send with the next segment that has room for them.
    pub rare: RareOptions,
    /// Linux: its average rate, and the most bytes that it may hold.
    average_rate: f64,
    queue_bytes: u64,
    /// Redundant scheduling: the next byte that it sends.
    pub cursor: u64,
    pub penalised_at: Instant,
    /// Bytes acknowledged since the last loss and between the two before, and the window when last looked at.
    intervals: [u64; 2],
    window: u64,
    /// Payload bytes sent and received, repetitions included.
    pub sent_bytes: u64,
    pub received_bytes: u64,
}

impl Subflow {
    /// Opens: sends SYN.
    pub(crate) fn open(
        origin: Origin,
        config: &Arc<TcpConfig>,
        ports: (u16, u16),
        initial: SeqNumber,
        now: Instant,
    ) -> Self {
        Self::new(origin, Tcp::connect(Arc::clone(config), ports.0, ports.1, initial, now), now)
    }

    /// Answers SYN.
    pub(crate) fn accept(
        origin: Origin,
        config: &Arc<TcpConfig>,
        syn: &TcpHeader,
        initial: SeqNumber,
        now: Instant,
    ) -> Self {
        let inner = Self::inner_header(syn);
        let mut subflow = Self::new(origin, Tcp::accept(Arc::clone(config), &inner, initial, now), now);
        subflow.note_syn(syn);
        subflow
    }

    fn new(origin: Origin, tcp: Tcp, now: Instant) -> Self {
        let window = tcp.engine().cwnd();
        Self {
            path: origin.path,
            opening: origin.opening,
            address_id: origin.address_id,
            tcp,
            peer_initial: SeqNumber(0),
            peer_shift: None,
            outgoing: Outgoing::default(),
            incoming: Incoming::default(),
            timeouts: 0,
            silent_timeouts: 0,
            backup: [false; 2],
            resumed: true,
            full: false,
            established: false,
            ended: false,
            rare: RareOptions::default(),
            average_rate: 0.0,
            queue_bytes: 0,
            cursor: 0,
            penalised_at: now,
            intervals: [0; 2],
            window,
            sent_bytes: 0,
            received_bytes: 0,
        }
    }

    /// The header as the subflow's own TCP sees it: no limits, and room for the data sequence signal.
    fn inner_header(header: &TcpHeader) -> TcpHeader {
        let mut inner = TcpHeader { window: NO_LIMIT, ..*header };
        if header.flags.contains(TcpFlags::SYN) {
            inner.options.window_scale = Some(NO_LIMIT_SHIFT);
            inner.options.mss = header.options.mss.map(|mss| mss.saturating_sub(DSS_BYTES));
        }
        inner
    }

    fn note_syn(&mut self, syn: &TcpHeader) {
        self.peer_initial = syn.seq;
        self.peer_shift = syn.options.window_scale.map(|shift| shift.min(NO_LIMIT_SHIFT));
    }

    pub(crate) fn tcp(&self) -> &Tcp {
        &self.tcp
    }

    pub(crate) fn tcp_mut(&mut self) -> &mut Tcp {
        &mut self.tcp
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.tcp.engine()
    }

    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.engine().srtt()
    }

    pub(crate) fn deadline(&self) -> Option<Deadline> {
        if self.ended { None } else { self.tcp.poll_timeout() }
    }

    /// There may be something to send, or to say.
    pub(crate) fn resume(&mut self) {
        (self.resumed, self.full) = (true, false);
    }

    /// An acknowledgement is to leave by this subflow.
    pub(crate) fn request_ack(&mut self) {
        self.tcp.request_ack();
        self.resume();
    }

    /// A segment is to leave that the peer must answer.
    pub(crate) fn request_probe(&mut self) {
        self.tcp.request_probe();
        self.resume();
    }

    /// Both sides have proven themselves, and our bytes may go by it.
    pub(crate) fn can_send(&self) -> bool {
        let proven = !matches!(self.opening, Opening::Join { confirmed: false, .. });
        self.established && proven && self.tcp.state().can_send() && !self.tcp.is_closing()
    }

    /// Bytes given to it are likely to arrive.
    pub(crate) fn is_live(&self) -> bool {
        self.can_send() && self.silent_timeouts == 0
    }

    /// Linux: so many timeouts in a row, or its end, make what it holds anybody's.
    pub(crate) fn is_given_up(&self) -> bool {
        self.ended || self.silent_timeouts >= MAX_SILENT_TIMEOUTS
    }

    pub(crate) fn is_backup(&self) -> bool {
        self.backup.contains(&true)
    }

    /// It was opened from here and waits for the peer to acknowledge our proof.
    pub(crate) fn is_proving(&self) -> bool {
        let proves = matches!(self.opening, Opening::Join { confirmed: false, opened_here: true, .. });
        proves && self.established
    }

    /// Bytes acknowledged between the last two losses, or since the last, whichever is more.
    pub(crate) fn loss_interval(&self) -> u64 {
        self.intervals[0].max(self.intervals[1])
    }

    /// FIN after what was sent; what has only been queued is dropped.
    pub(crate) fn close(&mut self) -> Update {
        let next = self.next();
        self.outgoing.drop_unsent(next);
        self.tcp.offer(0);
        self.tcp.close();
        self.resume();
        self.update()
    }

    /// Ends the subflow at once, with RST.
    pub(crate) fn abort(&mut self) {
        self.tcp.abort();
        self.update();
        (self.established, self.ended) = (false, true);
        self.resume();
    }

    /// A segment has arrived. Its mapping must be known by now.
    pub(crate) fn receive(&mut self, now: Instant, segment: &Segment) -> Update {
        let header = Self::inner_header(&segment.tcp);
        if self.tcp.state() == State::SynSent && header.flags.contains(TcpFlags::SYN) {
            self.note_syn(&segment.tcp);
        }
        let acked = self.tcp.stream_acked();
        let payload_bytes = segment.payload_bytes;
        self.tcp.handle_input(now, SegmentIn { header, payload_bytes, ecn: segment.ecn });
        self.resume();
        let newly = self.tcp.stream_acked() - acked;
        if newly > 0 {
            self.silent_timeouts = 0;
        }
        self.intervals[0] += newly;
        self.outgoing.acknowledge(self.tcp.stream_acked());
        self.received_bytes += u64::from(payload_bytes);
        self.update()
    }

    /// Time has reached [`Subflow::deadline`].
    pub(crate) fn fire(&mut self, now: Instant) -> Update {
        self.tcp.handle_timeout(now);
        self.resume();
        self.update()
    }

    /// What has happened since the last call.
    fn update(&mut self) -> Update {
        let mut update = Update::default();
        while let Some(event) = self.tcp.poll_event() {
            match event {
                TcpEvent::Connected => update.established = true,
                TcpEvent::Accepted { segment_offset, stream_offset, bytes } => {
                    update.accepted = Some(Payload { segment_offset, position: stream_offset, bytes });
                }
                TcpEvent::Readable { up_to } => update.readable = Some(up_to),
                TcpEvent::Acknowledged { .. } => {}
                TcpEvent::PeerClosed => update.peer_closed = true,
                TcpEvent::Reset => update.closed = Some(Ending::Reset),
                TcpEvent::TimedOut => update.closed = Some(Ending::TimedOut),
                TcpEvent::Closed => update.closed = update.closed.or(Some(Ending::Closed)),
            }
        }
        self.established |= update.established;
        if update.closed.is_some() {
            (self.established, self.ended) = (false, true);
        }
        let (timeouts, window) = (self.engine().metrics().counters.timeouts, self.engine().cwnd());
        update.timeout = timeouts > self.timeouts;
        self.silent_timeouts += u32::from(update.timeout);
        if window < self.window {
            self.intervals = [0, self.intervals[0]];
        }
        (self.timeouts, self.window) = (timeouts, window);
        update
    }
}
