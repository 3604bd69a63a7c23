//! The promise that a bond is never slower than its best link: a link that costs the others more than it carries rests.
//!
//! What a link has under way can hold up ACKs, and with them the sender, while other links run dry. What those could
//! have carried meanwhile is the harm it does. A link that does more harm than it carries takes no new data for a
//! while, longer each time.
use super::Link;
use prismux_units::{Duration, Instant};

/// Harm and use are weighed over this time.
const WINDOW: Duration = Duration::from_millis(500);
/// So many times in a row it must do harm: a sender that starts, or a member that joins, takes a moment.
const PATIENCE: u8 = 2;
/// The first rest.
const MIN_REST: Duration = Duration::from_secs(2);
/// The longest.
const MAX_REST: Duration = Duration::from_secs(32);
/// A link that has done well for so many times its last rest is forgiven.
const FORGIVEN_AFTER: u64 = 4;

/// What a link has done to others.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Guard {
    /// When weighing began.
    since: Instant,
    /// Bytes that others could have carried meanwhile.
    harm: f64,
    /// Bytes that it had delivered in all when weighing began.
    delivered: u64,
    /// How often in a row it did more harm than it carried.
    harmful: u8,
    /// It rests until then.
    rests_until: Instant,
    /// The last rest.
    rest: Duration,
}

impl Link {
    /// True while the link takes no new data because it did more harm than it carried.
    pub(crate) fn rests(&self, now: Instant) -> bool {
        now < self.guard.rests_until
    }

    /// What this link has under way held up others that could have carried `bytes` meanwhile.
    pub(crate) fn on_harm(&mut self, bytes: f64) {
        self.guard.harm += bytes;
    }

    /// Weighs harm against use, now and then; says whether a rest begins.
    pub(crate) fn weigh(&mut self, now: Instant) -> bool {
        if !self.model.has_receipts() {
            return false;
        }
        let guard = &mut self.guard;
        if now.saturating_since(guard.since) < WINDOW {
            return false;
        }
        let carried = (self.model.delivered_bytes() - guard.delivered) as f64;
        if carried == 0.0 {
            self.model.forgive_losses();
        }
        guard.harmful = if guard.harm > carried { guard.harmful.saturating_add(1) } else { 0 };
        let begins = guard.harmful >= PATIENCE && now >= guard.rests_until;
        if begins {
            guard.rest = (guard.rest * 2).clamp(MIN_REST, MAX_REST);
            guard.rests_until = now + guard.rest;
            guard.harmful = 0;
        } else if now.saturating_since(guard.rests_until) > guard.rest * FORGIVEN_AFTER {
            guard.rest = Duration::ZERO;
        }
        (guard.since, guard.harm, guard.delivered) = (now, 0.0, self.model.delivered_bytes());
        begins
    }
}

#[cfg(test)]
mod tests;
