//! The rate of data for each neighbour.
use super::Dcf;
use crate::HostId;
use crate::mac::arf::{Arf, Change};
use crate::mac::config::{Mac, RateControl};
use prismux_units::Rate;

impl<P: Copy> Dcf<P> {
    /// The rate at which data for a neighbour, or for all, goes next.
    #[inline]
    pub(super) fn data_rate(&self, to: Option<HostId>, mac: &Mac) -> Rate {
        match (to, mac.config.rate_control) {
            (None, _) => mac.config.basic_rate,
            (Some(_), RateControl::Fixed) => mac.config.data_rate,
            (Some(to), RateControl::Arf(_)) => {
                let step = self.rates.get(&to).map_or(mac.fastest, Arf::step);
                let steps = mac.config.modulation.rates();
                steps.get(usize::from(step)).map_or(mac.config.data_rate, |step| step.rate)
            }
        }
    }

    /// Whether an RTS for a neighbour goes at the slowest rate: that it is not answered says nothing of faster ones.
    pub(super) fn asks_slowly(&self, to: HostId, mac: &Mac) -> bool {
        let slowest = mac.config.modulation.rates().first();
        slowest.is_none_or(|slowest| mac.control(self.data_rate(Some(to), mac)).rate <= slowest.rate)
    }

    /// Data for a neighbour was acknowledged, or not.
    #[inline]
    pub(super) fn learn(&mut self, to: HostId, acknowledged: bool, mac: &Mac) {
        let RateControl::Arf(config) = mac.config.rate_control else { return };
        let arf = self.rates.entry(to).or_insert(Arf::new(mac.fastest));
        let change = match acknowledged {
            true => arf.succeeded(&config, mac.fastest),
            false => arf.failed(&config),
        };
        match change {
            Some(Change::Raised) => self.stats.rates_raised += 1,
            Some(Change::Lowered) => self.stats.rates_lowered += 1,
            None => {}
        }
    }
}
