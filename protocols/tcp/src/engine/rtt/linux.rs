//! Linux `tcp_rtt_estimator`: a fall of the RTT moves the deviation slowly; the variance follows the largest
//! deviation of a round trip at once and decays by a quarter per round trip.
use super::smoothed::Smoothed;
use prismux_units::Duration;

/// Average and variance, in nanoseconds.
#[derive(Debug, Clone, Default)]
pub(super) struct LinuxEstimate {
    pub(super) smoothed: Smoothed,
    /// Mean deviation by 4, and its maximum in this round trip.
    deviation_x4: u64,
    deviation_max_x4: u64,
    /// The acknowledgement of this position ends the round trip.
    round_end: u64,
}

impl LinuxEstimate {
    pub(super) fn forget(&mut self) {
        *self = Self { round_end: self.round_end, ..Self::default() };
    }

    /// The timeout after a sample, without floor: SRTT + max(4 RTTVAR, minimum RTO).
    pub(super) fn sample(&mut self, rtt: Duration, min_rto: Duration, acked: u64, next: u64) -> Duration {
        let rtt = rtt.as_nanos().max(1);
        let floor = min_rto.as_nanos();
        let Smoothed { srtt_x8, rttvar_x4 } = &mut self.smoothed;
        if *srtt_x8 == 0 {
            *srtt_x8 = rtt << 3;
            self.deviation_x4 = rtt << 1;
            *rttvar_x4 = self.deviation_x4.max(floor);
            self.deviation_max_x4 = *rttvar_x4;
            self.round_end = next;
        } else {
            let srtt = *srtt_x8 >> 3;
            *srtt_x8 = *srtt_x8 - srtt + rtt;
            let deviation = srtt.abs_diff(rtt);
            let smoothed = self.deviation_x4 >> 2;
            if rtt < srtt && deviation > smoothed {
                self.deviation_x4 += (deviation - smoothed) >> 3;
            } else {
                self.deviation_x4 = self.deviation_x4 - smoothed + deviation;
            }
            self.deviation_max_x4 = self.deviation_max_x4.max(self.deviation_x4);
            *rttvar_x4 = (*rttvar_x4).max(self.deviation_max_x4);
            if acked > self.round_end {
                *rttvar_x4 -= (rttvar_x4.saturating_sub(self.deviation_max_x4)) >> 2;
                self.round_end = next;
                self.deviation_max_x4 = floor;
            }
        }
        Duration::from_nanos((*srtt_x8 >> 3) + *rttvar_x4)
    }
}
