//! All sessions of one private key.
//!
//! * `handshake`: the messages that lead to keys. `timers`: retries, new keys, signs of life.
mod handshake;
mod timers;

use crate::cookie::CookieJar;
use crate::entropy::Entropy;
use crate::events::{NoSession, Opened, Refusal, SessionEvent, Transmit};
use crate::key::{KeyPair, PublicKey};
use crate::limits::Limits;
use crate::load::Load;
use crate::message::{INITIATION_BYTES, Message, OVERHEAD_BYTES};
use crate::peer::{Peer, PeerId};
use crate::session_keys::{Reserved, Ticket};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::net::SocketAddr;
use prismux_units::{Duration, Instant};

/// New addresses of a peer are asked at most this often.
const PROBE_INTERVAL: Duration = Duration::from_millis(200);
/// Most bytes sent to an address that has not shown to be the peer's, for each byte from there (RFC 9000 section 8.1).
const MAX_AMPLIFICATION: usize = 3;

/// The sessions of one private key with all its peers.
///
/// Payloads go through [`Sessions::seal`] and [`Sessions::open`]; handshakes, signs of life and news come out of the
/// [`Endpoint`](prismux_endpoint::Endpoint) side, whose input is the wish for new keys with a peer.
///
/// Where WireGuard sends to wherever the last authentic packet came from, a peer's address changes here only when the
/// peer has answered a handshake at the new one: a packet held back and played from elsewhere diverts nothing.
pub struct Sessions {
    keys: KeyPair,
    limits: Limits,
    /// The time of day at [`Instant::ZERO`], since 1970.
    epoch: Duration,
    entropy: Entropy,
    peers: Vec<Peer>,
    /// Whose sessions have which names.
    indices: BTreeMap<u32, PeerId>,
    jar: CookieJar,
    load: Load,
    last_timestamp_ns: u64,
    /// Parts of a payload put together.
    plain: Vec<u8>,
    transmits: VecDeque<Transmit>,
    events: VecDeque<SessionEvent>,
}

impl Sessions {
    /// No peers yet. `epoch` is the time of day at [`Instant::ZERO`], since 1970: peers refuse handshakes that are not
    /// later than those they have seen.
    pub fn new(keys: KeyPair, limits: Limits, epoch: Duration, mut entropy: Entropy) -> Self {
        let jar = CookieJar::new(&keys.public(), &mut entropy);
        Self {
            keys,
            limits,
            epoch,
            entropy,
            peers: Vec::new(),
            indices: BTreeMap::new(),
            jar,
            load: Load::new(),
            last_timestamp_ns: 0,
            plain: Vec::new(),
            transmits: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Adds a peer; `None` when it is there already, or there are 65,536. With an `address` it can be called.
    pub fn add_peer(&mut self, public: PublicKey, address: Option<SocketAddr>) -> Option<PeerId> {
        let id = PeerId(u16::try_from(self.peers.len()).ok()?);
        if self.peers.iter().any(|peer| peer.public == public) {
            return None;
        }
        self.peers.push(Peer::new(public, address));
        Some(id)
    }

    /// Treats a peer as a stranger from now on: its keys are gone, what it says is refused, and it is not called.
    pub fn bar(&mut self, id: PeerId) {
        let Some(peer) = self.peers.get_mut(usize::from(id.0)) else { return };
        peer.forget();
        peer.is_barred = true;
        self.rename(id);
        self.events.retain(|event| event.peer() != id);
    }

    /// Lets a peer that was barred come back. Without an `address` it has to call.
    pub fn unbar(&mut self, id: PeerId, address: Option<SocketAddr>) {
        if let Some(peer) = self.peers.get_mut(usize::from(id.0)).filter(|peer| peer.is_barred) {
            peer.is_barred = false;
            peer.address = address;
        }
    }

    /// Where packets for a peer go, if anybody knows.
    pub fn address(&self, peer: PeerId) -> Option<SocketAddr> {
        self.peers.get(usize::from(peer.0))?.address
    }

    /// Makes `out` the datagram that carries `payload`, given in parts, to a peer; returns where it goes.
    ///
    /// # Errors
    /// [`NoSession`]: the payload is dropped; a handshake begins, if the peer's address is known.
    pub fn seal(
        &mut self,
        now: Instant,
        id: PeerId,
        payload: &[&[u8]],
        out: &mut Vec<u8>,
    ) -> Result<SocketAddr, NoSession> {
        let has_payload = payload.iter().any(|part| !part.is_empty());
        let reserved = self.reserve(now, id, has_payload)?;
        let to = reserved.to;
        self.plain.clear();
        payload.iter().for_each(|part| self.plain.extend_from_slice(part));
        reserved.seal(&self.plain, out);
        Ok(to)
    }

    /// What sealing one packet for a peer takes, so that another thread can do it. Packets arrive in the order of
    /// their numbers if they leave in it, and one that leaves [`WINDOW`](crate::WINDOW) numbers late is refused.
    ///
    /// # Errors
    /// [`NoSession`]: there is nothing to seal it with; a handshake begins, if the peer's address is known.
    pub fn reserve(&mut self, now: Instant, id: PeerId, has_payload: bool) -> Result<Reserved, NoSession> {
        let peer = self.peers.get_mut(usize::from(id.0)).ok_or(NoSession::UnknownPeer)?;
        let to = peer.address.ok_or(NoSession::NoAddress)?;
        let Some(session) = peer.current(now, &self.limits) else {
            self.call(now, id);
            return Err(NoSession::Handshaking);
        };
        let (keys, counter) = session.reserve();
        let is_old = session.is_ours() && session.age(now) >= self.limits.rekey_after;
        let is_due = is_old || session.is_used_up(&self.limits);
        peer.unsaid_since = None;
        if has_payload {
            peer.unanswered_since.get_or_insert(now);
        }
        if is_due {
            self.call(now, id);
        }
        Ok(Reserved { to, keys, counter })
    }

    /// Takes a datagram that came from `from`; `out` holds its payload afterwards. To be drained afterwards.
    ///
    /// # Errors
    /// [`Refusal`]: it is to be dropped.
    pub fn open(
        &mut self,
        now: Instant,
        from: SocketAddr,
        datagram: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Opened, Refusal> {
        out.clear();
        let peer = match Message::parse(datagram)? {
            Message::Data { receiver, counter, sealed } => {
                let peer = self.data(now, from, (receiver, counter, sealed), out)?;
                return Ok(Opened::Payload { peer });
            }
            Message::Initiation { sender, handshake } => self.initiation(now, from, sender, &handshake)?,
            Message::Response { sender, receiver, handshake } => {
                self.response(now, (sender, receiver), &handshake)?
            }
            Message::CookieReply { receiver, nonce, sealed } => {
                self.cookie_reply(now, receiver, nonce, sealed)?
            }
        };
        Ok(Opened::Handshake { peer })
    }

    fn data(
        &mut self,
        now: Instant,
        from: SocketAddr,
        (session, counter, sealed): (u32, u64, &[u8]),
        out: &mut Vec<u8>,
    ) -> Result<PeerId, Refusal> {
        let ticket = self.ticket(now, (session, counter))?;
        out.resize(sealed.len(), 0);
        let length = ticket.keys.open(counter, sealed, out);
        out.truncate(length.unwrap_or(0));
        length.ok_or(Refusal::Forged)?;
        let accepted = self.accept(now, from, &ticket, out.len());
        if accepted.is_err() {
            out.clear();
        }
        accepted
    }

    /// What opening a datagram takes, so that another thread can do it; `None` for a message of a handshake, which is
    /// for [`Sessions::open`]. What has been opened is for [`Sessions::accept`].
    ///
    /// # Errors
    /// [`Refusal`]: it is to be dropped.
    pub fn examine<'a>(
        &self,
        now: Instant,
        datagram: &'a [u8],
    ) -> Result<Option<(Ticket, &'a [u8])>, Refusal> {
        let Message::Data { receiver, counter, sealed } = Message::parse(datagram)? else { return Ok(None) };
        self.ticket(now, (receiver, counter)).map(|ticket| Some((ticket, sealed)))
    }

    fn ticket(&self, now: Instant, (session, counter): (u32, u64)) -> Result<Ticket, Refusal> {
        let peer = *self.indices.get(&session).ok_or(Refusal::Stranger)?;
        let known = self.peers.get(usize::from(peer.0)).ok_or(Refusal::Stranger)?;
        let keys = known.admit(now, &self.limits, (session, counter))?.clone();
        Ok(Ticket { peer, keys, counter, session })
    }

    /// Takes note of a payload of `bytes` that came from `from` and has been opened: whose it is. To be drained
    /// afterwards.
    ///
    /// # Errors
    /// [`Refusal`]: it came twice, or its keys are gone meanwhile: it is to be dropped.
    pub fn accept(
        &mut self,
        now: Instant,
        from: SocketAddr,
        ticket: &Ticket,
        bytes: usize,
    ) -> Result<PeerId, Refusal> {
        let id = *self.indices.get(&ticket.session).ok_or(Refusal::Stranger)?;
        let peer = self.peers.get_mut(usize::from(id.0)).ok_or(Refusal::Stranger)?;
        let heard = peer.accept(now, &self.limits, (ticket.session, ticket.counter), bytes > 0)?;
        if let Some(answered_to) = heard.confirms {
            self.events.push_back(SessionEvent::Established { peer: id });
            if answered_to == from {
                self.settle(id, from);
            }
        }
        if heard.is_newest {
            self.heard_from(now, id, from, bytes + OVERHEAD_BYTES);
        }
        let is_due = |peer: &mut Peer| peer.is_due_on_hearing(now, &self.limits);
        if self.peers.get_mut(usize::from(id.0)).is_some_and(is_due) {
            self.call(now, id);
        }
        Ok(id)
    }

    /// A peer's newest packet came from `from`. A new address is asked by a handshake, within what may be sent there.
    fn heard_from(&mut self, now: Instant, id: PeerId, from: SocketAddr, bytes: usize) {
        let Some(peer) = self.peers.get_mut(usize::from(id.0)) else { return };
        peer.candidate = (peer.address != Some(from)).then_some(from);
        let recently = peer.initiated_at.is_some_and(|at| now.saturating_since(at) < PROBE_INTERVAL);
        let is_asked = peer.pending.as_ref().is_some_and(|pending| pending.to == from);
        let may_ask = bytes * MAX_AMPLIFICATION >= INITIATION_BYTES;
        if peer.candidate.is_some() && may_ask && !recently && !is_asked {
            self.initiate(now, id, from, (now, 0));
        }
    }

    /// A peer has shown to be at `address`.
    fn settle(&mut self, id: PeerId, address: SocketAddr) {
        let Some(peer) = self.peers.get_mut(usize::from(id.0)) else { return };
        if peer.candidate == Some(address) {
            peer.candidate = None;
        }
        let from = peer.address.replace(address);
        if from != Some(address) {
            self.events.push_back(SessionEvent::Moved { peer: id, from, to: address });
        }
    }

    /// Begins a handshake with a peer, unless one is under way or nobody knows where the peer is.
    fn call(&mut self, now: Instant, id: PeerId) {
        let Some(peer) = self.peers.get(usize::from(id.0)) else { return };
        if peer.pending.is_none()
            && let Some(address) = peer.address
        {
            self.initiate(now, id, address, (now, 0));
        }
    }

    /// Sessions of `id` have come or gone.
    fn rename(&mut self, id: PeerId) {
        self.indices.retain(|_, owner| *owner != id);
        if let Some(peer) = self.peers.get(usize::from(id.0)) {
            self.indices.extend(peer.indices().map(|index| (index, id)));
        }
    }
}

impl core::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Sessions({}, {} peers)", self.keys.public(), self.peers.len())
    }
}
