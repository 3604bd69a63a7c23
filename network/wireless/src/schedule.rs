//! The air's own events, in order of time and insertion.
use alloc::collections::{BinaryHeap, VecDeque};
use core::cmp::Reverse;
use prismux_units::Instant;

/// Whom an event is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// A host's deadline.
    Host(u32),
    /// A host's battery must be looked at.
    Battery(u32),
    /// A frame reaches its receivers.
    Begin(u32),
    /// A frame has passed its receivers.
    End(u32),
    /// A host may have to ask for an address again.
    Resolver(u32),
}

/// An event in one number, so that a heap compares and moves two words: when it is due, how many were inserted before
/// it, and for whom it is; the earliest is the greatest, as a heap wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(Reverse<u128>);

/// Bits for a number of a host or a frame. With those of the kind they leave 37 for the order of insertion: after more
/// events than that, once, some of the same instant change places.
const NUMBER_BITS: u32 = 24;
/// Bits for the kind of an event.
const KIND_BITS: u32 = 3;
/// Hosts and frames that have numbers.
pub(crate) const MAX_NUMBERS: usize = 1 << NUMBER_BITS;

impl Entry {
    fn new(at: Instant, inserted: u64, target: Target) -> Self {
        let (kind, number) = match target {
            Target::Host(host) => (0, host),
            Target::Battery(host) => (1, host),
            Target::Begin(frame) => (2, frame),
            Target::End(frame) => (3, frame),
            Target::Resolver(host) => (4, host),
        };
        let order = inserted << KIND_BITS | kind;
        Self(Reverse(u128::from(at.as_nanos()) << 64 | u128::from(order << NUMBER_BITS | u64::from(number))))
    }

    fn at(self) -> Instant {
        Instant::from_nanos((self.0.0 >> 64) as u64)
    }

    fn target(self) -> Target {
        let low = self.0.0 as u64;
        let number = low as u32 % (1 << NUMBER_BITS);
        match low >> NUMBER_BITS & ((1 << KIND_BITS) - 1) {
            0 => Target::Host(number),
            1 => Target::Battery(number),
            2 => Target::Begin(number),
            3 => Target::End(number),
            _ => Target::Resolver(number),
        }
    }
}

/// A queue of events.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    heap: BinaryHeap<Entry>,
    /// Events that were inserted in the order in which they are due.
    in_order: VecDeque<Entry>,
    inserted: u64,
    /// The heap's first entry has been handed out. It stays until another takes its place, which saves the heap a walk:
    /// most events set another.
    taken: bool,
}

impl Schedule {
    #[inline]
    pub fn push(&mut self, at: Instant, target: Target) {
        let entry = Entry::new(at, self.inserted, target);
        self.inserted += 1;
        if self.taken
            && let Some(mut first) = self.heap.peek_mut()
        {
            *first = entry;
            self.taken = false;
        } else {
            self.heap.push(entry);
        }
    }

    /// For events that are all due equally long after they are inserted.
    pub fn push_in_order(&mut self, at: Instant, target: Target) {
        self.in_order.push_back(Entry::new(at, self.inserted, target));
        self.inserted += 1;
    }

    /// When the next event is due; after [`Schedule::pop_due`] has found none.
    #[inline]
    pub fn next(&self) -> Option<Instant> {
        debug_assert!(!self.taken, "the first entry has happened");
        match (self.heap.peek(), self.in_order.front()) {
            (Some(first), Some(other)) => Some(first.at().min(other.at())),
            (first, other) => first.or(other).map(|entry| entry.at()),
        }
    }

    #[inline]
    pub fn pop_due(&mut self, now: Instant) -> Option<(Instant, Target)> {
        if self.taken {
            self.taken = false;
            self.heap.pop();
        }
        let first = self.heap.peek();
        if let Some(&entry) = self.in_order.front()
            && first.is_none_or(|first| entry > *first)
        {
            if entry.at() > now {
                return None;
            }
            self.in_order.pop_front();
            return Some((entry.at(), entry.target()));
        }
        let first = first.filter(|first| first.at() <= now)?;
        self.taken = true;
        Some((first.at(), first.target()))
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_NUMBERS, Schedule, Target};
    use alloc::vec::Vec;
    use prismux_units::{Duration, Instant};

    #[test]
    fn events_leave_in_order_of_time_and_insertion_as_they_came() {
        let (mut schedule, last) = (Schedule::default(), MAX_NUMBERS as u32 - 1);
        let at = |nanos| Instant::ZERO + Duration::from_nanos(nanos);
        schedule.push(at(9), Target::End(last));
        schedule.push(Instant::MAX, Target::Battery(last));
        schedule.push(at(9), Target::Resolver(last));
        schedule.push_in_order(at(5), Target::Begin(last));
        schedule.push(at(5), Target::Host(last));
        schedule.push(at(5), Target::Host(0));
        schedule.push(at(4), Target::End(1));
        assert_eq!(schedule.next(), Some(at(4)));
        let due: Vec<_> = core::iter::from_fn(|| schedule.pop_due(at(9))).collect();
        let expected = [
            (at(4), Target::End(1)),
            (at(5), Target::Begin(last)),
            (at(5), Target::Host(last)),
            (at(5), Target::Host(0)),
            (at(9), Target::End(last)),
            (at(9), Target::Resolver(last)),
        ];
        assert_eq!(due, expected);
        assert_eq!(schedule.pop_due(Instant::MAX), Some((Instant::MAX, Target::Battery(last))));
    }

    #[test]
    fn events_set_by_another_leave_in_order_too() {
        let (mut schedule, at) = (Schedule::default(), |nanos| Instant::ZERO + Duration::from_nanos(nanos));
        for nanos in [1, 4, 6] {
            schedule.push(at(nanos), Target::Host(nanos as u32));
        }
        assert_eq!(schedule.pop_due(at(9)), Some((at(1), Target::Host(1))));
        for nanos in [5, 2] {
            schedule.push(at(nanos), Target::Host(nanos as u32));
        }
        schedule.push_in_order(at(3), Target::Begin(3));
        let due = core::iter::from_fn(|| schedule.pop_due(at(5)));
        let times: Vec<_> = due.map(|(due, _)| due).collect();
        assert_eq!(times, [at(2), at(3), at(4), at(5)]);
        assert_eq!(schedule.next(), Some(at(6)));
    }
}
