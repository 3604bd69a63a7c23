//! ns-2's `TcpAgent`: integer arithmetic in ticks of a coarse clock, and its own ways of backing off.
use super::smoothed::Smoothed;
use prismux_units::{Duration, Instant};

/// Doublings stop at a factor of 64.
const MAX_BACKOFF: u8 = 6;
/// So far back, the old average is worth nothing.
const AVERAGE_LOST_ABOVE: u8 = 3;

/// Average and variation, in ticks.
#[derive(Debug, Clone)]
pub(super) struct TickEstimate {
    smoothed: Smoothed,
    tick: Duration,
}

impl TickEstimate {
    pub(super) fn new(tick: Duration) -> Self {
        Self { smoothed: Smoothed::default(), tick }
    }

    pub(super) fn forget(&mut self) {
        self.smoothed = Smoothed::default();
    }

    /// `rtt_update`: ticks passed between the two instants, at least one. The timeout after it, without floor.
    pub(super) fn sample(&mut self, now: Instant, rtt: Duration) -> Duration {
        let tick = self.tick.as_nanos();
        let ticks = (now.as_nanos() / tick - (now - rtt).as_nanos() / tick).max(1);
        self.smoothed.take(ticks);
        self.smoothed.rttvar_x4 = self.smoothed.rttvar_x4.max(1);
        self.tick * (((self.smoothed.rttvar_x4 << 3) + self.smoothed.srtt_x8) >> 3)
    }

    /// No timeout is shorter than two ticks.
    pub(super) fn min_rto(&self) -> Duration {
        self.tick * 2
    }

    /// `rtt_backoff`: the next number of doublings. Far back, the average goes into the variation.
    pub(super) fn back_off(&mut self, backoff: u8) -> u8 {
        let backoff = (backoff + 1).min(MAX_BACKOFF);
        if backoff > AVERAGE_LOST_ABOVE {
            self.smoothed.rttvar_x4 += self.smoothed.srtt_x8 >> 3;
            self.smoothed.srtt_x8 = 0;
        }
        backoff
    }

    pub(super) fn srtt(&self) -> Option<Duration> {
        self.smoothed.srtt(self.tick.as_nanos())
    }

    pub(super) fn rttvar(&self) -> Duration {
        self.smoothed.rttvar(self.tick.as_nanos())
    }
}
