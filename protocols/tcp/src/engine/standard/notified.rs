//! Explicit loss notices, and the recoveries that they begin.
use super::Standard;
use super::ack_context::AckContext;
use crate::engine::congestion::CongestionSignal;
use crate::engine::interface::{LossNotice, Phase};
use prismux_units::Instant;

impl Standard {
    /// Acts on a notice. Returns whether the window was reduced.
    pub(super) fn on_notice(&mut self, now: Instant, notice: &LossNotice) -> bool {
        if notice.keep.is_none() {
            self.sender.repair_error(notice.position);
            return false;
        }
        let heeded = self.sender.heed(now, notice);
        if let Some(before) = &heeded.reduced_from {
            self.undo.begin(self.sender.acked, before, true);
        }
        if heeded.began_recovery {
            self.rescued = false;
        }
        heeded.reduced_from.is_some()
    }

    /// In a recovery begun by a notice, a loss that nobody reported: an ordinary congestion loss, with an
    /// ordinary reduction, once.
    pub(super) fn reduce_within_notified(&mut self, context: &AckContext) -> bool {
        if !self.sender.notices.govern() || self.sender.is_frozen(context.now) {
            return false;
        }
        self.sender.notices.note_ordinary_reduction();
        self.begin_reduction(context.now, CongestionSignal::Loss, context.pipe_before);
        self.sender.phase = Phase::Recovery;
        true
    }
}
