//! Baselines that do not look at what is in flight.
use super::{Choice, PacketView, Scheduler};
use crate::ids::LinkId;
use crate::link_table::LinkTable;
use alloc::vec::Vec;
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

/// Rounds in which each link takes the whole packets that its weight allows, one at least, in a row: its quantum.
/// Static weights, as in the papers' comparison. (Section IV-B.1: "WRR divides the time into rounds, in each of which
/// packets are assigned to a link based on its proportional bandwidth"; in case A the first two packets use up the
/// quantum of the link of weight 2.)
#[derive(Debug, Default)]
pub struct WeightedRoundRobin {
    turns: RoundRobin,
    /// Packets of the last link's quantum that are left.
    left: u32,
}

impl Scheduler for WeightedRoundRobin {
    fn choose(&mut self, now: Instant, links: &LinkTable, packet: &PacketView) -> Choice {
        let same = self.turns.last.filter(|&id| links.get(id).is_some_and(|link| link.up && link.usable));
        if let Some(id) = same
            && self.left > 0
        {
            self.left -= 1;
            return Choice::Over(id);
        }
        let choice = self.turns.choose(now, links, packet);
        if let Choice::Over(id) = choice {
            let weight = links.get(id).map_or(1.0, |link| link.variables.full_weight);
            self.left = (libm::floor(weight + WHOLE) as u32).saturating_sub(1);
        }
        choice
    }
}

/// What rounding may have taken from a weight that is whole.
const WHOLE: f64 = 1e-9;

/// `W0` packets per round for each link, fractions included, interleaved: every packet adds each link's share to its
/// credit, the link with the most credit takes it.
#[derive(Debug, Default)]
pub struct SmoothWeightedRoundRobin {
    credit: Vec<f64>,
}

impl Scheduler for SmoothWeightedRoundRobin {
    fn choose(&mut self, _now: Instant, links: &LinkTable, _packet: &PacketView) -> Choice {
        let mut total = 0.0;
        let mut best: Option<(LinkId, f64)> = None;
        for (id, link) in links.usable() {
            let index = usize::from(id.0);
            if self.credit.len() <= index {
                self.credit.resize(index + 1, 0.0);
            }
            total += link.variables.full_weight;
            let Some(credit) = self.credit.get_mut(index) else { continue };
            *credit += link.variables.full_weight;
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
