//! The gains of ProbeBW: a round trip above the estimate, one below it, six at it (section 4.3.4).
use super::super::policy::RateSample;
use prismux_units::{Duration, Instant};

const GAINS: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The phase that empties what the one before it queued: nobody begins with it.
const EMPTYING: usize = 1;

/// Where in the cycle the sender is, and since when.
#[derive(Debug, Clone, Default)]
pub(super) struct Cycle {
    index: usize,
    since: Instant,
}

impl Cycle {
    pub(super) fn gain(&self) -> f64 {
        GAINS[self.index]
    }

    /// Begins at some phase, so that flows that share a bottleneck probe at different times. Which one, the last
    /// digits of the time say: a core draws no random numbers.
    pub(super) fn begin(&mut self, now: Instant) {
        let others = GAINS.len() as u64 - 1;
        let pick = (now.as_nanos() ^ (now.as_nanos() >> 10)) % others;
        self.index = (EMPTYING + 1 + pick as usize) % GAINS.len();
        self.since = now;
    }

    /// The next phase, if it is time. `target` is what shall be in flight at the present gain, `product` the path's
    /// product of bandwidth and delay.
    pub(super) fn advance(
        &mut self,
        sample: &RateSample,
        min_rtt: Option<Duration>,
        target: u64,
        product: u64,
    ) {
        let over = sample.now - self.since > min_rtt.unwrap_or(Duration::ZERO);
        let gain = self.gain();
        let next = if gain > 1.0 {
            over && (sample.newly_lost > 0 || sample.prior_in_flight >= target)
        } else if gain < 1.0 {
            over || sample.prior_in_flight <= product
        } else {
            over
        };
        if next {
            self.index = (self.index + 1) % GAINS.len();
            self.since = sample.now;
        }
    }
}
