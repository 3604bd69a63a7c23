//! Whether Startup has filled the pipe: three rounds in which the bandwidth grew by less than a quarter (section
//! 4.3.2.2).
use super::super::policy::RateSample;
use super::bandwidth::Bandwidth;
use prismux_units::Rate;

const GROWTH: f64 = 1.25;
const ROUNDS_WITHOUT_GROWTH: u8 = 3;

/// The bandwidth to be exceeded, and for how many rounds it has not been.
#[derive(Debug, Clone, Default)]
pub(super) struct FullPipe {
    reached: bool,
    baseline: Rate,
    rounds: u8,
}

impl FullPipe {
    pub(super) fn is_reached(&self) -> bool {
        self.reached
    }

    /// A timeout, or a loss that was none: the pipe may take more than it seemed.
    pub(super) fn reconsider(&mut self) {
        self.baseline = Rate::ZERO;
        self.rounds = 0;
    }

    pub(super) fn update(&mut self, sample: &RateSample, bandwidth: &Bandwidth) {
        if self.reached || !bandwidth.round_has_begun() || sample.is_app_limited {
            return;
        }
        let rate = bandwidth.rate().unwrap_or(Rate::ZERO);
        if rate >= self.baseline.mul_f64(GROWTH) {
            self.baseline = rate;
            self.rounds = 0;
            return;
        }
        self.rounds += 1;
        self.reached = self.rounds >= ROUNDS_WITHOUT_GROWTH;
    }
}
