//! The sign of a queue that builds up while a link's cap still doubles: round trips that stay above the shortest.
//!
//! From then on the link is busy, so what it delivers meanwhile is its rate. The rounds cannot tell yet: they began
//! before the link was full.
use prismux_units::{Duration, Instant};

/// A round trip this share above the shortest means a queue, if that is at least [`MIN_RISE`].
const RISE: f64 = 0.15;
/// See [`RISE`]; seconds.
const MIN_RISE: f64 = 0.004;
/// So many in a row end the startup, when they came over at least [`MIN_TIME`].
const SAMPLES: u8 = 8;
/// The least time that a row must take: a clump of ACKs tells no rate.
const MIN_TIME: Duration = Duration::from_millis(2);

/// The open row of round trips above the shortest.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueueSign {
    samples: u8,
    since: Instant,
    /// Delivered when the row began.
    delivered: u64,
}

impl Default for QueueSign {
    fn default() -> Self {
        Self { samples: 0, since: Instant::ZERO, delivered: 0 }
    }
}

impl QueueSign {
    /// The longest round trip, in seconds, of a link without a queue; `packet` is the time that sending one takes.
    pub(super) fn longest(shortest: Duration, packet: f64) -> f64 {
        let shortest = shortest.as_secs_f64();
        shortest + (RISE * shortest).max(MIN_RISE) + 2.0 * packet
    }

    /// A round trip above [`Self::longest`] with so many bytes delivered so far; the rate of the row, in bytes per
    /// second, once it is long enough.
    pub(super) fn note(&mut self, now: Instant, delivered: u64) -> Option<f64> {
        if self.samples == 0 || now == self.since {
            // What arrived together with the first belongs to the time before it.
            (self.since, self.delivered) = (now, delivered);
        }
        self.samples = self.samples.saturating_add(1);
        let elapsed = now.saturating_since(self.since);
        (self.samples >= SAMPLES && elapsed >= MIN_TIME)
            .then(|| (delivered - self.delivered) as f64 / elapsed.as_secs_f64())
    }
}
