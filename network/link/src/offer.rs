//! What one direction of a link could have carried.
use prismux_units::{Instant, Rate};

/// A link's rate summed over time. Whoever runs the link says when that changes.
#[derive(Debug, Clone, Default)]
pub struct Offer {
    bits: f64,
    since: Instant,
}

impl Offer {
    /// Adds what `rate` offered since the last time; nothing, where it was not to be had or has no limit.
    pub fn account(&mut self, now: Instant, rate: Option<Rate>) {
        let bps = rate.map_or(0.0, |rate| rate.as_bps() as f64);
        self.bits += bps * (now - self.since).as_secs_f64();
        self.since = now;
    }

    /// Bits until it was accounted for last.
    #[must_use]
    pub const fn bits(&self) -> f64 {
        self.bits
    }
}
