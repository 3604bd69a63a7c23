//! Explicit loss notices: resend at once, reduce by the notice's own factor once per path and window.
use super::acking::AckContext;
use super::congestion::CongestionControl;
use super::congestion::CongestionSignal;
use super::core::Engine;
use super::interface::{LossNotice, Phase};
use super::scoreboard::SegmentState;
use alloc::vec::Vec;
use prismux_units::{Duration, Instant};

/// Reductions in force, and whether the present recovery was begun by a notice.
#[derive(Debug, Clone, Default)]
#[repr(C)]
pub(super) struct Notices {
    /// The present recovery was begun by a notice: the window has already its final size.
    governing: bool,
    /// In it, an unreported loss has had its ordinary reduction.
    ordinary: bool,
    /// A notice has come: several paths lie ahead.
    seen: bool,
    /// What lies below was sent before the last timeout, which was a reduction for every path.
    timed_out_below: u64,
    /// Path, and the position whose acknowledgement ends its reduction. Only as long as the number of paths. Last, since it is
    /// seldom touched.
    reductions: Vec<(u8, u64)>,
}

impl Notices {
    /// Whether the network in front splits the flow over paths: a retransmission may then overtake what was sent
    /// long before it on a slower path, and its return says nothing about that.
    pub(super) fn several_paths(&self) -> bool {
        self.seen
    }

    /// True in a recovery begun by a notice, as long as only reported losses occur in it.
    pub(super) fn govern(&self) -> bool {
        self.governing && !self.ordinary
    }

    /// Recovery ended. Returns whether a notice governed it.
    pub(super) fn end_recovery(&mut self) -> bool {
        let governed = self.govern();
        self.governing = false;
        self.ordinary = false;
        governed
    }

    /// A timeout, with `next` the first position not sent.
    pub(super) fn on_timeout(&mut self, next: u64) {
        self.end_recovery();
        self.timed_out_below = next;
    }

    /// A reduction for `path` is due unless its last one is still unacknowledged. Notes the new one.
    fn may_reduce(&mut self, path: u8, acked: u64, next: u64) -> bool {
        self.reductions.retain(|&(_, until)| until > acked);
        let free = self.reductions.iter().all(|&(other, _)| other != path);
        if free {
            self.reductions.push((path, next));
        }
        free
    }
}

impl Engine {
    /// Acts on a notice. Returns whether the window was reduced.
    pub(super) fn on_notice(&mut self, now: Instant, notice: &LossNotice) -> bool {
        if !self.mark_reported(now, notice.position) {
            self.counters.ignored_notices += 1;
            return false;
        }
        self.counters.loss_notices += 1;
        self.notices.seen = true;
        self.urgent = Some(notice.position);
        // A notice that keeps the whole window tells of a loss that is nobody's congestion.
        let lawful = notice.keep > 0.0 && notice.keep < 1.0;
        if self.acked < self.notices.timed_out_below {
            // Slow start after a timeout sends everything below anew: the window knows of these losses.
            return false;
        }
        let reduce = lawful
            && self.phase != Phase::Loss
            && self.notices.may_reduce(notice.path, self.acked, self.next);
        if reduce {
            self.reduce_for(notice.keep);
        }
        if matches!(self.phase, Phase::Open | Phase::Reducing) {
            self.recovery_point = self.next;
            self.phase = Phase::Recovery;
            self.counters.fast_recoveries += 1;
            self.rescued = false;
            self.notices.governing = true;
            self.notices.ordinary = false;
        } else if self.phase == Phase::Recovery {
            // Until this loss is repaired, too, the network in front passes duplicates on.
            let end = self.board.find(notice.position).map_or(0, |index| self.board.get(index).end());
            self.recovery_point = self.recovery_point.max(end);
        }
        reduce
    }

    /// Marks the reported segment lost. False if it is not outstanding, has arrived, or was sent again so recently
    /// that the notice must be about the earlier transmission.
    fn mark_reported(&mut self, now: Instant, position: u64) -> bool {
        let Some(index) = self.board.find(position) else { return false };
        let segment = *self.board.get(index);
        match segment.state {
            SegmentState::Sacked => false,
            SegmentState::Lost => self.urgent != Some(segment.start),
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

    fn reduce_for(&mut self, keep: f64) {
        let before = self.window;
        self.undo.begin(self.acked, &before, true);
        let kept = libm::round(before.cwnd as f64 * keep) as u64;
        self.window.ssthresh = kept.max(before.least_threshold());
        self.window.cwnd = self.window.ssthresh.min(before.cwnd.max(before.least_threshold()));
        self.congestion.on_outside_reduction(&before, &self.window);
    }

    /// In a recovery begun by a notice, a loss that nobody reported: an ordinary congestion loss, with an
    /// ordinary reduction, once.
    pub(super) fn reduce_within_notified(&mut self, context: &AckContext) -> bool {
        if !self.notices.govern() {
            return false;
        }
        self.notices.ordinary = true;
        self.begin_reduction(CongestionSignal::Loss, context.pipe_before);
        self.phase = Phase::Recovery;
        true
    }
}
