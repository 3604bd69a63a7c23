//! What is still under way when a member leaves.
use prismux_units::{Duration, Instant};

/// A member that has left gets nothing more, but what was sent to it before is still on its way.
#[derive(Debug)]
pub(super) struct Departure {
    /// It ends by then, whatever comes.
    end: Instant,
    /// When data last came.
    latest: Instant,
}

/// Nothing for so long: nothing is under way any more.
const QUIET: Duration = Duration::from_millis(300);
/// A departure takes no longer than this.
const MAX_DURATION: Duration = Duration::from_secs(2);

impl Departure {
    /// The member has said goodbye.
    pub fn begin(now: Instant) -> Self {
        Self { end: now + MAX_DURATION, latest: now }
    }

    /// Nothing is worth waiting for.
    pub fn at_once(now: Instant) -> Self {
        Self { end: now, latest: now }
    }

    /// Data has come.
    pub fn on_data(&mut self, now: Instant) {
        self.latest = now;
    }

    /// When the member ends.
    pub fn deadline(&self) -> Instant {
        (self.latest + QUIET).min(self.end)
    }
}
