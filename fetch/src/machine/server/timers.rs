//! One queue of wake-ups for everything that the server times.
use prismux_endpoint::{Alarm, Deadline};
use prismux_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Who wants to be woken, by time. Nothing is taken out before its time: each `K` has an [`Alarm`] that knows the
/// entry that counts.
#[derive(Debug)]
pub(super) struct Timers<K>(BinaryHeap<Reverse<(Instant, K)>>);

impl<K: Ord + Copy> Timers<K> {
    pub(super) const fn new() -> Self {
        Self(BinaryHeap::new())
    }

    /// `key`, whose alarm is `alarm`, wants to be woken at the deadline.
    pub(super) fn set(&mut self, now: Instant, alarm: &mut Alarm, key: K, deadline: Option<Deadline>) {
        if let Some(at) = alarm.set(now, deadline) {
            self.0.push(Reverse((at, key)));
        }
    }

    /// The earliest time in the queue.
    pub(super) fn next(&self) -> Option<Instant> {
        self.0.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes an entry that is due.
    pub(super) fn pop(&mut self, now: Instant) -> Option<(Instant, K)> {
        let Reverse((at, _)) = self.0.peek()?;
        if *at > now {
            return None;
        }
        self.0.pop().map(|Reverse(entry)| entry)
    }
}

#[cfg(test)]
mod tests;
