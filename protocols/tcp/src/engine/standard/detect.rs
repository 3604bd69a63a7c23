//! Which segments are lost: by duplicates (RFC 5681, RFC 6582), by selective acknowledgements (RFC 6675), by
//! forward acknowledgement (Linux 2.4) or by time (RFC 8985).
use super::Standard;
use super::ack_context::AckContext;
use super::rack::WindowInputs;
use crate::engine::interface::Phase;
use crate::engine::scoreboard::SegmentState;
use crate::engine::sender::Urgent;
use core::ops::Range;
use prismux_units::{Duration, Instant};

impl Standard {
    /// Marks segments lost as this ACK suggests. Returns whether any was.
    pub(super) fn detect_losses(&mut self, context: &AckContext) -> bool {
        if self.sender.board.is_empty() {
            return false;
        }
        if self.sender.is_polled() {
            return self.detect_by_report(context.now);
        }
        if !self.sender.switches.sack {
            return self.detect_by_duplicates(context);
        }
        if self.sender.notices.govern() {
            return self.detect_unreported(context.now);
        }
        if self.sender.config.rack {
            if context.delivery.newest.is_none() && self.sender.board.sacked().segments == 0 {
                return false;
            }
            return self.detect_by_time(context.now);
        }
        if self.sender.board.sacked().segments == 0 && context.delivery.newest.is_none() {
            return false;
        }
        let by_count = self.sender.board.judge(self.sender.dup_threshold, self.sender.config.fack, u64::MAX);
        by_count | self.detect_lost_retransmissions()
    }

    /// STP: a gap is a loss as soon as it is reported. What was sent a round trip and a poll ago, sent again or not,
    /// and is not in the report that has just come, is one too.
    fn detect_by_report(&mut self, now: Instant) -> bool {
        let mut marked = self.sender.board.judge(1, false, u64::MAX);
        let Some(interval) = self.sender.poll_interval() else { return marked };
        let patience = self.sender.rtt.srtt().unwrap_or_else(|| self.sender.rtt.rto())
            + interval
            + self.sender.rtt.rttvar() * 4;
        while let Some(index) = self.sender.board.oldest_in_flight() {
            if self.sender.board.get(index).sent_at + patience > now {
                break;
            }
            self.sender.board.mark_lost(index);
            marked = true;
        }
        marked
    }

    /// In a recovery begun by a notice. The network in front reports what its paths lose, and until it has, the holes
    /// between its paths look like losses and are none: neither counting nor RACK's window may judge them. While
    /// reports stand in for duplicates, RTT samples come from the quickest path alone, so a slow path's packets are
    /// out for several of them. Only what has been out for two timeouts, with something younger returned, was lost
    /// unreported.
    fn detect_unreported(&mut self, now: Instant) -> bool {
        self.reorder_at = Instant::MAX;
        let patience = self.sender.rtt.rto() * 2;
        let mut marked = false;
        while let Some(index) = self.sender.board.oldest_in_flight() {
            let segment = *self.sender.board.get(index);
            if segment.sent_after(self.rack.sent_at, self.rack.end) || segment.sent_at + patience > now {
                break;
            }
            self.sender.board.mark_lost(index);
            marked = true;
        }
        marked
    }

    /// NewReno without SACK (RFC 6582 section 3.2): the third duplicate, and each partial ACK in recovery, mean
    /// that the first outstanding segment is lost.
    fn detect_by_duplicates(&mut self, context: &AckContext) -> bool {
        let Some(head) = self.sender.board.head() else { return false };
        let segment = *self.sender.board.get(head);
        if segment.state != SegmentState::InFlight {
            return false;
        }
        let third = context.duplicate
            && self.sender.dup_acks >= self.sender.dup_threshold
            && self.sender.phase == Phase::Open
            // Step 2: not for duplicates that a go-back-N or a previous recovery provoked.
            && (self.sender.acked > self.sender.recovery_point || self.sender.recovery_point == 0);
        let partial = context.advanced
            && matches!(self.sender.phase, Phase::Recovery)
            && self.sender.acked < self.sender.recovery_point
            && !segment.was_retransmitted();
        if third || partial {
            self.sender.board.mark_lost(head);
            self.sender.urgent = Urgent::at(segment.start);
        }
        third || partial
    }

    /// RFC 8985 section 6.2 step 5. The flight list is in order of transmission, so the walk ends at the first
    /// segment that may still arrive; the reordering timer is set for that one.
    pub(super) fn detect_by_time(&mut self, now: Instant) -> bool {
        self.reorder_at = Instant::MAX;
        let window = self.reordering_window();
        let mut marked = false;
        while let Some(index) = self.sender.board.oldest_in_flight() {
            let segment = *self.sender.board.get(index);
            if segment.sent_after(self.rack.sent_at, self.rack.end) || self.rack.end == 0 {
                break;
            }
            let due = segment.sent_at + self.rack.rtt + window;
            if due > now {
                self.reorder_at = due;
                break;
            }
            self.sender.board.mark_lost(index);
            marked = true;
        }
        marked
    }

    pub(super) fn reordering_window(&self) -> Duration {
        self.rack.reordering_window(&WindowInputs {
            min_rtt: self.sender.rtt.min_rtt(),
            srtt: self.sender.rtt.srtt(),
            in_recovery: matches!(self.sender.phase, Phase::Recovery | Phase::Loss),
            sacked_segments: self.sender.board.sacked().segments,
            dup_threshold: self.sender.dup_threshold,
            adaptive: self.sender.config.adaptive_reordering,
        })
    }

    /// Without RACK: a retransmission is lost once something sent after it has arrived `dup_threshold` segments
    /// above it (the `lost_retrans` rule of Linux 2.4; the retransmission-loss rule of the drafts after RFC 3517).
    /// Originals in front of it in order of transmission are younger than the threshold, so the walk is short.
    fn detect_lost_retransmissions(&mut self) -> bool {
        if !matches!(self.sender.phase, Phase::Recovery | Phase::Loss) {
            return false;
        }
        let reach = self
            .sender
            .board
            .forward()
            .saturating_sub(u64::from(self.sender.dup_threshold) * self.sender.mss_bytes());
        let mut cursor = self.sender.board.oldest_in_flight();
        let mut marked = false;
        while let Some(index) = cursor {
            let segment = *self.sender.board.get(index);
            if segment.sent_after(self.rack.sent_at, self.rack.end) {
                break;
            }
            cursor = self.sender.board.linked_after(index);
            if segment.was_retransmitted() && segment.end() <= reach {
                self.sender.board.mark_lost(index);
                marked = true;
            }
        }
        marked
    }

    /// Something sent once only arrived after data above it: the path reorders.
    pub(super) fn on_reordering(&mut self, from: u64) {
        self.rack.reordering_seen = true;
        let distance = self.sender.board.forward().saturating_sub(from).div_ceil(self.sender.mss_bytes());
        self.raise_dup_threshold(u32::try_from(distance).unwrap_or(u32::MAX));
    }

    /// Adapts the threshold to reordering by `distance` segments (Linux `tcp_update_reordering`).
    pub(super) fn raise_dup_threshold(&mut self, distance: u32) {
        if self.sender.config.adaptive_reordering && self.sender.switches.sack && !self.sender.config.rack {
            let most = self.sender.config.max_reordering.max(self.sender.config.dup_threshold);
            self.sender.dup_threshold = self.sender.dup_threshold.max(distance.min(most));
        }
    }

    /// The receiver reports `range` as received twice.
    pub(super) fn on_dsack(&mut self, range: &Range<u64>) {
        if range.end > self.sender.next
            || self.sender.counters.spurious_retransmissions >= self.sender.counters.retransmitted_segments
        {
            // A copy made by the network, or nonsense: we never sent it twice.
            return;
        }
        self.sender.counters.spurious_retransmissions += 1;
        self.rack.on_dsack(self.sender.acked, self.sender.next);
        self.undo.on_dsack(range.start);
    }
}
