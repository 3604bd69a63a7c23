//! Requests that were seen lately (RFC 3561 section 6.5).
use alloc::collections::{BTreeSet, VecDeque};
use core::net::Ipv4Addr;
use prismux_units::{Duration, Instant};

/// Requests that are remembered at most: a flood of forged ones pushes out the oldest.
const MAX_SEEN: usize = 1024;

/// Requests by originator and number, each for a while.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    known: BTreeSet<(Ipv4Addr, u32)>,
    in_order: VecDeque<(Instant, (Ipv4Addr, u32))>,
}

impl Seen {
    /// Remembers a request for `lifetime`; says whether it was new.
    pub(crate) fn note(&mut self, now: Instant, request: (Ipv4Addr, u32), lifetime: Duration) -> bool {
        while let Some(&(until, oldest)) = self.in_order.front() {
            if until > now && self.in_order.len() < MAX_SEEN {
                break;
            }
            self.in_order.pop_front();
            self.known.remove(&oldest);
        }
        if !self.known.insert(request) {
            return false;
        }
        self.in_order.push_back((now + lifetime, request));
        true
    }

    /// Requests that are remembered.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_known_for_its_lifetime_and_memory_is_bounded() {
        let (mut seen, second) = (Seen::default(), Duration::from_secs(1));
        let from = Ipv4Addr::new(10, 0, 0, 1);
        assert!(seen.note(Instant::ZERO, (from, 1), second));
        assert!(!seen.note(Instant::from_millis(999), (from, 1), second));
        assert!(seen.note(Instant::from_millis(1000), (from, 1), second));
        for number in 0..5000 {
            assert!(seen.note(Instant::from_millis(1000), (from, 10 + number), second));
        }
        assert_eq!(seen.len(), MAX_SEEN);
    }
}
