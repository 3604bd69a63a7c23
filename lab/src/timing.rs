//! When a run ends, and how late events were handled.
use prismux_plan::Plan;
use prismux_trace::histogram::DelayHistogram;
use prismux_units::{Duration, Instant};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// When a run ends: with its plan, or sooner once all is done. What happens on links and airs behind it does not count.
#[derive(Debug, Clone)]
pub(crate) struct RunEnd(Arc<AtomicU64>);

impl RunEnd {
    /// Of a plan.
    pub fn of(plan: &Plan) -> Self {
        Self(Arc::new(AtomicU64::new(plan.duration.as_nanos())))
    }

    /// Of a network that is there until it is taken down.
    pub fn open() -> Self {
        Self(Arc::new(AtomicU64::new(u64::MAX)))
    }

    /// The end, as far as it is known.
    pub fn get(&self) -> Instant {
        Instant::from_nanos(self.0.load(Ordering::Relaxed))
    }

    /// The run is over after this time, if not sooner.
    pub fn bring_forward(&self, to: Duration) {
        self.0.fetch_min(to.as_nanos(), Ordering::Relaxed);
    }
}

/// From here on a delay counts as late: links are emulated to the millisecond.
pub const LATE: Duration = Duration::from_millis(1);

/// Counts how late events were.
#[derive(Debug, Clone, Default)]
pub struct Lateness {
    delays: DelayHistogram,
    /// Those of more than [`LATE`].
    late: u64,
}

impl Lateness {
    /// Counts one event.
    pub fn record(&mut self, delay: Duration) {
        self.delays.record(delay);
        self.late += u64::from(delay > LATE);
    }

    /// The figures that a report needs.
    pub fn summary(&self) -> DelaySummary {
        let micros = |delay: Option<Duration>| delay.map_or(0.0, |delay| delay.as_nanos() as f64 / 1e3);
        DelaySummary {
            samples: self.delays.count(),
            mean_us: self.delays.mean_s().unwrap_or(0.0) * 1e6,
            min_us: micros(self.delays.min()),
            p50_us: micros(self.delays.quantile(0.5)),
            p99_us: micros(self.delays.quantile(0.99)),
            max_us: micros(self.delays.max()),
            late: self.late,
        }
    }
}

/// A [`Lateness`] in a few figures.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct DelaySummary {
    /// How many events.
    pub samples: u64,
    /// Mean in microseconds.
    pub mean_us: f64,
    /// The smallest in microseconds.
    pub min_us: f64,
    /// Median in microseconds.
    pub p50_us: f64,
    /// 99th percentile in microseconds.
    pub p99_us: f64,
    /// The largest in microseconds.
    pub max_us: f64,
    /// How many took more than [`LATE`].
    pub late: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_a_millisecond_is_late() {
        let mut histogram = Lateness::default();
        for micros in [10, 1000, 1001, 5000] {
            histogram.record(Duration::from_micros(micros));
        }
        assert_eq!(histogram.summary().late, 2);
    }
}
