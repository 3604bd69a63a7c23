//! From the first datagram of a client to a session.
use super::session::{Opening, Session};
use super::{Lookup, Objects, Outbox, Server};
use crate::cookie::COOKIE_BYTES;
use crate::handshake::{Answer, MAX_PATH_BYTES, Refusal, Responder};
use crate::random;
use crate::wire::{ConnectionId, Datagram};
use prismux_units::Instant;
use std::net::SocketAddr;

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
        let proved = self.cookies.honours(now, from, client, cookie);
        if !proved && !self.may_trust(now) {
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
        let session = match Responder::read(&self.key, noise) {
            Some(request) => self.answer(now, from, client, request, out),
            None => {
                self.counters.forged_hellos += 1;
                None
            }
        };
        if !proved {
            self.unproven.note(now, session);
        }
    }

    /// Whether a Hello without a cookie may be answered: while there is room for many clients, and few such answers.
    fn may_trust(&mut self, now: Instant) -> bool {
        let sessions = &self.sessions;
        let is_waiting = |id| sessions.get(&id).is_some_and(|session| session.welcome().is_some());
        sessions.len() < self.config.max_clients / 2 && self.unproven.has_room(now, is_waiting)
    }

    /// Answers a request; the session, if that opened one.
    fn answer(
        &mut self,
        now: Instant,
        from: SocketAddr,
        client: ConnectionId,
        request: Responder,
        out: &mut Outbox<'_>,
    ) -> Option<ConnectionId> {
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
        let (noise, channel) = request.answer(&answer, client)?;
        self.reply(from, &Datagram::Welcome { client, noise: &noise }, out);
        let object = object?;
        self.counters.opened += 1;
        let opening = Opening { address: from, client, welcome: noise };
        self.sessions.insert(id, Session::new(channel, object, opening, now));
        self.opened_by.insert((from, client), id);
        Some(id)
    }
}
