//! The future: a hierarchical timing wheel with a stable order.
//!
//! Events leave in order of time, equal ones in order of insertion, whatever the wheel looks like inside. Insertion
//! and removal cost a constant number of steps at any number of pending events: an event is appended to the list of
//! one slot, moves down at most once per level, and is sorted only among the events of its own 16 microseconds, which
//! mostly come in order. Lists keep their memory, so that nothing is allocated once a run has settled.
//!
//! Every list is in order of insertion: a slot is spread over the slots below before any event can be put there
//! directly. A stable sort by time is therefore all it takes.

#[cfg(test)]
mod tests;

use prismux_units::Instant;

/// Width of a slot of the lowest level: 2^14 ns. Fine enough that a slot holds about a dozen events at a million events
/// per simulated second.
const GRAIN_BITS: u32 = 14;
/// Slots of the lowest level: 256, so that it spans 4 ms, more than most links take. What is further away
/// descends once or twice.
const BASE_BITS: u32 = 8;
const BASE_SLOTS: usize = 1 << BASE_BITS;
/// Slots of every other level: one word of occupancy bits.
const UPPER_BITS: u32 = 6;
const UPPER_SLOTS: usize = 1 << UPPER_BITS;
/// Enough levels for all of time.
const UPPER_LEVELS: usize = (64 - (GRAIN_BITS + BASE_BITS) as usize).div_ceil(UPPER_BITS as usize);

/// An event: when and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Event<T> {
    nanos: u64,
    target: T,
}

impl<T> Event<T> {
    fn grain(&self) -> u64 {
        self.nanos >> GRAIN_BITS
    }
}

/// A level above the lowest.
#[derive(Debug)]
struct Upper<T> {
    /// Bit `i` set: slot `i` has events.
    occupied: u64,
    slots: [Vec<Event<T>>; UPPER_SLOTS],
}

/// Pending events with targets of type `T`.
#[derive(Debug)]
pub(crate) struct EventQueue<T> {
    /// Events of the slot that is being worked off (or before it), in order, from `next` on.
    current: Vec<Event<T>>,
    next: usize,
    /// The current slot, counted in grains; every event in the levels is in a later one.
    grain: u64,
    /// Bit `i` of word `w` set: slot `64 w + i` of the lowest level has events.
    base_occupied: [u64; BASE_SLOTS / 64],
    base: Vec<Vec<Event<T>>>,
    upper: Vec<Upper<T>>,
    inserted: u64,
}

impl<T: Copy> EventQueue<T> {
    pub fn new() -> Self {
        let upper = || Upper { occupied: 0, slots: std::array::from_fn(|_| Vec::new()) };
        Self {
            current: Vec::new(),
            next: 0,
            grain: 0,
            base_occupied: [0; BASE_SLOTS / 64],
            base: (0..BASE_SLOTS).map(|_| Vec::new()).collect(),
            upper: (0..UPPER_LEVELS).map(|_| upper()).collect(),
            inserted: 0,
        }
    }

    /// Events waiting.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        let upper = self.upper.iter().flat_map(|level| &level.slots);
        self.current.len() - self.next + self.base.iter().chain(upper).map(Vec::len).sum::<usize>()
    }

    /// Events ever inserted.
    pub fn inserted(&self) -> u64 {
        self.inserted
    }

    #[inline]
    pub fn push(&mut self, at: Instant, target: T) {
        let event = Event { nanos: at.as_nanos(), target };
        self.inserted += 1;
        if event.grain() <= self.grain {
            self.insert_current(event);
        } else {
            self.place(event);
        }
    }

    /// What comes next, in order; empty when the slot that has been opened last is worked off.
    #[inline]
    pub fn opened(&self) -> impl ExactSizeIterator<Item = T> + '_ {
        self.current[self.next..].iter().map(|event| event.target)
    }

    /// The next event not after `until`.
    #[inline]
    pub fn pop_until(&mut self, until: Instant) -> Option<(Instant, T)> {
        if self.next == self.current.len() && !self.open_next_slot() {
            return None;
        }
        let event = self.current.get(self.next)?;
        if event.nanos > until.as_nanos() {
            return None;
        }
        self.next += 1;
        Some((Instant::from_nanos(event.nanos), event.target))
    }

    /// Puts the youngest event at its place among the current ones; it is mostly one of the last.
    fn insert_current(&mut self, event: Event<T>) {
        let waiting = &self.current[self.next..];
        let later = waiting.iter().rev().take_while(|other| other.nanos > event.nanos).count();
        self.current.insert(self.current.len() - later, event);
    }

    /// Appends an event to its slot. The level is that of the highest digit in which its time differs from the
    /// current one, so a slot never mixes rounds.
    #[inline]
    fn place(&mut self, event: Event<T>) {
        let grain = event.grain();
        let difference = grain ^ self.grain;
        debug_assert!(grain > self.grain, "the current slot's events are kept apart");
        if difference < BASE_SLOTS as u64 {
            let slot = grain as usize % BASE_SLOTS;
            self.base_occupied[slot / 64] |= 1 << (slot % 64);
            self.base[slot].push(event);
        } else {
            let level = (63 - difference.leading_zeros() - BASE_BITS) / UPPER_BITS;
            let slot = (grain >> (BASE_BITS + level * UPPER_BITS)) as usize % UPPER_SLOTS;
            let upper = &mut self.upper[level as usize];
            upper.occupied |= 1 << slot;
            upper.slots[slot].push(event);
        }
    }

    /// Makes the next occupied slot the current one, which must be worked off, spreading slots of higher levels on the
    /// way. False when there are no events.
    pub fn open_next_slot(&mut self) -> bool {
        self.current.clear();
        self.next = 0;
        while self.current.is_empty() {
            if let Some(word) = self.base_occupied.iter().position(|&word| word != 0) {
                let slot = word * 64 + self.base_occupied[word].trailing_zeros() as usize;
                self.base_occupied[word] &= self.base_occupied[word] - 1;
                self.grain = self.grain & !(BASE_SLOTS as u64 - 1) | slot as u64;
                std::mem::swap(&mut self.current, &mut self.base[slot]);
                self.current.sort_by_key(|event| event.nanos);
            } else if !self.spread_next_slot() {
                return false;
            }
        }
        true
    }

    /// Moves the events of the next occupied slot above the lowest level down; those due first become current.
    fn spread_next_slot(&mut self) -> bool {
        let Some(level) = self.upper.iter().position(|level| level.occupied != 0) else { return false };
        let slot = self.upper[level].occupied.trailing_zeros();
        self.upper[level].occupied &= self.upper[level].occupied - 1;
        let shift = BASE_BITS + level as u32 * UPPER_BITS;
        let above = shift + UPPER_BITS;
        let round = if above >= 64 { 0 } else { self.grain >> above << above };
        self.grain = round | u64::from(slot) << shift;
        let mut events = std::mem::take(&mut self.upper[level].slots[slot as usize]);
        for event in events.drain(..) {
            if event.grain() == self.grain {
                self.insert_current(event);
            } else {
                self.place(event);
            }
        }
        // The list's memory serves the next round.
        self.upper[level].slots[slot as usize] = events;
        true
    }
}
