//! Amounts at instants.
use super::Buckets;

/// Amounts at instants, summed up so that the sum over any stretch is two look-ups.
#[derive(Debug, Clone, Default)]
pub struct Sums {
    times: Vec<u64>,
    /// `totals[i]`: everything up to and including `times[i]`.
    totals: Vec<u64>,
}

impl Sums {
    /// `amount` comes at `time`. Times must not go back.
    pub fn push(&mut self, time: u64, amount: u64) {
        debug_assert!(self.times.last().is_none_or(|&last| last <= time), "times go back");
        let total = self.total() + amount;
        if self.times.last() == Some(&time) {
            self.totals.pop();
        } else {
            self.times.push(time);
        }
        self.totals.push(total);
    }

    /// The sum of everything.
    pub fn total(&self) -> u64 {
        self.totals.last().copied().unwrap_or(0)
    }

    /// Number of instants in `[from, to)`.
    pub fn instants(&self, from: u64, to: u64) -> usize {
        self.index(to).saturating_sub(self.index(from))
    }

    /// The sum over `[from, to)`.
    pub fn between(&self, from: u64, to: u64) -> u64 {
        self.before(self.index(to)).saturating_sub(self.before(self.index(from)))
    }

    /// The sum in each bucket.
    pub fn sample(&self, buckets: &Buckets) -> Vec<u64> {
        let mut at = self.index(buckets.from);
        (1..=buckets.count)
            .map(|k| {
                let edge = buckets.edge(k);
                let end = at + self.times[at..].partition_point(|&time| time < edge);
                let sum = self.before(end) - self.before(at);
                at = end;
                sum
            })
            .collect()
    }

    fn index(&self, time: u64) -> usize {
        self.times.partition_point(|&t| t < time)
    }

    fn before(&self, index: usize) -> u64 {
        index.checked_sub(1).map_or(0, |index| self.totals[index])
    }
}
