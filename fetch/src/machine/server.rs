//! The serving machine: datagrams in, datagrams out; it answers thousands of clients out of [`Objects`].
//!
//! An [`Endpoint`]: a datagram or a timeout is a mutation, [`Server::datagram`] has the bytes of the last transmit. A
//! client that sends much gets its turns among the others: what a session has left after [`turns::TURN_DATAGRAMS`]
//! datagrams waits for a timeout that is due at once.
//!
//! A client that has not shown that it can be reached at its address is welcomed at once only while such clients are
//! few. In a flood nothing is remembered of it, and no key computed for it, until it returns a cookie, which is less
//! than it sent. Afterwards each client has a session: a sealed channel, and what carries the object through it. One
//! sweep a second finds clients that have vanished, and one queue holds all that is timed.
//!
//! Plain state: `session`, `service`, `transfer` (a pTCP connection), `timers`, `turns`, `replies`, `unvalidated`,
//! `limits`. Acts on it: `hello` (from the first datagram to a session), `sealed` (what arrives in sessions), `rcp`
//! and `ptcp` (what carries objects), `sweep` (ends).
mod counters;
mod hello;
mod limits;
mod object;
mod ptcp;
mod rcp;
mod replies;
mod sealed;
mod service;
mod session;
mod sweep;
mod timers;
mod transfer;
mod turns;
mod unvalidated;

pub use counters::Counters;
pub use object::{Lookup, Object, Objects, Unreadable};

use super::cookie::{CookieJar, keyed};
use super::key::ServerKey;
use super::wire::{ConnectionId, Datagram, DatagramError, VERSION};
use hmac::Mac;
use limits::{HandshakeLimits, Prefix};
use prismux_endpoint::{Deadline, Endpoint};
use prismux_ptcp::PtcpConfig;
use prismux_rcp::RcpConfig;
use prismux_sealed::Entropy;
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::Ecn;
use replies::Replies;
use session::Session;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use sweep::SWEEP_INTERVAL;
use timers::Timers;
use transfer::Transfer;
use turns::Turns;
use unvalidated::Unvalidated;

/// How a server behaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServerConfig {
    /// Most clients at a time; others are told to come back.
    pub max_clients: usize,
    /// No client gets more than this.
    pub rate_cap: Option<Rate>,
    /// A client silent for this long is forgotten.
    pub vanish_after: Duration,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self { max_clients: 10_000, rate_cap: None, vanish_after: Duration::from_secs(60) }
    }
}

/// A datagram that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received<'a> {
    /// Who sent it.
    pub from: SocketAddr,
    /// The address of this host that it was sent to. Stateless-reset tokens are good for one such address, so that no
    /// other server with the same key can be made to tell them (RFC 9000 section 21.11).
    pub local: SocketAddr,
    /// Its ECN bits.
    pub ecn: Ecn,
    /// What it holds.
    pub bytes: &'a [u8],
}

/// A datagram to send; [`Server::datagram`] has its bytes until the next call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// To whom.
    pub to: SocketAddr,
    /// Its ECN bits.
    pub ecn: Ecn,
}

/// Answers clients; see the module's description.
pub struct Server<O> {
    key: ServerKey,
    config: ServerConfig,
    rcp: Arc<RcpConfig>,
    ptcp: PtcpConfig,
    objects: O,
    entropy: Entropy,
    cookies: CookieJar,
    unvalidated: Unvalidated,
    handshakes: HandshakeLimits,
    reset_key: [u8; 32],
    sessions: BTreeMap<ConnectionId, Session>,
    /// By whom and under which id of theirs sessions were opened: a Hello that comes again is the same client's.
    opened_by: BTreeMap<(SocketAddr, ConnectionId), ConnectionId>,
    /// How many sessions each neighbourhood of addresses has opened.
    by_prefix: BTreeMap<Prefix, usize>,
    /// pTCP connections by their token.
    transfers: BTreeMap<u64, Transfer>,
    turns: Turns<Work>,
    timers: Timers<Work>,
    sweep_at: Instant,
    replies: Replies,
    counters: Counters,
    /// The last sealed datagram that arrived, opened.
    opened: Vec<u8>,
    message: Vec<u8>,
    datagram: Vec<u8>,
}

/// What sends and what is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Work {
    /// A session that is asked by RCP.
    Session(ConnectionId),
    /// A pTCP connection, by its token.
    Transfer(u64),
}

impl<O: Objects> Server<O> {
    /// A server without clients. On a real network `entropy` comes from the operating system.
    pub fn new(key: ServerKey, config: ServerConfig, objects: O, mut entropy: Entropy) -> Self {
        // The same after a restart, so that clients learn at once that their sessions are gone.
        let mut reset_key = keyed(key.private());
        reset_key.update(b"prismux stateless reset");
        Self {
            reset_key: reset_key.finalize().into_bytes().into(),
            key,
            config,
            rcp: rcp::config(config.rate_cap),
            ptcp: transfer::config(),
            objects,
            cookies: CookieJar::new(entropy.bytes()),
            entropy,
            unvalidated: Unvalidated::default(),
            handshakes: HandshakeLimits::default(),
            sessions: BTreeMap::new(),
            opened_by: BTreeMap::new(),
            by_prefix: BTreeMap::new(),
            transfers: BTreeMap::new(),
            turns: Turns::default(),
            timers: Timers::new(),
            sweep_at: Instant::default() + SWEEP_INTERVAL,
            replies: Replies::default(),
            counters: Counters::default(),
            opened: Vec::new(),
            message: Vec::new(),
            datagram: Vec::new(),
        }
    }

    /// The bytes of the last transmit.
    pub fn datagram(&self) -> &[u8] {
        &self.datagram
    }

    /// What is served. Sessions keep the objects that they have.
    pub const fn objects_mut(&mut self) -> &mut O {
        &mut self.objects
    }

    /// Clients at present, those included whose session has just ended.
    pub fn clients(&self) -> usize {
        self.sessions.len()
    }

    /// Counters so far, over all sessions.
    pub fn counters(&self) -> Counters {
        let mut counters = self.counters;
        counters.clients = self.sessions.len() as u64;
        for session in self.sessions.values() {
            session.service.add_to(&mut counters.sessions);
        }
        counters
    }

    fn reply(&mut self, to: SocketAddr, datagram: &Datagram<'_>) {
        self.replies.push(to, |out| datagram.emit(out));
    }

    /// The next datagram of whose turn it is.
    fn transmit_in_turn(&mut self, now: Instant) -> Option<Transmit> {
        while let Some(work) = self.turns.current() {
            let transmit = match work {
                Work::Session(id) => self.transmit_rcp(now, id),
                Work::Transfer(token) => self.transmit_segment(now, token),
            };
            match transmit {
                Some(_) => {
                    self.turns.spend(now);
                    return transmit;
                }
                None => self.turns.finish(),
            }
        }
        None
    }
}

impl<O: Objects> Endpoint for Server<O> {
    type Input<'a> = Received<'a>;
    type Transmit = Transmit;
    type Event = Infallible;

    fn handle_input(&mut self, now: Instant, received: Received<'_>) {
        self.counters.datagrams_received += 1;
        self.counters.bytes_received += received.bytes.len() as u64;
        match Datagram::parse(received.bytes) {
            Ok(Datagram::Hello { client, cookie, noise }) => {
                self.handle_hello(now, &received, client, cookie, noise);
            }
            Ok(Datagram::Sealed { to, nonce, noise }) => {
                self.handle_sealed(now, &received, to, nonce, noise);
            }
            Err(DatagramError::Version(client)) => {
                self.counters.other_versions += 1;
                self.reply(received.from, &Datagram::Notice { client, version: VERSION });
            }
            _ => self.counters.malformed += 1,
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.turns.next_round();
        while let Some((at, work)) = self.timers.pop(now) {
            match work {
                Work::Session(id) => self.wake_rcp(now, at, id),
                Work::Transfer(token) => self.wake_transfer(now, at, token),
            }
        }
        if self.sweep_at <= now {
            self.sweep_at = now + SWEEP_INTERVAL;
            self.sweep(now);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        let reply = self.replies.pop(&mut self.datagram).map(|to| Transmit { to, ecn: Ecn::NotEct });
        let transmit = reply.or_else(|| self.transmit_in_turn(now))?;
        self.counters.datagrams_sent += 1;
        self.counters.bytes_sent += self.datagram.len() as u64;
        Some(transmit)
    }

    fn poll_event(&mut self) -> Option<Infallible> {
        None
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let deadline = |why| move |at| Deadline { at, why };
        let sweep = (!self.sessions.is_empty()).then_some(self.sweep_at);
        let timed =
            Deadline::earliest(self.timers.next().map(deadline("service")), sweep.map(deadline("sweep")));
        Deadline::earliest(self.turns.waiting_since().map(deadline("turn")), timed)
    }
}
