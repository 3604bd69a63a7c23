//! From the first datagram of a client to a session.
use super::limits::Prefix;
use super::session::{Opening, Session};
use super::{Lookup, Objects, Received, Server};
use crate::handshake::{Answer, MAX_PATH_BYTES, Refusal, Responder};
use crate::wire::{COOKIE_BYTES, ConnectionId, Datagram};
use prismux_units::Instant;

/// The share of all places that one neighbourhood of addresses may take when half of them are taken.
const PREFIX_SHARE: usize = 100;

impl<O: Objects> Server<O> {
    pub(super) fn handle_hello(
        &mut self,
        now: Instant,
        received: &Received<'_>,
        client: ConnectionId,
        cookie: &[u8; COOKIE_BYTES],
        noise: &[u8],
    ) {
        let from = received.from;
        let is_validated = self.cookies.honours(now, from, client, cookie);
        if !is_validated && !self.may_trust(now) {
            self.counters.retries += 1;
            let cookie = self.cookies.give(now, from, client);
            return self.reply(from, &Datagram::Retry { client, cookie: &cookie });
        }
        if let Some(server) = self.opened_by.get(&(from, client)) {
            // Our Welcome was lost; once the client has sealed anything for its session it cannot have been.
            let welcome = self.sessions.get(server).and_then(|session| session.welcome().map(<[u8]>::to_vec));
            if let Some(noise) = welcome {
                self.counters.repeated_hellos += 1;
                self.reply(from, &Datagram::Welcome { client, noise: &noise });
            }
            return;
        }
        if is_validated && !self.handshakes.take(now, Prefix::of(from)) {
            return self.counters.limited_hellos += 1;
        }
        let session = match Responder::read(&self.key, noise, &mut self.entropy) {
            Some(request) => self.answer(now, received, client, request),
            None => {
                self.counters.forged_hellos += 1;
                None
            }
        };
        if !is_validated {
            self.unvalidated.add(now, session);
        }
    }

    /// Whether a Hello without a cookie may be answered: while there is room for many clients, and few such answers.
    fn may_trust(&mut self, now: Instant) -> bool {
        let sessions = &self.sessions;
        let is_waiting = |id| sessions.get(&id).is_some_and(|session| session.welcome().is_some());
        sessions.len() < self.config.max_clients / 2 && self.unvalidated.has_room(now, is_waiting)
    }

    /// Half of the places are for whoever comes first; of the others no neighbourhood gets more than its share.
    fn has_place(&self, prefix: Prefix) -> bool {
        let (sessions, places) = (self.sessions.len(), self.config.max_clients);
        let taken = self.by_prefix.get(&prefix).copied().unwrap_or(0);
        sessions < places && (sessions < places / 2 || taken < (places / PREFIX_SHARE).max(1))
    }

    /// Answers a request; the session, if that opened one.
    fn answer(
        &mut self,
        now: Instant,
        received: &Received<'_>,
        client: ConnectionId,
        request: Responder,
    ) -> Option<ConnectionId> {
        let from = received.from;
        let found = match () {
            () if request.path().len() > MAX_PATH_BYTES => Lookup::Refused(Refusal::Malformed),
            () if !self.has_place(Prefix::of(from)) => Lookup::Refused(Refusal::Busy),
            () => self.objects.find(request.path()),
        };
        let id = ConnectionId(self.entropy.number());
        let (answer, object) = match found {
            Lookup::Ready(object) => {
                let (identity, reset_token) = (object.identity(), self.reset_token(received.local, id));
                (Answer::Ready { server: id, reset_token, identity }, Some(object))
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
        self.reply(from, &Datagram::Welcome { client, noise: &noise });
        let object = object?;
        self.counters.opened += 1;
        let opening = Opening { address: from, client, welcome: noise };
        self.sessions.insert(id, Session::new(channel, object, opening, now));
        self.opened_by.insert((from, client), id);
        *self.by_prefix.entry(Prefix::of(from)).or_default() += 1;
        Some(id)
    }
}
