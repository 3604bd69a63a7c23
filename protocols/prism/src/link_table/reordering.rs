//! How far packets of a link overtake one another, learned as RACK does (RFC 8985 section 6.2).
//!
//! A link is taken for one that keeps order until a packet comes later than one sent after it. From then on a packet
//! that was overtaken counts as lost only when it has been waited for as long as the latest of the last seconds took,
//! and a little more. A verdict that turns out false raises the time too; without either it shrinks again.
use super::Link;
use prismux_units::{Duration, Instant};

/// A packet is waited for this many times the longest wait that ended well.
const MARGIN: f64 = 1.25;
/// What was learned counts for one to two such spans.
const SPAN: Duration = Duration::from_secs(8);
/// A false verdict of which only the fact is known adds this share of the shortest round trip (RFC 8985).
const STEP_SHARE: u64 = 4;
/// A false verdict of which only the fact is known adds at least this.
const MIN_STEP: Duration = Duration::from_millis(1);
/// No packet that was overtaken is waited for longer than this.
const MAX_WINDOW: Duration = Duration::from_millis(500);

/// The longest waits that ended well, in this span and in the one before.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reordering {
    longest: [Duration; 2],
    since: Instant,
}

impl Reordering {
    fn longest(&self, now: Instant) -> Duration {
        let [this, before] = self.longest;
        match now.saturating_since(self.since) {
            age if age < SPAN => this.max(before),
            age if age < SPAN * 2 => this,
            _ => Duration::ZERO,
        }
    }

    fn note(&mut self, now: Instant, wait: Duration) {
        if now.saturating_since(self.since) >= SPAN {
            (self.longest, self.since) = ([Duration::ZERO, self.longest(now)], now);
        }
        self.longest[0] = self.longest[0].max(wait);
    }
}

impl Link {
    /// How long a packet may still come after a later one of this link has arrived; zero for a link that keeps order.
    pub(crate) fn reordering_window(&self, now: Instant) -> Duration {
        let shortest = self.model.min_rtt().unwrap_or(MAX_WINDOW);
        self.reordering.longest(now).mul_f64(MARGIN).min(shortest.max(MIN_STEP * 10)).min(MAX_WINDOW)
    }

    /// A packet arrived so long after the first one that overtook it.
    pub(crate) fn on_overtaken(&mut self, now: Instant, wait: Duration) {
        self.reordering.note(now, wait);
    }

    /// A packet that order had convicted has arrived: so long after the first one that overtook it, if that is known.
    pub(crate) fn on_false_verdict(&mut self, now: Instant, bytes: u32, wait: Option<Duration>) {
        let step = (self.model.min_rtt().unwrap_or(Duration::ZERO) / STEP_SHARE).max(MIN_STEP);
        self.reordering.note(now, wait.unwrap_or(self.reordering.longest(now) + step));
        self.model.on_false_loss(bytes);
    }
}
