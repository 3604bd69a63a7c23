//! Round-trip time and retransmission timeout (RFC 6298), with the Linux and the ns-2 way of computing them.
use super::config::{EngineConfig, RtoStyle};
use prismux_units::{Duration, Instant};

/// How long a minimum is believed before it may rise again (RFC 8985 section 7.1 leaves it open; Linux: 300 s).
const MIN_RTT_LIFETIME: Duration = Duration::from_secs(300);

/// Largest doubling exponent; the maximum RTO bounds the result long before.
const MAX_BACKOFF: u8 = 16;
/// ns-2 doubles up to a factor of 64.
const MAX_BACKOFF_TICKS: u8 = 6;

/// Smoothed RTT, its variation, the minimum, and the timeout with its back-off.
///
/// Times are scaled integers as in Jacobson's code: `srtt` by 8, `rttvar` and `deviation` by 4. Their unit is the
/// nanosecond, or the tick for [`RtoStyle::Ticks`].
#[derive(Debug, Clone)]
pub(crate) struct RttEstimator {
    srtt_x8: u64,
    rttvar_x4: u64,
    /// Linux: mean deviation, and its maximum in this round trip.
    deviation_x4: u64,
    deviation_max_x4: u64,
    /// Linux: position whose acknowledgement ends the round trip.
    round_end: u64,
    /// Timeout without back-off.
    base_rto: Duration,
    min_rto: Duration,
    max_rto: Duration,
    granularity: Duration,
    min_rtt: Duration,
    min_rtt_at: Instant,
    style: RtoStyle,
    backoff: u8,
    /// On a path about which little is known, no timeout is shorter; zero otherwise.
    held_floor: Duration,
}

impl RttEstimator {
    pub(crate) fn new(config: &EngineConfig) -> Self {
        Self {
            srtt_x8: 0,
            rttvar_x4: 0,
            deviation_x4: 0,
            deviation_max_x4: 0,
            round_end: 0,
            base_rto: config.initial_rto,
            min_rto: config.min_rto,
            max_rto: config.max_rto,
            granularity: Duration::from_nanos(config.clock_granularity.as_nanos().max(1)),
            min_rtt: Duration::MAX,
            min_rtt_at: Instant::ZERO,
            style: config.rto_style,
            backoff: 0,
            held_floor: Duration::ZERO,
        }
    }

    /// Another path: no average, no minimum, no back-off; until there are samples, and until
    /// [`RttEstimator::release_floor`], a timeout of `least` or more.
    pub(crate) fn forget(&mut self, least: Duration) {
        (self.srtt_x8, self.rttvar_x4, self.deviation_x4, self.deviation_max_x4) = (0, 0, 0, 0);
        (self.min_rtt, self.min_rtt_at) = (Duration::MAX, Instant::ZERO);
        self.backoff = 0;
        self.held_floor = least;
    }

    /// The ordinary floor of the timeout applies again.
    pub(crate) fn release_floor(&mut self) {
        self.held_floor = Duration::ZERO;
    }

    /// Takes a sample that ends at `now`. `acked` and `next` are SND.UNA and SND.NXT (Linux counts round trips by them).
    pub(crate) fn sample(&mut self, now: Instant, rtt: Duration, acked: u64, next: u64) {
        self.note_minimum(now, rtt);
        match self.style {
            RtoStyle::Rfc6298 => self.sample_rfc6298(rtt),
            RtoStyle::Silence => self.sample_silence(rtt),
            RtoStyle::Linux => self.sample_linux(rtt, acked, next),
            RtoStyle::Ticks => self.sample_ticks(now, rtt),
        }
        self.backoff = 0;
    }

    /// Notes an RTT for the minimum only.
    pub(crate) fn note_minimum(&mut self, now: Instant, rtt: Duration) {
        if rtt <= self.min_rtt || now - self.min_rtt_at > MIN_RTT_LIFETIME {
            self.min_rtt = rtt;
            self.min_rtt_at = now;
        }
    }

    /// RFC 6298 (2.2), (2.3).
    fn sample_rfc6298(&mut self, rtt: Duration) {
        let rtt = rtt.as_nanos().max(1);
        if self.srtt_x8 == 0 {
            self.srtt_x8 = rtt << 3;
            self.rttvar_x4 = rtt << 1;
        } else {
            let deviation = (self.srtt_x8 >> 3).abs_diff(rtt);
            self.rttvar_x4 = self.rttvar_x4 - (self.rttvar_x4 >> 2) + deviation;
            self.srtt_x8 = (self.srtt_x8 - (self.srtt_x8 >> 3) + rtt).max(1);
        }
        let rto = (self.srtt_x8 >> 3) + self.rttvar_x4.max(self.granularity.as_nanos());
        self.base_rto = Duration::from_nanos(rto).max(self.min_rto).min(self.max_rto);
    }

    /// The average of RFC 6298; the timeout waits a round trip longer, since reports come only when polled for.
    fn sample_silence(&mut self, rtt: Duration) {
        self.sample_rfc6298(rtt);
        let rto = (self.srtt_x8 >> 2) + self.rttvar_x4.max(self.granularity.as_nanos());
        self.base_rto = Duration::from_nanos(rto).max(self.min_rto).min(self.max_rto);
    }

    /// Linux `tcp_rtt_estimator`: a fall of the RTT moves the deviation slowly; the variance follows the largest
    /// deviation of a round trip at once and decays by a quarter per round trip.
    fn sample_linux(&mut self, rtt: Duration, acked: u64, next: u64) {
        let rtt = rtt.as_nanos().max(1);
        let floor = self.min_rto.as_nanos();
        if self.srtt_x8 == 0 {
            self.srtt_x8 = rtt << 3;
            self.deviation_x4 = rtt << 1;
            self.rttvar_x4 = self.deviation_x4.max(floor);
            self.deviation_max_x4 = self.rttvar_x4;
            self.round_end = next;
        } else {
            let srtt = self.srtt_x8 >> 3;
            self.srtt_x8 = self.srtt_x8 - srtt + rtt;
            let deviation = srtt.abs_diff(rtt);
            let smoothed = self.deviation_x4 >> 2;
            if rtt < srtt && deviation > smoothed {
                self.deviation_x4 += (deviation - smoothed) >> 3;
            } else {
                self.deviation_x4 = self.deviation_x4 - smoothed + deviation;
            }
            self.deviation_max_x4 = self.deviation_max_x4.max(self.deviation_x4);
            self.rttvar_x4 = self.rttvar_x4.max(self.deviation_max_x4);
            if acked > self.round_end {
                self.rttvar_x4 -= (self.rttvar_x4.saturating_sub(self.deviation_max_x4)) >> 2;
                self.round_end = next;
                self.deviation_max_x4 = floor;
            }
        }
        let rto = (self.srtt_x8 >> 3) + self.rttvar_x4;
        self.base_rto = Duration::from_nanos(rto).max(self.min_rto).min(self.max_rto);
    }

    /// ns-2 `TcpAgent::rtt_update`: ticks passed between the two instants, at least one.
    fn sample_ticks(&mut self, now: Instant, rtt: Duration) {
        let tick = self.granularity.as_nanos();
        let ticks = (now.as_nanos() / tick - (now - rtt).as_nanos() / tick).max(1);
        if self.srtt_x8 == 0 {
            self.srtt_x8 = ticks << 3;
            self.rttvar_x4 = ticks << 1;
        } else {
            let srtt = self.srtt_x8 >> 3;
            self.srtt_x8 = (self.srtt_x8 + ticks - srtt).max(1);
            let deviation = srtt.abs_diff(ticks);
            self.rttvar_x4 = (self.rttvar_x4 + deviation - (self.rttvar_x4 >> 2)).max(1);
        }
        let rto_ticks = ((self.rttvar_x4 << 3) + self.srtt_x8) >> 3;
        self.base_rto = self.granularity * rto_ticks;
    }

    /// The timeout as the timer should use it.
    pub(crate) fn rto(&self) -> Duration {
        let floor =
            if self.style == RtoStyle::Ticks { self.min_rto.max(self.granularity * 2) } else { self.min_rto };
        let floor = floor.max(self.held_floor);
        (self.base_rto.max(floor) * (1 << self.backoff)).min(self.max_rto)
    }

    /// Doubles the timeout (RFC 6298 (5.5)).
    pub(crate) fn back_off(&mut self) {
        let limit = if self.style == RtoStyle::Ticks { MAX_BACKOFF_TICKS } else { MAX_BACKOFF };
        self.backoff = (self.backoff + 1).min(limit);
        if self.style == RtoStyle::Ticks && self.backoff > 3 {
            // ns-2: so far back, the old average is worth nothing; it goes into the variation.
            self.rttvar_x4 += self.srtt_x8 >> 3;
            self.srtt_x8 = 0;
        }
    }

    /// Forgets the back-off.
    pub(crate) fn reset_backoff(&mut self) {
        self.backoff = 0;
    }

    /// True while a timeout has not been followed by a valid sample.
    pub(crate) fn is_backed_off(&self) -> bool {
        self.backoff > 0
    }

    fn unit(&self) -> u64 {
        if self.style == RtoStyle::Ticks { self.granularity.as_nanos() } else { 1 }
    }

    pub(crate) fn srtt(&self) -> Option<Duration> {
        (self.srtt_x8 > 0).then(|| Duration::from_nanos(self.srtt_x8 * self.unit() / 8))
    }

    pub(crate) fn rttvar(&self) -> Duration {
        Duration::from_nanos(self.rttvar_x4 * self.unit() / 4)
    }

    pub(crate) fn min_rtt(&self) -> Option<Duration> {
        (self.min_rtt < Duration::MAX).then_some(self.min_rtt)
    }
}
