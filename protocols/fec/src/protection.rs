//! How many repairs a block is worth.
use crate::repair::MAX_REPAIRS;

/// A link that loses less than this share of its packets is left alone: its losses are rarer than those of full queues.
const MIN_LOSS: f64 = 0.0005;
/// One block in so many may lose more than its repairs make good.
const MAX_FAILURES: f64 = 0.002;
/// Most repairs for each packet of a block, in blocks of more than one.
const MAX_SHARE: f64 = 0.25;

/// How well a link is protected, by what it loses when no queue overflows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Protection {
    loss: f64,
}

impl Protection {
    /// For a link that loses this share of its packets, each by itself.
    pub fn against(loss: f64) -> Self {
        Self { loss: if loss.is_finite() { loss.clamp(0.0, 1.0) } else { 0.0 } }
    }

    /// Whether there is nothing to protect against.
    pub fn is_off(&self) -> bool {
        self.loss < MIN_LOSS
    }

    /// Repairs for a block of so many packets: as few as leave it incomplete once in five hundred times, at most a
    /// quarter of the packets, at least one.
    pub fn repairs(&self, packets: usize) -> usize {
        if self.is_off() || packets == 0 {
            return 0;
        }
        let most = (((packets as f64) * MAX_SHARE) as usize).clamp(1, MAX_REPAIRS);
        (1..most).find(|&repairs| self.failures(packets, repairs) <= MAX_FAILURES).unwrap_or(most)
    }

    /// How probable it is that more of a block's packets and repairs are lost than it has repairs.
    fn failures(&self, packets: usize, repairs: usize) -> f64 {
        let all = packets + repairs;
        let odds = self.loss / (1.0 - self.loss).max(1e-9);
        // Binomial terms, from none lost on.
        let mut term = (0..all).fold(1.0, |product, _| product * (1.0 - self.loss));
        let mut made_good = term;
        for lost in 1..=repairs {
            term *= odds * (all + 1 - lost) as f64 / lost as f64;
            made_good += term;
        }
        (1.0 - made_good).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_loss_asks_for_more_repairs_up_to_a_quarter() {
        let repairs = |loss: f64, packets| Protection::against(loss).repairs(packets);
        assert_eq!(repairs(0.0, 16), 0);
        assert_eq!(repairs(0.0004, 16), 0);
        assert_eq!(repairs(0.001, 16), 1);
        assert_eq!(repairs(0.01, 16), 2);
        assert_eq!(repairs(0.02, 16), 3);
        assert_eq!(repairs(0.3, 16), 4);
        assert_eq!(repairs(0.01, 1), 1);
        assert_eq!(repairs(f64::NAN, 16), 0);
    }

    #[test]
    fn the_share_of_incomplete_blocks_is_the_binomial_tail() {
        // 17 packets at 1 %: 1 - 0.99^17 - 17 * 0.01 * 0.99^16.
        let power = |exponent: u32| (0..exponent).fold(1.0, |product, _| product * 0.99);
        let expected = 1.0 - power(17) - 0.17 * power(16);
        assert!((Protection::against(0.01).failures(16, 1) - expected).abs() < 1e-12);
    }
}
