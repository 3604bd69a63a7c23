//! Compact times for per-packet records.
use prismux_units::{Duration, Instant};

/// Microseconds since the start of the run, modulo 2^32 (71 minutes): enough to order packets in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Micros(u32);

impl Micros {
    /// `now`, rounded down.
    pub(crate) const fn at(now: Instant) -> Self {
        Self((now.as_nanos() / 1000) as u32)
    }

    /// Time from `earlier` to `self`; zero if `earlier` is later.
    pub(crate) const fn since(self, earlier: Self) -> Duration {
        let micros = self.0.wrapping_sub(earlier.0) as i32;
        Duration::from_micros(if micros > 0 { micros as u64 } else { 0 })
    }

    /// True when `self` is strictly later.
    pub(crate) const fn after(self, other: Self) -> bool {
        (self.0.wrapping_sub(other.0) as i32) > 0
    }
}
