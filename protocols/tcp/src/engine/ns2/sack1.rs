//! `Agent/TCP/Sack1`: every hole is eligible once in recovery, and the pipe is counted.
use super::Ns2;
use crate::engine::interface::Phase;
use prismux_units::Instant;

impl Ns2 {
    /// A duplicate outside recovery counts only with new selective information.
    pub(super) fn sack1_duplicate(&mut self, now: Instant, new_information: bool) {
        if !new_information {
            return;
        }
        self.sender.dup_acks += 1;
        if self.sender.dup_acks == self.sender.dup_threshold && self.may_act_on_duplicates() {
            self.agent.pipe = self.unresolved_segments() as i64 - i64::from(self.sender.dup_threshold);
            self.enter_fast_recovery(now);
            self.mark_holes();
        }
    }

    /// In recovery every hole below the highest selective acknowledgement is eligible once; in one that a notice
    /// began, only what is reported.
    fn mark_holes(&mut self) {
        if !self.sender.notices.govern() {
            self.sender.board.judge(1, false, self.sender.recovery_point);
        }
    }

    pub(super) fn sack1_in_recovery(&mut self, now: Instant, advanced: bool) {
        self.agent.pipe -= 1;
        if self.sender.acked >= self.sender.recovery_point {
            self.sender.recovery_point = 0;
            self.sender.phase = Phase::Open;
            self.sender.dup_acks = 0;
            self.sender.notices.end_recovery();
            self.sender.end_unreduced();
            self.take_timed_sample(now, true);
            self.restart_timer(now);
            return;
        }
        if advanced {
            self.agent.pipe -= 1;
            self.sender.reset_backoff(now);
            self.restart_timer(now);
        }
        self.mark_holes();
    }
}
