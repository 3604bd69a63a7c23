//! How many bytes have been sent over a link by when.
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

/// Times are told apart to this.
pub(crate) const SLOT: Duration = Duration::from_micros(500);
/// Slots that are remembered: two seconds.
const SLOTS: u64 = 4096;

/// Bytes sent over a link, all together, at the end of each slot of the last two seconds.
#[derive(Debug)]
pub(crate) struct Sends {
    /// By slot, in a ring; they wrap around.
    sums: Vec<u32>,
    /// The present slot, and the bytes up to now.
    slot: u64,
    total: u32,
    /// The first slot that is known.
    first: u64,
}

impl Sends {
    /// Nothing has been sent at `now`.
    pub fn new(now: Instant) -> Self {
        let slot = slot_of(now);
        Self { sums: alloc::vec![0; SLOTS as usize], slot, total: 0, first: slot }
    }

    /// `bytes` are sent.
    pub fn add(&mut self, now: Instant, bytes: u32) {
        self.advance(now);
        self.total = self.total.wrapping_add(bytes);
        self.put(self.slot);
    }

    /// Time passes.
    pub fn advance(&mut self, now: Instant) {
        let slot = slot_of(now);
        if slot <= self.slot {
            return;
        }
        let from = (self.slot + 1).max(slot.saturating_sub(SLOTS - 1));
        (from..=slot).for_each(|slot| self.put(slot));
        self.slot = slot;
    }

    fn put(&mut self, slot: u64) {
        if let Some(place) = self.sums.get_mut((slot % SLOTS) as usize) {
            *place = self.total;
        }
    }

    /// Bytes sent up to the end of `slot`; `None` where that is not known, yet or any more.
    fn up_to(&self, slot: u64) -> Option<u32> {
        let is_known = slot >= self.first && slot < self.slot && slot + SLOTS > self.slot;
        self.sums.get((slot % SLOTS) as usize).copied().filter(|_| is_known)
    }

    /// Bytes sent after the end of a slot and up to that of a later one.
    pub fn between(&self, (from, to): (u64, u64)) -> Option<u32> {
        Some(self.up_to(to)?.wrapping_sub(self.up_to(from)?))
    }
}

/// The slot that a time is in.
pub(crate) fn slot_of(at: Instant) -> u64 {
    at.as_nanos() / SLOT.as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_known_by_slot_for_two_seconds() {
        let at = |slot: u64| Instant::from_nanos(slot * SLOT.as_nanos() + 1000);
        let mut sends = Sends::new(at(10));
        sends.add(at(10), 100);
        sends.add(at(12), 50);
        assert_eq!(sends.up_to(12), None, "the slot is not over");
        sends.advance(at(20));
        let known = [9, 10, 11, 12, 19, 20].map(|slot| sends.up_to(slot));
        assert_eq!(known, [None, Some(100), Some(100), Some(150), Some(150), None]);
        sends.advance(at(10 + SLOTS));
        assert_eq!((sends.up_to(10), sends.up_to(11)), (None, Some(100)));
        sends.advance(at(10 + 3 * SLOTS));
        assert_eq!(sends.up_to(12 + 2 * SLOTS), Some(150));
    }
}
