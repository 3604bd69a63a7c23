//! TCP-v: one pipe. A whole TCP that happens to carry no bytes, which is what [`prismux_tcp::Connection`] is, with the
//! record of which bytes of the striped connection its segments stand for.
//!
//! The eight calls between the connection and its pipes:
//!
//! | call | direction | here |
//! |---|---|---|
//! | `open`, `close` | down | [`Pipe::open`], [`Pipe::accept`], [`Pipe::close`] |
//! | `receive` | down | [`Pipe::receive`] (and [`Pipe::fire`], time's own segment) |
//! | `resume` | down | [`Pipe::resume`], then [`Pipe::send`] until it has nothing to say |
//! | `established`, `closed`, `shrunk` | up | the [`PipeUpdate`] that `receive` and `fire` return |
//! | `send` | up | [`SendBuffer::offer`], [`SendBuffer::bind`], from [`Pipe::send`]; an offer of nothing is *freeze* |
mod bytes;

pub(crate) use bytes::Settle;

use crate::binding::Bindings;
use crate::scheduler::PipeView;
use crate::segment::Path;
use crate::send_buffer::SendBuffer;
use alloc::boxed::Box;
use alloc::sync::Arc;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_tcp::engine::Engine;
use prismux_tcp::loss_notification::{LossListener, LossMarker};
use prismux_tcp::{Connection as Tcp, SegmentIn, State, TcpConfig, TcpEvent};
use prismux_units::{Duration, Instant};
use prismux_wire::{Ecn, SeqNumber, TcpHeader};

/// How a pipe ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Both sides closed the pipe.
    Closed,
    /// The peer refused or reset the pipe.
    Reset,
    /// Retransmissions went unanswered for too long.
    TimedOut,
}

/// The window of a pipe fell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shrunk {
    pub window: u64,
    pub timeout: bool,
}

/// What a pipe tells the connection after a segment or a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PipeUpdate {
    pub established: bool,
    pub closed: Option<Ending>,
    pub shrunk: Option<Shrunk>,
    /// Nothing was heard for so long that a tail loss probe is due.
    pub probes: bool,
    pub peer_closed: bool,
}

/// A segment of a pipe: its header, its length in the pipe's stream, and what it carries of the connection's.
#[derive(Debug, Clone)]
pub(crate) struct PipeSegment {
    pub tcp: TcpHeader,
    pub virtual_bytes: u32,
    pub data: u64,
    pub bytes: u32,
    pub ecn: Ecn,
    /// Other pipes may take the same bytes too.
    pub offered_elsewhere: bool,
}

/// One pipe: its TCP, and what each of its virtual segments carries.
#[derive(Debug)]
pub(crate) struct Pipe {
    pub id: u8,
    pub path: Path,
    /// The pipe that opened the connection has no token to show.
    pub is_first: bool,
    tcp: Tcp,
    /// Sequence number of the first position of the pipe's stream.
    origin: SeqNumber,
    bindings: Bindings,
    /// Congestion window and timeouts when last looked at.
    window: u64,
    timeouts: u64,
    /// The pipe waited in vain for an acknowledgement, and none has come since.
    silent: bool,
    /// The pipe may have something to send.
    resumed: bool,
    /// It took no bytes when it was offered some, and nothing has happened to it since.
    full: bool,
    /// Our stream may use it; otherwise it carries acknowledgements and the peer's alone.
    pub carries_ours: bool,
    /// Its handshake is complete and it has not ended.
    pub established: bool,
    pub ended: bool,
    /// Explicit loss notification, if the connection uses it.
    marker: Option<Box<LossMarker>>,
    /// When it last sent a segment with payload, or received one of any kind.
    quiet_since: Instant,
    /// Payload bytes sent, repetitions included.
    pub sent_bytes: u64,
    /// Payload bytes that arrived through it, repetitions included.
    pub received_bytes: u64,
}

/// The window that pipes see: none. Flow control is the connection's.
const NO_LIMIT: u16 = u16::MAX;

impl Pipe {
    /// `open`: sends SYN.
    pub(crate) fn open(
        id: u8,
        path: Path,
        config: &Arc<TcpConfig>,
        ports: (u16, u16),
        iss: SeqNumber,
        now: Instant,
    ) -> Self {
        Self::new(id, path, Tcp::connect(Arc::clone(config), ports.0, ports.1, iss, now), iss, now)
    }

    /// `open` by the other side: answers SYN.
    pub(crate) fn accept(
        id: u8,
        path: Path,
        config: &Arc<TcpConfig>,
        syn: &TcpHeader,
        iss: SeqNumber,
        now: Instant,
    ) -> Self {
        let syn = TcpHeader { window: NO_LIMIT, ..*syn };
        Self::new(id, path, Tcp::accept(Arc::clone(config), &syn, iss, now), iss, now)
    }

    fn new(id: u8, path: Path, tcp: Tcp, iss: SeqNumber, now: Instant) -> Self {
        let window = tcp.engine().cwnd();
        Self {
            id,
            path,
            is_first: false,
            tcp,
            origin: iss + 1,
            bindings: Bindings::default(),
            window,
            timeouts: 0,
            silent: false,
            resumed: true,
            full: false,
            carries_ours: true,
            established: false,
            ended: false,
            marker: None,
            quiet_since: now,
            sent_bytes: 0,
            received_bytes: 0,
        }
    }

    /// Damaged segments are told of, and the peer is listened to.
    pub(crate) fn notify_losses(&mut self) {
        self.marker = Some(Box::default());
        self.tcp.set_extension(Box::new(LossListener));
    }

    /// A segment of the peer, `virtual_bytes` long, arrived damaged.
    pub(crate) fn damaged(&mut self, header: &TcpHeader, virtual_bytes: u32) {
        if let Some(marker) = &mut self.marker {
            marker.damaged(header, virtual_bytes);
        }
    }

    /// `close`: FIN after what was sent.
    pub(crate) fn close(&mut self) -> PipeUpdate {
        self.tcp.close();
        self.resumed = true;
        self.update()
    }

    /// Ends the pipe at once, with RST.
    pub(crate) fn abort(&mut self) {
        self.tcp.abort();
        self.update();
        self.resumed = true;
    }

    /// `resume`: there is something to send, or to say.
    pub(crate) fn resume(&mut self) {
        self.resumed = true;
        self.full = false;
    }

    /// Resumed and not yet silent again.
    pub(crate) fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// An acknowledgement is to leave by this pipe.
    pub(crate) fn request_ack(&mut self) {
        self.tcp.request_ack();
        self.resumed = true;
    }

    /// A segment is to leave that the peer must answer.
    pub(crate) fn request_probe(&mut self) {
        self.tcp.request_probe();
        self.resumed = true;
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.tcp.engine()
    }

    /// Coupled increase: the share of its own that this pipe takes. Without effect on a congestion control that has no
    /// increase, as [`PtcpConfig::coupled`](crate::PtcpConfig::coupled) says.
    pub(crate) fn set_increase_share(&mut self, share: f64) {
        self.tcp.set_increase_share(share).ok();
    }

    /// As schedulers see it.
    pub(crate) fn view(&self) -> PipeView {
        let metrics = self.tcp.engine().metrics();
        PipeView {
            id: self.id,
            path: self.path,
            usable: self.is_live(),
            has_room: !self.full,
            srtt: metrics.srtt,
            rttvar: metrics.rttvar,
            window_bytes: metrics.cwnd_bytes,
            in_flight_bytes: metrics.outstanding_bytes,
            segment_bytes: self.tcp.segment_bytes(),
        }
    }

    pub(crate) fn state(&self) -> State {
        self.tcp.state()
    }

    pub(crate) fn metrics(&self) -> prismux_tcp::ConnectionMetrics {
        self.tcp.metrics()
    }

    pub(crate) fn bindings(&self) -> &Bindings {
        &self.bindings
    }

    pub(crate) fn bindings_mut(&mut self) -> &mut Bindings {
        &mut self.bindings
    }

    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.tcp.engine().srtt()
    }

    /// Nothing has been sent that has to be acknowledged, and nothing received, since then.
    pub(crate) const fn quiet_since(&self) -> Instant {
        self.quiet_since
    }

    pub(crate) fn deadline(&self) -> Option<Deadline> {
        self.tcp.poll_timeout()
    }

    /// The pipe can still take bytes of our stream.
    pub(crate) fn can_send(&self) -> bool {
        self.carries_ours && self.established && self.tcp.state().can_send() && !self.tcp.is_closing()
    }

    /// Bytes given to the pipe leave at once, and it is not known to be dark.
    pub(crate) fn is_live(&self) -> bool {
        self.can_send() && !self.silent
    }

    /// `receive`: a segment without its payload, `virtual_bytes` long.
    pub(crate) fn receive(
        &mut self,
        now: Instant,
        header: &TcpHeader,
        virtual_bytes: u32,
        ecn: Ecn,
        settle: &mut Settle<'_>,
    ) -> PipeUpdate {
        let header = TcpHeader { window: NO_LIMIT, ..*header };
        let acked = self.tcp.stream_acked();
        self.tcp.handle_input(now, SegmentIn { header, payload_bytes: virtual_bytes, ecn });
        self.resume();
        self.quiet_since = now;
        self.silent &= self.tcp.stream_acked() == acked && header.options.sack.is_empty();
        let update = self.update();
        self.settle(&header, settle);
        update
    }

    /// Time has reached [`Pipe::deadline`].
    pub(crate) fn fire(&mut self, now: Instant) -> PipeUpdate {
        let due = self.tcp.engine().deadline().filter(|deadline| deadline.at <= now);
        self.tcp.handle_timeout(now);
        self.resume();
        PipeUpdate { probes: due.is_some_and(|deadline| deadline.why == "tlp"), ..self.update() }
    }

    /// Nothing was heard for long: until something is, new bytes go elsewhere and probes are copies.
    pub(crate) fn fall_silent(&mut self) {
        self.silent = true;
    }

    /// What has happened since the last call: `established`, `closed`, `shrunk`.
    fn update(&mut self) -> PipeUpdate {
        let mut update = PipeUpdate::default();
        while let Some(event) = self.tcp.poll_event() {
            match event {
                TcpEvent::Connected => update.established = true,
                TcpEvent::PeerClosed => update.peer_closed = true,
                TcpEvent::Reset => update.closed = Some(Ending::Reset),
                TcpEvent::TimedOut => update.closed = Some(Ending::TimedOut),
                TcpEvent::Closed => update.closed = update.closed.or(Some(Ending::Closed)),
                TcpEvent::Accepted { .. } | TcpEvent::Readable { .. } | TcpEvent::Acknowledged { .. } => {}
            }
        }
        self.established |= update.established;
        if update.closed.is_some() {
            (self.established, self.ended) = (false, true);
        }
        let metrics = self.tcp.engine().metrics();
        let timeout = metrics.counters.timeouts > self.timeouts;
        if metrics.cwnd_bytes < self.window || timeout {
            update.shrunk = Some(Shrunk { window: metrics.cwnd_bytes, timeout });
            self.silent |= timeout;
        }
        (self.window, self.timeouts) = (metrics.cwnd_bytes, metrics.counters.timeouts);
        update
    }

    /// The next segment of this pipe, if it has one: control and acknowledgements, what it has to repeat, and as much
    /// new as its window lets it and `send_buffer` has for it, if it `takes_new` bytes. With `quicker`, what it
    /// repeats is offered to other pipes too.
    pub(crate) fn send(
        &mut self,
        now: Instant,
        send_buffer: &mut SendBuffer,
        takes_new: bool,
        quicker: bool,
    ) -> Option<PipeSegment> {
        let most = self.tcp.segment_bytes();
        let offered = if takes_new && self.is_live() { send_buffer.offer(self.id, most) } else { 0 };
        self.tcp.offer(u64::from(offered));
        let segment = self.tcp.poll_transmit(now);
        let new =
            segment.as_ref().is_some_and(|s| s.payload_bytes > 0 && s.stream_offset >= self.bindings.next());
        self.tcp.offer(0);
        let Some(mut segment) = segment else {
            // Full, or frozen: it will be resumed.
            self.resumed = false;
            self.full |= takes_new;
            return None;
        };
        if let Some(marker) = &mut self.marker {
            marker.mark(&mut segment.header);
        }
        let virtual_bytes = segment.payload_bytes;
        if virtual_bytes > 0 {
            self.quiet_since = now;
        }
        let offered_elsewhere =
            quicker && virtual_bytes > 0 && !new && self.copy_out(send_buffer, segment.stream_offset);
        let carried = match virtual_bytes {
            0 => 0..0,
            _ if new => self.bind_new(send_buffer, virtual_bytes),
            _ => self.bind_again(send_buffer, segment.stream_offset, virtual_bytes),
        };
        let bytes = (carried.end - carried.start) as u32;
        self.sent_bytes += u64::from(bytes);
        Some(PipeSegment {
            tcp: segment.header,
            virtual_bytes,
            data: carried.start,
            bytes,
            ecn: segment.ecn,
            offered_elsewhere,
        })
    }
}
