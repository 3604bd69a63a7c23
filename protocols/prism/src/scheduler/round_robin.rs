//! Baselines that do not look at what is in flight.
use super::{Choice, PacketView, Scheduler};
use crate::ids::LinkId;
use crate::link_table::LinkTable;
use alloc::vec::Vec;
use prismux_endpoint::random::RandomStream;
use prismux_units::Instant;

/// Each link in turn, whatever its rate.
#[derive(Debug, Default)]
pub struct RoundRobin {
    last: Option<LinkId>,
}

impl Scheduler for RoundRobin {
    fn choose(&mut self, _now: Instant, links: &LinkTable, _packet: &PacketView) -> Choice {
        let mut ids = links.usable().map(|(id, _)| id);
        let next = ids.clone().find(|&id| self.last.is_none_or(|last| id > last)).or_else(|| ids.next());
        self.last = next.or(self.last);
        next.into()
    }
}

/// `W0` packets per round for each link, interleaved: every packet adds each link's share to its credit, the link
/// with the most credit takes it. Static weights, as in the papers' comparison.
#[derive(Debug, Default)]
pub struct WeightedRoundRobin {
    credit: Vec<f64>,
}

impl Scheduler for WeightedRoundRobin {
    fn choose(&mut self, _now: Instant, links: &LinkTable, _packet: &PacketView) -> Choice {
        let mut total = 0.0;
        let mut best: Option<(LinkId, f64)> = None;
        for (id, link) in links.usable() {
            let index = usize::from(id.0);
            if self.credit.len() <= index {
                self.credit.resize(index + 1, 0.0);
            }
            total += link.full_weight;
            let Some(credit) = self.credit.get_mut(index) else { continue };
            *credit += link.full_weight;
            if best.is_none_or(|(_, most)| *credit > most + 1e-9) {
                best = Some((id, *credit));
            }
        }
        let Some((id, _)) = best else { return Choice::NoLink };
        if let Some(credit) = self.credit.get_mut(usize::from(id.0)) {
            *credit -= total;
        }
        Choice::Over(id)
    }
}

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
