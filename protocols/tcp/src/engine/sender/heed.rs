//! Explicit loss notices: resend at once, reduce by the notice's own factor once per path and window; for an error of
//! the link resend, and no more.
use super::{Heeded, Sender, Urgent};
use crate::engine::congestion::CongestionControl;
use crate::engine::interface::{LossNotice, Phase};
use crate::engine::scoreboard::SegmentState;
use prismux_units::{Duration, Instant};
use prismux_wire::KeepFactor;

impl Sender {
    /// Acts on a notice.
    pub(crate) fn heed(&mut self, now: Instant, notice: &LossNotice) -> Heeded {
        let mut heeded = Heeded::default();
        if !self.mark_reported(now, notice.position) {
            self.counters.ignored_notices += 1;
            return heeded;
        }
        self.counters.loss_notices += 1;
        self.notices.note_heeded();
        self.urgent = Urgent::at(notice.position);
        let lawful = notice.keep.filter(|keep| keep.0 > 0);
        if self.notices.repairs_timeout(self.acked) {
            // Slow start after a timeout sends everything below anew: the window knows of these losses.
            return heeded;
        }
        if let Some(keep) = lawful
            && self.phase != Phase::Loss
            && self.notices.may_reduce(notice.path, self.acked, self.next)
        {
            heeded.reduced_from = Some(self.window);
            self.reduce_for(keep);
        }
        if matches!(self.phase, Phase::Open | Phase::Reducing) {
            self.recovery_point = self.next;
            self.phase = Phase::Recovery;
            self.counters.fast_recoveries += 1;
            self.notices.begin_recovery();
            heeded.began_recovery = true;
        } else if self.phase == Phase::Recovery {
            // Until this loss is repaired, too, the network in front passes duplicates on.
            let end = self.board.find(notice.position).map_or(0, |index| self.board.get(index).end());
            self.recovery_point = self.recovery_point.max(end);
        }
        heeded
    }

    /// An error of the link took the segment at `position`: it goes out anew, once. Window, threshold and recovery stay
    /// as they are, and holes without a notice are judged by the ordinary rules (`tcp_eln` of ns-2).
    pub(crate) fn repair_error(&mut self, position: u64) {
        let waiting = self.board.find(position).map(|index| self.board.get(index).state);
        if !matches!(waiting, Some(SegmentState::InFlight | SegmentState::Lost))
            || !self.notices.note_error(position)
        {
            self.counters.ignored_notices += 1;
            return;
        }
        self.counters.loss_notices += 1;
        self.board.spare(position);
        self.urgent = Urgent::at(position);
    }

    /// Marks the reported segment lost. False if it is not outstanding, has arrived, or was sent again so recently
    /// that the notice must be about the earlier transmission.
    fn mark_reported(&mut self, now: Instant, position: u64) -> bool {
        let Some(index) = self.board.find(position) else { return false };
        let segment = *self.board.get(index);
        match segment.state {
            SegmentState::Sacked => false,
            SegmentState::Lost => self.urgent.position() != Some(segment.start),
            SegmentState::InFlight => {
                let soonest = self.rtt.min_rtt().unwrap_or(Duration::ZERO);
                if segment.was_retransmitted() && now - segment.sent_at < soonest {
                    return false;
                }
                self.board.mark_lost(index);
                true
            }
        }
    }

    fn reduce_for(&mut self, keep: KeepFactor) {
        let before = self.window;
        let kept = keep.of(before.cwnd);
        self.window.ssthresh = kept.max(before.min_threshold());
        self.window.cwnd = self.window.ssthresh.min(before.cwnd.max(before.min_threshold()));
        self.congestion.on_external_reduction(&before, &self.window);
    }
}
