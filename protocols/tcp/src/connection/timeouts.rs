//! What the timers outside the engine do: handshake, delayed ACK, persist, keep-alive, TIME-WAIT, and giving up.
use super::{AckNeed, Connection, Control, State};
use prismux_endpoint::Deadline;
use prismux_units::Instant;

impl Connection {
    /// Inlined, so that a host that does not ask why need not know.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Deadline> {
        if self.state == State::Closed {
            return None;
        }
        let mut next = self.engine.first_timer();
        if self.delayed_ack < next.at {
            next = Deadline { at: self.delayed_ack, why: "delayed-ack" };
        }
        if self.timers.first() < next.at {
            next = Deadline { at: self.timers.first(), why: self.timers.why() };
        }
        if let Some(at) = self.poll_deadline().filter(|&at| at < next.at) {
            next = Deadline { at, why: "poll" };
        }
        (next.at < Instant::MAX).then_some(next)
    }

    pub(super) fn fire_timers(&mut self, now: Instant) {
        if self.state == State::Closed {
            return;
        }
        if self.delayed_ack <= now {
            self.delayed_ack = Instant::MAX;
            self.acking.need = AckNeed::Now;
        }
        if self.engine.first_timer().at <= now {
            self.engine.on_timeout(now);
            if now - self.progress_at >= self.config.give_up_after {
                self.give_up();
                return;
            }
        }
        if self.timers.handshake() <= now {
            self.retry_handshake(now);
        }
        if self.timers.persist() <= now {
            self.probe_window(now);
        }
        if self.timers.keep_alive() <= now {
            self.probe_idle_peer(now);
        }
        if self.timers.linger_until() <= now {
            self.enter_closed();
        }
    }

    fn give_up(&mut self) {
        self.events.timed_out();
        self.enter_closed();
    }

    /// SYN or SYN-ACK left: wait the initial RTO, doubled with every retry (RFC 6298 section 5).
    pub(super) fn start_syn_timer(&mut self, now: Instant) {
        let engine = &self.config.engine;
        let backoff = 1u64 << self.timers.syn_retransmissions.min(16);
        let wait = (engine.initial_rto * backoff).min(engine.max_rto);
        self.timers.syn_sent_at = now;
        self.timers.set_handshake(now + wait);
    }

    fn retry_handshake(&mut self, now: Instant) {
        self.timers.set_handshake(Instant::MAX);
        if self.timers.syn_retransmissions >= self.config.syn_retries {
            self.give_up();
        } else {
            self.timers.syn_retransmissions += 1;
            if self.state == State::SynSent && self.config.syn_loss_is_timeout {
                self.engine.on_syn_timeout();
            }
            if self.state == State::SynReceived && !self.config.repeat_syn_ack {
                // The next wait counts towards giving up all the same.
                self.start_syn_timer(now);
            } else {
                self.control = Some(Control::Syn);
            }
        }
    }

    /// The first probe waits one RTO, the next ones twice as long each (RFC 9293 section 3.8.6.1).
    pub(super) fn start_persist(&mut self, now: Instant) {
        let first = self.engine.rto().max(self.config.min_persist);
        let wait = (first * (1u64 << self.timers.persist_backoff.min(16))).min(self.config.max_persist);
        self.timers.set_persist(now + wait);
    }

    /// Uses a window that was left alone as too small; asks about one that is shut. The probe carries no
    /// byte: it lies below the window, so the peer must answer with an ACK, and nothing of the stream
    /// leaves the loss detection's books.
    fn probe_window(&mut self, now: Instant) {
        self.timers.set_persist(Instant::MAX);
        if self.has_outstanding() || self.sending.sent_end == self.stream_end() {
            return;
        }
        if self.sending.window_end > self.sending.sent_end {
            self.sending.override_silly = true;
            return;
        }
        let answered =
            self.timers.persist_backoff == 0 || self.timers.heard_at >= self.timers.unanswered_since;
        if answered {
            self.timers.unanswered_since = now;
        } else if now - self.timers.unanswered_since >= self.config.give_up_after {
            self.give_up();
            return;
        }
        self.timers.persist_backoff = self.timers.persist_backoff.saturating_add(1);
        self.control = Some(Control::Probe);
        self.start_persist(now);
    }

    /// RFC 9293 section 3.8.4. The timer is not moved by every arriving segment; when it fires it looks how
    /// long the peer has really been silent.
    fn probe_idle_peer(&mut self, now: Instant) {
        let Some(probing) = self.config.keep_alive else {
            self.timers.set_keep_alive(Instant::MAX);
            return;
        };
        let silent = now - self.timers.heard_at;
        if silent < probing.idle || self.has_outstanding() {
            self.timers.keep_alive_probes = 0;
            let wait = if silent < probing.idle { probing.idle - silent } else { probing.idle };
            self.timers.set_keep_alive(now + wait);
        } else if self.timers.keep_alive_probes >= probing.probes {
            let seq = self.next_sequence();
            self.give_up();
            self.control = Some(Control::Reset { seq, with_ack: true });
        } else {
            self.timers.keep_alive_probes += 1;
            self.timers.set_keep_alive(now + probing.interval);
            self.control = Some(Control::Probe);
        }
    }
}
