//! The rates of 802.11b, a and g: which there are, and how much more power the faster ones need.
use crate::radio::Modulation;
use prismux_units::Rate;

/// A rate of a standard.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RateStep {
    pub rate: Rate,
    /// How many times the power that suffices for the slowest rate this one needs, in decibels.
    pub above_slowest_db: f64,
    /// Whether every station knows it, so that control frames may go at it.
    pub mandatory: bool,
}

const fn step(kbps: u64, above_slowest_db: f64, mandatory: bool) -> RateStep {
    RateStep { rate: Rate::from_bps(kbps * 1000), above_slowest_db, mandatory }
}

/// 802.11b. The standard asks for -76 dBm at 11 and -80 dBm at 2 Mbit/s and says nothing of the others; the steps are
/// those of the ORiNOCO Gold, WaveLAN's successor: -94, -91, -87 and -82 dBm.
const DSSS: [RateStep; 4] =
    [step(1000, 0.0, true), step(2000, 3.0, true), step(5500, 7.0, true), step(11_000, 12.0, true)];

/// 802.11a and g: the sensitivities of 802.11-2007, table 17-13, from -82 to -65 dBm.
pub(crate) const OFDM: [RateStep; 8] = [
    step(6000, 0.0, true),
    step(9000, 1.0, false),
    step(12_000, 3.0, true),
    step(18_000, 5.0, false),
    step(24_000, 8.0, true),
    step(36_000, 12.0, false),
    step(48_000, 16.0, false),
    step(54_000, 17.0, false),
];

impl Modulation {
    /// The rates of the standard, the slowest first; of 802.11n those that every station knows.
    pub(crate) fn rates(self) -> &'static [RateStep] {
        match self {
            Self::Dsss(_) => &DSSS,
            Self::Ofdm | Self::ErpOfdm | Self::Ht(_) => &OFDM,
        }
    }
}

/// Which of `steps` is `rate`, if any.
pub(crate) fn position(steps: &[RateStep], rate: Rate) -> Option<usize> {
    steps.iter().position(|step| step.rate == rate)
}

/// The fastest rate for control frames that is faster than neither `data` nor `basic` (802.11-1999, 9.6).
pub(crate) fn control_rate(steps: &[RateStep], data: Rate, basic: Rate) -> Rate {
    let known = |step: &&RateStep| step.mandatory && step.rate <= data && step.rate <= basic;
    steps.iter().rev().find(known).map_or(basic, |step| step.rate)
}

#[cfg(test)]
mod tests {
    use super::{control_rate, position};
    use crate::radio::{Modulation, Preamble};
    use prismux_units::Rate;

    #[test]
    fn answers_go_at_the_fastest_basic_rate_that_is_no_faster_than_the_frame() {
        let (b, g) = (Modulation::Dsss(Preamble::Long).rates(), Modulation::ErpOfdm.rates());
        for (steps, data_kbps, basic_kbps, answer_kbps) in [
            (b, 11_000, 2000, 2000),
            (b, 5500, 11_000, 5500),
            (b, 1000, 2000, 1000),
            (g, 54_000, 24_000, 24_000),
            (g, 18_000, 24_000, 12_000),
            (g, 9000, 24_000, 6000),
        ] {
            let kbps = |kbps: u64| Rate::from_bps(kbps * 1000);
            let found = control_rate(steps, kbps(data_kbps), kbps(basic_kbps));
            assert_eq!(found, kbps(answer_kbps), "to {data_kbps} kbit/s, basic {basic_kbps} kbit/s");
        }
        assert_eq!(position(b, Rate::from_mbps(54)), None);
    }
}
