//! The least and the largest of recent values, and percentiles of them.
use prismux_units::{Duration, Instant};

const SLOTS: usize = 8;

/// The best value of a sliding window of time, kept in eight slots: the window's age is exact to an eighth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Windowed {
    window: Duration,
    /// Which of two values is the better one.
    keeps_larger: bool,
    /// The best value of each slot, and the slot's number since the beginning.
    slots: [Option<(u64, i64)>; SLOTS],
}

impl Windowed {
    /// The least value of the last `window`.
    pub const fn min(window: Duration) -> Self {
        Self { window, keeps_larger: false, slots: [None; SLOTS] }
    }

    /// The largest value of the last `window`.
    pub const fn max(window: Duration) -> Self {
        Self { window, keeps_larger: true, slots: [None; SLOTS] }
    }

    fn slot(&self, now: Instant) -> u64 {
        now.as_nanos() / (self.window.as_nanos() / SLOTS as u64).max(1)
    }

    /// Notes a value.
    pub fn add(&mut self, now: Instant, value: i64) {
        let slot = self.slot(now);
        let keeps_larger = self.keeps_larger;
        if let Some(place) = self.slots.get_mut(slot as usize % SLOTS) {
            *place = match *place {
                Some((of, best)) if of == slot && (best > value) == keeps_larger => Some((of, best)),
                _ => Some((slot, value)),
            };
        }
    }

    /// The best value of the window; `None` when there is none.
    pub fn get(&self, now: Instant) -> Option<i64> {
        let oldest = (self.slot(now) + 1).saturating_sub(SLOTS as u64);
        let fresh = self.slots.iter().flatten().filter(|(slot, _)| *slot >= oldest).map(|(_, value)| *value);
        if self.keeps_larger { fresh.max() } else { fresh.min() }
    }
}

/// Buckets of a [`Histogram`]: each a quarter wider than the one before, from 20 us up to 5 s.
const BUCKETS: usize = 56;
const FIRST_BUCKET_NANOS: f64 = 20_000.0;
const GROWTH: f64 = 1.25;
/// When so many values have been counted, all counts are halved: old ones fade.
const FADE_AT: u32 = 1024;

/// Percentiles of durations, exact to a quarter; the old ones fade.
#[derive(Debug, Clone)]
pub(crate) struct Histogram {
    counts: [u32; BUCKETS],
    total: u32,
}

impl Histogram {
    /// Nothing counted.
    pub const fn new() -> Self {
        Self { counts: [0; BUCKETS], total: 0 }
    }

    /// Counts a duration.
    pub fn add(&mut self, value: Duration) {
        let mut upper = FIRST_BUCKET_NANOS;
        let mut index = 0;
        while upper < value.as_nanos() as f64 && index + 1 < BUCKETS {
            upper *= GROWTH;
            index += 1;
        }
        if let Some(count) = self.counts.get_mut(index) {
            *count += 1;
            self.total += 1;
        }
        if self.total >= FADE_AT {
            self.counts.iter_mut().for_each(|count| *count /= 2);
            self.total = self.counts.iter().sum();
        }
    }

    /// The duration that `share` of the values do not pass; `None` before any.
    pub fn percentile(&self, share: f64) -> Option<Duration> {
        let wanted = share * f64::from(self.total);
        let (mut sum, mut upper) = (0_u32, FIRST_BUCKET_NANOS);
        for &count in &self.counts {
            sum += count;
            if sum > 0 && f64::from(sum) >= wanted {
                return Some(Duration::from_nanos(upper as u64));
            }
            upper *= GROWTH;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_value_is_forgotten_after_the_window() {
        let mut least = Windowed::min(Duration::from_secs(8));
        for second in 0..20 {
            least.add(Instant::from_secs(second), 10 + second as i64);
        }
        assert_eq!(least.get(Instant::from_secs(19)), Some(22), "of the seconds from 12 on");
        assert_eq!(least.get(Instant::from_secs(40)), None);
        let mut largest = Windowed::max(Duration::from_secs(8));
        for (second, value) in [(0, 5), (1, 9), (2, 3)] {
            largest.add(Instant::from_secs(second), value);
        }
        assert_eq!(largest.get(Instant::from_secs(3)), Some(9));
    }

    #[test]
    fn percentiles_are_right_to_a_quarter() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.percentile(0.5), None);
        for millis in 1..=100 {
            histogram.add(Duration::from_millis(millis));
        }
        for (share, exact) in [(0.5, 0.050), (0.95, 0.095)] {
            let found = histogram.percentile(share).unwrap().as_secs_f64();
            assert!(found >= exact && found <= exact * 1.26, "{share}: {found}");
        }
    }
}
