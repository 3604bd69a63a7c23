//! Round-trip time and retransmission timeout (RFC 6298), in the ways that [`RtoStyle`] names.
mod linux;
mod smoothed;
mod ticks;

use super::config::{EngineConfig, RtoStyle};
use linux::LinuxEstimate;
use prismux_units::{Duration, Instant};
use smoothed::Smoothed;
use ticks::TickEstimate;

/// How long a minimum is believed before it may rise again (RFC 8985 section 7.1 leaves it open; Linux: 300 s).
const MIN_RTT_LIFETIME: Duration = Duration::from_secs(300);

/// Largest doubling exponent; the maximum RTO bounds the result long before.
const MAX_BACKOFF: u8 = 16;

/// Smoothed RTT, its variation, the minimum, and the timeout with its back-off. In the order of use: what every
/// acknowledgement asks for is reckoned when it changes.
#[derive(Debug, Clone)]
#[repr(C)]
pub(crate) struct RttEstimator {
    /// The timeout as the timer should use it.
    rto: Duration,
    srtt: Option<Duration>,
    estimate: Estimate,
    /// Timeout without floor and back-off.
    base_rto: Duration,
    min_rto: Duration,
    max_rto: Duration,
    granularity: Duration,
    min_rtt: Duration,
    min_rtt_at: Instant,
    backoff: u8,
    /// On a path about which little is known, no timeout is shorter; zero otherwise.
    held_floor: Duration,
}

/// Average and variation, by the arithmetic of each style.
#[derive(Debug, Clone)]
enum Estimate {
    Rfc6298(Smoothed),
    Silence(Smoothed),
    Linux(LinuxEstimate),
    Ticks(TickEstimate),
}

impl RttEstimator {
    pub(crate) fn new(config: &EngineConfig) -> Self {
        let granularity = Duration::from_nanos(config.clock_granularity.as_nanos().max(1));
        let estimate = match config.rto_style {
            RtoStyle::Rfc6298 => Estimate::Rfc6298(Smoothed::default()),
            RtoStyle::Silence => Estimate::Silence(Smoothed::default()),
            RtoStyle::Linux => Estimate::Linux(LinuxEstimate::default()),
            RtoStyle::Ticks => Estimate::Ticks(TickEstimate::new(granularity)),
        };
        let mut estimator = Self {
            rto: Duration::ZERO,
            srtt: None,
            estimate,
            base_rto: config.initial_rto,
            min_rto: config.min_rto,
            max_rto: config.max_rto,
            granularity,
            min_rtt: Duration::MAX,
            min_rtt_at: Instant::ZERO,
            backoff: 0,
            held_floor: Duration::ZERO,
        };
        estimator.settle();
        estimator
    }

    /// Reckons anew what is asked for most often.
    fn settle(&mut self) {
        let floor = match &self.estimate {
            Estimate::Ticks(ticks) => self.min_rto.max(ticks.min_rto()),
            _ => self.min_rto,
        };
        let floor = floor.max(self.held_floor);
        self.rto = (self.base_rto.max(floor) * (1 << self.backoff)).min(self.max_rto);
        self.srtt = match &self.estimate {
            Estimate::Rfc6298(smoothed) | Estimate::Silence(smoothed) => smoothed.srtt(1),
            Estimate::Linux(linux) => linux.smoothed.srtt(1),
            Estimate::Ticks(ticks) => ticks.srtt(),
        };
    }

    /// Another path: no average, no minimum, no back-off; until there are samples, and until
    /// [`RttEstimator::release_floor`], a timeout of `floor` or more.
    pub(crate) fn forget(&mut self, floor: Duration) {
        match &mut self.estimate {
            Estimate::Rfc6298(smoothed) | Estimate::Silence(smoothed) => *smoothed = Smoothed::default(),
            Estimate::Linux(linux) => linux.forget(),
            Estimate::Ticks(ticks) => ticks.forget(),
        }
        (self.min_rtt, self.min_rtt_at) = (Duration::MAX, Instant::ZERO);
        self.backoff = 0;
        self.held_floor = floor;
        self.settle();
    }

    /// The ordinary floor of the timeout applies again.
    pub(crate) fn release_floor(&mut self) {
        self.held_floor = Duration::ZERO;
        self.settle();
    }

    /// Takes a sample that ends at `now`. `acked` and `next` are SND.UNA and SND.NXT (Linux counts round trips by
    /// them).
    pub(crate) fn sample(&mut self, now: Instant, rtt: Duration, acked: u64, next: u64) {
        self.note_minimum(now, rtt);
        self.base_rto = match &mut self.estimate {
            Estimate::Rfc6298(smoothed) => {
                smoothed.take(rtt.as_nanos().max(1));
                smoothed.rto(1, self.granularity)
            }
            Estimate::Silence(smoothed) => {
                smoothed.take(rtt.as_nanos().max(1));
                // Reports come only when polled for: a round trip later.
                smoothed.rto(2, self.granularity)
            }
            Estimate::Linux(linux) => linux.sample(rtt, self.min_rto, acked, next),
            Estimate::Ticks(ticks) => ticks.sample(now, rtt),
        };
        self.backoff = 0;
        self.settle();
    }

    /// Notes an RTT for the minimum only.
    pub(crate) fn note_minimum(&mut self, now: Instant, rtt: Duration) {
        if rtt <= self.min_rtt || now - self.min_rtt_at > MIN_RTT_LIFETIME {
            self.min_rtt = rtt;
            self.min_rtt_at = now;
        }
    }

    /// The timeout as the timer should use it.
    #[inline]
    pub(crate) fn rto(&self) -> Duration {
        self.rto
    }

    /// Doubles the timeout (RFC 6298 (5.5)).
    pub(crate) fn back_off(&mut self) {
        match &mut self.estimate {
            Estimate::Ticks(ticks) => self.backoff = ticks.back_off(self.backoff),
            _ => self.backoff = (self.backoff + 1).min(MAX_BACKOFF),
        }
        self.settle();
    }

    /// Forgets the back-off.
    pub(crate) fn reset_backoff(&mut self) {
        if self.backoff > 0 {
            self.backoff = 0;
            self.settle();
        }
    }

    /// Doublings of the timeout.
    pub(crate) fn backoff(&self) -> u8 {
        self.backoff
    }

    /// Forgets doublings beyond `most`.
    pub(crate) fn lower_backoff(&mut self, most: u8) {
        self.backoff = self.backoff.min(most);
        self.settle();
    }

    /// The timeout without floor and back-off: what RTT samples alone make of it.
    pub(crate) fn base_rto(&self) -> Duration {
        self.base_rto
    }

    /// True while a timeout has not been followed by a valid sample.
    pub(crate) fn is_backed_off(&self) -> bool {
        self.backoff > 0
    }

    #[inline]
    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    pub(crate) fn rttvar(&self) -> Duration {
        match &self.estimate {
            Estimate::Rfc6298(smoothed) | Estimate::Silence(smoothed) => smoothed.rttvar(1),
            Estimate::Linux(linux) => linux.smoothed.rttvar(1),
            Estimate::Ticks(ticks) => ticks.rttvar(),
        }
    }

    pub(crate) fn min_rtt(&self) -> Option<Duration> {
        (self.min_rtt < Duration::MAX).then_some(self.min_rtt)
    }
}
