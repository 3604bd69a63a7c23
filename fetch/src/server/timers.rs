//! One queue of wake-ups for everything that the server times.
use prismux_units::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Who wants to be woken, by time.
#[derive(Debug)]
pub(super) struct Timers<K>(BinaryHeap<Reverse<(Instant, K)>>);

/// The earliest entry that the queue holds for somebody; kept by whom it wakes.
#[derive(Debug, Default)]
pub(super) struct Alarm(Option<Instant>);

impl<K: Ord + Copy> Timers<K> {
    pub(super) const fn new() -> Self {
        Self(BinaryHeap::new())
    }

    /// `key` wants to be woken at `at`. A time put off costs nothing: when the earlier entry comes up, its owner sets the
    /// later one.
    pub(super) fn set(&mut self, alarm: &mut Alarm, key: K, at: Option<Instant>) {
        if let Some(at) = at
            && alarm.0.is_none_or(|queued| at < queued)
        {
            alarm.0 = Some(at);
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

impl Alarm {
    /// The entry for `at` has come up: whether it is the one that counts.
    pub(super) fn rings(&mut self, at: Instant) -> bool {
        let counts = self.0 == Some(at);
        if counts {
            self.0 = None;
        }
        counts
    }
}

#[cfg(test)]
mod tests;
