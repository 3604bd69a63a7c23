//! What arrives in sessions: where their clients are, and what is for the protocols inside.
use super::{Objects, Received, Server};
use crate::channel::{Message, OpenError};
use crate::cookie::keyed;
use crate::wire::{ConnectionId, Datagram, RESET_TOKEN_BYTES};
use hmac::Mac;
use prismux_units::Instant;
use std::net::{IpAddr, SocketAddr};

impl<O: Objects> Server<O> {
    pub(super) fn handle_sealed(
        &mut self,
        now: Instant,
        received: &Received<'_>,
        to: ConnectionId,
        nonce: u64,
        sealed: &[u8],
    ) {
        let from = received.from;
        let Some(session) = self.sessions.get_mut(&to) else {
            self.counters.unknown_connections += 1;
            let token = self.reset_token(received.local, to);
            return self.reply(from, &Datagram::StatelessReset { server: to, token: &token });
        };
        match session.open(now, nonce, sealed, &mut self.opened) {
            Err(OpenError::Forged) => return self.counters.sessions.forged += 1,
            Err(OpenError::Replayed) => return self.counters.sessions.replayed += 1,
            Ok(()) => {}
        }
        let has_moved = session.address != from;
        let opened = std::mem::take(&mut self.opened);
        let message = Message::parse(&opened);
        match message {
            Some(Message::Challenge(value)) => self.reply_sealed(to, from, &Message::Response(value)),
            Some(Message::Response(value)) => {
                session.handle_response(from, value, &mut self.counters.sessions);
            }
            Some(_) => {}
            None => self.counters.sessions.nonsense += 1,
        }
        if has_moved {
            self.challenge(to, from);
        }
        match message {
            Some(Message::Rcp(packet)) => self.handle_rcp(now, to, received.ecn, packet),
            Some(Message::Ptcp(segment)) => self.handle_ptcp(now, to, received.ecn, None, segment),
            Some(Message::PtcpOpening { offset, segment }) => {
                self.handle_ptcp(now, to, received.ecn, Some(offset), segment);
            }
            _ => {}
        }
        self.opened = opened;
    }

    /// Asks for an answer from `from`, unless that is where the client of session `id` has just been found.
    fn challenge(&mut self, id: ConnectionId, from: SocketAddr) {
        let fresh = self.entropy.bytes();
        let Some(session) = self.sessions.get_mut(&id).filter(|session| session.address != from) else {
            return;
        };
        let challenge = session.challenge(from, fresh);
        self.counters.sessions.challenges += 1;
        self.reply_sealed(id, from, &challenge);
    }

    /// Queues `message` of session `id` to `to`, which need not be where its client is.
    pub(super) fn reply_sealed(&mut self, id: ConnectionId, to: SocketAddr, message: &Message<'_>) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        self.message.clear();
        message.emit(&mut self.message);
        session.seal(&self.message, &mut self.datagram);
        let datagram = &self.datagram;
        self.replies.push(to, |out| out.extend_from_slice(datagram));
    }

    /// What a stateless reset of connection `id` carries, which was opened at `local`.
    pub(super) fn reset_token(&self, local: SocketAddr, id: ConnectionId) -> [u8; RESET_TOKEN_BYTES] {
        let mut hash = keyed(&self.reset_key);
        match local.ip().to_canonical() {
            IpAddr::V4(address) => hash.update(&address.to_ipv6_mapped().octets()),
            IpAddr::V6(address) => hash.update(&address.octets()),
        }
        hash.update(&local.port().to_be_bytes());
        hash.update(&id.0.to_be_bytes());
        let mut token = [0; RESET_TOKEN_BYTES];
        token.copy_from_slice(&hash.finalize().into_bytes()[..RESET_TOKEN_BYTES]);
        token
    }
}
