//! Ends: clients that have vanished, objects that have changed, a server that stops.
use super::limits::Prefix;
use super::session::Session;
use super::{Objects, Server};
use crate::wire::ConnectionId;
use prismux_units::{Duration, Instant};

/// How often clients that have vanished are looked for.
pub(super) const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

impl<O: Objects> Server<O> {
    /// Looks at every session once: whom to forget, and whose object has changed.
    pub(super) fn sweep(&mut self, now: Instant) {
        let vanish_after = self.config.vanish_after;
        let counters = &mut self.counters.sessions;
        let (mut over, mut lost) = (Vec::new(), Vec::new());
        for (&id, session) in &self.sessions {
            if session.is_over(now, vanish_after, counters) {
                over.push(id);
            } else if session.has_lost_object() {
                lost.push(id);
            }
        }
        for id in over {
            self.forget(id);
        }
        self.end_replaced(now);
        for id in lost {
            // Sessions of one connection end together.
            if self.sessions.get(&id).is_some_and(Session::has_lost_object) {
                self.counters.sessions.objects_lost += 1;
                self.abort(now, id);
            }
        }
    }

    fn forget(&mut self, id: ConnectionId) {
        let Some(session) = self.sessions.remove(&id) else { return };
        let by = session.opened_by();
        self.opened_by.remove(&by);
        if let Some(taken) = self.by_prefix.get_mut(&Prefix::of(by.0)) {
            *taken -= 1;
            if *taken == 0 {
                self.by_prefix.remove(&Prefix::of(by.0));
            }
        }
        session.service.add_to(&mut self.counters.sessions);
        if let Some(token) = session.service.transfer() {
            self.leave_transfer(id, token);
        }
    }

    /// Ends session `id` and what it is part of at once, and says so.
    fn abort(&mut self, now: Instant, id: ConnectionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.ended_at.get_or_insert(now);
        match session.service.transfer() {
            Some(token) => self.abort_transfer(token),
            None => self.abort_rcp(now, id),
        }
    }

    /// Tells every client that it is over, so that they go elsewhere at once.
    pub fn stop(&mut self, now: Instant) {
        let all: Vec<ConnectionId> = self.sessions.keys().copied().collect();
        for id in all {
            self.abort(now, id);
        }
    }
}
