//! `Agent/TCP/Newreno`: duplicates inflate the window, partial ACKs deflate it and resend.
use super::Ns2;
use crate::engine::interface::Phase;
use prismux_units::Instant;

impl Ns2 {
    pub(super) fn newreno_duplicate(&mut self, now: Instant, is_pure: bool) {
        if !is_pure {
            return;
        }
        self.sender.dup_acks += 1;
        if self.sender.dup_acks == self.sender.dup_threshold {
            if self.may_act_on_duplicates() {
                self.enter_fast_recovery(now);
                self.sender.rto_at = now + self.sender.rtt.rto();
                self.agent.first_partial_seen = false;
                self.agent.dup_window = u64::from(self.sender.dup_threshold);
            }
        } else if self.sender.dup_acks > self.sender.dup_threshold && self.sender.phase == Phase::Recovery {
            self.agent.dup_window += 1;
        }
    }

    /// `partialnewack_helper`: deflate, restart the timer on the first only, resend.
    pub(super) fn newreno_partial(&mut self, now: Instant, acked_segments: u64) {
        if !self.agent.first_partial_seen {
            self.agent.first_partial_seen = true;
            self.restart_timer(now);
        }
        if self.agent.dup_window > acked_segments {
            self.agent.dup_window -= acked_segments.saturating_sub(1);
        } else if !self.sender.recovers_unreduced() {
            let mss = self.sender.mss_bytes();
            let less = (acked_segments - self.agent.dup_window) * mss;
            self.sender.window.cwnd = self.sender.window.cwnd.saturating_sub(less).max(mss);
        }
        self.take_timed_sample(now, false);
        self.sender.resend_first();
    }

    /// `exit_recovery_fix_`: the window no larger than what is outstanding.
    pub(super) fn newreno_exit(&mut self) {
        let outstanding = (self.unresolved_segments() + 1) * self.sender.mss_bytes();
        if !self.sender.end_unreduced() {
            self.sender.window.cwnd = self.sender.window.ssthresh.min(outstanding);
        }
        self.agent.dup_window = 0;
        self.sender.phase = Phase::Open;
        self.sender.notices.end_recovery();
    }
}
