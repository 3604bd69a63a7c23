//! How much more than its bandwidth-delay product a link is given: less after its queue has overflowed.
//!
//! A queue that overflows loses many packets within one round trip; noise on the channel loses one here and there (in
//! the manner of BBR, draft-ietf-ccwg-bbr, which tolerates 2 % per round). Round trips are no sign: where the way
//! back is long, a full queue adds little to them.
use prismux_units::{Duration, Instant};

/// A round that loses more than this share of its packets, and more than [`OVERFLOW_PACKETS`], has overflowed.
const OVERFLOW_SHARE: f64 = 0.03;
/// See [`OVERFLOW_SHARE`].
const OVERFLOW_PACKETS: f64 = 10.0;
/// More in flight than this times the cap was a burst of senders: its losses say nothing about the link.
pub(super) const BURST: f64 = 1.25;
/// An overflow, counted at most once for each round trip, takes this from the ease.
const STEP: f64 = 0.25;
/// Each second without an overflow gives this back to the ease.
const RECOVERY: f64 = 0.03;
/// The least ease: with nothing beyond the product and still overflow, the product itself must be too large.
const MIN_EASE: f64 = -1.0;
/// How far the cap is below the product then.
const MAX_BELOW: f64 = 0.1;

/// True when `lost` of `passed` bytes in a round mean overflow.
pub(super) fn is_overflow(lost: f64, passed: f64, packet_bytes: f64) -> bool {
    lost >= OVERFLOW_PACKETS * packet_bytes && lost > OVERFLOW_SHARE * passed
}

/// The ease of a link, 1 for one that never overflows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Overload {
    ease: f64,
    changed: Instant,
}

impl Default for Overload {
    fn default() -> Self {
        Self { ease: 1.0, changed: Instant::ZERO }
    }
}

impl Overload {
    /// The queue has overflowed; `rtt` is the link's shortest round trip.
    pub(super) fn on_overflow(&mut self, now: Instant, rtt: Duration) {
        // What was sent before the last step overflows for a round trip more.
        if now.saturating_since(self.changed) > rtt * 2 {
            self.ease = (self.ease - STEP).max(MIN_EASE);
            self.changed = now;
        }
    }

    /// Overflow seen long ago is forgiven slowly.
    pub(super) fn recover(&mut self, now: Instant) {
        let calm = now.saturating_since(self.changed).as_secs_f64();
        if self.ease < 1.0 && calm > 1.0 {
            self.ease = (self.ease + RECOVERY * calm).min(1.0);
            self.changed = now;
        }
    }

    /// True until the last overflow is forgiven.
    pub(super) fn has_overflowed(&self) -> bool {
        self.ease < 1.0
    }

    /// There is still something that can be taken away.
    pub(super) fn may_ease(&self) -> bool {
        self.ease > 0.0
    }

    /// The multiple of the bandwidth-delay product to use, which is `gain` for a link at ease.
    pub(super) fn gain(&self, gain: f64) -> f64 {
        if self.ease >= 0.0 { 1.0 + (gain - 1.0) * self.ease } else { 1.0 + MAX_BELOW * self.ease }
    }

    /// The same for rounds that look for more: never below the product, or the rate could not be confirmed.
    pub(super) fn probe_gain(&self, gain: f64) -> f64 {
        self.gain(gain).max(1.0)
    }
}
