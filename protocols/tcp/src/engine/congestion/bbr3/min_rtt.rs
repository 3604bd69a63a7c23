//! The path's round-trip propagation time: the least of ten seconds, and ProbeRTT, which makes it visible before a
//! greater one may take its place (sections 5.3.4, 5.5.7).
use super::super::policy::RateSample;
use prismux_units::{Duration, Instant};

/// BBR.MinRTTFilterLen, and with it the time between two probes.
const LIFETIME: Duration = Duration::from_secs(10);
/// BBR.ProbeRTTDuration.
const PROBE_TIME: Duration = Duration::from_millis(200);

/// The minimum, its age, and the probe under way.
#[derive(Debug, Clone, Default)]
pub(super) struct MinRtt {
    minimum: Option<Duration>,
    measured_at: Instant,
    /// BBR.min_rtt_expired.
    pub(super) is_expired: bool,
    /// BBR.probe_rtt_cwnd: what is in flight while it is probed, from the minimum that had expired.
    pub(super) probe_bytes: u64,
    /// BBR.probe_rtt_done_stamp.
    probe_until: Option<Instant>,
    round_passed: bool,
}

impl MinRtt {
    pub(super) fn get(&self) -> Option<Duration> {
        self.minimum
    }

    /// Whether the minimum is too old at `now`.
    pub(super) fn expires(&mut self, now: Instant) -> bool {
        self.is_expired = self.minimum.is_some() && now > self.measured_at + LIFETIME;
        self.is_expired
    }

    /// Takes the sample's RTT, if it is less or the minimum expired.
    pub(super) fn update(&mut self, sample: &RateSample) {
        let Some(rtt) = sample.rtt else { return };
        if self.is_expired || self.minimum.is_none_or(|minimum| rtt < minimum) {
            self.minimum = Some(rtt);
            self.measured_at = sample.now;
        }
    }

    pub(super) fn begin_probe(&mut self) {
        self.probe_until = None;
    }

    /// HandleProbeRTT. `None` where the probe goes on; else whether it has just reached its depth, from which a round
    /// is counted (`false`), or is over (`true`).
    pub(super) fn continue_probe(&mut self, sample: &RateSample, round_began: bool) -> Option<bool> {
        let Some(until) = self.probe_until else {
            if sample.in_flight > self.probe_bytes {
                return None;
            }
            self.probe_until = Some(sample.now + PROBE_TIME);
            self.round_passed = false;
            return Some(false);
        };
        self.round_passed |= round_began;
        if !self.round_passed || sample.now <= until {
            return None;
        }
        self.measured_at = sample.now;
        Some(true)
    }
}
