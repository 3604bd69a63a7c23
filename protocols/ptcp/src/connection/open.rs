//! Opening: the first pipe carries what both sides are and want; the others show its token.
use super::{Agreed, Connection, Drops, Identity, Stall, State};
use crate::config::PtcpConfig;
use crate::event::{Events, PtcpEvent};
use crate::header::{Addresses, MAX_PIPES, SetUp};
use crate::pipe::Pipe;
use crate::receive_buffer::ReceiveBuffer;
use crate::segment::{Path, Segment};
use crate::send_buffer::SendBuffer;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;
use prismux_endpoint::random::RandomStream;
use prismux_tcp::{TcpConfig, TcpEvent};
use prismux_units::{ByteCount, Instant};
use prismux_wire::{SeqNumber, TcpFlags};

/// Pipes hold no bytes: their own windows are as large as TCP can say.
const PIPE_WINDOW: ByteCount = ByteCount::new(1 << 29);

/// Why a segment opens no connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It is not a SYN of a first pipe with a set-up block.
    NotAnOpening,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the opening segment of a pTCP connection")
    }
}

impl core::error::Error for Refusal {}

impl Connection {
    /// Opens actively: the first transmit is the SYN of the first pipe, from the first of `locals` to `remote`. Once
    /// it is established every further local address gets a pipe, as far as both sides want.
    ///
    /// `random` should be unpredictable on a real network: names, token and sequence numbers are drawn from it.
    pub fn connect(
        config: PtcpConfig,
        locals: &[IpAddr],
        remote: IpAddr,
        ports: (u16, u16),
        random: RandomStream,
        now: Instant,
    ) -> Self {
        let local = locals.first().copied().unwrap_or(remote);
        Self::connect_by(config, locals, Path { local, remote }, ports, random, now)
    }

    /// Opens actively over `path`, for a host that finds the paths itself: it opens further pipes with
    /// [`Connection::open_pipe`], at most as many at a time as both sides want, and [drops](Connection::drop_pipe)
    /// those whose path is gone. No addresses are told.
    ///
    /// `random` as in [`Connection::connect`].
    pub fn connect_over(config: PtcpConfig, path: Path, random: RandomStream, now: Instant) -> Self {
        // The host's addressing is not TCP's: ports mean nothing.
        Self::connect_by(config, &[], path, (0, 0), random, now)
    }

    fn connect_by(
        config: PtcpConfig,
        locals: &[IpAddr],
        path: Path,
        ports: (u16, u16),
        random: RandomStream,
        now: Instant,
    ) -> Self {
        let mut connection = Self::new(config, true, locals, ports, random);
        connection.begin_pipe(0, path, now);
        connection.pipes[0].is_first = true;
        connection
    }

    /// Opens a further pipe over `path`, under the lowest number that no pipe has (any more), which it returns. A
    /// pipe that the peer still knows under this number ends there, and what was bound to it is free.
    ///
    /// `None` when the connection is not established, was opened by the peer, or has as many pipes as were agreed on.
    pub fn open_pipe(&mut self, now: Instant, path: Path) -> Option<u8> {
        if !self.identity.opened_here || !matches!(self.state, State::Established(_)) {
            return None;
        }
        let is_taken = |id: u8| self.pipes.iter().any(|pipe| pipe.id == id && !pipe.ended);
        let id = (0..self.agreed.pipes()).find(|&id| !is_taken(id))?;
        self.begin_pipe(id, path, now);
        Some(id)
    }

    /// Answers `opening`, the SYN of a first pipe; `locals` are the addresses to tell the peer, best order first.
    ///
    /// # Errors
    /// When it is no such segment.
    pub fn accept(
        config: PtcpConfig,
        locals: &[IpAddr],
        opening: &Segment,
        random: RandomStream,
        now: Instant,
    ) -> Result<Self, Refusal> {
        let flags = opening.tcp.flags;
        let is_syn = flags.contains(TcpFlags::SYN) && !flags.intersects(TcpFlags::ACK | TcpFlags::RST);
        let Some(set_up) = opening.set_up.as_deref().filter(|_| {
            is_syn
                && opening.header.destination == 0
                && opening.header.pipe == 0
                && opening.header.source != 0
        }) else {
            return Err(Refusal::NotAnOpening);
        };
        let ports = (opening.tcp.destination_port, opening.tcp.source_port);
        let mut connection = Self::new(config, false, locals, ports, random);
        connection.learn(opening, set_up);
        connection.agree(connection.allowed(connection.config.pipes), set_up);
        connection.accept_pipe(opening, now);
        connection.pipes[0].is_first = true;
        Ok(connection)
    }

    fn new(
        config: PtcpConfig,
        opened_here: bool,
        locals: &[IpAddr],
        (local_port, remote_port): (u16, u16),
        mut random: RandomStream,
    ) -> Self {
        let locals: Vec<IpAddr> = locals.iter().copied().take(usize::from(MAX_PIPES)).collect();
        let pipes = config.pipes.clamp(1, MAX_PIPES);
        let capacity = config.receive_buffer_per_pipe.as_u64() * u64::from(pipes);
        let shift = ReceiveBuffer::shift_for(capacity);
        let pipe_config = TcpConfig {
            receive_buffer: PIPE_WINDOW,
            window_scaling: true,
            consume_on_arrival: true,
            nagle: false,
            keep_alive: None,
            ..config.tcp.clone()
        };
        let identity = Identity {
            opened_here,
            own: (random.next_u64() as u16).max(1),
            peer: 0,
            token: random.next_u64(),
            peer_token: 0,
            initial: SeqNumber(random.next_u64() as u32),
            peer_initial: SeqNumber(0),
            shift,
            peer_shift: 0,
            local_port,
            remote_port,
            locals,
        };
        Self {
            pipe_config: Arc::new(pipe_config),
            identity,
            random,
            state: State::Opening,
            pipes: Vec::new(),
            agreed: Agreed { transmit: 1, receive: 1 },
            send_buffer: SendBuffer::new(config.send_buffer_per_pipe.as_u64(), config.reassign_to_same_pipe),
            receive_buffer: ReceiveBuffer::new(config.receive_buffer_per_pipe.as_u64(), shift),
            closing: false,
            peer_closed: false,
            stall: Stall::default(),
            resets: VecDeque::new(),
            events: Events::default(),
            drops: Drops::default(),
            scheduler: None,
            config: PtcpConfig { pipes, ..config },
        }
    }

    fn begin_pipe(&mut self, id: u8, path: Path, now: Instant) {
        let ports = (self.identity.local_port, self.identity.remote_port);
        let iss = SeqNumber(self.random.next_u64() as u32);
        self.add_pipe(Pipe::open(id, path, &self.config_of(id), ports, iss, now));
    }

    /// The switches of pipe `id`: those of all pipes, with its own congestion control.
    fn config_of(&self, id: u8) -> Arc<TcpConfig> {
        let named = self.config.pipe_congestion.get(usize::from(id)).copied().flatten();
        match named.filter(|&congestion| congestion != self.pipe_config.engine.congestion) {
            None => Arc::clone(&self.pipe_config),
            Some(congestion) => {
                let mut own = TcpConfig::clone(&self.pipe_config);
                own.engine.congestion = congestion;
                Arc::new(own)
            }
        }
    }

    /// A SYN that has passed all checks.
    pub(super) fn accept_pipe(&mut self, syn: &Segment, now: Instant) {
        let iss = SeqNumber(self.random.next_u64() as u32);
        let (id, config) = (syn.header.pipe, self.config_of(syn.header.pipe));
        self.add_pipe(Pipe::accept(id, syn.path, &config, &syn.tcp, iss, now));
    }

    /// Takes over what the first segment of the other side says about itself.
    fn learn(&mut self, segment: &Segment, set_up: &SetUp) {
        let identity = &mut self.identity;
        identity.peer = segment.header.source;
        identity.peer_token = set_up.token;
        identity.peer_initial = segment.header.seq;
        identity.peer_shift = set_up.window_shift;
        self.send_buffer.acknowledge(0, u64::from(segment.tcp.window) << set_up.window_shift);
    }

    /// Settles the number of pipes for either stream, and with it the size of both buffers.
    fn agree(&mut self, wanted: Agreed, peer: &SetUp) {
        let transmit = wanted.transmit.min(peer.receive_pipes).max(1);
        let receive = wanted.receive.min(peer.transmit_pipes).max(1);
        self.agreed = Agreed { transmit, receive };
        self.send_buffer.capacity = self.config.send_buffer_per_pipe.as_u64() * u64::from(transmit);
        self.receive_buffer.resize(self.config.receive_buffer_per_pipe.as_u64() * u64::from(receive));
    }

    /// Pipes that this end wants as the one that opens: one for each address, where it knows them.
    fn wanted(&self) -> Agreed {
        let pipes = match self.identity.locals.len() {
            0 => self.config.pipes,
            addresses => self.config.pipes.min(addresses as u8),
        };
        self.allowed(pipes)
    }

    /// What the configuration allows of so many pipes.
    fn allowed(&self, pipes: u8) -> Agreed {
        let within = |most: u8| most.clamp(1, pipes);
        Agreed { transmit: within(self.config.transmit_pipes), receive: within(self.config.receive_pipes) }
    }

    /// The set-up block of a SYN or SYN-ACK, of the first pipe or a further one.
    pub(super) fn set_up(&self, is_first: bool) -> SetUp {
        let identity = &self.identity;
        if !is_first {
            return SetUp { token: identity.peer_token, ..SetUp::default() };
        }
        let pipes = if identity.opened_here { self.wanted() } else { self.agreed };
        SetUp {
            transmit_pipes: pipes.transmit,
            receive_pipes: pipes.receive,
            window_shift: identity.shift,
            token: identity.token,
            addresses: identity.locals.iter().copied().collect(),
        }
    }

    /// Whether `segment` can answer the opening: a reset, or a SYN-ACK that says who the peer is.
    pub(super) fn is_answer(&self, segment: &Segment) -> bool {
        let flags = segment.tcp.flags;
        let says_who = segment.set_up.is_some() && segment.header.source != 0;
        flags.contains(TcpFlags::RST) || (flags.contains(TcpFlags::SYN | TcpFlags::ACK) && says_who)
    }

    /// The SYN-ACK of the first pipe has proven itself.
    pub(super) fn learn_from_answer(&mut self, segment: &Segment) {
        if let Some(set_up) = segment.set_up.as_deref() {
            self.learn(segment, set_up);
            self.agree(self.wanted(), set_up);
        }
    }

    /// ESTABLISHED(1) was reached on the side that opened: the other pipes follow, one for each further local
    /// address, the peer's addresses in rotation.
    pub(super) fn open_others(&mut self, peer_addresses: &Addresses, now: Instant) {
        let first_remote = self.pipes[0].path.remote;
        let remotes = peer_addresses.as_slice();
        for id in 1..self.agreed.pipes() {
            let Some(&local) = self.identity.locals.get(usize::from(id)) else { break };
            let remote = match remotes.len() {
                0 => first_remote,
                count => remotes[usize::from(id) % count],
            };
            self.begin_pipe(id, Path { local, remote }, now);
        }
    }

    /// A pipe has reached ESTABLISHED.
    pub(super) fn pipe_established(&mut self, id: u8) {
        if self.state == State::Opening {
            self.events.push(TcpEvent::Connected);
        }
        self.state = State::Established(self.established_pipes());
        self.events.push(PtcpEvent::PipeEstablished { pipe: id });
    }
}
