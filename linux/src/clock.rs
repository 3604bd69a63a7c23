//! The monotonic clock, counted from the start of the daemon.
use prismux_units::{Duration, Instant};

/// Reads `CLOCK_MONOTONIC` as nanoseconds since its own creation.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: std::time::Instant,
}

impl Clock {
    /// A clock that reads zero now.
    pub fn start() -> Self {
        Self { start: std::time::Instant::now() }
    }

    /// How much later than another clock this one was started; zero if it was sooner. It is exact, which the difference
    /// of what both read is not.
    pub fn started_after(&self, other: Self) -> Duration {
        let later = self.start.saturating_duration_since(other.start);
        Duration::from_nanos(u64::try_from(later.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Time since the clock was started.
    pub fn now(&self) -> Instant {
        Instant::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::start()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_know_which_was_started_first_and_by_how_much() {
        let first = Clock::start();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let second = Clock::start();
        let later = second.started_after(first);
        assert!(later >= Duration::from_millis(2), "{later}");
        assert_eq!(first.started_after(second), Duration::ZERO);
    }
}
