//! How long packets that were overtaken take: what a resequencer waits for.
use prismux_units::{Duration, Instant};

/// Nobody waits longer.
pub(crate) const MAX_HOLD: Duration = Duration::from_millis(150);
/// Or is given up sooner.
const MIN_HOLD: Duration = Duration::from_millis(10);
/// The longest delays of one to two such spans count.
const SPAN: Duration = Duration::from_secs(2);
/// A packet may be so much later than the latest of them,
const GROWTH: f64 = 1.5;
/// and this much more.
const MARGIN: Duration = Duration::from_millis(5);

/// The longest delays of late.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lateness {
    /// Of this span, and of the one before.
    longest: [Option<Duration>; 2],
    since: Instant,
}

impl Lateness {
    /// A packet came this long after the first that had overtaken it.
    pub(crate) fn note(&mut self, now: Instant, late_by: Duration) {
        // Without news what was known stays: losses alone say nothing of delays.
        if now.saturating_since(self.since) > SPAN {
            self.longest = [None, self.longest[0].or(self.longest[1])];
            self.since = now;
        }
        self.longest[0] = self.longest[0].max(Some(late_by));
    }

    /// How long a packet that was overtaken is waited for.
    pub(crate) fn bound(&self) -> Duration {
        let longest = self.longest[0].max(self.longest[1]);
        longest.map_or(MAX_HOLD, |longest| (longest.mul_f64(GROWTH) + MARGIN).clamp(MIN_HOLD, MAX_HOLD))
    }
}
