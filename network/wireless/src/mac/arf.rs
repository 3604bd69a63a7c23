//! Automatic rate fallback (A. Kamerman and L. Monteban, "WaveLAN-II: a high-performance wireless LAN for the
//! unlicensed band", Bell Labs Technical Journal, summer 1997).
//!
//! After ten acknowledgements in a row a host tries the next faster rate. The first packet there is a probe: if its
//! acknowledgement does not come, the host falls back at once; at other times after two failures in a row. A timer too
//! leads to a probe, for hosts whose packets never succeed ten times in a row. It counts attempts, 15 of them, as
//! M. Lacage, M. Manshaei and T. Turletti, "IEEE 802.11 rate adaptation: a practical approach", MSWiM 2004, have it.
use super::config::ArfConfig;

/// What becomes of the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Raised,
    Lowered,
}

/// The rate that a host uses towards one neighbour.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arf {
    /// Which of the standard's rates, from the slowest.
    step: u8,
    /// In a row.
    successes: u8,
    /// In a row.
    failures: u8,
    /// Since the rate changed, or two attempts failed at the slowest.
    attempts: u8,
    /// Whether nothing has succeeded at this rate since it was raised.
    is_probe: bool,
}

impl Arf {
    /// Begins at the fastest.
    pub const fn new(fastest: u8) -> Self {
        Self { step: fastest, successes: 0, failures: 0, attempts: 0, is_probe: false }
    }

    /// Which of the standard's rates, from the slowest.
    pub const fn step(&self) -> u8 {
        self.step
    }

    /// A packet was acknowledged.
    pub fn succeeded(&mut self, config: &ArfConfig, fastest: u8) -> Option<Change> {
        (self.is_probe, self.failures) = (false, 0);
        self.successes = self.successes.saturating_add(1);
        self.attempts = self.attempts.saturating_add(1);
        let due = self.successes >= config.raise_after || self.attempts >= config.probe_after;
        if !due || self.step >= fastest {
            return None;
        }
        *self = Self { is_probe: true, ..Self::new(self.step + 1) };
        Some(Change::Raised)
    }

    /// An acknowledgement did not come.
    pub fn failed(&mut self, config: &ArfConfig) -> Option<Change> {
        self.successes = 0;
        self.failures = self.failures.saturating_add(1);
        self.attempts = self.attempts.saturating_add(1);
        if !self.is_probe && self.failures < config.lower_after {
            return None;
        }
        let before = self.step;
        *self = Self::new(before.saturating_sub(1));
        (before > 0).then_some(Change::Lowered)
    }
}

#[cfg(test)]
mod tests {
    use super::{Arf, ArfConfig};
    use alloc::vec::Vec;

    /// Plays acknowledgements (`+`) and their absence (`-`), four rates from the fastest on. The rate of each attempt.
    fn rates(script: &str) -> Vec<u8> {
        let config = ArfConfig::kamerman_monteban();
        let mut arf = Arf::new(3);
        let mut attempt = |outcome: char| {
            let step = arf.step();
            match outcome {
                '+' => arf.succeeded(&config, 3),
                _ => arf.failed(&config),
            };
            step
        };
        script.chars().map(&mut attempt).collect()
    }

    #[test]
    fn two_failures_in_a_row_lower_the_rate_and_one_does_not() {
        assert_eq!(rates("-+-+--+"), [3, 3, 3, 3, 3, 3, 2]);
        assert_eq!(rates("------++"), [3, 3, 2, 2, 1, 1, 0, 0], "not below the slowest");
    }

    #[test]
    fn ten_successes_in_a_row_raise_it_and_a_failed_probe_lowers_it_at_once() {
        // Down to 2; ten successes; the probe at 3 fails.
        assert_eq!(rates("--++++++++++-+"), [3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2]);
        // The probe succeeds: from now on two failures are needed.
        assert_eq!(rates("--+++++++++++-+")[12..], [3, 3, 3]);
        // It never rises above the fastest.
        assert_eq!(rates("+++++++++++++"), [3; 13]);
    }

    #[test]
    fn fifteen_attempts_lead_to_a_probe_though_every_other_fails() {
        let found = rates("--+-+-+-+-+-+-+-++");
        assert_eq!(found[2..17], [2; 15], "{found:?}");
        assert_eq!(found[17], 3, "{found:?}");
    }
}
