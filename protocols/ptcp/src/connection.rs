//! The connection: its pipes, its two streams, its state up to ESTABLISHED(n).
//!
//! * `open`: the first pipe, the others, what both sides agree on.
//! * `receive`: arriving segments. `transmit`: what is sent, on which pipe.
//! * `reassign`: windows that shrink, pipes that end. `couple`: coupled increase (RFC 6356).
//! * `timers`: what is not confirmed in time, and stalls. `metrics`: counters and invariants.
mod couple;
mod metrics;
mod open;
mod reassign;
mod receive;
mod timers;
mod transmit;

pub use metrics::{Drops, PipeMetrics};
pub use open::Refusal;

use crate::config::{PtcpConfig, ResumeOrder};
use crate::event::{Events, PtcpEvent};
use crate::pipe::Pipe;
use crate::receive_buffer::ReceiveBuffer;
use crate::scheduler::Scheduler;
use crate::segment::{Path, Segment, SegmentOut};
use crate::send_buffer::SendBuffer;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::IpAddr;
use prismux_endpoint::random::RandomStream;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_tcp::{TcpConfig, TcpEvent};
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;
use timers::Stall;

/// State of a connection, as in the source's state machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// The first pipe is not established yet.
    Opening,
    /// Data flows over so many pipes; none for a moment when the last one has ended and another is still opening.
    Established(u8),
    /// The application closed and everything has been acknowledged: pipes are closing.
    Closing,
    /// No pipe is left: the connection may be dropped.
    Closed,
}

/// What identifies this end, and what it knows of the peer.
#[derive(Debug)]
struct Identity {
    /// True for the side that opened the connection.
    opened_here: bool,
    /// pSRC and pDST of what we send.
    own: u16,
    peer: u16,
    /// Tokens: the one further pipes must show to us, and the one they show to the peer.
    token: u64,
    peer_token: u64,
    /// pSEQ of the first byte of either stream.
    initial: SeqNumber,
    peer_initial: SeqNumber,
    /// Shift of the window field: ours, the peer's.
    shift: u8,
    peer_shift: u8,
    local_port: u16,
    remote_port: u16,
    /// Our addresses, in the order of pipes.
    locals: Vec<IpAddr>,
}

/// How many pipes each stream may use: those with the lowest numbers.
#[derive(Debug, Clone, Copy)]
struct Agreed {
    transmit: u8,
    receive: u8,
}

impl Agreed {
    /// Pipes that carry at least one of the streams.
    fn pipes(self) -> u8 {
        self.transmit.max(self.receive)
    }
}

/// One pTCP connection, without bytes: payload is (stream offset, length).
///
/// Drive it as an [`Endpoint`]: one mutation, then drain.
#[derive(Debug)]
pub struct Connection {
    config: PtcpConfig,
    /// The switches of every pipe.
    pipe_config: Arc<TcpConfig>,
    identity: Identity,
    random: RandomStream,
    /// Says which pipe gets the next bytes, in place of the windows alone.
    scheduler: Option<Box<dyn Scheduler>>,
    state: State,
    pipes: Vec<Pipe>,
    /// Pipes that both sides agreed on, once known: for our stream, for the peer's.
    agreed: Agreed,
    send_buffer: SendBuffer,
    receive_buffer: ReceiveBuffer,
    /// The application closed our direction.
    closing: bool,
    peer_closed: bool,
    stall: Stall,
    /// Resets for segments of pipes that have ended.
    resets: VecDeque<Segment>,
    events: Events,
    drops: Drops,
}

impl Connection {
    /// Bytes that the application adds to our stream; the host keeps them until [`TcpEvent::Acknowledged`].
    pub fn write(&mut self, bytes: u64) {
        if !self.closing && self.state != State::Closed {
            self.send_buffer.written = self.send_buffer.written.saturating_add(bytes);
            self.resume_all();
        }
    }

    /// Lets a scheduler from outside say which pipe gets the next bytes.
    pub fn set_scheduler(&mut self, scheduler: Box<dyn Scheduler>) {
        self.scheduler = Some(scheduler);
    }

    /// The application has taken `bytes` of what is readable.
    pub fn read(&mut self, bytes: u64) {
        self.receive_buffer.set_read(self.receive_buffer.read() + bytes);
        self.tell_window();
    }

    /// No more data from us. Pipes close once everything written has been acknowledged.
    pub fn close(&mut self, now: Instant) {
        self.closing = true;
        self.close_when_complete(now);
    }

    /// Ends every pipe at once, with RST.
    pub fn abort(&mut self) {
        for pipe in &mut self.pipes {
            pipe.abort();
        }
        self.enter_closed();
    }

    /// The path of a pipe is gone, as the host knows: what is bound to the pipe is free at once. The connection goes
    /// on even without any pipe, until one is opened again; one that is not established yet ends.
    pub fn drop_pipe(&mut self, path: Path) {
        let Some(index) = self.pipes.iter().position(|pipe| pipe.path == path && !pipe.ended) else { return };
        self.pipes[index].abort();
        self.release(index);
        if self.state == State::Opening {
            self.enter_closed();
        }
    }

    /// Whether a pipe over this path has not ended.
    pub fn has_pipe(&self, path: Path) -> bool {
        self.pipes.iter().any(|pipe| pipe.path == path && !pipe.ended)
    }

    /// Whether the pipe over this path is established.
    pub fn has_established(&self, path: Path) -> bool {
        self.pipes.iter().any(|pipe| pipe.path == path && pipe.established)
    }

    /// What further pipes of the peer must show.
    pub const fn token(&self) -> u64 {
        self.identity.token
    }

    /// A segment for this connection arrived damaged, its headers readable: losses of that kind are told of where
    /// [`PtcpConfig::loss_notification`] is set.
    pub fn damaged(&mut self, segment: &Segment) {
        let from = |pipe: &&mut Pipe| pipe.id == segment.header.pipe && !pipe.ended;
        if let Some(pipe) = self.pipes.iter_mut().find(from) {
            pipe.damaged(&segment.tcp, u32::from(segment.header.virtual_bytes));
        }
    }

    /// The state of the connection.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Our name for the connection (pSRC), by which the peer addresses it.
    pub const fn own_name(&self) -> u16 {
        self.identity.own
    }

    /// Bytes of our stream handed over so far.
    pub const fn stream_written(&self) -> u64 {
        self.send_buffer.written
    }

    /// Bytes of our stream handed over that no pipe has taken yet.
    pub const fn stream_waiting(&self) -> u64 {
        self.send_buffer.written - self.send_buffer.frontier
    }

    /// Bytes of our stream that the peer has acknowledged (pACK).
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

    /// Largest number of bytes that the receive buffer held at once, those beyond holes included.
    pub fn receive_buffer_high_water(&self) -> u64 {
        self.receive_buffer.high_water()
    }

    /// Pipes established now.
    fn established_pipes(&self) -> u8 {
        self.pipes.iter().filter(|pipe| pipe.established).count() as u8
    }

    /// One pipe is a plain TCP: the same sequence numbers always carry the same bytes.
    fn is_single(&self) -> bool {
        self.agreed.pipes() == 1
    }

    fn add_pipe(&mut self, mut pipe: Pipe) {
        if self.config.loss_notification {
            pipe.notify_losses();
        }
        pipe.carries_ours = pipe.id < self.agreed.transmit;
        match self.pipes.iter_mut().find(|known| known.id == pipe.id) {
            Some(known) => *known = pipe,
            None => self.pipes.push(pipe),
        }
    }

    fn resume_all(&mut self) {
        for pipe in &mut self.pipes {
            pipe.resume();
        }
    }

    /// The pipe to ask first, among those for which `wanted` holds.
    fn first_pipe(&self, wanted: impl Fn(&Pipe) -> bool) -> Option<usize> {
        let mut best: Option<(usize, Duration)> = None;
        for (index, pipe) in self.pipes.iter().enumerate().filter(|(_, pipe)| wanted(pipe)) {
            let rtt = match self.config.resume_order {
                ResumeOrder::LeastRtt => pipe.srtt().unwrap_or(Duration::MAX),
                ResumeOrder::Number => Duration::ZERO,
            };
            if best.is_none_or(|(_, least)| rtt < least) {
                best = Some((index, rtt));
            }
        }
        best.map(|(index, _)| index)
    }

    fn close_when_complete(&mut self, now: Instant) {
        // Without a pipe the peer could not be told.
        if self.closing && matches!(self.state, State::Established(1..)) && self.send_buffer.is_complete() {
            self.state = State::Closing;
            for index in 0..self.pipes.len() {
                let update = self.pipes[index].close();
                self.take_update(now, index, update);
            }
        }
    }

    fn enter_closed(&mut self) {
        if self.state != State::Closed {
            self.state = State::Closed;
            self.stall.forget();
            self.events.push(TcpEvent::Closed);
        }
    }
}

impl Endpoint for Connection {
    type Input<'a> = Segment;
    type Transmit = SegmentOut;
    type Event = PtcpEvent;

    fn handle_input(&mut self, now: Instant, segment: Segment) {
        self.receive(now, &segment);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.fire(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<SegmentOut> {
        self.transmit(now)
    }

    fn poll_event(&mut self) -> Option<PtcpEvent> {
        self.events.pop()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        self.deadline()
    }
}
