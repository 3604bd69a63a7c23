//! The timers of the connection itself, beside those of its pipes: bytes whose delivery is not confirmed, and the
//! time in which no pipe has anything on its way although something is to be done.
use super::{Connection, State};
use prismux_endpoint::Deadline;
use prismux_units::{Duration, Instant};

/// Longest time between two probes of a closed window.
const MAX_PERSIST: Duration = Duration::from_secs(60);

/// Nothing is on its way on any pipe, and something is still to be done.
#[derive(Debug, Default)]
pub(super) struct Stall {
    at: Option<Instant>,
    tries: u8,
}

impl Stall {
    /// A stall has ended, and nothing has left since.
    pub(super) fn has_ended(&self) -> bool {
        self.tries > 0
    }

    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}

impl Connection {
    /// How long the connection's acknowledgement may take to confirm what a pipe's did: three halves of the longest
    /// round trip.
    pub(super) fn confirmation_time(&self) -> Duration {
        let longest = self.pipes.iter().filter_map(|pipe| pipe.srtt()).max().unwrap_or(Duration::ZERO);
        (longest * 3 / 2).max(self.config.min_confirmation_time)
    }

    pub(super) fn deadline(&self) -> Option<Deadline> {
        let mut next = None;
        for pipe in self.pipes.iter().filter(|pipe| !pipe.ended) {
            next = Deadline::earliest(next, pipe.deadline());
        }
        if self.state == State::Closed {
            return next;
        }
        let unconfirmed = self.send_buffer.unconfirmed_due().map(|at| Deadline { at, why: "unconfirmed" });
        let stall = self.stall.at.map(|at| Deadline { at, why: "stall" });
        Deadline::earliest(Deadline::earliest(next, unconfirmed), stall)
    }

    pub(super) fn fire(&mut self, now: Instant) {
        for index in 0..self.pipes.len() {
            let pipe = &mut self.pipes[index];
            if !pipe.ended && pipe.deadline().is_some_and(|deadline| deadline.at <= now) {
                let update = pipe.fire(now);
                self.take_update(now, index, update);
            }
        }
        if self.send_buffer.unconfirmed_due().is_some_and(|due| due <= now) && self.send_buffer.reclaim(now) {
            self.resume_all();
        }
        if self.stall.at.is_some_and(|at| at <= now) {
            self.end_stall();
        }
    }

    /// Notes that every pipe has fallen silent although bytes are missing or wait for a window.
    pub(super) fn watch_stall(&mut self, now: Instant) {
        let waits = matches!(self.state, State::Established(1..))
            && (self.send_buffer.outstanding() > 0 || self.send_buffer.has_work());
        if !waits || self.pipes.iter().any(|pipe| !pipe.ended && !pipe.bindings().is_empty()) {
            self.stall.forget();
            return;
        }
        if self.stall.at.is_none() {
            let wait =
                if self.send_buffer.outstanding() > 0 { self.confirmation_time() } else { self.persist() };
            self.stall.at = Some(now + wait * (1 << self.stall.tries.min(10)));
        }
    }

    /// Time before a closed window is asked about (RFC 9293 section 3.8.6.1).
    fn persist(&self) -> Duration {
        let best = self.first_pipe(|pipe| pipe.established);
        best.map_or(MAX_PERSIST, |index| self.pipes[index].engine().rto()).min(MAX_PERSIST)
    }

    fn end_stall(&mut self) {
        self.stall.at = None;
        self.stall.tries = self.stall.tries.saturating_add(1);
        if self.send_buffer.outstanding() > 0 {
            // The keep-alive check: no pipe is going to deliver what is missing.
            if self.config.keep_alive_check {
                self.send_buffer.reclaim_all();
                self.resume_all();
            }
        } else if self.send_buffer.has_room() {
            self.send_buffer.override_silly = true;
            self.resume_all();
        } else if let Some(best) = self.first_pipe(|pipe| pipe.established) {
            self.pipes[best].request_probe();
        }
    }
}
