//! The largest of recent values.
use super::RATE_WINDOW_ROUNDS;

/// A maximum over a sliding window of rounds, by the three best candidates of rising age (Nichols).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WindowedMax {
    samples: [(u32, f64); 3],
}

impl WindowedMax {
    pub(super) fn get(&self) -> f64 {
        self.samples[0].1
    }

    pub(super) fn update(&mut self, round: u32, value: f64) {
        let new = (round, value);
        if value >= self.samples[0].1 || round.wrapping_sub(self.samples[2].0) > RATE_WINDOW_ROUNDS {
            self.samples = [new; 3];
            return;
        }
        if value >= self.samples[1].1 {
            (self.samples[1], self.samples[2]) = (new, new);
        } else if value >= self.samples[2].1 {
            self.samples[2] = new;
        }
        if round.wrapping_sub(self.samples[0].0) > RATE_WINDOW_ROUNDS {
            self.samples = [self.samples[1], self.samples[2], new];
            if round.wrapping_sub(self.samples[0].0) > RATE_WINDOW_ROUNDS {
                self.samples = [self.samples[1], self.samples[2], new];
            }
        } else if self.samples[1].0 == self.samples[0].0
            && round.wrapping_sub(self.samples[0].0) > RATE_WINDOW_ROUNDS / 4
        {
            (self.samples[1], self.samples[2]) = (new, new);
        } else if self.samples[2].0 == self.samples[1].0
            && round.wrapping_sub(self.samples[1].0) > RATE_WINDOW_ROUNDS / 2
        {
            self.samples[2] = new;
        }
    }
}
