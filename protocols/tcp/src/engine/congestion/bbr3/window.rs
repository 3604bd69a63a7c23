//! Pacing rate and window from the model (section 5.6).
use super::super::policy::{RateSample, Window};
use super::{Bbr3, MIN_PIPE_SEGMENTS, State};
use crate::engine::interface::Phase;
use prismux_units::{Duration, Rate};

/// BBR.PacingMarginPercent: a little below the estimate, so that no queue grows by its error.
const PACING_MARGIN: f64 = 0.99;
/// C.send_quantum lasts so long, and is not longer than the largest burst of the pacer.
const QUANTUM_TIME: Duration = Duration::from_millis(1);
const MAX_QUANTUM_BYTES: u64 = 65_536;
/// BBR.offload_budget, in quanta.
const BUDGET_QUANTA: u64 = 3;
/// More segments while bandwidth is probed.
const PROBE_SEGMENTS: u64 = 2;

/// InLossRecovery.
pub(super) fn repairs(phase: Phase) -> bool {
    matches!(phase, Phase::Recovery | Phase::Loss)
}

impl Bbr3 {
    /// BDPMultiple of `rate`; the initial window as long as the path is not known.
    pub(super) fn multiple_of(&self, rate: Option<Rate>, gain: f64, window: &Window) -> u64 {
        match (rate, self.min_rtt.get()) {
            (Some(rate), Some(rtt)) => rate.mul_f64(gain).bytes_in(rtt).as_u64(),
            _ => self.initial_window_segments * u64::from(window.mss),
        }
    }

    /// BBR.bdp.
    pub(super) fn product(&self, window: &Window) -> u64 {
        self.multiple_of(self.rate, 1.0, window)
    }

    /// QuantizationBudget.
    pub(super) fn quantized(&self, inflight: u64, window: &Window) -> u64 {
        let mss = u64::from(window.mss);
        let burst = self.pacing_rate.map_or(0, |rate| rate.bytes_in(QUANTUM_TIME).as_u64());
        let quantum = burst.min(MAX_QUANTUM_BYTES).max(2 * mss);
        let inflight = inflight.max(BUDGET_QUANTA * quantum).max(MIN_PIPE_SEGMENTS * mss);
        if self.state == State::Up { inflight + PROBE_SEGMENTS * mss } else { inflight }
    }

    /// SetPacingRateWithGain.
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let Some(rate) = self.rate else { return };
        let rate = rate.mul_f64(gain * PACING_MARGIN);
        // Before the pipe is full, a slow sample is one of the application or of the first window.
        if self.full.reached || self.pacing_rate.is_none_or(|now| rate > now) {
            self.pacing_rate = Some(rate);
        }
    }

    /// SaveCwnd: the last window that neither recovery nor ProbeRTT lowered.
    pub(super) fn save_window(&mut self, window: &Window) {
        let lowered = repairs(self.phase) || self.state == State::ProbeRtt;
        self.prior_cwnd = if lowered { self.prior_cwnd.max(window.cwnd) } else { window.cwnd };
    }

    /// RestoreCwnd after recovery, then SetCwnd.
    pub(super) fn set_window(&mut self, sample: &RateSample, window: &mut Window) {
        let mss = u64::from(window.mss);
        if core::mem::take(&mut self.restores) || (repairs(self.phase) && !repairs(sample.phase)) {
            window.cwnd = window.cwnd.max(self.prior_cwnd);
        }
        let inflight = self.multiple_of(self.rate, self.state.cwnd_gain(), window) + self.aggregation.extra();
        let most = self.quantized(inflight, window);
        let acked = sample.newly_delivered;
        if self.full.reached {
            window.cwnd = (window.cwnd + acked).min(most);
        } else if window.cwnd < most || sample.delivered < self.initial_window_segments * mss {
            window.cwnd += acked;
        }
        window.cwnd = window.cwnd.max(MIN_PIPE_SEGMENTS * mss);
        if self.state == State::ProbeRtt {
            window.cwnd = window.cwnd.min(self.min_rtt.probe_bytes);
        }
        self.bound_window(window);
    }

    /// BoundCwndForModel.
    fn bound_window(&self, window: &mut Window) {
        let longterm = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::ProbeRtt | State::Cruise => self.inflight_with_headroom(window),
            State::Startup | State::Drain => None,
        };
        let bounds = [longterm, self.short_term.inflight];
        let most = bounds.into_iter().flatten().min().unwrap_or(u64::MAX);
        window.cwnd = window.cwnd.min(most.max(MIN_PIPE_SEGMENTS * u64::from(window.mss)));
    }
}
