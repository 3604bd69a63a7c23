//! A token bucket: whatever is requested or allowed otherwise, no more than a set rate leaves.
use prismux_units::{ByteCount, Duration, Instant, Rate};

/// Tokens are time: what has been sent pushes `clear_at` ahead, and sending pauses while it is more than the burst
/// ahead of now.
#[derive(Debug, Clone)]
pub struct RateCap {
    rate: Rate,
    burst: Duration,
    /// When everything sent so far would have left at the rate.
    clear_at: Instant,
    /// Something waits for this instant.
    waits_until: Option<Instant>,
}

impl RateCap {
    /// `burst` bytes may leave at once.
    pub fn new(rate: Rate, burst: ByteCount, now: Instant) -> Self {
        Self { rate, burst: rate.transmission_time(burst), clear_at: now, waits_until: None }
    }

    /// Whether a packet may leave now; if not, [`RateCap::wakes_at`] says when.
    pub fn allows(&mut self, now: Instant) -> bool {
        let ahead = self.clear_at.saturating_since(now);
        if ahead <= self.burst {
            self.waits_until = None;
            return true;
        }
        self.waits_until = Some(now + (ahead - self.burst));
        false
    }

    /// A packet of `bytes` left.
    pub fn spend(&mut self, now: Instant, bytes: u32) {
        let cost = self.rate.transmission_time(ByteCount::new(u64::from(bytes)));
        self.clear_at = self.clear_at.max(now) + cost;
    }

    /// When what was not allowed may leave.
    pub fn wakes_at(&self) -> Option<Instant> {
        self.waits_until
    }

    /// Time has come this far.
    pub fn wake(&mut self, now: Instant) {
        self.waits_until = self.waits_until.filter(|&at| at > now);
    }
}
