//! Taking back a reduction that was spurious: every retransmission was answered by a duplicate report (RFC 3708),
//! an ACK answers the original by its timestamp (Eifel, RFC 3522 and RFC 4015), or data never sent again is
//! acknowledged after a timeout (F-RTO with SACK, RFC 5682).
use super::Standard;
use super::ack_context::AckContext;
use super::undo::Watch;
use crate::engine::congestion::CongestionControl;
use crate::engine::interface::Phase;
use crate::engine::sender::Urgent;
use prismux_units::Instant;

impl Standard {
    /// Restores the window if this ACK proves the last reduction spurious.
    pub(super) fn undo_spurious(&mut self, context: &AckContext) {
        if !self.sender.config.undo || self.undo.marker.is_none() {
            return;
        }
        if self.undo.notified && !self.sender.config.undo_notices {
            return;
        }
        let by_dsack = context.dsack && self.undo.all_answered();
        let in_repair = matches!(self.sender.phase, Phase::Recovery | Phase::Loss);
        let by_timestamp = in_repair && context.advanced && context.echoed_before;
        if by_dsack || by_timestamp {
            self.undo_reduction();
        }
    }

    fn undo_reduction(&mut self) {
        let Some(before) = self.undo.before else { return };
        self.sender.counters.undone_reductions += 1;
        self.sender.window.cwnd = self.sender.window.cwnd.max(before.cwnd);
        self.sender.window.ssthresh = self.sender.window.ssthresh.max(before.ssthresh);
        self.sender.congestion.on_undo(&self.sender.window);
        // The losses were none: the path reorders (or delays) further than thought.
        self.rack.reordering_seen = true;
        let span = self.sender.recovery_point.saturating_sub(self.undo.marker.unwrap_or(0))
            / self.sender.mss_bytes();
        let span = u32::try_from(span).unwrap_or(u32::MAX);
        self.raise_dup_threshold(span.min(self.sender.dup_threshold * 2));
        if self.sender.phase == Phase::Loss {
            self.sender.rtt.reset_backoff();
        }
        self.take_back_losses();
    }

    /// Takes back all reductions from `since` on. A sender that undoes reductions takes their losses back too: what is
    /// really lost it finds again as for any segment.
    pub(crate) fn restore(&mut self, now: Instant, since: Instant) -> bool {
        let restored = self.sender.restore(now, since);
        if restored && self.sender.config.undo {
            self.take_back_losses();
            self.sender.end_unreduced();
        }
        restored
    }

    /// There is nothing to recover from.
    fn take_back_losses(&mut self) {
        if matches!(self.sender.phase, Phase::Recovery | Phase::Loss) {
            self.sender.board.unmark_all_lost();
            self.sender.urgent = Urgent::NONE;
        }
        self.sender.phase = Phase::Open;
        self.returned_bytes = 0;
        self.sender.notices.end_recovery();
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
            Watch::FirstAck if context.advanced && self.sender.acked < self.sender.recovery_point => {
                self.sender.recovery_point = self.sender.next;
                self.undo.watch = Watch::NewData;
            }
            Watch::FirstAck if context.duplicate => self.undo.watch = Watch::Off,
            Watch::NewData if context.duplicate || context.advanced => self.undo.watch = Watch::Off,
            _ => {}
        }
    }
}
