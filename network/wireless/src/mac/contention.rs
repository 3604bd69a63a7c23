//! Back-off: slots that are counted down while the medium is idle.
use super::config::Mac;
use prismux_endpoint::random::RandomStream;
use prismux_units::{Duration, Instant};

/// A host's place in the contention for the medium.
///
/// It counts nothing while time passes: it knows from when on the medium is idle for long enough, how many slots were
/// left then, and therefore when the last of them ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contention {
    /// From here on slots pass.
    from: Instant,
    slots: u32,
    window: u32,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Off,
    /// The packet found the medium idle: no slots, unless the medium becomes busy first.
    AtOnce,
    Counting,
}

impl Contention {
    pub fn new(mac: &Mac) -> Self {
        Self { from: Instant::ZERO, slots: 0, window: mac.config.min_window, state: State::Off }
    }

    pub fn is_on(&self) -> bool {
        self.state != State::Off
    }

    /// When the medium may be taken; never while nothing counts.
    #[inline]
    pub fn due(&self, slot: Duration) -> Instant {
        match self.state {
            State::Off => Instant::MAX,
            State::AtOnce | State::Counting => self.from + slot * u64::from(self.slots),
        }
    }

    pub fn stop(&mut self) {
        self.state = State::Off;
    }

    /// Draws a back-off; slots pass from `from` on.
    pub fn draw(&mut self, mac: &Mac, random: &mut RandomStream, from: Instant) {
        self.slots = self.pick(mac, random);
        self.from = from;
        self.state = State::Counting;
    }

    /// Waits without back-off, until the medium has been idle long enough.
    pub fn at_once(&mut self, from: Instant) {
        self.slots = 0;
        self.from = from;
        self.state = State::AtOnce;
    }

    fn pick(&self, mac: &Mac, random: &mut RandomStream) -> u32 {
        let choices = if mac.is_ns2() { self.window } else { self.window.saturating_add(1) };
        random.below(u64::from(choices)) as u32
    }

    /// The medium is idle for long enough from `from` on only. If that is later than it was, it is busy from `now` on:
    /// the slots that have passed are spent, a slot that has begun is not.
    #[inline]
    pub fn extend(&mut self, now: Instant, from: Instant, mac: &Mac, random: &mut RandomStream) {
        if from <= self.from {
            return;
        }
        match self.state {
            State::Off => {}
            State::AtOnce => {
                self.slots = self.pick(mac, random);
                self.state = State::Counting;
            }
            State::Counting => {
                let passed = (now - self.from).as_nanos() / mac.config.slot.as_nanos();
                self.slots -= u32::try_from(passed).unwrap_or(u32::MAX).min(self.slots);
            }
        }
        self.from = from;
    }

    /// The medium is idle sooner than it was said to be: slots pass from `from` on.
    pub fn resume(&mut self, from: Instant) {
        self.from = from;
    }

    /// An attempt failed: the window doubles.
    pub fn widen(&mut self, mac: &Mac) {
        self.window = (self.window * 2 + 1).min(mac.config.max_window);
    }

    /// An attempt succeeded, or was the last.
    pub fn reset_window(&mut self, mac: &Mac) {
        self.window = mac.config.min_window;
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::{Mac, MacConfig};
    use super::Contention;
    use alloc::vec;
    use prismux_endpoint::random::Seed;
    use prismux_units::{Duration, Instant};

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    #[test]
    fn whole_slots_are_spent_and_a_slot_that_has_begun_is_not() {
        let mac = Mac::new(MacConfig::ns2(), Duration::from_micros(1));
        let mut random = Seed(1).stream("back-off");
        let mut contention = Contention::new(&mac);
        contention.draw(&mac, &mut random, at(100));
        contention.slots = 5;
        assert_eq!(contention.due(mac.config.slot), at(200));
        // Two and a half slots pass.
        contention.extend(at(150), at(1000), &mac, &mut random);
        assert_eq!(contention.due(mac.config.slot), at(1060));
        // Busy again before the first slot begins.
        contention.extend(at(990), at(2000), &mac, &mut random);
        assert_eq!(contention.due(mac.config.slot), at(2060));
    }

    #[test]
    fn the_window_doubles_to_its_end_and_begins_anew() {
        let mac = Mac::new(MacConfig::ns2(), Duration::from_micros(1));
        let mut contention = Contention::new(&mac);
        let mut windows = vec![contention.window];
        for _ in 0..6 {
            contention.widen(&mac);
            windows.push(contention.window);
        }
        assert_eq!(windows, [31, 63, 127, 255, 511, 1023, 1023]);
        contention.reset_window(&mac);
        assert_eq!(contention.window, 31);
    }
}
