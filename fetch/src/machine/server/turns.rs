//! Who has something to send, and in which order: a turn for each, so that nobody who asks for much keeps others
//! waiting.
use prismux_units::Instant;
use std::collections::{BTreeSet, VecDeque};

/// So many datagrams leave in one turn; what is left waits for a round of its own.
pub(super) const TURN_DATAGRAMS: u32 = 64;

/// The turns of `K`s.
#[derive(Debug)]
pub(super) struct Turns<K> {
    /// Whose turns belong to this drain.
    current: VecDeque<K>,
    /// Sent by the first of them.
    spent: u32,
    /// Who has used a turn up, in the order of their next ones.
    waiting: VecDeque<K>,
    is_waiting: BTreeSet<K>,
    waiting_since: Option<Instant>,
}

impl<K> Default for Turns<K> {
    fn default() -> Self {
        let (current, waiting) = (VecDeque::new(), VecDeque::new());
        Self { current, spent: 0, waiting, is_waiting: BTreeSet::new(), waiting_since: None }
    }
}

impl<K: Ord + Copy> Turns<K> {
    /// `key` may have something to send: it gets a turn now, unless it waits for its next one.
    pub(super) fn grant(&mut self, key: K) {
        if !self.is_waiting.contains(&key) && self.current.back() != Some(&key) {
            self.current.push_back(key);
        }
    }

    /// Whose turn it is.
    pub(super) fn current(&self) -> Option<K> {
        self.current.front().copied()
    }

    /// Who is at its turn has sent a datagram.
    pub(super) fn spend(&mut self, now: Instant) {
        self.spent += 1;
        if self.spent >= TURN_DATAGRAMS
            && let Some(key) = self.current.front().copied()
        {
            self.finish();
            if self.is_waiting.insert(key) {
                self.waiting.push_back(key);
            }
            self.waiting_since.get_or_insert(now);
        }
    }

    /// Who is at its turn has nothing to send any more.
    pub(super) fn finish(&mut self) {
        self.current.pop_front();
        self.spent = 0;
    }

    /// The one that has waited longest gets its next turn.
    pub(super) fn next_round(&mut self) {
        if let Some(key) = self.waiting.pop_front() {
            self.is_waiting.remove(&key);
            self.current.push_back(key);
        }
        if self.waiting.is_empty() {
            self.waiting_since = None;
        }
    }

    /// When somebody began to wait; a round is due since then.
    pub(super) const fn waiting_since(&self) -> Option<Instant> {
        self.waiting_since
    }
}

#[cfg(test)]
mod tests;
