//! The future: a hierarchical timing wheel with a stable order.
//!
//! Events leave in order of (time, insertion number), whatever the wheel looks like inside. Insertion and removal cost
//! a constant number of steps at any number of pending events: each event sits in the list of one slot, moves down
//! at most once per level, and is sorted only among the events of its own 16 microseconds. Nothing is allocated once
//! the most events that were ever pending at one time have been.

#[cfg(test)]
mod tests;

use prismux_units::Instant;

/// Width of a slot of the lowest level: 2^14 ns. Fine enough that a slot holds about a dozen events at a million events
/// per simulated second, coarse enough that an event seldom descends more than one level.
const GRAIN_BITS: u32 = 14;
/// Slots per level: one word of occupancy bits.
const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
/// Enough levels for all of time.
const LEVELS: usize = (64 - GRAIN_BITS as usize).div_ceil(SLOT_BITS as usize);
/// End of a list.
const NONE: u32 = u32::MAX;

/// An event: when, in what order among equals, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Event<T> {
    nanos: u64,
    number: u64,
    target: T,
}

impl<T> Event<T> {
    fn key(&self) -> (u64, u64) {
        (self.nanos, self.number)
    }
}

#[derive(Debug, Clone, Copy)]
struct Node<T> {
    event: Event<T>,
    next: u32,
}

#[derive(Debug)]
struct Level {
    /// Bit `i` set: slot `i` has events.
    occupied: u64,
    heads: [u32; SLOTS],
}

/// Pending events with targets of type `T`.
#[derive(Debug)]
pub(crate) struct EventQueue<T> {
    levels: [Level; LEVELS],
    nodes: Vec<Node<T>>,
    free: u32,
    /// Start of the slot whose events are in `current`; every event in the levels is in a later slot.
    slot_start: u64,
    /// Events of the current slot (or before it), the next one last.
    current: Vec<Event<T>>,
    /// `current` has just been filled with more than one event.
    fresh: bool,
    inserted: u64,
    pending: usize,
}

impl<T: Copy> EventQueue<T> {
    pub fn new() -> Self {
        Self {
            levels: std::array::from_fn(|_| Level { occupied: 0, heads: [NONE; SLOTS] }),
            nodes: Vec::new(),
            free: NONE,
            slot_start: 0,
            current: Vec::new(),
            fresh: false,
            inserted: 0,
            pending: 0,
        }
    }

    /// Events waiting.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.pending
    }

    /// Events ever inserted.
    pub fn inserted(&self) -> u64 {
        self.inserted
    }

    #[inline]
    pub fn push(&mut self, at: Instant, target: T) {
        let event = Event { nanos: at.as_nanos(), number: self.inserted, target };
        self.inserted += 1;
        self.pending += 1;
        if event.nanos >> GRAIN_BITS <= self.slot_start >> GRAIN_BITS {
            self.push_current(event);
            return;
        }
        let index = match self.free {
            NONE => {
                self.nodes.push(Node { event, next: NONE });
                (self.nodes.len() - 1) as u32
            }
            index => {
                let node = &mut self.nodes[index as usize];
                self.free = node.next;
                node.event = event;
                index
            }
        };
        self.link(index, event.nanos);
    }

    /// The next event not after `until`.
    #[inline]
    pub fn pop_until(&mut self, until: Instant) -> Option<(Instant, T)> {
        if self.current.is_empty() {
            if !self.load_next_slot() {
                return None;
            }
            self.fresh = self.current.len() > 1;
        }
        let next = self.current.last()?;
        if next.nanos > until.as_nanos() {
            return None;
        }
        let (at, target) = (Instant::from_nanos(next.nanos), next.target);
        self.current.pop();
        self.pending -= 1;
        Some((at, target))
    }

    /// Whether a slot with several events has been opened since the last call.
    #[inline]
    pub fn take_fresh(&mut self) -> bool {
        std::mem::take(&mut self.fresh)
    }

    /// The targets of the current slot's events, the next one last.
    pub fn current_targets(&self) -> impl Iterator<Item = T> {
        self.current.iter().map(|event| event.target)
    }

    /// Keeps `current` in falling order.
    fn push_current(&mut self, event: Event<T>) {
        let later = self.current.iter().rev().take_while(|other| other.key() < event.key()).count();
        self.current.insert(self.current.len() - later, event);
    }

    /// Puts a node into the slot of its time. The level is that of the highest digit (base 64) in which its
    /// time differs from the current one, so a slot never mixes rounds.
    #[inline]
    fn link(&mut self, index: u32, nanos: u64) {
        let difference = (nanos ^ self.slot_start) >> GRAIN_BITS;
        debug_assert!(difference > 0, "the current slot's events are kept apart");
        let level = (63 - difference.leading_zeros()) / SLOT_BITS;
        let slot = (nanos >> (GRAIN_BITS + level * SLOT_BITS)) as usize % SLOTS;
        let level = &mut self.levels[level as usize];
        self.nodes[index as usize].next = level.heads[slot];
        level.heads[slot] = index;
        level.occupied |= 1 << slot;
    }

    /// Moves the events of the next occupied slot to `current`, spreading slots of higher levels on the way.
    fn load_next_slot(&mut self) -> bool {
        loop {
            let Some(level) = self.levels.iter().position(|level| level.occupied != 0) else { return false };
            let slot = self.levels[level].occupied.trailing_zeros();
            let shift = GRAIN_BITS + level as u32 * SLOT_BITS;
            let above = shift + SLOT_BITS;
            let round = if above >= 64 { 0 } else { self.slot_start >> above << above };
            self.slot_start = round | u64::from(slot) << shift;
            let list = self.take(level, slot as usize);
            if level == 0 {
                self.load(list);
                return true;
            }
            self.spread(list);
            // Events of the first 16 microseconds of the spread slot are due now.
            if !self.current.is_empty() {
                return true;
            }
        }
    }

    fn take(&mut self, level: usize, slot: usize) -> u32 {
        let level = &mut self.levels[level];
        level.occupied &= !(1 << slot);
        std::mem::replace(&mut level.heads[slot], NONE)
    }

    /// Moves a list to `current`, in order.
    fn load(&mut self, mut index: u32) {
        while index != NONE {
            let node = self.nodes[index as usize];
            self.release(index);
            self.current.push(node.event);
            index = node.next;
        }
        if self.current.len() > 1 {
            self.current.sort_unstable_by_key(|event| std::cmp::Reverse(event.key()));
        }
    }

    fn spread(&mut self, mut index: u32) {
        while index != NONE {
            let Node { event, next } = self.nodes[index as usize];
            if event.nanos >> GRAIN_BITS == self.slot_start >> GRAIN_BITS {
                self.release(index);
                self.push_current(event);
            } else {
                self.link(index, event.nanos);
            }
            index = next;
        }
    }

    fn release(&mut self, index: u32) {
        self.nodes[index as usize].next = self.free;
        self.free = index;
    }
}
