//! The future: a hierarchical timing wheel with a stable order.
//!
//! Events leave in order of time, equal ones in order of insertion, whatever the wheel looks like inside. Insertion
//! and removal cost a constant number of steps at any number of pending events: an event is appended to the list of
//! one slot, moves down at most once per level, and is sorted only among the events of its own 16 microseconds, which
//! mostly come in order. Lists share their memory, so that nothing is allocated once a run has settled.
//!
//! Every list is in order of insertion: a slot is spread over the slots below before any event can be put there
//! directly. A stable sort by time is therefore all it takes.

mod lists;
#[cfg(test)]
mod tests;

use lists::{List, Lists};
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

/// What there is to take from an [`EventQueue`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Popped<T> {
    /// An event.
    Due(Instant, T),
    /// An event that is not due yet.
    Later,
    /// Nothing in the slot that has been opened last; [`EventQueue::open_next_slot`] opens another.
    SlotDone,
}

/// A level above the lowest.
#[derive(Debug, Clone, Copy)]
struct Upper {
    /// Bit `i` set: slot `i` has events.
    occupied: u64,
    slots: [List; UPPER_SLOTS],
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
    base: Box<[List; BASE_SLOTS]>,
    upper: Box<[Upper; UPPER_LEVELS]>,
    /// The events of all slots.
    lists: Lists<T>,
    /// Events of a higher slot while they are spread.
    spread: Vec<Event<T>>,
    inserted: u64,
}

impl<T: Copy> EventQueue<T> {
    pub fn new() -> Self {
        Self {
            current: Vec::new(),
            next: 0,
            grain: 0,
            base_occupied: [0; BASE_SLOTS / 64],
            base: Box::new([List::EMPTY; BASE_SLOTS]),
            upper: Box::new([Upper { occupied: 0, slots: [List::EMPTY; UPPER_SLOTS] }; UPPER_LEVELS]),
            lists: Lists::new(),
            spread: Vec::new(),
            inserted: 0,
        }
    }

    /// Events ever inserted.
    pub fn inserted(&self) -> u64 {
        self.inserted
    }

    /// Events that have not been taken.
    pub fn pending(&self) -> usize {
        self.current.len() - self.next + self.lists.len()
    }

    /// Adds an event.
    #[inline(never)] // Its arguments go in registers; within its callers they would not find room there.
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

    /// The next event of the slot that has been opened last, if it is not after `until`.
    #[inline]
    pub fn pop_until(&mut self, until: Instant) -> Popped<T> {
        match self.current.get(self.next) {
            Some(event) if event.nanos <= until.as_nanos() => {
                self.next += 1;
                Popped::Due(Instant::from_nanos(event.nanos), event.target)
            }
            Some(_) => Popped::Later,
            None => Popped::SlotDone,
        }
    }

    /// A time before which no event is due. What is due sooner may happen without the queue, in the same order.
    #[inline]
    pub fn quiet_until(&self) -> Instant {
        if let Some(event) = self.current.get(self.next) {
            return Instant::from_nanos(event.nanos);
        }
        let round = self.grain & !(BASE_SLOTS as u64 - 1);
        let slot = match self.base_occupied.iter().position(|&word| word != 0) {
            Some(word) => word * 64 + self.base_occupied[word].trailing_zeros() as usize,
            None => BASE_SLOTS,
        };
        Instant::from_nanos((round + slot as u64) << GRAIN_BITS)
    }

    /// Puts the youngest event at its place among the current ones; it is mostly one of the last.
    #[inline(never)]
    fn insert_current(&mut self, event: Event<T>) {
        let waiting = &self.current[self.next..];
        let later = waiting.iter().rev().take_while(|other| other.nanos > event.nanos).count();
        self.current.insert(self.current.len() - later, event);
    }

    /// Appends an event to its slot. The level is that of the highest digit in which its time differs from the
    /// current one, so a slot never mixes rounds.
    #[inline(always)] // Called at two places, with an event that is in registers.
    fn place(&mut self, event: Event<T>) {
        let grain = event.grain();
        let difference = grain ^ self.grain;
        debug_assert!(grain > self.grain, "the current slot's events are kept apart");
        if difference < BASE_SLOTS as u64 {
            let slot = grain as usize % BASE_SLOTS;
            self.base_occupied[slot / 64] |= 1 << (slot % 64);
            self.lists.append(&mut self.base[slot], event);
        } else {
            let level = (63 - difference.leading_zeros() - BASE_BITS) / UPPER_BITS;
            let slot = (grain >> (BASE_BITS + level * UPPER_BITS)) as usize % UPPER_SLOTS;
            let upper = &mut self.upper[level as usize];
            upper.occupied |= 1 << slot;
            self.lists.append(&mut upper.slots[slot], event);
        }
    }

    /// Makes the next occupied slot the current one, which must be worked off. False when there are no events.
    #[inline]
    pub fn open_next_slot(&mut self) -> bool {
        self.current.clear();
        self.next = 0;
        self.open_base_slot() || self.descend()
    }

    /// Makes the next occupied slot of the lowest level the current one, if there is one.
    #[inline]
    fn open_base_slot(&mut self) -> bool {
        let Some(word) = self.base_occupied.iter().position(|&word| word != 0) else { return false };
        let slot = word * 64 + self.base_occupied[word].trailing_zeros() as usize;
        self.base_occupied[word] &= self.base_occupied[word] - 1;
        self.grain = self.grain & !(BASE_SLOTS as u64 - 1) | slot as u64;
        self.lists.exchange(&mut self.base[slot % BASE_SLOTS], &mut self.current);
        if self.current.len() > 1 {
            self.sort_current();
        }
        true
    }

    #[inline(never)] // Opening a slot with one event stays short.
    fn sort_current(&mut self) {
        self.current.sort_by_key(|event| event.nanos);
    }

    /// Spreads slots of higher levels until one event or more are current. False when there are no events.
    #[inline(never)]
    fn descend(&mut self) -> bool {
        while self.spread_next_slot() {
            if !self.current.is_empty() || self.open_base_slot() {
                return true;
            }
        }
        false
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
        let mut events = std::mem::take(&mut self.spread);
        self.lists.exchange(&mut self.upper[level].slots[slot as usize], &mut events);
        for event in events.drain(..) {
            if event.grain() == self.grain {
                self.insert_current(event);
            } else {
                self.place(event);
            }
        }
        self.spread = events;
        true
    }
}
