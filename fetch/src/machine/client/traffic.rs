//! Datagrams between the paths and the connection.
use super::carrier::PathMessage;
use super::event::{PathLoss, Rejection};
use super::path::{Open, Path, State};
use super::{Download, Received, Transmit};
use crate::channel::{Message, OpenError};
use crate::handshake::Answer;
use crate::wire::{COOKIE_BYTES, ConnectionId, Datagram, RESET_TOKEN_BYTES, VERSION};
use prismux_endpoint::Endpoint;
use prismux_units::Instant;
use prismux_wire::Ecn;

impl Download {
    /// Whether a datagram is for a path of this download, as far as its outside says: for hosts of several downloads.
    pub fn is_for(&self, received: &Received<'_>) -> bool {
        let Ok(datagram) = Datagram::parse(received.bytes) else { return false };
        let from_there = |path: &&Path| path.spec.link == received.link && path.spec.address == received.from;
        let mut paths = self.paths.iter().filter(from_there);
        match datagram {
            Datagram::Retry { client, .. }
            | Datagram::Welcome { client, .. }
            | Datagram::Notice { client, .. } => paths.any(|path| path.id() == Some(client)),
            Datagram::Sealed { to, .. } => paths.any(|path| path.id() == Some(to)),
            Datagram::StatelessReset { server, .. } => {
                paths.any(|path| matches!(&path.state, State::Open(open) if open.channel.peer() == server))
            }
            Datagram::Hello { .. } => false,
        }
    }

    /// A datagram arrived.
    pub(super) fn receive(&mut self, now: Instant, received: &Received<'_>) {
        let Ok(datagram) = Datagram::parse(received.bytes) else {
            self.counters.malformed += 1;
            return;
        };
        let id = match datagram {
            Datagram::Retry { client, .. }
            | Datagram::Welcome { client, .. }
            | Datagram::Notice { client, .. } => client,
            Datagram::Sealed { to, .. } => to,
            Datagram::StatelessReset { server, token } => {
                return self.handle_stateless_reset(now, received, server, token);
            }
            Datagram::Hello { .. } => {
                self.counters.malformed += 1;
                return;
            }
        };
        let known = self.paths.iter().position(|path| {
            path.id() == Some(id) && path.spec.link == received.link && path.spec.address == received.from
        });
        let Some(index) = known else {
            self.counters.unmatched += 1;
            return;
        };
        match datagram {
            Datagram::Retry { cookie, .. } => self.handle_retry(index, cookie),
            Datagram::Welcome { noise, .. } => self.handle_welcome(now, index, noise),
            Datagram::Notice { version, .. } => self.handle_notice(now, index, version),
            Datagram::Sealed { nonce, noise, .. } => {
                self.handle_sealed(now, index, received.ecn, nonce, noise);
            }
            Datagram::StatelessReset { .. } | Datagram::Hello { .. } => {}
        }
    }

    /// The same Hello once more, with the cookie; once for each handshake, since anybody may have written the Retry.
    fn handle_retry(&mut self, index: usize, cookie: &[u8; COOKIE_BYTES]) {
        if let State::Opening(opening) = &mut self.paths[index].state
            && !opening.is_retried
            && !opening.is_due
        {
            opening.is_retried = true;
            opening.cookie = *cookie;
            opening.is_due = true;
        } else {
            self.counters.unmatched += 1;
        }
    }

    /// Anybody may have written it, so it is only believed when no answer can come: it ends nothing but this path.
    fn handle_notice(&mut self, now: Instant, index: usize, version: u8) {
        if matches!(self.paths[index].state, State::Opening(_)) && version != VERSION {
            self.refuse(now, index, Rejection::Version(version));
        }
    }

    fn handle_welcome(&mut self, now: Instant, index: usize, noise: &[u8]) {
        let State::Opening(opening) = &mut self.paths[index].state else { return };
        let Some((answer, channel)) = opening.initiator.finish(noise, &mut self.opened) else {
            self.counters.forged += 1;
            return;
        };
        let id = opening.id;
        match (answer, channel) {
            (Answer::Ready { reset_token, identity, .. }, Some(channel)) => {
                self.progress_at = now;
                if self.compare(now, index, identity) {
                    let path = &mut self.paths[index];
                    path.state = State::Open(Box::new(Open { id, channel, reset_token }));
                    let cost = path.spec.cost;
                    if let Some(carrier) = &mut self.carrier {
                        carrier.open(now, index, cost, &mut self.entropy);
                    }
                    self.drain_carrier(now);
                }
            }
            (Answer::Refused(why), _) => self.handle_refusal(now, index, why),
            _ => self.handle_preparing(now, index),
        }
    }

    fn handle_stateless_reset(
        &mut self,
        now: Instant,
        received: &Received<'_>,
        server: ConnectionId,
        token: &[u8; RESET_TOKEN_BYTES],
    ) {
        let is_meant = |open: &Open| open.channel.peer() == server && open.reset_token == *token;
        let matches = |state: &State| matches!(state, State::Open(open) if is_meant(open));
        let known = self.paths.iter().position(|path| {
            matches(&path.state) && path.spec.link == received.link && path.spec.address == received.from
        });
        match known {
            Some(index) if self.ended_at.is_none() => {
                self.lose(now, index, PathLoss::StatelessReset);
                self.drain_carrier(now);
            }
            _ => self.counters.unmatched += 1,
        }
    }

    fn handle_sealed(&mut self, now: Instant, index: usize, ecn: Ecn, nonce: u64, sealed: &[u8]) {
        let State::Open(open) = &mut self.paths[index].state else {
            self.counters.unmatched += 1;
            return;
        };
        match open.channel.open(nonce, sealed, &mut self.opened) {
            Err(OpenError::Forged) => return self.counters.forged += 1,
            Err(OpenError::Replayed) => return self.counters.replayed += 1,
            Ok(()) => {}
        }
        let opened = std::mem::take(&mut self.opened);
        match (Message::parse(&opened), &mut self.carrier) {
            (Some(Message::Challenge(value)), _) => self.reply(index, &Message::Response(value)),
            (Some(message), Some(carrier)) => {
                carrier.handle_input(now, PathMessage { path: index, ecn, message });
            }
            _ => self.counters.malformed += 1,
        }
        self.drain_carrier(now);
        self.opened = opened;
    }

    fn reply(&mut self, index: usize, message: &Message<'_>) {
        let State::Open(open) = &mut self.paths[index].state else { return };
        let mut datagram = Vec::new();
        self.message.clear();
        message.emit(&mut self.message);
        open.channel.seal(&self.message, &mut datagram);
        self.replies.push_back((index, datagram));
    }

    /// Makes the datagram the next one to send, if there is one.
    pub(super) fn transmit(&mut self, now: Instant) -> Option<Transmit> {
        if let Some((index, datagram)) = self.replies.pop_front() {
            self.datagram = datagram;
            return Some(self.transmit_of(index, Ecn::NotEct));
        }
        if let Some(index) = self.next_hello(now) {
            return Some(self.transmit_of(index, Ecn::NotEct));
        }
        let transmit = loop {
            let carrier = self.carrier.as_mut()?;
            let Some(transmit) = carrier.poll_transmit(now) else { break None };
            if let State::Open(open) = &mut self.paths[transmit.path].state {
                open.channel.seal(carrier.message(), &mut self.datagram);
                break Some(transmit);
            }
        };
        // A close that has been sent is an event.
        self.drain_carrier(now);
        transmit.map(|transmit| self.transmit_of(transmit.path, transmit.ecn))
    }

    fn transmit_of(&self, index: usize, ecn: Ecn) -> Transmit {
        let spec = &self.paths[index].spec;
        Transmit { link: spec.link, to: spec.address, ecn }
    }

    fn next_hello(&mut self, now: Instant) -> Option<usize> {
        if self.ended_at.is_some() {
            return None;
        }
        for (index, path) in self.paths.iter_mut().enumerate() {
            if let State::Opening(opening) = &mut path.state
                && opening.is_due
            {
                opening.sent(now);
                self.datagram.clear();
                let (client, cookie, noise) = (opening.id, &opening.cookie, &opening.hello);
                Datagram::Hello { client, cookie, noise }.emit(&mut self.datagram);
                return Some(index);
            }
        }
        None
    }
}
