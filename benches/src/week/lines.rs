//! What links carry, and what the proxy believes of them, second by second.
use super::faults::Faults;
use super::hour::Link;
use super::network::{Community, MEMBERS};
use prismux_simulator::Simulation;

/// Links that carry so much of their rates are full.
const FULL: f64 = 0.8;
/// A link that carries less of its rate is not used.
const USED: f64 = 0.1;
/// A link that has just come back is not wanted yet.
const SETTLES_S: u64 = 10;
/// A learned rate above so many times the link's own is too high.
const TOO_HIGH: f64 = 1.25;
/// Learned rates are looked at so often, and held against the highest rate in so long.
const RATES_EVERY_S: u64 = 10;
const RATES_OVER_S: u64 = 60;

/// One link, over the hours.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    /// Bytes that have come out of it.
    delivered_bytes: u64,
    /// Seconds for which it has been there.
    there_s: u64,
    /// Wanted seconds in a row in which it was not used.
    unused_s: u64,
    /// Seconds in a row in which its learned rate was too high.
    above_s: u64,
    /// Its highest rate lately, and when it had that last.
    most_bps: f64,
    most_at_s: u64,
}

/// All links.
#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: [Line; MEMBERS],
    hour: [Link; MEMBERS],
}

impl Lines {
    /// A second has passed.
    pub fn look(&mut self, simulation: &Simulation, community: &Community, faults: &Faults, second: u64) {
        let carried_bps: [f64; MEMBERS] = std::array::from_fn(|index| {
            let delivered = simulation.forward_stats(community.uplinks[index]).delivered_bytes;
            let before = std::mem::replace(&mut self.lines[index].delivered_bytes, delivered);
            self.hour[index].carried_bytes += delivered - before;
            (delivered - before) as f64 * 8.0
        });
        for index in 0..MEMBERS {
            let line = &mut self.lines[index];
            line.there_s = if faults.is_usable(index) { line.there_s + 1 } else { 0 };
            self.hour[index].usable_s += u64::from(line.there_s > 0);
            let rate_bps = faults.rate(index).as_bps() as f64;
            if rate_bps >= line.most_bps || second > line.most_at_s + RATES_OVER_S {
                (line.most_bps, line.most_at_s) = (rate_bps, second);
            }
        }
        for index in 0..MEMBERS {
            let others = (0..MEMBERS).filter(|&other| other != index && self.lines[other].there_s > 0);
            let (carry, can) = others.fold((0.0, 0.0), |(carry, can), other| {
                (carry + carried_bps[other], can + faults.rate(other).as_bps() as f64)
            });
            if carry >= FULL * can && can > 0.0 && self.lines[index].there_s > SETTLES_S {
                let is_used = carried_bps[index] >= USED * faults.rate(index).as_bps() as f64;
                self.wanted(index, is_used);
            }
        }
        if second.is_multiple_of(RATES_EVERY_S) {
            self.look_at_rates(simulation, community);
        }
    }

    fn wanted(&mut self, index: usize, is_used: bool) {
        let (line, hour) = (&mut self.lines[index], &mut self.hour[index]);
        hour.wanted_s += 1;
        line.unused_s = if is_used { 0 } else { line.unused_s + 1 };
        hour.unused_s += u64::from(!is_used);
        hour.longest_unused_s = hour.longest_unused_s.max(line.unused_s);
    }

    fn look_at_rates(&mut self, simulation: &Simulation, community: &Community) {
        for status in simulation.proxy_links(community.proxy) {
            let index = usize::from(status.id.0);
            let (line, hour) = (&mut self.lines[index], &mut self.hour[index]);
            let share = status.rate.map_or(0.0, |rate| rate.as_bps() as f64 / line.most_bps);
            hour.most_learned = hour.most_learned.max(share);
            line.above_s = if share > TOO_HIGH { line.above_s + RATES_EVERY_S } else { 0 };
            hour.longest_above_s = hour.longest_above_s.max(line.above_s);
        }
    }

    /// What was seen since the last call.
    pub fn take(&mut self) -> [Link; MEMBERS] {
        std::mem::take(&mut self.hour)
    }
}
