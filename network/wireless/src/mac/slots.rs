//! Time-division multiple access: a frame of slots that repeats, each of them one host's own (ns-2's `Mac/Tdma`).
//!
//! Nobody listens before sending and nobody acknowledges: slots do not overlap, and the guard time at their end covers
//! the way to the farthest host.
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

/// A frame of slots that begins at time zero and repeats for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotConfig {
    /// Slots in a frame.
    pub slots: u32,
    /// How long each is.
    pub slot: Duration,
    /// The part at the end of each in which nobody sends.
    pub guard: Duration,
}

impl SlotConfig {
    /// How much of a slot packets may fill.
    pub(crate) fn usable(&self) -> Duration {
        self.slot - self.guard
    }

    /// What makes the frame impossible, if anything; packets take `propagation_delay` to the others.
    pub(crate) fn fault(&self, propagation_delay: Duration) -> Option<&'static str> {
        let rules = [
            (self.slots >= 1, "a frame needs at least 1 slot"),
            (self.slots <= MAX_SLOTS, "a frame has over 65536 slots"),
            (self.slot > self.guard, "a slot must be longer than its guard time"),
            (self.slot <= Duration::from_secs(60), "a slot is over 60 s"),
            (self.guard >= propagation_delay, "the guard time must cover the propagation delay"),
        ];
        rules.into_iter().find(|(holds, _)| !holds).map(|(_, complaint)| complaint)
    }
}

/// Most slots of a frame.
const MAX_SLOTS: u32 = 1 << 16;

/// The slots of one host.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnSlots {
    /// Their numbers, ascending.
    numbers: Vec<u32>,
}

impl OwnSlots {
    pub fn new(mut numbers: Vec<u32>) -> Self {
        numbers.sort_unstable();
        Self { numbers }
    }

    /// Whether a transmission of `airtime` fits into any of them.
    pub fn fits(&self, config: &SlotConfig, airtime: Duration) -> bool {
        !self.numbers.is_empty() && airtime <= config.usable()
    }

    /// The earliest time from `now` on at which a transmission of `airtime` may begin.
    pub fn start(&self, config: &SlotConfig, now: Instant, airtime: Duration) -> Option<Instant> {
        if !self.fits(config, airtime) {
            return None;
        }
        let frame = config.slot * u64::from(config.slots);
        let passed = Duration::from_nanos((now - Instant::ZERO).as_nanos() % frame.as_nanos().max(1));
        let this_frame = now - passed;
        let begins = |frame_begins: Instant, number: u32| frame_begins + config.slot * u64::from(number);
        let in_time = |begins: &Instant| *begins + (config.usable() - airtime) >= now;
        let now_or_later = self.numbers.iter().map(|number| begins(this_frame, *number)).find(in_time);
        let next = now_or_later.or_else(|| Some(begins(this_frame + frame, *self.numbers.first()?)));
        next.map(|begins| begins.max(now))
    }
}

#[cfg(test)]
mod tests {
    use super::{OwnSlots, SlotConfig};
    use alloc::vec;
    use prismux_units::{Duration, Instant};

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    #[test]
    fn a_transmission_begins_in_an_own_slot_and_ends_before_its_guard_time() {
        // Slots 1 and 3 of five, 100 us each, the last 10 us of each silent.
        let config =
            SlotConfig { slots: 5, slot: Duration::from_micros(100), guard: Duration::from_micros(10) };
        let own = OwnSlots::new(vec![3, 1]);
        let start = |now, airtime| own.start(&config, at(now), Duration::from_micros(airtime));
        for (now, airtime, expected) in [
            (0, 40, 100),
            (100, 40, 100),
            (150, 40, 150),
            (151, 40, 300),
            (300, 90, 300),
            (301, 90, 600),
            (499, 1, 600),
            (5_000_399, 40, 5_000_600),
        ] {
            assert_eq!(start(now, airtime), Some(at(expected)), "{airtime} us at {now} us");
        }
        assert_eq!(start(0, 91), None, "too long for any slot");
        assert_eq!(OwnSlots::default().start(&config, at(0), Duration::ZERO), None, "no slot");
    }
}
