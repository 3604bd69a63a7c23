//! Weights by rate, and what a loss on a link leaves of a sender's window.
use super::{Link, LinkTable};
use crate::config::{ProxyConfig, WeightUnit};
use crate::ids::LinkId;
use alloc::vec::Vec;
use prismux_wire::KeepFactor;

impl LinkTable {
    /// Links or their rates have changed: sets weights, and which links flows that keep to one may take.
    pub(crate) fn share_out(&mut self, settings: &ProxyConfig) {
        self.assign_weights(settings);
        if settings.learn_rates {
            self.mark_near();
        }
    }

    /// Sets W0 of every link from the rates, keeping the present share `W / W0` of each. Links without a rate
    /// count as the slowest known one.
    fn assign_weights(&mut self, settings: &ProxyConfig) {
        let known: Vec<u64> = self
            .up()
            .filter_map(|(_, link)| link.rate())
            .map(|rate| rate.as_bps())
            .filter(|&bps| bps > 0)
            .collect();
        let Some(&slowest) = known.iter().min() else { return };
        let unit = match settings.weight_unit {
            WeightUnit::SlowestLink => slowest,
            WeightUnit::Gcd => known.iter().fold(0, |a, &b| gcd(a, b)),
        };
        for link in self.links.iter_mut().flatten().filter(|link| link.up) {
            let rate = link.rate().map(|rate| rate.as_bps()).filter(|&bps| bps > 0).unwrap_or(slowest);
            let full = rate as f64 / unit as f64;
            link.variables.set_full_weight(full, settings.weight_floor);
        }
    }

    /// The factor of its window that a sender should keep after a loss on `lost`: `1 - B / (2 sum of B)`.
    pub fn keep_factor(&self, lost: LinkId) -> KeepFactor {
        let rate = |link: &Link| link.rate().map_or(0, |rate| rate.as_bps());
        let total = self.up().map(|(_, link)| rate(link)).fold(0, u64::saturating_add);
        let own = self.get(lost).map_or(0, rate);
        let equal_shares = || KeepFactor::less_half_of(1, self.up_count() as u64);
        KeepFactor::less_half_of(own, total).or_else(equal_shares).unwrap_or(KeepFactor::HALF)
    }
}

const fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
