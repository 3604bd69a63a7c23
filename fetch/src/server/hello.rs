//! From the first datagram of a client to a session.
use super::session::{Opening, Session};
use super::{Lookup, Objects, Outbox, Server};
use crate::cookie::COOKIE_BYTES;
use crate::handshake::{Answer, MAX_PATH_BYTES, Refusal, Responder};
use crate::random;
use crate::wire::{ConnectionId, Datagram};
use prismux_units::Instant;
use std::net::SocketAddr;
use std::sync::Arc;

impl<O: Objects> Server<O> {
    pub(super) fn handle_hello(
        &mut self,
        now: Instant,
        from: SocketAddr,
        client: ConnectionId,
        cookie: &[u8; COOKIE_BYTES],
        noise: &[u8],
        out: &mut Outbox<'_>,
    ) {
        if !self.cookies.honours(now, from, client, cookie) {
            self.counters.retries += 1;
            let cookie = self.cookies.give(now, from, client);
            return self.reply(from, &Datagram::Retry { client, cookie: &cookie }, out);
        }
        if let Some(server) = self.opened_by.get(&(from, client)) {
            // Our Welcome was lost; once the client has been heard under its session it cannot have been.
            let welcome = self.sessions.get(server).and_then(|session| session.welcome().map(<[u8]>::to_vec));
            if let Some(noise) = welcome {
                self.counters.repeated_hellos += 1;
                self.reply(from, &Datagram::Welcome { client, noise: &noise }, out);
            }
            return;
        }
        let Some(request) = Responder::read(&self.key, noise) else {
            self.counters.forged_hellos += 1;
            return;
        };
        self.answer(now, from, client, request, out);
    }

    fn answer(
        &mut self,
        now: Instant,
        from: SocketAddr,
        client: ConnectionId,
        request: Responder,
        out: &mut Outbox<'_>,
    ) {
        let found = match () {
            () if request.path().len() > MAX_PATH_BYTES => Lookup::Refused(Refusal::Malformed),
            () if self.sessions.len() >= self.config.max_clients => Lookup::Refused(Refusal::Busy),
            () => self.objects.find(request.path()),
        };
        let id = ConnectionId(random::number());
        let (answer, object) = match found {
            Lookup::Ready(object) => {
                let identity = object.identity();
                (Answer::Ready { server: id, proof: self.proof(id), identity }, Some(object))
            }
            Lookup::Preparing => {
                self.counters.preparing += 1;
                (Answer::Preparing, None)
            }
            Lookup::Refused(why) => {
                self.counters.refused += 1;
                (Answer::Refused(why), None)
            }
        };
        let Some((noise, channel)) = request.answer(&answer, client) else { return };
        self.reply(from, &Datagram::Welcome { client, noise: &noise }, out);
        if let Some(object) = object {
            self.counters.opened += 1;
            let opening = Opening { address: from, client, welcome: noise };
            self.sessions.insert(id, Session::new(channel, Arc::clone(&object), opening, now));
            self.opened_by.insert((from, client), id);
        }
    }
}
