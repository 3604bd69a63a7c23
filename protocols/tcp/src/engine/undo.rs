//! Taking back a reduction that was spurious: every retransmission was answered by a duplicate report (RFC 3708),
//! an ACK answers the original by its timestamp (Eifel, RFC 3522 and RFC 4015), or data never sent again is
//! acknowledged after a timeout (F-RTO with SACK, RFC 5682).
use super::acking::AckContext;
use super::congestion::{CongestionControl, Window};
use super::core::Engine;
use super::interface::Phase;
use prismux_units::{Duration, Instant};

/// Where F-RTO stands after a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Watch {
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
    marker: Option<u64>,
    before: Option<Window>,
    /// Retransmissions since then not yet reported as duplicates; `None` before the first.
    unanswered: Option<u32>,
    first_retransmission: Option<Instant>,
    watch: Watch,
    /// The reduction answered a loss notice.
    notified: bool,
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

    fn all_answered(&self) -> bool {
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

    fn clear(&mut self) {
        *self = Self::default();
    }
}

impl Engine {
    /// Restores the window if this ACK proves the last reduction spurious.
    pub(super) fn undo_spurious(&mut self, context: &AckContext) {
        if !self.config.undo || self.undo.marker.is_none() {
            return;
        }
        if self.undo.notified && !self.config.undo_notices {
            return;
        }
        let by_dsack = context.dsack && self.undo.all_answered();
        let in_repair = matches!(self.phase, Phase::Recovery | Phase::Loss);
        let by_timestamp = in_repair && context.advanced && context.echoed_before;
        if by_dsack || by_timestamp {
            self.undo_reduction();
        }
    }

    fn undo_reduction(&mut self) {
        let Some(before) = self.undo.before else { return };
        self.counters.undone_reductions += 1;
        self.window.cwnd = self.window.cwnd.max(before.cwnd);
        self.window.ssthresh = self.window.ssthresh.max(before.ssthresh);
        self.congestion.on_undo(&self.window);
        // The losses were none: the path reorders (or delays) further than thought.
        self.rack.reordering_seen = true;
        let span = self.recovery_point.saturating_sub(self.undo.marker.unwrap_or(0)) / self.mss_bytes();
        let span = u32::try_from(span).unwrap_or(u32::MAX);
        self.raise_dup_threshold(span.min(self.dup_threshold * 2));
        if matches!(self.phase, Phase::Recovery | Phase::Loss) {
            self.board.unmark_all_lost();
            self.urgent = None;
        }
        if self.phase == Phase::Loss {
            self.rtt.reset_backoff();
        }
        self.phase = Phase::Open;
        self.returned_bytes = 0;
        self.notices.end_recovery();
        self.undo.clear();
    }

    /// F-RTO (RFC 5682 section 3): what this ACK says about the last timeout.
    pub(super) fn continue_after_timeout(&mut self, context: &AckContext) {
        if self.undo.watch == Watch::Off {
            return;
        }
        if context.delivery.original_before_recovery {
            self.undo_reduction();
            return;
        }
        match self.undo.watch {
            Watch::FirstAck if context.advanced && self.acked < self.recovery_point => {
                self.recovery_point = self.next;
                self.undo.watch = Watch::NewData;
            }
            Watch::FirstAck if context.duplicate => self.undo.watch = Watch::Off,
            Watch::NewData if context.duplicate || context.advanced => self.undo.watch = Watch::Off,
            _ => {}
        }
    }
}
