//! How evenly flows share what there is.
use super::{FlowResult, Named, RunResult};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Flows of one kind, together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct GroupResult {
    /// How many.
    pub flows: u64,
    /// What they delivered from the start of the first to the end of the last, over that time, bits per second.
    pub goodput_bps: f64,
    /// Jain's index of their goodputs, each over its own time.
    pub jain: Option<f64>,
}

/// A flow among those that share what there is.
#[derive(Debug, Clone, PartialEq)]
pub struct Competitor<'a> {
    /// Its name.
    pub flow: &'a str,
    /// The name of its group.
    pub group: &'a str,
    /// From its start to its end, in seconds of the run: the time that its goodput is over.
    pub active_s: Range<f64>,
}

/// A group's flows as they come: their goodputs, what they delivered in bits, and from when to when.
#[derive(Debug)]
struct Sharing {
    goodputs_bps: Vec<f64>,
    bits: f64,
    active_s: Range<f64>,
}

impl Sharing {
    const NOBODY: Self = Self { goodputs_bps: Vec::new(), bits: 0.0, active_s: f64::INFINITY..0.0 };

    fn add(&mut self, goodput_bps: f64, active_s: &Range<f64>) {
        self.goodputs_bps.push(goodput_bps);
        self.bits += goodput_bps * (active_s.end - active_s.start);
        self.active_s = self.active_s.start.min(active_s.start)..self.active_s.end.max(active_s.end);
    }

    fn result(&self) -> GroupResult {
        let seconds = self.active_s.end - self.active_s.start;
        GroupResult {
            flows: self.goodputs_bps.len() as u64,
            goodput_bps: if seconds > 0.0 { self.bits / seconds } else { 0.0 },
            jain: jain(&self.goodputs_bps),
        }
    }
}

/// Jain's index of `shares` (R. Jain, D. Chiu, W. Hawe, *A quantitative measure of fairness and discrimination for
/// resource allocation in shared computer systems*, DEC-TR-301, 1984): the square of their sum over their number times
/// the sum of their squares. 1 for equal shares, 1/n where one has all; `None` for fewer than two, or nothing to share.
pub fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (shares.len() > 1 && squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

impl RunResult {
    /// Fills in Jain's index over `flows`, and the line of each group of at least two of them.
    pub fn set_fairness<'a>(&mut self, flows: impl IntoIterator<Item = Competitor<'a>>) {
        let mut all = Vec::new();
        let mut groups: Named<Sharing> = Named::default();
        for Competitor { flow, group, active_s } in flows {
            if let Some(FlowResult { goodput_bps, .. }) = self.flows.get(flow) {
                all.push(*goodput_bps);
                groups.entry(group.to_string()).or_insert(Sharing::NOBODY).add(*goodput_bps, &active_s);
            }
        }
        self.total.jain = jain(&all);
        groups.retain(|_, sharing| sharing.goodputs_bps.len() > 1);
        self.groups = groups.iter().map(|(name, sharing)| (name.clone(), sharing.result())).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::jain;

    #[test]
    fn the_index_is_that_of_known_shares() {
        assert_eq!(jain(&[2.0, 2.0, 2.0]), Some(1.0));
        assert_eq!(jain(&[5.0, 0.0, 0.0, 0.0]), Some(0.25));
        // (1 + 2 + 3)^2 / (3 (1 + 4 + 9)).
        assert_eq!(jain(&[1.0, 2.0, 3.0]), Some(36.0 / 42.0));
        assert_eq!((jain(&[1.0]), jain(&[]), jain(&[0.0, 0.0])), (None, None, None));
    }
}
