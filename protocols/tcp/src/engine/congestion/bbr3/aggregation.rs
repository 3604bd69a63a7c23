//! How many bytes more than the estimated rate explains arrive acknowledged in a bunch (BBR.extra_acked, section
//! 5.5.9): so many more are let into flight.
use prismux_units::{Instant, Rate};

/// Rounds for which a maximum is believed after Startup.
const FILTER_ROUNDS: u64 = 10;

/// The excess of the present interval, and its maximum of late.
#[derive(Debug, Clone, Default)]
pub(super) struct Aggregation {
    since: Instant,
    delivered: u64,
    /// The greatest excess of this half of the filter and of the one before, and the round in which it began.
    maxima: [u64; 2],
    half_began: u64,
}

impl Aggregation {
    /// BBR.extra_acked.
    pub(super) fn extra(&self) -> u64 {
        self.maxima[0].max(self.maxima[1])
    }

    /// Data leaves again after a pause: what was delivered before it says nothing.
    pub(super) fn restart(&mut self) {
        self.delivered = 0;
    }

    /// UpdateACKAggregation: `acked` bytes newly acknowledged `now` in `round`, where the path was taken to deliver at
    /// `rate`; no more than `cwnd` counts.
    pub(super) fn update(
        &mut self,
        now: Instant,
        acked: u64,
        rate: Option<Rate>,
        cwnd: u64,
        (round, is_startup): (u64, bool),
    ) {
        let expected = |since| rate.map_or(0, |rate: Rate| rate.bytes_in(now - since).as_u64());
        if self.delivered <= expected(self.since) {
            (self.delivered, self.since) = (0, now);
        }
        self.delivered += acked;
        let extra = self.delivered.saturating_sub(expected(self.since)).min(cwnd);
        let half = if is_startup { 1 } else { FILTER_ROUNDS / 2 };
        if round - self.half_began >= half {
            self.maxima = [self.maxima[1], 0];
            self.half_began = round;
        }
        self.maxima[1] = self.maxima[1].max(extra);
    }
}
