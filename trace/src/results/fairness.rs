//! How evenly flows share what there is.
use super::{FlowResult, Named, RunResult};
use serde::{Deserialize, Serialize};

/// Flows of one kind, together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct GroupResult {
    /// How many.
    pub flows: u64,
    /// Sum of their goodputs, bits per second.
    pub goodput_bps: f64,
    /// Jain's index of their goodputs.
    pub jain: Option<f64>,
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
    /// Fills in Jain's index over the flows named in `flows`, and over each group of at least two of them. With a
    /// flow's name comes that of its group.
    pub fn set_fairness<'a>(&mut self, flows: impl IntoIterator<Item = (&'a str, &'a str)>) {
        let mut all = Vec::new();
        let mut groups: Named<Vec<f64>> = Named::default();
        for (name, group) in flows {
            if let Some(FlowResult { goodput_bps, .. }) = self.flows.get(name) {
                all.push(*goodput_bps);
                groups.entry(group.to_string()).or_default().push(*goodput_bps);
            }
        }
        self.total.jain = jain(&all);
        groups.retain(|_, shares| shares.len() > 1);
        let group = |shares: Vec<f64>| GroupResult {
            flows: shares.len() as u64,
            goodput_bps: shares.iter().sum(),
            jain: jain(&shares),
        };
        self.groups = groups.into_iter().map(|(name, shares)| (name, group(shares))).collect();
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
