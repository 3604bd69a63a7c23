//! The air's own events, in order of time and insertion.
use alloc::collections::binary_heap::PeekMut;
use alloc::collections::{BinaryHeap, VecDeque};
use core::cmp::Ordering;
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
}

/// When an event is due and how many were inserted before it, in one number: comparing two is one subtraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Order(u128);

impl Order {
    fn new(at: Instant, inserted: u64) -> Self {
        Self(u128::from(at.as_nanos()) << 64 | u128::from(inserted))
    }

    fn at(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }
}

/// An event; the earliest is the greatest, as a heap wants it.
#[derive(Debug, Clone, Copy)]
struct Entry {
    order: Order,
    target: Target,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    /// All that a heap asks: one comparison, not two.
    fn le(&self, other: &Self) -> bool {
        other.order <= self.order
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.order.cmp(&self.order)
    }
}

/// A queue of events.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    heap: BinaryHeap<Entry>,
    /// Events that were inserted in the order in which they are due.
    in_order: VecDeque<Entry>,
    inserted: u64,
}

impl Schedule {
    pub fn push(&mut self, at: Instant, target: Target) {
        self.heap.push(Entry { order: Order::new(at, self.inserted), target });
        self.inserted += 1;
    }

    /// For events that are all due equally long after they are inserted.
    pub fn push_in_order(&mut self, at: Instant, target: Target) {
        self.in_order.push_back(Entry { order: Order::new(at, self.inserted), target });
        self.inserted += 1;
    }

    pub fn next(&self) -> Option<Instant> {
        let heads = [self.heap.peek(), self.in_order.front()];
        heads.into_iter().flatten().map(|entry| entry.order).min().map(Order::at)
    }

    pub fn pop_due(&mut self, now: Instant) -> Option<(Instant, Target)> {
        if let Some(&Entry { order, target }) = self.in_order.front()
            && self.heap.peek().is_none_or(|first| order < first.order)
        {
            if order.at() > now {
                return None;
            }
            self.in_order.pop_front();
            return Some((order.at(), target));
        }
        let first = self.heap.peek_mut()?;
        if first.order.at() > now {
            return None;
        }
        let Entry { order, target } = PeekMut::pop(first);
        Some((order.at(), target))
    }
}
