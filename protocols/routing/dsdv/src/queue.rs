//! Packets that wait until a route to their destination is told.
use alloc::collections::{BTreeMap, VecDeque};
use core::net::Ipv4Addr;

/// Destinations that packets wait for at most.
const MAX_DESTINATIONS: usize = 256;

/// A few packets for each destination, the newest ones.
#[derive(Debug, Clone)]
pub(crate) struct Queue<T> {
    waiting: BTreeMap<Ipv4Addr, VecDeque<T>>,
    max_packets: usize,
}

impl<T> Queue<T> {
    pub(crate) fn new(max_packets: usize) -> Self {
        Self { waiting: BTreeMap::new(), max_packets }
    }

    /// Keeps `item`; what has to go instead comes back.
    pub(crate) fn push(&mut self, destination: Ipv4Addr, item: T) -> Option<T> {
        let is_known = self.waiting.contains_key(&destination);
        if self.max_packets == 0 || !is_known && self.waiting.len() >= MAX_DESTINATIONS {
            return Some(item);
        }
        let queue = self.waiting.entry(destination).or_default();
        queue.push_back(item);
        if queue.len() > self.max_packets { queue.pop_front() } else { None }
    }

    /// Takes everything that waits for `destination`, in order.
    pub(crate) fn take(&mut self, destination: Ipv4Addr) -> VecDeque<T> {
        self.waiting.remove(&destination).unwrap_or_default()
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.values().map(VecDeque::len).sum()
    }
}
