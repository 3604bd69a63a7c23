//! When a link that carries nothing any more is noticed, and when it is tried again.
use super::{Link, MAX_UNANSWERED};
use prismux_units::{Duration, Instant};

/// Signs that a link is dead: packets overdue one after the other, and nothing that arrives.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Silence {
    /// Packets given up by age since something arrived.
    overdue: u8,
    /// When there were too many of them.
    since: Option<Instant>,
}

/// So many packets overdue in a row, without an arrival, are no accident.
const MAX_OVERDUE: u8 = 3;
/// A link whose probes nobody answers is tried with data after this time.
const SILENCE_LIMIT: Duration = Duration::from_secs(10);

impl Link {
    /// True while the link is believed dead: it gets probes and no data.
    pub fn is_silent(&self) -> bool {
        self.silence.since.is_some()
    }

    /// Something that went over this link has arrived.
    pub(crate) fn on_alive(&mut self) {
        self.silence = Silence::default();
    }

    /// A packet was given up by its age; says whether that makes the link a silent one.
    pub(super) fn on_overdue(&mut self, now: Instant) -> bool {
        self.silence.overdue = self.silence.overdue.saturating_add(1);
        let new = self.silence.overdue >= MAX_OVERDUE && !self.is_silent();
        if new {
            self.silence.since = Some(now);
            self.model.on_silent();
        }
        new
    }

    /// Ends a silence that probes could not end because the receiver does not report duplicates. The next packet
    /// overdue begins another.
    pub(crate) fn forgive_silence(&mut self, now: Instant) {
        let mute = self.probe.unanswered >= MAX_UNANSWERED;
        if mute && self.silence.since.is_some_and(|since| now.saturating_since(since) > SILENCE_LIMIT) {
            self.silence = Silence { overdue: MAX_OVERDUE - 1, since: None };
        }
    }
}
