//! One link's queue against what another one sends.
use crate::regression::{Observation, Regression, Unexplained};
use crate::sends::{SLOT, Sends};
use alloc::vec::Vec;
use prismux_units::Duration;

/// What the other link sends may reach the queue so much earlier or later than what the link itself sends.
pub(crate) const MAX_SHIFT: Duration = Duration::from_millis(100);
/// Shifts are tried in steps of this.
const STEP: Duration = Duration::from_millis(1);
/// How many shifts there are on each side of none.
pub(crate) const SHIFTS: u64 = MAX_SHIFT.as_nanos() / STEP.as_nanos();
/// Slots in a step.
const STEP_SLOTS: u64 = STEP.as_nanos() / SLOT.as_nanos();
/// Observations within so long are compared with one another.
const BLOCK: Duration = Duration::from_millis(100);
/// If there are so many.
const MIN_BLOCK: usize = 3;

/// Observations of one link, explained with the help of another.
#[derive(Debug)]
pub(crate) struct Way {
    block: Vec<Observation>,
    regression: Regression,
}

impl Way {
    /// Nothing observed.
    pub fn new() -> Self {
        Self { block: Vec::new(), regression: Regression::new(2 * SHIFTS as usize + 1) }
    }

    /// The next observation; `other` is what the other link has sent.
    pub fn add(&mut self, observation: Observation, other: &Sends) {
        let block_slots = BLOCK.as_nanos() / SLOT.as_nanos();
        if self.block.first().is_some_and(|first| first.slots.0 + block_slots < observation.slots.1) {
            self.end_block(other);
        }
        self.block.push(observation);
    }

    fn end_block(&mut self, other: &Sends) {
        let block = core::mem::take(&mut self.block);
        let reach = SHIFTS * STEP_SLOTS;
        let is_known = |o: &Observation| {
            let (first, last) = (o.slots.0.checked_sub(reach), o.slots.1 + reach);
            first.is_some_and(|first| other.between((first, last)).is_some())
        };
        if block.len() < MIN_BLOCK || !block.iter().all(is_known) {
            return;
        }
        self.regression.add_block(&block, |shift, observation| {
            let shifted = |slot: u64| (slot + shift as u64 * STEP_SLOTS).saturating_sub(reach);
            let (from, to) = observation.slots;
            other.between((shifted(from), shifted(to))).map_or(0.0, f64::from)
        });
    }

    /// Degrees of freedom of what was observed.
    pub fn count(&self) -> f64 {
        self.regression.count()
    }

    /// How well it is explained if the other link's packets come to the queue `shift - SHIFTS` steps later than they
    /// would after an equal way.
    pub fn unexplained(&self, shift: u64) -> Option<Unexplained> {
        self.regression.unexplained(shift as usize)
    }

    /// Begins anew.
    pub fn clear(&mut self) {
        self.block.clear();
        self.regression.clear();
    }
}
