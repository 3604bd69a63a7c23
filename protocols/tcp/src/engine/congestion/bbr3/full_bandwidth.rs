//! Whether a rising rate has filled the pipe: three rounds in which the path delivered less than a quarter more
//! (section 5.3.1.2).
use prismux_units::Rate;

const GROWTH: f64 = 1.25;
const ROUNDS_WITHOUT_GROWTH: u8 = 3;

/// The estimator of a plateau.
#[derive(Debug, Clone, Default)]
pub(super) struct FullBandwidth {
    /// BBR.full_bw_reached: ever in this connection.
    pub(super) reached: bool,
    /// BBR.full_bw_now: since it was last asked for.
    pub(super) now: bool,
    baseline: Rate,
    rounds: u8,
}

impl FullBandwidth {
    /// ResetFullBW, with a rate to be exceeded.
    pub(super) fn reset(&mut self, baseline: Option<Rate>) {
        self.now = false;
        self.baseline = baseline.unwrap_or(Rate::ZERO);
        self.rounds = 0;
    }

    /// CheckFullBWReached, with the first sample of a round that the application did not limit.
    pub(super) fn update(&mut self, rate: Option<Rate>) {
        let Some(rate) = rate.filter(|_| !self.now) else { return };
        if rate >= self.baseline.mul_f64(GROWTH) {
            return self.reset(Some(rate));
        }
        self.rounds += 1;
        self.now = self.rounds >= ROUNDS_WITHOUT_GROWTH;
        self.reached |= self.now;
    }
}
