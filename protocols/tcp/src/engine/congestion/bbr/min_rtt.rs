//! The path's round-trip propagation time: the smallest RTT of ten seconds, and ProbeRTT, which makes it visible
//! (sections 4.1.2 and 4.3.5).
use super::super::policy::RateSample;
use prismux_units::{Duration, Instant};

/// How long a minimum is believed.
const LIFETIME: Duration = Duration::from_secs(10);
/// How long ProbeRTT keeps the pipe nearly empty, besides a round trip.
const PROBE_TIME: Duration = Duration::from_millis(200);

/// The minimum, its age, and the probe under way.
#[derive(Debug, Clone, Default)]
pub(super) struct MinRtt {
    minimum: Option<Duration>,
    measured_at: Instant,
    outdated: bool,
    /// The probe ends at this instant, if a round has passed by then; none before the pipe is nearly empty.
    probe_until: Option<Instant>,
    round_passed: bool,
}

impl MinRtt {
    pub(super) fn get(&self) -> Option<Duration> {
        self.minimum
    }

    /// The last sample found the minimum too old.
    pub(super) fn is_outdated(&self) -> bool {
        self.outdated
    }

    pub(super) fn update(&mut self, sample: &RateSample) {
        self.outdated = self.minimum.is_some() && sample.now > self.measured_at + LIFETIME;
        let Some(rtt) = sample.rtt else { return };
        if self.outdated || self.minimum.is_none_or(|minimum| rtt <= minimum) {
            self.minimum = Some(rtt);
            self.measured_at = sample.now;
        }
    }

    pub(super) fn begin_probe(&mut self) {
        self.probe_until = None;
        self.round_passed = false;
    }

    /// Whether the probe ends with `sample`: for [`PROBE_TIME`] and a round trip the pipe has been nearly empty.
    pub(super) fn continue_probe(
        &mut self,
        sample: &RateSample,
        nearly_empty: bool,
        round_begun: bool,
    ) -> bool {
        let Some(until) = self.probe_until else {
            if nearly_empty {
                self.probe_until = Some(sample.now + PROBE_TIME);
            }
            return false;
        };
        self.round_passed |= round_begun;
        let over = self.round_passed && sample.now > until;
        if over {
            self.measured_at = sample.now;
        }
        over
    }
}
