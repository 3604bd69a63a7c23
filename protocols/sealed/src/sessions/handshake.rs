//! The messages that lead to keys.
use super::Sessions;
use crate::cookie::Given;
use crate::events::{Refusal, SessionEvent, Transmit};
use crate::message::{
    COOKIE_NONCE_BYTES, Handshake, INITIATION_BYTES, RESPONSE_BYTES, initiation_header, response_header,
};
use crate::noise;
use crate::peer::{Peer, PeerId, Pending};
use crate::session::Session;
use core::net::SocketAddr;
use prismux_units::{Duration, Instant};

/// A peer's initiations are answered no more often than this (WireGuard's paper, section 5.1: replays and floods of a
/// known peer).
const MIN_ANSWER_INTERVAL: Duration = Duration::from_millis(20);
/// Bytes of the time in an initiation: TAI64N.
const TIMESTAMP_BYTES: usize = 12;
/// TAI64's label of the second in which 1970 began, without leap seconds since.
const TAI64_OF_1970: u64 = (1 << 62) + 10;
/// Times are told no finer than this, about 17 ms: they go to whoever has the peer's key.
const TIMESTAMP_GRAIN_NS: u64 = 1 << 24;

impl Sessions {
    /// Sends an initiation to a peer at `to`. The handshake began at `began` and has been tried `tries` times.
    pub(super) fn initiate(
        &mut self,
        now: Instant,
        id: PeerId,
        to: SocketAddr,
        (began, tries): (Instant, u32),
    ) {
        let local = self.fresh_index();
        let timestamp = self.timestamp(now);
        let Some(peer) = self.peers.get_mut(usize::from(id.0)) else { return };
        let Some(mut noise) = noise::initiator(&self.keys, &peer.public, &mut self.entropy) else { return };
        let mut room = [0; INITIATION_BYTES];
        // Fails only for a public key that no private key has.
        let Ok(length) = noise.write_message(&timestamp, &mut room) else { return };
        let mut message = initiation_header(local);
        message.extend_from_slice(room.get(..length).unwrap_or_default());
        let mac1 = peer.addressee.sign(&mut message, peer.cookie.as_ref().and_then(|cookie| cookie.at(now)));
        let wait = (self.limits.handshake_retry * (1 << tries.min(16))).min(self.limits.handshake_retry_max);
        // Up to an eighth more, so that two ends that began together do not go on together.
        let jitter = Duration::from_nanos(self.entropy.number() % (wait.as_nanos() / 8).max(1));
        peer.initiated_at = Some(now);
        peer.pending =
            Some(Pending { noise, local, to, began, retry_at: now + wait + jitter, tries: tries + 1, mac1 });
        self.transmits.push_back(Transmit { to, bytes: message });
        self.rename(id);
    }

    /// Somebody calls.
    pub(super) fn initiation(
        &mut self,
        now: Instant,
        from: SocketAddr,
        sender: u32,
        handshake: &Handshake<'_>,
    ) -> Result<PeerId, Refusal> {
        if !self.jar.is_meant(handshake) {
            return Err(Refusal::Stranger);
        }
        self.admit(now, from, sender, handshake)?;
        let mut noise = noise::responder(&self.keys, &mut self.entropy).ok_or(Refusal::Malformed)?;
        let mut timestamp = [0; TIMESTAMP_BYTES];
        match noise.read_message(handshake.noise, &mut timestamp) {
            Ok(TIMESTAMP_BYTES) => {}
            _ => return Err(Refusal::Forged),
        }
        let caller = noise::caller(&noise).ok_or(Refusal::Forged)?;
        let is_welcome = |peer: &Peer| peer.public == caller && !peer.is_barred;
        let at = self.peers.iter().position(is_welcome).ok_or(Refusal::Stranger)?;
        let local = self.fresh_index();
        let peer = self.peers.get_mut(at).ok_or(Refusal::Stranger)?;
        if timestamp <= peer.latest_timestamp {
            return Err(Refusal::Replayed);
        }
        if peer.answered_at.is_some_and(|at| now.saturating_since(at) < MIN_ANSWER_INTERVAL) {
            return Err(Refusal::Overloaded);
        }
        let mut room = [0; RESPONSE_BYTES];
        let length = noise.write_message(&[], &mut room).map_err(|_| Refusal::Forged)?;
        let keys = noise.into_stateless_transport_mode().map_err(|_| Refusal::Forged)?;
        peer.latest_timestamp = timestamp;
        peer.answered_at = Some(now);
        peer.add_answered(Session::answered(keys, (local, sender), now, from));
        let mut message = response_header(local, sender);
        message.extend_from_slice(room.get(..length).unwrap_or_default());
        peer.addressee.sign(&mut message, peer.cookie.as_ref().and_then(|cookie| cookie.at(now)));
        self.transmits.push_back(Transmit { to: from, bytes: message });
        let id = PeerId(at as u16);
        self.rename(id);
        Ok(id)
    }

    /// Under load only those go on who have shown to be at their address.
    fn admit(
        &mut self,
        now: Instant,
        from: SocketAddr,
        sender: u32,
        handshake: &Handshake<'_>,
    ) -> Result<(), Refusal> {
        if self.jar.is_at(now, from, handshake) {
            return if self.load.take_proved(now, from) { Ok(()) } else { Err(Refusal::Overloaded) };
        }
        if self.load.take_unproved(now) {
            return Ok(());
        }
        let bytes = self.jar.reply(now, from, sender, handshake, &mut self.entropy);
        self.transmits.push_back(Transmit { to: from, bytes });
        Err(Refusal::Overloaded)
    }

    /// Somebody answers.
    pub(super) fn response(
        &mut self,
        now: Instant,
        (sender, receiver): (u32, u32),
        handshake: &Handshake<'_>,
    ) -> Result<PeerId, Refusal> {
        if !self.jar.is_meant(handshake) {
            return Err(Refusal::Stranger);
        }
        let id = *self.indices.get(&receiver).ok_or(Refusal::Stranger)?;
        let peer = self.peers.get_mut(usize::from(id.0)).ok_or(Refusal::Stranger)?;
        let mut pending =
            peer.pending.take_if(|pending| pending.local == receiver).ok_or(Refusal::Replayed)?;
        if pending.noise.read_message(handshake.noise, &mut [0; RESPONSE_BYTES]).is_err() {
            // The true answer may still come.
            peer.pending = Some(pending);
            return Err(Refusal::Forged);
        }
        let keys = pending.noise.into_stateless_transport_mode().map_err(|_| Refusal::Forged)?;
        peer.add_begun(Session::begun(keys, receiver, sender, now));
        peer.unanswered_since = None;
        self.rename(id);
        self.events.push_back(SessionEvent::Established { peer: id });
        self.settle(id, pending.to);
        // The other end uses the new keys once it has heard something under them.
        self.say_alive(now, id);
        Ok(id)
    }

    /// The other end is under load and wants the message again, with this.
    pub(super) fn cookie_reply(
        &mut self,
        now: Instant,
        receiver: u32,
        nonce: &[u8; COOKIE_NONCE_BYTES],
        sealed: &[u8],
    ) -> Result<PeerId, Refusal> {
        let id = *self.indices.get(&receiver).ok_or(Refusal::Stranger)?;
        let peer = self.peers.get_mut(usize::from(id.0)).ok_or(Refusal::Stranger)?;
        let pending = peer.pending.as_ref().filter(|pending| pending.local == receiver);
        let mac1 = pending.map(|pending| pending.mac1).ok_or(Refusal::Replayed)?;
        let cookie = peer.addressee.open_cookie(nonce, sealed, &mac1).ok_or(Refusal::Forged)?;
        peer.cookie = Some(Given::new(cookie, now));
        Ok(id)
    }

    /// A name that no session has.
    fn fresh_index(&mut self) -> u32 {
        loop {
            let index = u32::from_be_bytes(self.entropy.bytes());
            if !self.indices.contains_key(&index) {
                return index;
            }
        }
    }

    /// The time of day, later than any told before.
    fn timestamp(&mut self, now: Instant) -> [u8; TIMESTAMP_BYTES] {
        let unix_ns =
            self.epoch.as_nanos().saturating_add(now.as_nanos()) / TIMESTAMP_GRAIN_NS * TIMESTAMP_GRAIN_NS;
        self.last_timestamp_ns = unix_ns.max(self.last_timestamp_ns + 1);
        let (seconds, nanos) =
            (self.last_timestamp_ns / 1_000_000_000, self.last_timestamp_ns % 1_000_000_000);
        let label = (TAI64_OF_1970 + seconds).to_be_bytes();
        let mut bytes = label.into_iter().chain((nanos as u32).to_be_bytes());
        core::array::from_fn(|_| bytes.next().unwrap_or_default())
    }

    /// Says to a peer that we live and have its keys.
    pub(super) fn say_alive(&mut self, now: Instant, id: PeerId) {
        let mut bytes = alloc::vec::Vec::new();
        let has_keys = |peer: &mut Peer| peer.current(now, &self.limits).is_some();
        if self.peers.get_mut(usize::from(id.0)).is_some_and(has_keys)
            && let Ok(to) = self.seal(now, id, &[], &mut bytes)
        {
            self.transmits.push_back(Transmit { to, bytes });
        }
    }
}
