//! The timers of the connection itself, beside those of its subflows: signals that want an answer, and the time in
//! which no subflow has anything on its way although something is to be done.
use super::{Connection, Mode, State};
use crate::subflow::Subflow;
use prismux_endpoint::Deadline;
use prismux_tcp::State as TcpState;
use prismux_units::{Duration, Instant};

/// Longest time between two probes of a closed window, or two signals.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// Doublings of a wait at most.
const MAX_DOUBLINGS: u8 = 10;

impl Connection {
    pub(super) fn deadline(&self) -> Option<Deadline> {
        let mut next = None;
        for subflow in &self.subflows {
            next = Deadline::earliest(next, subflow.deadline());
        }
        if self.state == State::Closed {
            return next;
        }
        let signal = self.waits.signal_at.map(|at| Deadline { at, why: "signal" });
        let stall = self.waits.stall_at.map(|at| Deadline { at, why: "stall" });
        let linger = self.waits.linger_at.map(|at| Deadline { at, why: "linger" });
        let own = Deadline::earliest(Deadline::earliest(signal, stall), linger);
        Deadline::earliest(next, own)
    }

    pub(super) fn fire(&mut self, now: Instant) {
        for place in 0..self.subflows.len() {
            if self.subflows[place].deadline().is_some_and(|deadline| deadline.at <= now) {
                let update = self.subflows[place].fire(now);
                self.take_ending(place, update);
            }
        }
        if self.waits.signal_at.is_some_and(|at| at <= now) {
            self.waits.signal_at = None;
            self.waits.signal_tries = self.waits.signal_tries.saturating_add(1);
            self.signal_again();
        }
        if self.waits.stall_at.is_some_and(|at| at <= now) {
            self.end_stall();
        }
        if self.waits.linger_at.is_some_and(|at| at <= now) {
            self.end_linger();
        }
        self.close_when_complete();
    }

    /// Nobody sends data any more, and the peer has not ended these subflows: its host may have lost their paths.
    fn end_linger(&mut self) {
        self.waits.linger_at = None;
        for place in 0..self.subflows.len() {
            if self.subflows[place].tcp().state() == TcpState::FinWait2 {
                self.subflows[place].abort();
                self.release(place);
            }
        }
    }

    fn watch_linger(&mut self, now: Instant) {
        let waits = |subflow: &Subflow| !subflow.ended && subflow.tcp().state() == TcpState::FinWait2;
        if self.state != State::Closing || !self.subflows.iter().any(waits) {
            self.waits.linger_at = None;
        } else {
            self.waits.linger_at.get_or_insert(now + self.config.tcp.time_wait);
        }
    }

    /// Something that was said wants an answer.
    fn awaits_answer(&self) -> bool {
        let ends = self.has_sent_all() && !self.ends.acked && self.send_buffer.outstanding() == 0;
        let announces = !self.to_announce.is_empty() && self.identity.peer_key.is_some();
        self.mode == Mode::Multipath
            && self.state == State::Established
            && (ends || announces || self.subflows.iter().any(Subflow::is_proving))
    }

    fn signal_again(&mut self) {
        for subflow in self.subflows.iter_mut().filter(|subflow| subflow.is_proving()) {
            subflow.request_ack();
        }
        self.signal_end();
        self.announce();
    }

    /// Called when nothing more leaves: sets or clears the connection's own timers.
    pub(super) fn watch(&mut self, now: Instant) {
        if !self.awaits_answer() {
            (self.waits.signal_at, self.waits.signal_tries) = (None, 0);
        } else if self.waits.signal_at.is_none() {
            self.waits.signal_at = Some(now + self.wait(self.waits.signal_tries));
        }
        self.watch_stall(now);
        self.watch_linger(now);
    }

    /// A timeout of the best subflow, doubled with every try.
    fn wait(&self, tries: u8) -> Duration {
        let best = self.best_subflow(|subflow| subflow.established);
        let rto = best.map_or(MAX_WAIT, |place| self.subflows[place].engine().rto());
        (rto * (1 << tries.min(MAX_DOUBLINGS))).min(MAX_WAIT)
    }

    fn watch_stall(&mut self, now: Instant) {
        let waits = self.state == State::Established
            && (self.send_buffer.outstanding() > 0 || self.send_buffer.has_work())
            && self.subflows.iter().any(Subflow::can_send);
        if !waits || self.subflows.iter().any(|subflow| !subflow.ended && subflow.held_bytes() > 0) {
            (self.waits.stall_at, self.waits.stall_tries) = (None, 0);
        } else if self.waits.stall_at.is_none() {
            self.waits.stall_at = Some(now + self.wait(self.waits.stall_tries));
        }
    }

    /// Nobody has anything on the way: what is missing goes again; a closed window is asked about (RFC 9293 section
    /// 3.8.6.1).
    fn end_stall(&mut self) {
        self.waits.stall_at = None;
        self.waits.stall_tries = self.waits.stall_tries.saturating_add(1);
        let missing = self.send_buffer.acked..self.send_buffer.frontier;
        if !missing.is_empty() {
            self.send_buffer.release(missing, usize::MAX);
        } else if self.send_buffer.window_end > self.send_buffer.frontier {
            self.send_buffer.override_silly = true;
        } else if let Some(best) = self.best_subflow(Subflow::can_send) {
            self.subflows[best].request_probe();
        }
        for subflow in &mut self.subflows {
            subflow.silent_timeouts = 0;
        }
        self.resume_all();
    }
}
