//! The monotonic clock, counted from the start of the daemon.
use prismux_units::Instant;

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
