//! How fast an interface is.
use prismux_units::Rate;
use std::collections::BTreeMap;
use std::fs;

/// Bandwidths by interface. Coarse is enough: TCP-HO gains even when they are off by a factor of two.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimates {
    /// What somebody who knows has written down, by name of the interface.
    pub known: BTreeMap<String, Rate>,
    /// The share of a driver's nominal rate that arrives in practice.
    pub utilisation: f64,
}

impl Default for Estimates {
    /// Nothing known; half of a nominal rate, as is usual for radio.
    fn default() -> Self {
        Self { known: BTreeMap::new(), utilisation: 0.5 }
    }
}

impl Estimates {
    /// The bandwidth of `interface`: as written down, else from the rate its driver states; `None` where there is
    /// neither, as with most modems.
    pub fn of(&self, interface: &str) -> Option<Rate> {
        self.known.get(interface).copied().or_else(|| {
            let speed = fs::read_to_string(format!("/sys/class/net/{interface}/speed")).ok()?;
            nominal(&speed).map(|rate| rate.mul_f64(self.utilisation))
        })
    }
}

/// A driver's rate in Mbit/s; -1 or 0 stand for "unknown".
pub(super) fn nominal(speed: &str) -> Option<Rate> {
    let mbps: u64 = speed.trim().parse().ok()?;
    (mbps > 0 && mbps < 10_000_000).then(|| Rate::from_mbps(mbps))
}
