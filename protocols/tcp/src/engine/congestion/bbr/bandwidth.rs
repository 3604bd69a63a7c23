//! The bottleneck's bandwidth: the greatest delivery rate of ten round trips (section 4.1.1).
use super::super::policy::RateSample;
use prismux_units::Rate;

/// Rounds for which a maximum is believed.
const WINDOW_ROUNDS: u64 = 10;

/// A rate and the round in which it was measured.
#[derive(Debug, Clone, Copy, Default)]
struct Measured {
    rate: Rate,
    round: u64,
}

/// Rounds counted by delivered bytes, and the best three rates of the window: the first, and who follows when it is
/// too old.
#[derive(Debug, Clone, Default)]
pub(super) struct Bandwidth {
    best: [Measured; 3],
    round: u64,
    /// Delivery of what is sent from here on begins the next round.
    next_round_delivered: u64,
    round_begun: bool,
    /// What was sent before so much was delivered is no measure of the path.
    discounted_until: u64,
}

impl Bandwidth {
    /// The estimate, once there is a sample.
    pub(super) fn rate(&self) -> Option<Rate> {
        (self.best[0].rate > Rate::ZERO).then_some(self.best[0].rate)
    }

    /// The last sample was the first of its round.
    pub(super) fn round_has_begun(&self) -> bool {
        self.round_begun
    }

    /// Samples of what is sent before `delivered` bytes have arrived may raise the estimate, and not lower it.
    pub(super) fn discount_until(&mut self, delivered: u64) {
        self.discounted_until = delivered.max(1);
    }

    /// Begins a round with what is delivered now.
    pub(super) fn begin_round(&mut self, delivered: u64) {
        self.next_round_delivered = delivered;
    }

    /// Whether `sample` says how much the path can do, not only how much there was to send.
    pub(super) fn is_measure(&self, sample: &RateSample) -> bool {
        !sample.is_app_limited && sample.prior_delivered.is_some_and(|prior| prior >= self.discounted_until)
    }

    pub(super) fn update(&mut self, sample: &RateSample) {
        self.round_begun = sample.prior_delivered.is_some_and(|prior| prior >= self.next_round_delivered);
        if self.round_begun {
            self.next_round_delivered = sample.delivered;
            self.round += 1;
        }
        let Some(rate) = sample.rate else { return };
        if rate >= self.best[0].rate || self.is_measure(sample) {
            self.take(rate);
        }
    }

    /// The windowed maximum of K. Nichols, as in Linux's `lib/minmax.c`.
    fn take(&mut self, rate: Rate) {
        let now = Measured { rate, round: self.round };
        let window_passed = self.round - self.best[2].round > WINDOW_ROUNDS;
        if rate >= self.best[0].rate || window_passed {
            self.best = [now; 3];
            return;
        }
        if rate >= self.best[1].rate {
            (self.best[1], self.best[2]) = (now, now);
        } else if rate >= self.best[2].rate {
            self.best[2] = now;
        }
        let age = self.round - self.best[0].round;
        if age > WINDOW_ROUNDS {
            self.best = [self.best[1], self.best[2], now];
            if self.round - self.best[0].round > WINDOW_ROUNDS {
                self.best = [self.best[1], now, now];
            }
        } else if self.best[1].round == self.best[0].round && age > WINDOW_ROUNDS / 4 {
            (self.best[1], self.best[2]) = (now, now);
        } else if self.best[2].round == self.best[1].round && age > WINDOW_ROUNDS / 2 {
            self.best[2] = now;
        }
    }
}
