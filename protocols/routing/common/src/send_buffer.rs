//! Packets that wait for a route.
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_units::{Duration, Instant};

#[derive(Debug, Clone)]
struct Waiting<T> {
    destination: Ipv4Addr,
    until: Instant,
    item: T,
}

/// Packets that wait for a route: bounded in number, first in first out for each destination (RFC 4728 section 4.2).
#[derive(Debug, Clone)]
pub struct SendBuffer<T> {
    waiting: VecDeque<Waiting<T>>,
    max_packets: usize,
    timeout: Duration,
}

impl<T> SendBuffer<T> {
    /// An empty buffer for at most `max_packets`, each for at most `timeout`.
    pub fn new(max_packets: usize, timeout: Duration) -> Self {
        Self { waiting: VecDeque::new(), max_packets, timeout }
    }

    /// Keeps `item` until a route to `destination` is found. The oldest one comes back when there is no room.
    pub fn push(&mut self, now: Instant, destination: Ipv4Addr, item: T) -> Option<T> {
        let is_full = self.waiting.len() >= self.max_packets;
        let oldest = if is_full { self.waiting.pop_front() } else { None };
        if self.max_packets == 0 {
            return Some(item);
        }
        self.waiting.push_back(Waiting { destination, until: now + self.timeout, item });
        oldest.map(|waiting| waiting.item)
    }

    /// Takes everything that waits for `destination`, in order.
    pub fn take(&mut self, destination: Ipv4Addr) -> Vec<T> {
        self.take_where(|waiting| waiting.destination == destination)
    }

    /// Takes what waits for `destination` and `is_wanted`, in order.
    pub fn take_if(&mut self, destination: Ipv4Addr, is_wanted: impl Fn(&T) -> bool) -> Vec<T> {
        self.take_where(|waiting| waiting.destination == destination && is_wanted(&waiting.item))
    }

    /// Takes everything that has waited too long, in order.
    pub fn take_expired(&mut self, now: Instant) -> Vec<T> {
        self.take_where(|waiting| waiting.until <= now)
    }

    fn take_where(&mut self, mut wanted: impl FnMut(&Waiting<T>) -> bool) -> Vec<T> {
        if !self.waiting.iter().any(&mut wanted) {
            return Vec::new();
        }
        let (taken, kept): (VecDeque<_>, VecDeque<_>) =
            core::mem::take(&mut self.waiting).into_iter().partition(wanted);
        self.waiting = kept;
        taken.into_iter().map(|waiting| waiting.item).collect()
    }

    /// What has waited longest for `destination`.
    pub fn first(&self, destination: Ipv4Addr) -> Option<&T> {
        self.waiting.iter().find(|waiting| waiting.destination == destination).map(|waiting| &waiting.item)
    }

    /// Takes what has waited longest for `destination`.
    pub fn take_first(&mut self, destination: Ipv4Addr) -> Option<T> {
        let at = self.waiting.iter().position(|waiting| waiting.destination == destination)?;
        self.waiting.remove(at).map(|waiting| waiting.item)
    }

    /// How much of what waits `is_wanted`.
    pub fn count(&self, is_wanted: impl Fn(&T) -> bool) -> usize {
        self.waiting.iter().filter(|waiting| is_wanted(&waiting.item)).count()
    }

    /// Whether anything that waits for `destination` `is_wanted`.
    pub fn waits_for(&self, destination: Ipv4Addr, is_wanted: impl Fn(&T) -> bool) -> bool {
        self.waiting.iter().any(|waiting| waiting.destination == destination && is_wanted(&waiting.item))
    }

    /// Whom packets wait for, each once, the longest waiting first.
    pub fn destinations(&self) -> Vec<Ipv4Addr> {
        let mut destinations = Vec::new();
        for waiting in &self.waiting {
            if !destinations.contains(&waiting.destination) {
                destinations.push(waiting.destination);
            }
        }
        destinations
    }

    /// When the longest waiting packet has waited too long.
    pub fn deadline(&self) -> Option<Instant> {
        self.waiting.iter().map(|waiting| waiting.until).min()
    }

    /// Packets that wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    #[test]
    fn the_oldest_makes_room_and_order_is_kept() {
        let mut buffer = SendBuffer::new(3, Duration::from_secs(30));
        let at = Instant::from_secs;
        for (second, (host, item)) in [(A, 1), (B, 2), (A, 3)].into_iter().enumerate() {
            assert_eq!(buffer.push(at(second as u64), host, item), None);
        }
        assert_eq!(buffer.push(at(3), A, 4), Some(1));
        assert_eq!(buffer.destinations(), [B, A]);
        assert_eq!(buffer.take(A), [3, 4]);
        assert!(!buffer.waits_for(A, |_| true) && buffer.waits_for(B, |&item| item == 2));
        assert_eq!(buffer.deadline(), Some(at(31)));
        assert_eq!(buffer.take_expired(at(30)), []);
        assert_eq!(buffer.take_expired(at(31)), [2]);
    }

    #[test]
    fn a_buffer_without_room_gives_everything_back() {
        let mut buffer = SendBuffer::new(0, Duration::from_secs(30));
        assert_eq!(buffer.push(Instant::ZERO, A, 7), Some(7));
        assert!(buffer.is_empty());
    }
}
