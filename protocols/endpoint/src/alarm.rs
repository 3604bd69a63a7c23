//! Deadlines in an event queue that cannot take an entry back.
use crate::deadline::Deadline;
use prismux_units::Instant;

/// The wake-up that stands in an event queue for one endpoint.
///
/// A deadline that moves away costs nothing: the wake-up in the queue comes early, does nothing, and is set anew.
/// Only a deadline that comes closer needs another entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alarm {
    /// [`Instant::MAX`] while none is set.
    at: Instant,
}

impl Alarm {
    /// Not set.
    pub const fn new() -> Self {
        Self { at: Instant::MAX }
    }

    /// Takes the deadline that [`drive`](crate::drive) returned: the instant to put into the queue, or `None` when what
    /// stands there comes early enough. A deadline in the past is due at once.
    #[inline]
    pub fn set(&mut self, now: Instant, deadline: Option<Deadline>) -> Option<Instant> {
        let at = deadline?.at;
        if at >= self.at {
            return None;
        }
        self.at = at.max(now);
        Some(self.at)
    }

    /// A wake-up came at `now`: whether it is the one last set, and not one that an earlier deadline replaced. If so,
    /// the alarm can be set again.
    #[inline]
    pub fn rings(&mut self, now: Instant) -> bool {
        let rings = self.at == now;
        if rings {
            self.at = Instant::MAX;
        }
        rings
    }

    /// Any wake-up came: what was set no longer counts.
    #[inline]
    pub fn clear(&mut self) {
        self.at = Instant::MAX;
    }
}

impl Default for Alarm {
    fn default() -> Self {
        Self::new()
    }
}
