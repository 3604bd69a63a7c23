//! Clocks that do not run alike.
//!
//! Drift makes the way there seem to grow and the way back to shrink by the same amount, or the reverse; a queue
//! makes one of them grow. So drift is what the least delays of both ways agree on.
use prismux_units::{Duration, Instant};

/// Least delays are compared over so long.
const WINDOW: Duration = Duration::from_secs(10);
/// Both ways must agree to this share of time (50 parts per million),
const MAX_DISAGREEMENT: f64 = 50e-6;
/// and no clock is so wrong.
const MAX_SKEW: f64 = 1000e-6;

/// How fast the far clock gains on the near one.
#[derive(Debug, Default)]
pub(super) struct Skew {
    /// When the present window began.
    began: Option<Instant>,
    /// The least delays of the present window, there and back.
    least: (Option<i64>, Option<i64>),
    /// Those of the window before.
    before: Option<(i64, i64)>,
    /// Nanoseconds of drift in a nanosecond; `None` until measured.
    skew: Option<f64>,
    /// Drift up to `corrected_at`, in nanoseconds.
    correction: f64,
    corrected_at: Option<Instant>,
}

impl Skew {
    /// A packet took `delay`.
    pub fn forward(&mut self, now: Instant, delay: i64) {
        self.advance(now);
        self.least.0 = Some(self.least.0.map_or(delay, |least| least.min(delay)));
    }

    /// A receipt took `delay`.
    pub fn backward(&mut self, now: Instant, delay: i64) {
        self.advance(now);
        self.least.1 = Some(self.least.1.map_or(delay, |least| least.min(delay)));
    }

    /// What has to be taken off a packet's delay.
    pub fn correction(&self) -> i64 {
        self.correction as i64
    }

    fn advance(&mut self, now: Instant) {
        if let (Some(skew), Some(at)) = (self.skew, self.corrected_at) {
            self.correction += skew * now.saturating_since(at).as_nanos() as f64;
        }
        self.corrected_at = Some(now);
        let began = *self.began.get_or_insert(now);
        let length = now.saturating_since(began);
        if length < WINDOW {
            return;
        }
        self.began = Some(now);
        let (forward, backward) = core::mem::take(&mut self.least);
        let least = forward.zip(backward);
        if let (Some(least), Some(before)) = (least, self.before)
            && length < WINDOW * 2
        {
            self.measure(least, before, length);
        }
        self.before = least;
    }

    fn measure(&mut self, least: (i64, i64), before: (i64, i64), length: Duration) {
        let slope = |now: i64, then: i64| (now - then) as f64 / length.as_nanos() as f64;
        let (there, back) = (slope(least.0, before.0), -slope(least.1, before.1));
        let mean = (there + back) / 2.0;
        let disagreement = if there > back { there - back } else { back - there };
        if disagreement > MAX_DISAGREEMENT || !(-MAX_SKEW..=MAX_SKEW).contains(&mean) {
            return;
        }
        self.skew = Some(self.skew.map_or(mean, |skew| (skew + mean) / 2.0));
    }
}
