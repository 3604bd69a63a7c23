//! Round trips counted by packets, and the greatest delivery rate of two cycles of probing (sections 5.5.1 to 5.5.6).
use super::super::policy::RateSample;
use prismux_units::Rate;

/// BBR.round_count and what belongs to it.
#[derive(Debug, Clone, Default)]
pub(super) struct Rounds {
    pub(super) count: u64,
    /// BBR.round_start: the last sample was the first of its round.
    pub(super) has_begun: bool,
    /// C.delivered, as of the last sample.
    pub(super) delivered: u64,
    next_delivered: u64,
}

impl Rounds {
    /// StartRound: what is sent from now on ends the round when it returns.
    pub(super) fn begin(&mut self) {
        self.next_delivered = self.delivered;
    }

    /// UpdateRound.
    pub(super) fn update(&mut self, sample: &RateSample) {
        self.delivered = sample.delivered;
        self.has_begun = sample.prior_delivered.is_some_and(|prior| prior >= self.next_delivered);
        if self.has_begun {
            self.begin();
            self.count += 1;
        }
    }
}

/// BBR.max_bw: the maximum over the present cycle and the one before.
#[derive(Debug, Clone, Default)]
pub(super) struct MaxBandwidth {
    before: Rate,
    present: Rate,
}

impl MaxBandwidth {
    /// The estimate, once there is a sample.
    pub(super) fn get(&self) -> Option<Rate> {
        let rate = self.before.max(self.present);
        (rate > Rate::ZERO).then_some(rate)
    }

    /// UpdateMaxBw: what the application limited counts only where it is more than the estimate.
    pub(super) fn update(&mut self, rate: Option<Rate>, is_app_limited: bool) {
        let Some(rate) = rate else { return };
        if !is_app_limited || self.get().is_none_or(|best| rate >= best) {
            self.present = self.present.max(rate);
        }
    }

    /// AdvanceMaxBwFilter: another cycle. One without a sample does not count (Linux), or nothing would be known.
    pub(super) fn advance(&mut self) {
        if self.present > Rate::ZERO {
            (self.before, self.present) = (self.present, Rate::ZERO);
        }
    }
}
