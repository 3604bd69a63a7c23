//! The timers: retransmission timeout (RFC 6298 section 5, RFC 5681 section 3.1), tail probe, reordering.
use super::congestion::{CongestionControl, CongestionSignal};
use super::core::Engine;
use super::interface::Phase;
use super::scoreboard::SegmentState;
use prismux_units::Instant;

impl Engine {
    /// Time has reached the [`Engine::deadline`]. Too early a call does nothing.
    pub fn on_timeout(&mut self, now: Instant) {
        if self.is_ns2() {
            if now >= self.rto_at {
                self.burst = 0;
                self.ns2_on_timeout(now);
            }
            return;
        }
        if now >= self.reorder_at {
            self.burst = 0;
            self.on_reordering_timeout(now);
        }
        if now >= self.probe.at {
            self.burst = 0;
            self.probe.at = Instant::MAX;
            self.probe.pending = !self.board.is_empty();
            // The probe restarts the timer when it leaves.
            self.rto_at = self.rto_at.max(now + self.rtt.rto());
        } else if now >= self.rto_at {
            self.burst = 0;
            self.on_retransmission_timeout(now);
        }
    }

    /// RFC 8985 section 6.3: what had time to arrive and did not is lost.
    fn on_reordering_timeout(&mut self, now: Instant) {
        let pipe = self.pipe();
        if self.detect_by_time(now) && matches!(self.phase, Phase::Open | Phase::Reducing) {
            self.cancel_probe();
            self.lose_without_ack(pipe);
        }
    }

    fn on_retransmission_timeout(&mut self, now: Instant) {
        let Some(head) = self.board.head() else {
            self.rto_at = Instant::MAX;
            return;
        };
        self.counters.timeouts += 1;
        let first = matches!(self.phase, Phase::Open | Phase::Reducing)
            || (self.phase == Phase::Recovery && self.acked >= self.recovery_point)
            || self.repairs_old_path();
        if first {
            self.undo.begin(self.acked, &self.window, false);
            self.window.ssthresh = self.congestion.threshold(CongestionSignal::Timeout, &self.window);
        }
        self.window.cwnd = self.mss_bytes();
        let reneged = self.board.get(head).state == SegmentState::Sacked;
        self.mark_lost_after_timeout(now, reneged);
        if self.config.frto && self.config.sack && first {
            self.undo.watch_timeout();
        } else {
            self.undo.stop_watching_timeout();
        }
        self.phase = Phase::Loss;
        self.recovery_point = self.next;
        self.urgent = self.board.head().map(|index| self.board.get(index).start);
        self.dup_acks = 0;
        self.returned_bytes = 0;
        self.dup_threshold = self.dup_threshold.min(self.config.dup_threshold.max(1));
        self.notices.on_timeout(self.next);
        self.end_path_repair();
        self.cancel_probe();
        self.forget_probe();
        self.reorder_at = Instant::MAX;
        self.rtt.back_off();
        self.rto_at = now + self.rtt.rto();
    }

    /// Everything, or with RACK what was sent long enough ago (RFC 8985 section 6.3), is lost.
    fn mark_lost_after_timeout(&mut self, now: Instant, reneged: bool) {
        if !self.config.rack || reneged {
            return self.board.mark_all_lost(reneged);
        }
        let window = self.reordering_window();
        while let Some(index) = self.board.oldest_in_flight() {
            if self.board.get(index).sent_at + self.rack.rtt + window > now {
                break;
            }
            self.board.mark_lost(index);
        }
        if let Some(head) = self.board.head() {
            self.board.mark_lost(head);
        }
    }
}
