//! Deadlines beside the engine's: opening, closing, giving up.
use super::{Control, Ending, Pipe, PipeState};
use prismux_endpoint::Deadline;
use prismux_units::Instant;

/// Pending deadlines and the instants they are judged by.
#[derive(Debug, Clone)]
pub(super) struct Timers {
    opening: Option<Instant>,
    closing: Option<Instant>,
    pub(super) opening_sent_at: Instant,
    pub(super) opening_retries: u8,
    closing_retries: u8,
    /// Last time the sender was heard, or began to be waited for.
    pub(super) heard_at: Instant,
}

impl Timers {
    pub(super) const fn starting(now: Instant) -> Self {
        Self {
            opening: None,
            closing: None,
            opening_sent_at: now,
            opening_retries: 0,
            closing_retries: 0,
            heard_at: now,
        }
    }

    pub(super) fn heard(&mut self, now: Instant) {
        self.heard_at = now;
    }

    pub(super) fn opened(&mut self) {
        self.opening = None;
    }

    pub(super) fn stop(&mut self) {
        self.opening = None;
        self.closing = None;
    }
}

impl Pipe {
    /// When [`Pipe::fire`] wants to be called.
    pub fn deadline(&self) -> Option<Deadline> {
        if self.state == PipeState::Closed || self.frozen {
            return None;
        }
        let opening = self.timers.opening.map(|at| Deadline { at, why: "handshake" });
        let closing = self.timers.closing.map(|at| Deadline { at, why: "goodbye" });
        let engine = self.engine.deadline().filter(|_| self.state == PipeState::Established);
        let bundle = self.bundle_deadline().map(|at| Deadline { at, why: "poll" });
        let engine = Deadline::earliest(engine, bundle.filter(|_| self.state == PipeState::Established));
        Deadline::earliest(engine, Deadline::earliest(opening, closing))
    }

    /// Time has reached the deadline.
    pub fn fire(&mut self, now: Instant) {
        if self.state == PipeState::Closed || self.frozen {
            return;
        }
        self.release_bundle(now);
        if self.timers.opening.is_some_and(|at| at <= now) {
            self.timers.opening = None;
            self.timers.opening_retries += 1;
            self.retry(if self.state == PipeState::SynSent { Control::Syn } else { Control::SynAck });
        }
        if self.timers.closing.is_some_and(|at| at <= now) {
            self.timers.closing = None;
            self.timers.closing_retries += 1;
            if self.timers.closing_retries > self.config.open_retries {
                // Everything is here; that the sender does not know is its affair.
                self.end(Ending::Closed);
                return;
            }
            self.control = Some(Control::Goodbye);
        }
        if self.state == PipeState::Established
            && self.engine.deadline().is_some_and(|deadline| deadline.at <= now)
        {
            self.engine.on_timeout(now);
            if now - self.timers.heard_at >= self.config.give_up_after {
                self.end(Ending::TimedOut);
            }
        }
    }

    fn retry(&mut self, control: Control) {
        if self.timers.opening_retries > self.config.open_retries {
            self.end(Ending::TimedOut);
        } else {
            self.control = Some(control);
        }
    }

    /// SYN left: wait the initial RTO, doubled with every retry (RFC 6298 section 5).
    pub(super) fn start_opening_timer(&mut self, now: Instant) {
        let engine = &self.config.engine;
        let wait = engine.initial_rto * (1 << self.timers.opening_retries.min(16));
        self.timers.opening_sent_at = now;
        self.timers.opening = Some(now + wait.min(engine.max_rto));
    }

    pub(super) fn start_closing_timer(&mut self, now: Instant) {
        let wait = self.engine.rto() * (1 << self.timers.closing_retries.min(16));
        self.timers.closing = Some(now + wait.min(self.config.engine.max_rto));
    }
}
