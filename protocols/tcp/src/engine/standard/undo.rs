//! What it takes to take back the last reduction of the window.
use crate::engine::congestion::Window;
use prismux_units::{Duration, Instant};

/// Where F-RTO stands after a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Watch {
    #[default]
    Off,
    /// The first segment was sent again; its ACK decides whether to go on (step 1).
    FirstAck,
    /// New data was sent instead of retransmissions; the next ACK decides (step 2).
    NewData,
}

/// What is needed to undo the last reduction.
#[derive(Debug, Clone, Default)]
pub(super) struct Undo {
    /// First position outstanding when the reduction began; none if there is nothing to take back.
    pub(super) marker: Option<u64>,
    pub(super) before: Option<Window>,
    /// Retransmissions since then not yet reported as duplicates; `None` before the first.
    unanswered: Option<u32>,
    first_retransmission: Option<Instant>,
    pub(super) watch: Watch,
    /// The reduction answered a loss notice.
    pub(super) notified: bool,
}

impl Undo {
    /// A reduction begins with `acked` the first outstanding position.
    pub(super) fn begin(&mut self, acked: u64, window: &Window, notified: bool) {
        *self = Self { marker: Some(acked), before: Some(*window), notified, ..Self::default() };
    }

    pub(super) fn on_retransmission(&mut self, now: Instant) {
        if self.marker.is_some() {
            self.unanswered = Some(self.unanswered.unwrap_or(0) + 1);
            self.first_retransmission.get_or_insert(now);
        }
    }

    pub(super) fn on_dsack(&mut self, start: u64) {
        if self.marker.is_some_and(|marker| start >= marker)
            && let Some(unanswered) = &mut self.unanswered
        {
            *unanswered = unanswered.saturating_sub(1);
        }
    }

    /// Whether a transmission whose clock tick began at `echoed` surely left before the first retransmission.
    pub(super) fn was_sent_before(&self, echoed: Instant, granularity: Duration) -> bool {
        self.first_retransmission.is_some_and(|first| echoed + granularity <= first)
    }

    pub(super) fn all_answered(&self) -> bool {
        self.unanswered == Some(0)
    }

    pub(super) fn watch_timeout(&mut self) {
        self.watch = Watch::FirstAck;
    }

    pub(super) fn stop_watching_timeout(&mut self) {
        self.watch = Watch::Off;
    }

    pub(super) fn wants_new_data(&self) -> bool {
        self.watch == Watch::NewData
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
