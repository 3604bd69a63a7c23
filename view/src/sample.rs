//! Series of any length at the width of a screen.
//!
//! * [`Levels`]: a quantity that keeps its value until the next change (a window): first, least, greatest and last in
//!   each bucket, exactly.
//! * [`Sums`]: amounts at instants (bytes delivered): the sum in each bucket, exactly.
//! * [`Marks`]: points with a height (segments sent): cells that keep counts and extents.

mod levels;
mod marks;
mod sums;
#[cfg(test)]
mod tests;

pub use levels::{Bucket, Levels};
pub use marks::{Cell, Marks};
pub use sums::Sums;

/// A stretch of time cut into equal buckets: bucket `k` covers `[edge(k), edge(k + 1))`, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buckets {
    /// Start of the first bucket.
    pub from: u64,
    /// End of the last bucket.
    pub to: u64,
    /// Number of buckets, at least one.
    pub count: usize,
}

impl Buckets {
    /// `count` buckets over `[from, to)`; an empty stretch becomes one of a nanosecond, no bucket one.
    pub fn new(from: u64, to: u64, count: usize) -> Self {
        Self { from, to: to.max(from.saturating_add(1)), count: count.max(1) }
    }

    /// Start of bucket `k`, which is the end of the one before.
    pub fn edge(&self, k: usize) -> u64 {
        let span = u128::from(self.to - self.from);
        self.from + (span * k as u128 / self.count as u128) as u64
    }

    /// The edges of all buckets, one more than there are buckets.
    pub fn edges(&self) -> impl Iterator<Item = u64> + '_ {
        (0..=self.count).map(|k| self.edge(k))
    }
}
