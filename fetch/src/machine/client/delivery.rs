//! When bytes came that the stream was waiting for.
use prismux_units::{Duration, Instant};

/// The stream's progress: how far it is without a gap, and the longest time that it stood still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Delivery {
    /// Bytes that are here without a gap, those of an earlier attempt included.
    pub in_order_bytes: u64,
    /// When it last went on; `None` before it ever did.
    pub last_at: Option<Instant>,
    /// The longest time between two steps so far.
    pub longest_gap: Duration,
    /// When that began.
    pub longest_gap_at: Option<Instant>,
}

impl Delivery {
    /// The stream is complete up to `in_order_bytes`.
    pub(super) fn reached(&mut self, now: Instant, in_order_bytes: u64) {
        if in_order_bytes <= self.in_order_bytes {
            return;
        }
        self.in_order_bytes = in_order_bytes;
        if let Some(last_at) = self.last_at.replace(now) {
            let gap = now.saturating_since(last_at);
            if gap > self.longest_gap {
                (self.longest_gap, self.longest_gap_at) = (gap, Some(last_at));
            }
        }
    }
}

#[cfg(test)]
mod tests;
