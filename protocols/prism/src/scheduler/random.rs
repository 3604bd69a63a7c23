//! Baselines that draw lots.
use super::{Choice, PacketView, Scheduler};
use crate::link_table::LinkTable;
use prismux_endpoint::random::RandomStream;
use prismux_units::Instant;

/// Uniformly random, weights unused.
#[derive(Debug)]
pub struct Random {
    stream: RandomStream,
}

impl Random {
    /// Draws from `stream`.
    pub fn new(stream: RandomStream) -> Self {
        Self { stream }
    }
}

impl Scheduler for Random {
    fn choose(&mut self, _now: Instant, links: &LinkTable, _packet: &PacketView) -> Choice {
        let usable = links.usable();
        let count = usable.clone().count() as u64;
        let index = self.stream.below(count) as usize;
        links.usable().nth(index).map(|(id, _)| id).into()
    }
}

/// Random in proportion to the weights `W0`.
#[derive(Debug)]
pub struct WeightedRandom {
    stream: RandomStream,
}

impl WeightedRandom {
    /// Draws from `stream`.
    pub fn new(stream: RandomStream) -> Self {
        Self { stream }
    }
}

impl Scheduler for WeightedRandom {
    fn choose(&mut self, _now: Instant, links: &LinkTable, _packet: &PacketView) -> Choice {
        let total: f64 = links.usable().map(|(_, link)| link.variables.full_weight).sum();
        let mut left = self.stream.uniform() * total;
        let mut last = None;
        for (id, link) in links.usable() {
            last = Some(id);
            left -= link.variables.full_weight;
            if left < 0.0 {
                break;
            }
        }
        last.into()
    }
}
