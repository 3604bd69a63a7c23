//! Policies: a pipe may be kept from asking although it could.
//!
//! * A target rate: tokens flow into the bucket of the cheapest pipes, 100 ms deep; what overflows flows into the next
//!   dearer ones' bucket. Asking for data takes tokens, so dear pipes carry only what cheap ones leave.
//! * Costs without a target rate: pipes dearer than the cheapest open one stay idle, ready to take over.
use alloc::vec::Vec;
use prismux_units::{Duration, Instant, Rate};

/// Depth of a bucket, in time at the target rate.
const DEPTH: Duration = Duration::from_millis(100);

/// What using a pipe costs; lower is used first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cost(pub u8);

/// Token buckets in a cascade, the cheapest first. Tokens are counted in bits times nanoseconds per second, so that
/// nothing is rounded.
#[derive(Debug, Clone)]
pub(crate) struct Buckets {
    rate: Rate,
    levels: Vec<(Cost, u128)>,
    filled_at: Instant,
}

const UNITS_PER_BIT: u128 = 1_000_000_000;

impl Buckets {
    pub(crate) fn new(rate: Rate, now: Instant) -> Self {
        Self { rate, levels: Vec::new(), filled_at: now }
    }

    fn depth(&self) -> u128 {
        u128::from(self.rate.as_bps()) * u128::from(DEPTH.as_nanos())
    }

    pub(crate) fn add(&mut self, cost: Cost) {
        let place = self.levels.partition_point(|(known, _)| *known < cost);
        if self.levels.get(place).is_none_or(|(known, _)| *known != cost) {
            self.levels.insert(place, (cost, 0));
        }
    }

    fn fill(&mut self, now: Instant) {
        let depth = self.depth();
        let mut flow = u128::from(self.rate.as_bps()) * u128::from((now - self.filled_at).as_nanos());
        self.filled_at = now;
        for (_, level) in &mut self.levels {
            let taken = flow.min(depth - *level);
            *level += taken;
            flow -= taken;
        }
    }

    /// A segment may be asked for once its tokens are there (or the bucket is full, where it is no deeper).
    pub(crate) fn allows(&mut self, now: Instant, cost: Cost, bytes: u64) -> bool {
        self.fill(now);
        let needed = (u128::from(bytes) * 8 * UNITS_PER_BIT).min(self.depth());
        self.levels.iter().any(|(known, level)| *known == cost && *level >= needed)
    }

    pub(crate) fn spend(&mut self, now: Instant, cost: Cost, bytes: u64) {
        self.fill(now);
        for (known, level) in &mut self.levels {
            if *known == cost {
                *level = level.saturating_sub(u128::from(bytes) * 8 * UNITS_PER_BIT);
            }
        }
    }

    /// When a segment's tokens will have flowed in at the soonest.
    pub(crate) fn next_at(&self, cost: Cost, bytes: u64) -> Option<Instant> {
        let depth = self.depth();
        let needed = (u128::from(bytes) * 8 * UNITS_PER_BIT).min(depth);
        let mut missing = 0;
        for (known, level) in &self.levels {
            if *known == cost {
                missing += needed.saturating_sub(*level);
                let wait = missing.div_ceil(u128::from(self.rate.as_bps().max(1)));
                return Some(self.filled_at + Duration::from_nanos(wait as u64));
            }
            missing += depth - *level;
        }
        None
    }
}
