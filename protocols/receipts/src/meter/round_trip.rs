//! From sending a packet to hearing of it, without the time that the receipt waited.
use crate::windowed::Windowed;
use prismux_units::{Duration, Instant};

/// Round trips of a link (RFC 6298 section 2 without its timer).
#[derive(Debug)]
pub(super) struct RoundTrip {
    smoothed: Option<(Duration, Duration)>,
    least: Windowed,
}

impl RoundTrip {
    /// Nothing is known; the least is that of `window`.
    pub const fn new(window: Duration) -> Self {
        Self { smoothed: None, least: Windowed::min(window) }
    }

    /// A round trip took `sample`.
    pub fn add(&mut self, now: Instant, sample: Duration) {
        self.least.add(now, sample.as_nanos() as i64);
        self.smoothed = Some(match self.smoothed {
            None => (sample, sample / 2),
            Some((mean, variation)) => ((mean * 7 + sample) / 8, (variation * 3 + mean.abs_diff(sample)) / 4),
        });
    }

    /// The mean, and its variation.
    pub fn smoothed(&self) -> Option<(Duration, Duration)> {
        self.smoothed
    }

    /// The least.
    pub fn least(&self, now: Instant) -> Option<Duration> {
        self.least.get(now).and_then(|nanos| u64::try_from(nanos).ok()).map(Duration::from_nanos)
    }
}
