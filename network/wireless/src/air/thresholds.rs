//! The power from which on frames of each rate can be decoded.
use crate::mac::config::{MacConfig, RateControl};
use crate::radio::{RadioConfig, Reception};
use alloc::vec::Vec;
use prismux_units::Rate;

/// The power that each rate needs, in watts.
#[derive(Debug, Clone)]
pub(super) struct Thresholds {
    /// Of rates that are not listed.
    slowest_w: f64,
    /// Of the faster rates, where hosts choose among several and no error curves decide.
    faster_w: Vec<(Rate, f64)>,
}

impl Thresholds {
    pub fn new(radio: &RadioConfig, mac: &MacConfig) -> Self {
        let slowest_w = radio.receive_threshold_w;
        let differ =
            matches!((mac.rate_control, radio.reception), (RateControl::Arf(_), Reception::Capture { .. }));
        let steps = if differ { mac.modulation.rates() } else { &[] };
        let needs = |db: f64| slowest_w * libm::pow(10.0, db / 10.0);
        let faster_w = steps.iter().map(|step| (step.rate, needs(step.above_slowest_db))).collect();
        Self { slowest_w, faster_w }
    }

    #[inline]
    pub fn of(&self, rate: Rate) -> f64 {
        self.faster_w.iter().find(|(known, _)| *known == rate).map_or(self.slowest_w, |(_, needs_w)| *needs_w)
    }
}
