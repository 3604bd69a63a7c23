//! Sealed sessions at one socket: what arrives is opened, what leaves is sealed, and handshakes go on beside it.
use crate::tunnel::Peer;
use prismux_endpoint::Endpoint;
use prismux_linux::clock::Clock;
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_sealed::{Entropy, KeyPair, Limits, NoSession, OVERHEAD_BYTES, Opened, PeerId, PublicKey};
use prismux_sealed::{Refusal, Reserved, SEED_BYTES, SessionEvent, Sessions, Ticket, Transmit};
use prismux_units::{Duration, Instant};
use prismux_wire::gre::SEAL_BYTES;
use std::cell::RefCell;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::rc::Rc;

/// What capacity reckons with is what sealing adds.
const _: () = assert!(SEAL_BYTES == prismux_sealed::OVERHEAD_BYTES);

/// The sessions of a socket, which its two directions share.
#[derive(Clone)]
pub struct Sealing(Rc<RefCell<State>>);

struct State {
    sessions: Sessions,
    clock: Clock,
    pool: PacketPool,
    /// Header and packet put together.
    plain: Vec<u8>,
}

/// A stream of randomness whose seed nobody can guess.
///
/// # Errors
/// When `/dev/urandom` cannot be read.
pub fn os_entropy() -> io::Result<Entropy> {
    let mut seed = [0; SEED_BYTES];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut seed)?;
    Ok(Entropy::from_seed(seed))
}

impl Sealing {
    /// Sessions of `keys` for datagrams of up to `datagram_bytes` of UDP payload. `time_of_day` is the time since 1970.
    ///
    /// # Errors
    /// When the operating system gives no randomness.
    pub fn new(
        keys: KeyPair,
        clock: Clock,
        time_of_day: Duration,
        datagram_bytes: usize,
    ) -> io::Result<Self> {
        let epoch = time_of_day.saturating_sub(clock.now().saturating_since(Instant::ZERO));
        let sessions = Sessions::new(keys, Limits::default(), epoch, os_entropy()?);
        let pool = PacketPool::new(datagram_bytes);
        Ok(Self(Rc::new(RefCell::new(State { sessions, clock, pool, plain: Vec::new() }))))
    }

    /// Adds a peer: the first has number 0, and so on. False when it is there already.
    pub fn add_peer(&self, public: PublicKey, address: Option<SocketAddr>) -> bool {
        self.0.borrow_mut().sessions.add_peer(public, address).is_some()
    }

    /// Treats a peer as a stranger from now on.
    pub fn bar(&self, number: u16) {
        self.0.borrow_mut().sessions.bar(PeerId(number));
    }

    /// Treats a peer that was barred as a stranger no longer; with an `address` it can be called.
    pub fn unbar(&self, number: u16, address: Option<SocketAddr>) {
        self.0.borrow_mut().sessions.unbar(PeerId(number), address);
    }

    /// Asks for new keys with a peer, which seems to have lost its own.
    pub fn call(&self, now: Instant, number: u16) {
        self.0.borrow_mut().sessions.handle_input(now, PeerId(number));
    }

    /// Does what is due.
    pub fn expire(&self, now: Instant) {
        self.0.borrow_mut().sessions.handle_timeout(now);
    }

    /// When [`Sealing::expire`] has something to do.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.borrow().sessions.poll_timeout().map(|deadline| deadline.at)
    }

    /// News of the sessions.
    pub fn poll_event(&self) -> Option<SessionEvent> {
        self.0.borrow_mut().sessions.poll_event()
    }

    /// Where packets for a peer go, if anybody knows.
    pub fn address(&self, number: u16) -> Option<SocketAddr> {
        self.0.borrow().sessions.address(PeerId(number))
    }

    /// Opens a datagram into `out`: whose it is, or `None` for a handshake or a sign of life.
    ///
    /// # Errors
    /// [`Refusal`]: it is to be dropped.
    pub(super) fn open(
        &self,
        from: SocketAddr,
        datagram: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<Peer>, Refusal> {
        let state = &mut *self.0.borrow_mut();
        let now = state.clock.now();
        match state.sessions.open(now, from, datagram, out)? {
            Opened::Payload { peer } if !out.is_empty() => Ok(Some(Peer::sealed(from, peer.0))),
            Opened::Payload { .. } | Opened::Handshake { .. } => Ok(None),
        }
    }

    /// Seals `header` and `packet` for a peer: the datagram and where it goes.
    ///
    /// # Errors
    /// [`NoSession`]: it is dropped.
    pub(super) fn seal(
        &self,
        number: u16,
        header: &[u8],
        packet: &[u8],
    ) -> Result<(SocketAddr, PacketBuf), NoSession> {
        let state = &mut *self.0.borrow_mut();
        let now = state.clock.now();
        let Reserved { to, keys, counter } = state.sessions.reserve(now, PeerId(number), true)?;
        state.plain.clear();
        state.plain.extend_from_slice(header);
        state.plain.extend_from_slice(packet);
        // The pool is for the longest datagrams that the tunnel's MTU gives.
        let room = state.pool.take_of(state.plain.len() + OVERHEAD_BYTES);
        let mut datagram = room.ok_or(NoSession::Handshaking)?;
        keys.seal(counter, &state.plain, datagram.buffer_mut());
        Ok((to, datagram))
    }

    /// What sealing one packet for a peer takes, for a worker to do it.
    ///
    /// # Errors
    /// [`NoSession`]: it is dropped.
    pub(super) fn reserve(&self, number: u16) -> Result<Reserved, NoSession> {
        let state = &mut *self.0.borrow_mut();
        let now = state.clock.now();
        state.sessions.reserve(now, PeerId(number), true)
    }

    /// What opening a datagram takes, and what is sealed in it; `None` for a message of a handshake.
    ///
    /// # Errors
    /// [`Refusal`]: it is to be dropped.
    pub(super) fn examine<'a>(&self, datagram: &'a [u8]) -> Result<Option<(Ticket, &'a [u8])>, Refusal> {
        let state = self.0.borrow();
        state.sessions.examine(state.clock.now(), datagram)
    }

    /// Takes note of what a worker has opened: whose it is, by number.
    ///
    /// # Errors
    /// [`Refusal`]: it is to be dropped all the same.
    pub(crate) fn accept(&self, from: SocketAddr, ticket: &Ticket, bytes: usize) -> Result<u16, Refusal> {
        let state = &mut *self.0.borrow_mut();
        let now = state.clock.now();
        state.sessions.accept(now, from, ticket, bytes).map(|peer| peer.0)
    }

    /// The next message of a handshake, or a sign of life.
    pub(super) fn poll_transmit(&self) -> Option<(SocketAddr, PacketBuf)> {
        let state = &mut *self.0.borrow_mut();
        let Transmit { to, bytes } = state.sessions.poll_transmit(state.clock.now())?;
        state.pool.copy_of(&bytes).map(|datagram| (to, datagram))
    }
}
