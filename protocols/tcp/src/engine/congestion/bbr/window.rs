//! The window: twice the product of bandwidth and delay, less while losses are repaired (section 4.2.3).
use super::super::policy::{RateSample, Window};
use super::{Bbr, MIN_WINDOW_SEGMENTS, Mode};
use crate::engine::interface::Phase;

/// Segments that the window has beyond the model's, for delayed ACKs and the pacer's quantum.
const ALLOWANCE_SEGMENTS: u64 = 6;

fn repairs(phase: Phase) -> bool {
    matches!(phase, Phase::Recovery | Phase::Loss)
}

impl Bbr {
    pub(super) fn set_window(&mut self, sample: &RateSample, window: &mut Window) {
        let mss = u64::from(window.mss);
        let acked = sample.newly_delivered;
        window.cwnd = window.cwnd.saturating_sub(sample.newly_lost).max(mss);
        self.follow_recovery(sample, window);
        if let Some(cwnd) = self.conservation.restore.take() {
            window.cwnd = window.cwnd.max(cwnd);
        }
        if self.conservation.conserving {
            window.cwnd = window.cwnd.max(sample.in_flight + acked);
        } else {
            let target = self.inflight_bytes(self.cwnd_gain(), window) + ALLOWANCE_SEGMENTS * mss;
            if self.full_pipe.is_reached() {
                window.cwnd = (window.cwnd + acked).min(target);
            } else if window.cwnd < target || sample.delivered < self.initial_window_segments * mss {
                window.cwnd += acked;
            }
            window.cwnd = window.cwnd.max(MIN_WINDOW_SEGMENTS * mss);
        }
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(MIN_WINDOW_SEGMENTS * mss);
        }
    }

    /// Entering recovery begins a round of conservation; leaving it brings the window back.
    fn follow_recovery(&mut self, sample: &RateSample, window: &mut Window) {
        if sample.phase == Phase::Recovery && !repairs(self.phase) {
            self.conservation.conserving = true;
            self.bandwidth.begin_round(sample.delivered);
            window.cwnd = sample.in_flight + sample.newly_delivered;
        } else if repairs(self.phase) && !repairs(sample.phase) {
            self.conservation.restore(self.prior_cwnd);
        } else if self.bandwidth.round_has_begun() {
            self.conservation.conserving = false;
        }
    }
}
