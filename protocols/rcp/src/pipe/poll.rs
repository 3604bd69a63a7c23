//! Requests for new data in bundles, for a congestion control that works with polls (STP): when a third of the window
//! is free, or a third of a round trip has passed. What was lost is asked for at once.
use super::Pipe;
use prismux_units::Instant;

/// The bundle that left last.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bundles {
    /// When it left: more may leave at the same instant.
    left_at: Option<Instant>,
    /// Something waits for the next one.
    awaited: bool,
}

impl Pipe {
    /// When the next bundle may leave; `None` where requests need not wait.
    fn next_bundle(&self) -> Option<Instant> {
        let interval = self.engine.poll_interval()?;
        self.bundles.left_at.map(|at| at + interval)
    }

    /// Whether new units may be asked for now. With nothing outstanding nothing is to be waited for.
    pub(super) fn may_ask_anew(&mut self, now: Instant) -> bool {
        let free = self.engine.cwnd().saturating_sub(self.engine.pipe());
        let waits = self.bundles.left_at != Some(now)
            && free < self.engine.poll_share_bytes()
            && !self.engine.is_idle()
            && self.next_bundle().is_some_and(|at| at > now);
        self.bundles.awaited = waits;
        !waits
    }

    /// New units are being asked for.
    pub(super) fn note_bundle(&mut self, now: Instant) {
        self.bundles.left_at = Some(now);
    }

    /// When to look again, if something waits.
    pub(super) fn bundle_deadline(&self) -> Option<Instant> {
        self.next_bundle().filter(|_| self.bundles.awaited)
    }

    /// The next bundle is due.
    pub(super) fn release_bundle(&mut self, now: Instant) {
        if self.bundle_deadline().is_some_and(|at| at <= now) {
            self.bundles.awaited = false;
        }
    }
}
