//! The serving machine: datagrams in, datagrams out; it answers thousands of clients out of [`Objects`].
//!
//! A client that has not shown that it can be reached at its address is welcomed at once only while such clients are few. In a
//! flood nothing is remembered of it, and no key computed for it, until it returns a cookie, which is less than it sent.
//! Afterwards each client has a session: a sealed channel, and what carries the object through it. One sweep a second finds
//! clients that have vanished, and one queue holds all that is timed.
//!
//! `hello`: from the first datagram to a session. `session`: what all of them have. `rcp`: sessions that are asked by RCP.
//! `ptcp`: sessions that are pipes of pTCP connections. `timers`: the queue. `unproven`: who was welcomed on trust.
mod counters;
mod hello;
mod object;
mod ptcp;
mod rcp;
mod session;
mod timers;
mod unproven;

pub use counters::Counters;
pub use object::{Lookup, Object, Objects};

use crate::channel::Message;
use crate::cookie::{CookieJar, keyed};
use crate::key::ServerKey;
use crate::random;
use crate::wire::{ConnectionId, Datagram, DatagramError, PROOF_BYTES, VERSION};
use hmac::Mac;
use prismux_ptcp::PtcpConfig;
use prismux_rcp::RcpConfig;
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::Ecn;
use ptcp::Upload;
use session::Session;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use timers::Timers;
use unproven::Unproven;

/// How often clients that have vanished are looked for.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

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

/// Where datagrams go: to whom, with which ECN bits, and their bytes.
pub type Outbox<'a> = dyn FnMut(SocketAddr, Ecn, &[u8]) + 'a;

/// See the module's description.
pub struct Server<O> {
    pub(crate) key: ServerKey,
    config: ServerConfig,
    rcp: Arc<RcpConfig>,
    ptcp: PtcpConfig,
    objects: O,
    cookies: CookieJar,
    unproven: Unproven,
    proof_key: [u8; 32],
    sessions: HashMap<ConnectionId, Session>,
    /// By whom and under which id of theirs sessions were opened: a Hello heard again is the same client.
    opened_by: HashMap<(SocketAddr, ConnectionId), ConnectionId>,
    /// pTCP connections by their token.
    uploads: HashMap<u64, Upload>,
    timers: Timers<Wake>,
    sweep_at: Instant,
    counters: Counters,
    buffers: Buffers,
}

/// Whom the queue wakes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wake {
    /// A session that waits for its rate cap.
    Session(ConnectionId),
    /// A pTCP connection, by its token.
    Upload(u64),
}

/// Reused from datagram to datagram.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    opened: Vec<u8>,
    message: Vec<u8>,
    datagram: Vec<u8>,
}

impl<O: Objects> Server<O> {
    /// A server without clients.
    pub fn new(key: ServerKey, config: ServerConfig, objects: O) -> Self {
        // The same after a restart, so that clients learn at once that their sessions are gone.
        let mut proof_key = keyed(key.private());
        proof_key.update(b"prismux proof that a connection is gone");
        Self {
            proof_key: proof_key.finalize().into_bytes().into(),
            key,
            config,
            rcp: rcp::config(config.rate_cap),
            ptcp: ptcp::config(),
            uploads: HashMap::new(),
            objects,
            cookies: CookieJar::new(random::bytes()),
            unproven: Unproven::default(),
            sessions: HashMap::new(),
            opened_by: HashMap::new(),
            timers: Timers::new(),
            sweep_at: Instant::default() + SWEEP_INTERVAL,
            counters: Counters::default(),
            buffers: Buffers::default(),
        }
    }

    /// A datagram arrived.
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        from: SocketAddr,
        ecn: Ecn,
        bytes: &[u8],
        out: &mut Outbox<'_>,
    ) {
        self.counters.datagrams_received += 1;
        self.counters.bytes_received += bytes.len() as u64;
        match Datagram::parse(bytes) {
            Ok(Datagram::Hello { client, cookie, noise }) => {
                self.handle_hello(now, from, client, cookie, noise, out);
            }
            Ok(Datagram::Sealed { to, nonce, noise }) => {
                self.handle_sealed(now, from, ecn, to, (nonce, noise), out);
            }
            Err(DatagramError::Version(client)) => {
                self.counters.other_versions += 1;
                self.reply(from, &Datagram::Notice { client, version: VERSION }, out);
            }
            _ => self.counters.malformed += 1,
        }
    }

    fn handle_sealed(
        &mut self,
        now: Instant,
        from: SocketAddr,
        ecn: Ecn,
        to: ConnectionId,
        sealed: (u64, &[u8]),
        out: &mut Outbox<'_>,
    ) {
        let Some(session) = self.sessions.get_mut(&to) else {
            self.counters.unknown_connections += 1;
            let proof = self.proof(to);
            return self.reply(from, &Datagram::Gone { server: to, proof: &proof }, out);
        };
        let for_service = {
            let mut send = counted(&mut self.counters.datagrams_sent, &mut self.counters.bytes_sent, out);
            session.receive(now, from, sealed, &mut self.buffers, &mut self.counters.sessions, &mut send)
        };
        if !for_service {
            return;
        }
        let opened = std::mem::take(&mut self.buffers.opened);
        match Message::parse(&opened) {
            Some(Message::Rcp(packet)) => self.handle_rcp(now, to, ecn, packet, out),
            Some(Message::Ptcp(segment)) => self.handle_ptcp(now, to, ecn, None, segment, out),
            Some(Message::PtcpOpening { offset, segment }) => {
                self.handle_ptcp(now, to, ecn, Some(offset), segment, out);
            }
            _ => {}
        }
        self.buffers.opened = opened;
    }

    /// What a Gone for connection `id` carries.
    fn proof(&self, id: ConnectionId) -> [u8; PROOF_BYTES] {
        let mut hash = keyed(&self.proof_key);
        hash.update(&id.0.to_be_bytes());
        let mut proof = [0; PROOF_BYTES];
        proof.copy_from_slice(&hash.finalize().into_bytes()[..PROOF_BYTES]);
        proof
    }

    fn reply(&mut self, to: SocketAddr, datagram: &Datagram<'_>, out: &mut Outbox<'_>) {
        self.buffers.datagram.clear();
        datagram.emit(&mut self.buffers.datagram);
        self.counters.datagrams_sent += 1;
        self.counters.bytes_sent += self.buffers.datagram.len() as u64;
        out(to, Ecn::NotEct, &self.buffers.datagram);
    }

    /// When [`Server::handle_timeout`] wants to be called.
    pub fn next_deadline(&self) -> Option<Instant> {
        let sweep = (!self.sessions.is_empty()).then_some(self.sweep_at);
        [self.timers.next(), sweep].into_iter().flatten().min()
    }

    /// Time has reached the deadline.
    pub fn handle_timeout(&mut self, now: Instant, out: &mut Outbox<'_>) {
        while let Some((at, wake)) = self.timers.pop(now) {
            match wake {
                Wake::Session(id) => self.wake_rcp(now, at, id, out),
                Wake::Upload(token) => self.wake_upload(now, at, token, out),
            }
        }
        if self.sweep_at <= now {
            self.sweep_at = now + SWEEP_INTERVAL;
            self.sweep(now, out);
        }
    }

    /// Looks at every session once: whom to forget, and whose object has changed.
    fn sweep(&mut self, now: Instant, out: &mut Outbox<'_>) {
        let vanish_after = self.config.vanish_after;
        let (counters, opened_by) = (&mut self.counters, &mut self.opened_by);
        let (mut left, mut lost) = (Vec::new(), Vec::new());
        self.sessions.retain(|&id, session| {
            let over = session.is_over(now, vanish_after, &mut counters.sessions);
            if over {
                opened_by.remove(&session.opened_by());
                session.add_to(&mut counters.sessions);
                left.extend(session.upload().map(|token| (id, token)));
            } else if session.has_lost_object() {
                lost.push(id);
            }
            !over
        });
        self.leave_uploads(now, &left, out);
        self.end_replaced(now);
        for id in lost {
            // Sessions of one connection end together.
            if self.sessions.get(&id).is_some_and(Session::has_lost_object) {
                self.counters.sessions.objects_lost += 1;
                self.abort(now, id, out);
            }
        }
    }

    /// Ends session `id` and what it is part of at once, and says so.
    fn abort(&mut self, now: Instant, id: ConnectionId, out: &mut Outbox<'_>) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.ended_at.get_or_insert(now);
        if let Some(token) = session.upload() {
            return self.abort_upload(now, token, out);
        }
        let mut send = counted(&mut self.counters.datagrams_sent, &mut self.counters.bytes_sent, out);
        session.abort_rcp(now, &mut self.buffers, &mut send);
    }

    /// Tells every client that it is over, so that they go elsewhere at once.
    pub fn stop(&mut self, now: Instant, out: &mut Outbox<'_>) {
        let all: Vec<ConnectionId> = self.sessions.keys().copied().collect();
        for id in all {
            self.abort(now, id, out);
        }
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
            session.add_to(&mut counters.sessions);
        }
        counters
    }
}

/// `out` with a count of what passes.
fn counted<'a>(
    datagrams: &'a mut u64,
    bytes: &'a mut u64,
    out: &'a mut Outbox<'_>,
) -> impl FnMut(SocketAddr, Ecn, &[u8]) + 'a {
    move |to, ecn, datagram| {
        *datagrams += 1;
        *bytes += datagram.len() as u64;
        out(to, ecn, datagram);
    }
}
