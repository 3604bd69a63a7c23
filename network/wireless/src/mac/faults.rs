//! What makes a medium access impossible.
use super::config::{AccessRules, Coordination, Mac, MacConfig, RateControl};
use crate::energy::DutyCycle;
use crate::ht::{self, HtRate};
use crate::radio::{MAX_PROPAGATION_DELAY, Modulation};
use crate::rates;

impl MacConfig {
    /// What makes the settings impossible, if anything.
    pub fn fault(&self) -> Option<&'static str> {
        let rules = [
            (self.data_rate.as_bps() > 0 && self.basic_rate.as_bps() > 0, "rates must be above 0 bit/s"),
            (!self.slot.is_zero() && !self.sifs.is_zero(), "slot and SIFS must be above 0"),
            (self.min_window >= 1, "the contention window must be at least 1"),
            (self.min_window <= self.max_window, "the largest contention window is below the smallest"),
            (self.max_window <= 1 << 20, "the contention window is over 1048576 slots"),
            (self.short_retry_limit >= 1 && self.long_retry_limit >= 1, "retry limits must be at least 1"),
            (self.queue_packets >= 1, "the interface queue must hold at least 1 packet"),
        ];
        let fault = rules.into_iter().find(|(holds, _)| !holds).map(|(_, complaint)| complaint);
        let fault = fault.or_else(|| self.ht_fault()).or_else(|| self.rate_fault());
        let fault = fault.or_else(|| self.slot_fault());
        let fault = fault.or_else(|| self.polling_fault());
        fault.or_else(|| self.aggregation_fault()).or_else(|| self.duty_cycle.and_then(DutyCycle::fault))
    }
}

impl MacConfig {
    fn aggregation_fault(&self) -> Option<&'static str> {
        let limits = self.aggregation?;
        let rules = [
            ((1..=64).contains(&limits.max_packets), "an aggregate holds 1 to 64 packets"),
            (!matches!(self.modulation, Modulation::Dsss(_)), "aggregates are of OFDM: 802.11a, g or n"),
            (self.rules == AccessRules::Standard, "aggregates are of the standard, not of ns-2's rules"),
            (self.coordination == Coordination::Distributed, "aggregates need contention"),
        ];
        rules.into_iter().find(|(holds, _)| !holds).map(|(_, complaint)| complaint)
    }

    fn polling_fault(&self) -> Option<&'static str> {
        let Coordination::Polling(polling) = self.coordination else { return None };
        let rules = [
            (self.rules == AccessRules::Standard, "polling is of the standard, not of ns-2's rules"),
            (self.rate_control == RateControl::Fixed, "who is polled sends at a fixed rate"),
            (self.duty_cycle.is_none(), "who is polled does not sleep: leave the duty cycle out"),
        ];
        let fault = rules.into_iter().find(|(holds, _)| !holds).map(|(_, complaint)| complaint);
        fault.or_else(|| polling.fault(&Mac::new(*self, MAX_PROPAGATION_DELAY)))
    }

    fn slot_fault(&self) -> Option<&'static str> {
        let Coordination::Slots(_) = self.coordination else { return None };
        if self.rate_control != RateControl::Fixed {
            return Some("the rate follows acknowledgements, of which there are none in slots");
        }
        self.duty_cycle.map(|_| "radios sleep by their slots: leave the duty cycle out")
    }

    fn ht_fault(&self) -> Option<&'static str> {
        let Modulation::Ht(_) = self.modulation else { return None };
        let rules = [
            (
                ht::is_legacy(self.data_rate) || HtRate::of(self.data_rate).is_some(),
                "802.11n has no such rate of data",
            ),
            (ht::is_legacy(self.basic_rate), "802.11n's control frames go at rates of 802.11a"),
        ];
        rules.into_iter().find(|(holds, _)| !holds).map(|(_, complaint)| complaint)
    }

    fn rate_fault(&self) -> Option<&'static str> {
        let RateControl::Arf(arf) = self.rate_control else { return None };
        let steps = self.modulation.rates();
        let known = |rate| rates::position(steps, rate).is_some();
        if !known(self.data_rate) || !known(self.basic_rate) {
            return Some(
                "automatic rate fallback needs rates of the standard: those of 802.11b, or of 802.11a and g",
            );
        }
        let some = arf.raise_after > 0 && arf.probe_after > 0 && arf.lower_after > 0;
        (!some).then_some("automatic rate fallback must count to at least 1")
    }
}
