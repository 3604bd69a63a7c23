//! Datagrams between the paths and the connection.
use super::path::{Open, State};
use super::{Departure, Download};
use crate::channel::{Message, OpenError};
use crate::handshake::Answer;
use crate::wire::{ConnectionId, Datagram, VERSION};
use prismux_units::Instant;
use prismux_wire::Ecn;
use std::net::SocketAddr;

/// Keeps bytes of the object: offset, bytes.
pub type Store<'a> = dyn FnMut(u64, &[u8]) + 'a;

impl Download {
    /// A datagram arrived over interface `link`. What it brings of the object goes to `store` at once.
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        link: usize,
        from: SocketAddr,
        ecn: Ecn,
        bytes: &[u8],
        store: &mut Store<'_>,
    ) {
        let Ok(datagram) = Datagram::parse(bytes) else {
            self.counters.malformed += 1;
            return;
        };
        let id = match datagram {
            Datagram::Retry { client, .. }
            | Datagram::Welcome { client, .. }
            | Datagram::Notice { client, .. } => client,
            Datagram::Sealed { to, .. } => to,
            Datagram::Gone { server, proof } => return self.handle_gone(now, link, from, server, proof),
            Datagram::Hello { .. } => {
                self.counters.malformed += 1;
                return;
            }
        };
        let known = self
            .paths
            .iter()
            .position(|path| path.id() == Some(id) && path.spec.link == link && path.spec.address == from);
        let Some(index) = known else {
            self.counters.strangers += 1;
            return;
        };
        match datagram {
            Datagram::Retry { cookie, .. } => self.handle_retry(index, cookie),
            Datagram::Welcome { noise, .. } => self.handle_welcome(now, index, noise),
            Datagram::Notice { version, .. } => self.handle_notice(now, index, version),
            Datagram::Sealed { nonce, noise, .. } => self.handle_sealed(now, index, ecn, nonce, noise, store),
            Datagram::Gone { .. } | Datagram::Hello { .. } => {}
        }
    }

    /// The same Hello once more, with the cookie.
    fn handle_retry(&mut self, index: usize, cookie: &[u8; crate::cookie::COOKIE_BYTES]) {
        if let State::Opening(opening) = &mut self.paths[index].state
            && opening.cookie != *cookie
            && !opening.is_due
        {
            opening.cookie = *cookie;
            opening.is_due = true;
        } else {
            self.counters.strangers += 1;
        }
    }

    /// Anybody may have written it, so it is only believed when no answer can come: it ends nothing but this path.
    fn handle_notice(&mut self, now: Instant, index: usize, version: u8) {
        if matches!(self.paths[index].state, State::Opening(_)) && version != VERSION {
            let why =
                format!("it speaks version {version}, this is version {VERSION}; bring both to the same");
            self.refuse(now, index, why);
        }
    }

    fn handle_welcome(&mut self, now: Instant, index: usize, noise: &[u8]) {
        let State::Opening(opening) = &mut self.paths[index].state else { return };
        let Some((answer, channel)) = opening.initiator.finish(noise, &mut self.opened) else {
            self.counters.forged += 1;
            return;
        };
        let id = opening.id;
        self.news_at = now;
        match (answer, channel) {
            (Answer::Ready { proof, identity, .. }, Some(channel)) => {
                if self.compare(now, index, identity) {
                    let path = &mut self.paths[index];
                    path.state = State::Open(Box::new(Open { id, channel, proof }));
                    let cost = path.spec.cost;
                    if let Some(carrier) = &mut self.carrier {
                        carrier.open(now, index, cost);
                    }
                }
            }
            (Answer::Refused(why), _) => self.refuse(now, index, why.to_string()),
            _ => self.paths[index].wait_for_server(now),
        }
    }

    fn handle_gone(
        &mut self,
        now: Instant,
        link: usize,
        from: SocketAddr,
        server: ConnectionId,
        proof: &[u8; crate::wire::PROOF_BYTES],
    ) {
        let matches = |state: &State| matches!(state, State::Open(open) if open.channel.peer() == server && open.proof == *proof);
        let known = self
            .paths
            .iter()
            .position(|path| matches(&path.state) && path.spec.link == link && path.spec.address == from);
        match known {
            Some(index) if self.ended_at.is_none() => {
                self.lose(now, index, "its server does not know the session any more")
            }
            _ => self.counters.strangers += 1,
        }
    }

    fn handle_sealed(
        &mut self,
        now: Instant,
        index: usize,
        ecn: Ecn,
        nonce: u64,
        noise: &[u8],
        store: &mut Store<'_>,
    ) {
        let State::Open(open) = &mut self.paths[index].state else {
            self.counters.strangers += 1;
            return;
        };
        match open.channel.open(nonce, noise, &mut self.opened) {
            Err(OpenError::Forged) => return self.counters.forged += 1,
            Err(OpenError::Replayed) => return self.counters.replayed += 1,
            Ok(()) => {}
        }
        let opened = std::mem::take(&mut self.opened);
        let is_sensible = match (Message::parse(&opened), &mut self.carrier) {
            (Some(Message::Challenge(value)), _) => {
                self.reply(index, &Message::Response(value));
                true
            }
            (Some(message), Some(carrier)) => carrier.receive(now, index, ecn, &message, store),
            _ => false,
        };
        self.counters.malformed += u64::from(!is_sensible);
        self.take_notes(now);
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

    /// Makes `out` the next datagram to send, if there is one.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Departure> {
        if let Some((index, datagram)) = self.replies.pop_front() {
            *out = datagram;
            return Some(self.departure(index, Ecn::NotEct));
        }
        if let Some(index) = self.next_hello(now, out) {
            return Some(self.departure(index, Ecn::NotEct));
        }
        loop {
            self.message.clear();
            let (index, ecn) = self.carrier.as_mut()?.transmit(now, &mut self.message)?;
            if let State::Open(open) = &mut self.paths[index].state {
                open.channel.seal(&self.message, out);
                return Some(self.departure(index, ecn));
            }
        }
    }

    fn departure(&self, index: usize, ecn: Ecn) -> Departure {
        let spec = &self.paths[index].spec;
        Departure { link: spec.link, to: spec.address, ecn }
    }

    fn next_hello(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<usize> {
        if self.ended_at.is_some() {
            return None;
        }
        for (index, path) in self.paths.iter_mut().enumerate() {
            if let State::Opening(opening) = &mut path.state
                && opening.is_due
            {
                opening.sent(now);
                out.clear();
                let (client, cookie, noise) = (opening.id, &opening.cookie, &opening.hello);
                Datagram::Hello { client, cookie, noise }.emit(out);
                return Some(index);
            }
        }
        None
    }
}
