//! CoDel: controlled delay (RFC 8289).
use super::{Fifo, Waiter};
use prismux_units::{Duration, Instant};

/// Parameters of CoDel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoDel {
    /// TARGET: a standing queue no longer than this is good.
    pub target: Duration,
    /// INTERVAL: about the longest round trip; a queue that is longer than the target for so long is bad.
    pub interval: Duration,
    /// Mark packets that may be marked, instead of dropping them.
    pub ecn: bool,
}

impl CoDel {
    /// As section 4.4 has them, with marks.
    pub const DEFAULT: Self =
        Self { target: Duration::from_millis(5), interval: Duration::from_millis(100), ecn: true };
}

/// A queue of no more bytes than a full packet is never judged (section 4.2).
const MAX_PACKET_BYTES: u64 = 1514;
/// A new dropping state continues from the last one if that is no longer ago than so many intervals (section 5.5).
const RECENT_INTERVALS: u64 = 16;

/// The state machine of section 5.
#[derive(Debug, Clone)]
pub(super) struct CoDelState {
    config: CoDel,
    /// When the sojourn time will have been above the target for an interval.
    first_above: Option<Instant>,
    drop_next: Instant,
    count: u32,
    last_count: u32,
    dropping: bool,
}

impl CoDelState {
    pub(super) fn new(config: CoDel) -> Self {
        let (drop_next, count) = (Instant::ZERO, 0);
        Self { config, first_above: None, drop_next, count, last_count: 0, dropping: false }
    }

    /// `control_law`: drops come at shrinking distances, by the inverse of the square root of their count.
    fn control_law(&self, from: Instant, count: u32) -> Instant {
        from + self.config.interval.mul_f64(1.0 / libm::sqrt(f64::from(count.max(1))))
    }

    /// `dodequeue`: the next packet, and whether the queue has been bad for an interval.
    fn take<P>(&mut self, now: Instant, fifo: &mut Fifo<P>) -> Option<(Waiter<P>, bool)> {
        let Some(waiter) = fifo.pop() else {
            self.first_above = None;
            return None;
        };
        if now - waiter.arrived < self.config.target || fifo.bytes <= MAX_PACKET_BYTES {
            self.first_above = None;
            return Some((waiter, false));
        }
        let since = *self.first_above.get_or_insert(now + self.config.interval);
        Some((waiter, now >= since))
    }

    /// `dequeue`: the next packet to send.
    pub(super) fn pop<P>(
        &mut self,
        now: Instant,
        fifo: &mut Fifo<P>,
        dropped: &mut dyn FnMut(Waiter<P>),
    ) -> Option<Waiter<P>> {
        let Some((mut waiter, mut bad)) = self.take(now, fifo) else {
            self.dropping = false;
            return None;
        };
        if self.dropping {
            self.dropping = bad;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                let next = self.control_law(self.drop_next, self.count);
                let Some(passed) = self.strike(waiter, dropped) else {
                    let Some(follower) = self.take(now, fifo) else {
                        self.dropping = false;
                        return None;
                    };
                    (waiter, bad) = follower;
                    self.dropping = bad;
                    if bad {
                        self.drop_next = next;
                    }
                    continue;
                };
                self.drop_next = next;
                return Some(passed);
            }
            return Some(waiter);
        }
        if !bad {
            return Some(waiter);
        }
        self.dropping = true;
        let recently = now.saturating_since(self.drop_next) < self.config.interval * RECENT_INTERVALS;
        let delta = self.count.saturating_sub(self.last_count);
        self.count = if delta > 1 && recently { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.control_law(now, self.count);
        match self.strike(waiter, dropped) {
            Some(passed) => Some(passed),
            None => self.take(now, fifo).map(|(waiter, _)| waiter),
        }
    }

    /// Marks a packet that may be marked and returns it; drops any other.
    fn strike<P>(&self, mut waiter: Waiter<P>, dropped: &mut dyn FnMut(Waiter<P>)) -> Option<Waiter<P>> {
        if self.config.ecn && waiter.kind.ecn_capable {
            waiter.marked = true;
            return Some(waiter);
        }
        dropped(waiter);
        None
    }
}
