//! The timers: retransmission timeout (RFC 6298 section 5, RFC 5681 section 3.1), tail probe, reordering.
use super::Standard;
use crate::engine::congestion::{CongestionControl, CongestionSignal};
use crate::engine::interface::Phase;
use crate::engine::scoreboard::SegmentState;
use prismux_units::Instant;

impl Standard {
    pub(crate) fn on_timeout(&mut self, now: Instant) {
        if let Some(rates) = &mut self.rates
            && now >= rates.pacer.due
        {
            rates.pacer.due = Instant::MAX;
            self.sender.burst = 0;
        }
        if now >= self.reorder_at {
            self.sender.burst = 0;
            self.on_reordering_timeout(now);
        }
        if now >= self.probe.at {
            self.sender.burst = 0;
            self.probe.at = Instant::MAX;
            self.probe.pending = !self.sender.board.is_empty();
            // The probe restarts the timer when it leaves.
            self.sender.rto_at = self.sender.rto_at.max(now + self.sender.rtt.rto());
        } else if now >= self.sender.rto_at {
            self.sender.burst = 0;
            self.on_retransmission_timeout(now);
        }
        if self.rates.is_some() {
            self.report_losses(now);
        }
    }

    /// RFC 8985 section 6.3: what had time to arrive and did not is lost.
    fn on_reordering_timeout(&mut self, now: Instant) {
        let pipe = self.pipe();
        if self.detect_by_time(now) && matches!(self.sender.phase, Phase::Open | Phase::Reducing) {
            self.probe.cancel();
            self.lose_without_ack(now, pipe);
        }
    }

    fn on_retransmission_timeout(&mut self, now: Instant) {
        let Some(head) = self.sender.board.head() else {
            self.sender.rto_at = Instant::MAX;
            return;
        };
        self.sender.counters.timeouts += 1;
        if self.sender.leaves_out_reduction(now) {
            return self.repair_frozen(now);
        }
        let unreduced = self.sender.recovers_unreduced();
        self.sender.note_reduction(now);
        let first = unreduced
            || matches!(self.sender.phase, Phase::Open | Phase::Reducing)
            || (self.sender.phase == Phase::Recovery && self.sender.acked >= self.sender.recovery_point)
            || self.repairs_old_path();
        if first {
            self.undo.begin(self.sender.acked, &self.sender.window, false);
            self.sender.window.ssthresh =
                self.sender.congestion.threshold(CongestionSignal::Timeout, &self.sender.window);
        }
        self.sender.window.cwnd = self.sender.mss_bytes();
        let reneged = self.sender.board.get(head).state == SegmentState::Sacked;
        self.mark_lost_after_timeout(now, reneged);
        if self.sender.config.frto && self.sender.switches.sack && first {
            self.undo.watch_timeout();
        } else {
            self.undo.stop_watching_timeout();
        }
        self.sender.phase = Phase::Loss;
        self.sender.recovery_point = self.sender.next;
        self.sender.urgent = self.sender.board.head().map(|index| self.sender.board.get(index).start).into();
        self.sender.dup_acks = 0;
        self.returned_bytes = 0;
        self.sender.dup_threshold = self.sender.dup_threshold.min(self.sender.config.dup_threshold.max(1));
        self.sender.notices.on_timeout(self.sender.next);
        self.repairing_path = false;
        self.probe.cancel();
        self.probe.forget();
        self.reorder_at = Instant::MAX;
        self.sender.rtt.back_off();
        self.sender.rto_at = now + self.sender.rtt.rto();
    }

    /// A timeout while congestion control is frozen: the first segment again, and nothing else changes.
    fn repair_frozen(&mut self, now: Instant) {
        if self.sender.phase != Phase::Loss {
            self.sender.phase = Phase::Recovery;
            self.sender.recovery_point = self.sender.next;
            self.rescued = false;
        }
        self.sender.resend_first();
        self.probe.cancel();
        self.probe.forget();
        self.reorder_at = Instant::MAX;
        self.sender.rto_at = now + self.sender.rtt.rto();
    }

    /// Everything, or with RACK what was sent long enough ago (RFC 8985 section 6.3), is lost.
    fn mark_lost_after_timeout(&mut self, now: Instant, reneged: bool) {
        if !self.sender.config.rack || reneged {
            return self.sender.board.mark_all_lost(reneged || self.sender.config.forget_sacks);
        }
        let window = self.reordering_window();
        while let Some(index) = self.sender.board.oldest_in_flight() {
            if self.sender.board.get(index).sent_at + self.rack.rtt + window > now {
                break;
            }
            self.sender.board.mark_lost(index);
        }
        if let Some(head) = self.sender.board.head() {
            self.sender.board.mark_lost(head);
        }
    }
}
