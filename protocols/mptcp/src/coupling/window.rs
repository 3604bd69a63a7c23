//! A congestion window that obeys coupled terms.
use alloc::boxed::Box;
use prismux_tcp::engine::congestion::{
    AckSample, CongestionControl, CongestionSignal, CoupledTerms, CustomControl, Window,
};
use prismux_units::Duration;

/// A window with slow start as TCP's, and increase and decrease as [`CoupledTerms`] say.
#[derive(Debug, Clone)]
pub struct CoupledWindow {
    terms: CoupledTerms,
    /// Growth that is not yet a whole byte.
    fraction: f64,
    /// Weighted Vegas: the least round-trip time seen, of this round and of all, and where the round ends.
    base_rtt: Duration,
    round_rtt: Duration,
    round_end: u64,
}

impl Default for CoupledWindow {
    fn default() -> Self {
        Self {
            terms: CoupledTerms::UNCOUPLED,
            fraction: 0.0,
            base_rtt: Duration::MAX,
            round_rtt: Duration::MAX,
            round_end: 0,
        }
    }
}

/// Weighted Vegas leaves slow start when so many segments are queued (gamma).
const SLOW_START_QUEUE: f64 = 1.0;

impl CoupledWindow {
    fn grow(&mut self, bytes: f64, window: &mut Window) {
        let exact = window.cwnd as f64 + self.fraction + bytes;
        let least = window.min_threshold() as f64;
        window.cwnd = exact.max(least) as u64;
        self.fraction = (exact - window.cwnd as f64).clamp(0.0, 1.0);
    }

    /// Once per round trip: a segment more where fewer than `target` are queued, one less where more are (L. Brakmo
    /// and L. Peterson, with the target of Cao et al.).
    fn follow_delay(&mut self, sample: &AckSample, target: f64, window: &mut Window) {
        if let Some(rtt) = sample.rtt {
            self.base_rtt = self.base_rtt.min(rtt);
            self.round_rtt = self.round_rtt.min(rtt);
        }
        if sample.acked < self.round_end {
            return;
        }
        let rtt = core::mem::replace(&mut self.round_rtt, Duration::MAX);
        self.round_end = sample.next;
        if rtt == Duration::MAX {
            return;
        }
        let segment = f64::from(window.mss);
        let queued = window.cwnd as f64 / segment * (1.0 - self.base_rtt.as_secs_f64() / rtt.as_secs_f64());
        if window.in_slow_start() {
            if queued > SLOW_START_QUEUE {
                window.ssthresh = window.cwnd;
            }
        } else if queued < target {
            self.grow(segment, window);
        } else if queued > target {
            self.grow(-segment, window);
        }
    }
}

impl CongestionControl for CoupledWindow {
    fn on_ack(&mut self, sample: &AckSample, window: &mut Window) {
        let mut bytes = sample.bytes;
        if let Some(target) = self.terms.queued_segments {
            self.follow_delay(sample, target, window);
        }
        if window.in_slow_start() {
            let room = window.ssthresh - window.cwnd;
            window.cwnd += bytes.min(room);
            bytes = bytes.saturating_sub(room);
        }
        if bytes > 0 && self.terms.queued_segments.is_none() {
            let step = bytes as f64 * f64::from(window.mss) / window.cwnd as f64;
            self.grow(step * self.terms.increase, window);
        }
    }

    fn threshold(&mut self, _signal: CongestionSignal, window: &Window) -> u64 {
        self.fraction = 0.0;
        ((window.cwnd as f64 * self.terms.keep) as u64).max(window.min_threshold())
    }

    fn on_external_reduction(&mut self, _before: &Window, _window: &Window) {
        self.fraction = 0.0;
    }

    fn on_undo(&mut self, _window: &Window) {
        self.fraction = 0.0;
    }

    fn on_idle(&mut self, _idle: Duration) {}

    fn set_coupling(&mut self, terms: &CoupledTerms) {
        self.terms = *terms;
    }
}

impl CustomControl for CoupledWindow {
    fn boxed(&self) -> Box<dyn CustomControl> {
        Box::new(self.clone())
    }
}
