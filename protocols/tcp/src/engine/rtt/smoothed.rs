//! Average and variation as scaled integers (V. Jacobson, "Congestion avoidance and control", 1988, appendix A).
use prismux_units::Duration;

/// Smoothed RTT by 8 and variation by 4, in nanoseconds or in ticks; both zero before the first sample.
#[derive(Debug, Clone, Default)]
pub(super) struct Smoothed {
    pub(super) srtt_x8: u64,
    pub(super) rttvar_x4: u64,
}

impl Smoothed {
    pub(super) fn is_empty(&self) -> bool {
        self.srtt_x8 == 0
    }

    /// RFC 6298 (2.2), (2.3).
    pub(super) fn take(&mut self, rtt: u64) {
        if self.is_empty() {
            self.srtt_x8 = rtt << 3;
            self.rttvar_x4 = rtt << 1;
        } else {
            let deviation = (self.srtt_x8 >> 3).abs_diff(rtt);
            self.rttvar_x4 = self.rttvar_x4 - (self.rttvar_x4 >> 2) + deviation;
            self.srtt_x8 = (self.srtt_x8 - (self.srtt_x8 >> 3) + rtt).max(1);
        }
    }

    /// RFC 6298 (2.3): SRTT + max(G, 4 RTTVAR), after waiting for `round_trips` smoothed round trips instead of one.
    pub(super) fn rto(&self, round_trips: u64, granularity: Duration) -> Duration {
        Duration::from_nanos(((self.srtt_x8 * round_trips) >> 3) + self.rttvar_x4.max(granularity.as_nanos()))
    }

    /// The average, with `unit` nanoseconds to one.
    pub(super) fn srtt(&self, unit: u64) -> Option<Duration> {
        (!self.is_empty()).then(|| Duration::from_nanos(self.srtt_x8 * unit / 8))
    }

    /// The variation, with `unit` nanoseconds to one.
    pub(super) fn rttvar(&self, unit: u64) -> Duration {
        Duration::from_nanos(self.rttvar_x4 * unit / 4)
    }
}
