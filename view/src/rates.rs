//! What links and flows delivered over time, and what links dropped.
use crate::answer::Question;
use crate::run::{FlowRecord, Run};
use crate::sample::{Buckets, Levels, Sums};
use serde::Serialize;

/// Rates are averaged over at least so many packets, or single packets would look like bursts.
const PACKETS_PER_RATE: usize = 24;
/// Pixels of a rate's bucket at least.
const PIXELS_PER_RATE: usize = 3;

/// What links and flows delivered, in buckets of their own.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rates {
    /// Start of the first bucket, at or before [`Answer::from`](crate::Answer::from).
    pub start: u64,
    /// Width of a bucket in nanoseconds.
    pub width: u64,
    /// By link: bytes delivered forward in each bucket.
    pub forward: Vec<Vec<u64>>,
    /// By link: bytes delivered in the other direction.
    pub reverse: Vec<Vec<u64>>,
    /// By link: capacity in bits per second at the end of each bucket, forward; `null` without a limit.
    pub capacity: Vec<Vec<Option<u64>>>,
    /// By link: the same in the other direction.
    pub reverse_capacity: Vec<Vec<Option<u64>>>,
    /// By link: packets dropped in the stretch, in both directions.
    pub dropped: Vec<u64>,
    /// Packets dropped in each bucket, in both directions, by the links that [`Run::lossy`] lists.
    pub drops: Vec<Vec<u64>>,
    /// Bytes that reached their receiver in each bucket, by the flows that [`Run::busiest`] lists.
    pub flows: Vec<Vec<u64>>,
}

impl Run {
    /// Rates of a stretch, in buckets as fine as the packets on the flow's paths allow.
    pub(crate) fn rates(&self, question: &Question, flow: &FlowRecord) -> Rates {
        let (from, to) = (question.from_ns, question.to_ns);
        let ways = flow.path_numbers.iter().zip(&flow.path_directions);
        let sums = ways.map(|(&path, &way)| &self.links[self.paths[path]].delivered[way]);
        let packets: usize = match flow.path_numbers.is_empty() {
            true => flow.arrived.instants(from, to),
            false => sums.map(|sums| sums.instants(from, to)).sum(),
        };
        let wanted = (packets / PACKETS_PER_RATE).clamp(1, (question.width / PIXELS_PER_RATE).max(1));
        let width = round_up((to - from).div_ceil(wanted as u64));
        let start = from / width * width;
        let count = ((to - start).div_ceil(width)) as usize;
        let buckets = Buckets::new(start, start + count as u64 * width, count);
        let sampled =
            |way: usize| self.links.iter().map(|link| link.delivered[way].sample(&buckets)).collect();
        let capacity = |levels: &Levels| {
            levels.sample(&buckets).into_iter().map(|bucket| bucket.map(|bucket| bucket.last)).collect()
        };
        let capacities = |way: usize| self.links.iter().map(|link| capacity(&link.rate[way])).collect();
        let drops = |sums: &[Sums; 2]| {
            let [forward, reverse] = [0, 1].map(|way: usize| sums[way].sample(&buckets));
            forward.iter().zip(&reverse).map(|(a, b)| a + b).collect()
        };
        let between = |sums: &[Sums; 2]| sums.iter().map(|sums| sums.between(from, to)).sum();
        Rates {
            start,
            width,
            forward: sampled(0),
            reverse: sampled(1),
            capacity: capacities(0),
            reverse_capacity: capacities(1),
            dropped: self.links.iter().map(|link| between(&link.dropped)).collect(),
            drops: self.lossy.iter().map(|&link| drops(&self.links[link].dropped)).collect(),
            flows: self.busiest.iter().map(|&flow| self.flows[flow].arrived.sample(&buckets)).collect(),
        }
    }
}

/// The next of 1, 2, 5, 10, 20, ... that is not below `nanoseconds`.
fn round_up(nanoseconds: u64) -> u64 {
    let mut unit: u64 = 1;
    loop {
        for factor in [1, 2, 5] {
            let width = unit.saturating_mul(factor);
            if width >= nanoseconds {
                return width;
            }
        }
        unit = unit.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_of_rates_are_round() {
        let rounded = [0, 1, 3, 6, 11, 2000, 2001].map(round_up);
        assert_eq!(rounded, [1, 1, 5, 10, 20, 2000, 5000]);
        assert_eq!(round_up(u64::MAX), u64::MAX, "and there is one for everything");
    }
}
