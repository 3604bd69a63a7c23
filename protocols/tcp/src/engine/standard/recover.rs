//! Entering, walking through and leaving recovery (RFC 5681 section 3.2, RFC 6582, RFC 6675 section 5).
use super::Standard;
use super::ack_context::AckContext;
use super::prr::Progress;
use crate::engine::config::WindowReduction;
use crate::engine::congestion::{CongestionControl, CongestionSignal};
use crate::engine::interface::Phase;
use prismux_units::Instant;

impl Standard {
    /// Losses were found: enter recovery, once per window. Returns whether the window was reduced.
    pub(super) fn on_losses(&mut self, context: &AckContext) -> bool {
        match self.sender.phase {
            Phase::Open => {
                let reduces = !self.sender.leaves_out_reduction(context.now);
                if reduces {
                    self.begin_reduction(context.now, CongestionSignal::Loss, context.pipe_before);
                } else {
                    self.sender.recovery_point = self.sender.next;
                }
                self.enter_recovery();
                reduces
            }
            Phase::Reducing => {
                // The window is already coming down for this round trip.
                self.sender.recovery_point = self.sender.next;
                self.enter_recovery();
                false
            }
            Phase::Recovery => self.reduce_within_notified(context),
            Phase::Loss => self.reduce_on_new_path(context, CongestionSignal::Loss),
        }
    }

    pub(super) fn enter_recovery(&mut self) {
        self.sender.phase = Phase::Recovery;
        self.sender.counters.fast_recoveries += 1;
        self.rescued = false;
        if self.sender.urgent.position().is_none() {
            self.sender.urgent =
                self.sender.board.first_lost().map(|index| self.sender.board.get(index).start).into();
        }
    }

    /// The reordering timer found losses without an ACK.
    pub(super) fn lose_without_ack(&mut self, now: Instant, flight: u64) {
        if self.sender.phase == Phase::Open && !self.sender.leaves_out_reduction(now) {
            self.begin_reduction(now, CongestionSignal::Loss, flight);
        } else {
            self.sender.recovery_point = self.sender.next;
        }
        self.enter_recovery();
        let unreduced = self.sender.recovers_unreduced() || self.is_rate_based();
        if self.sender.config.reduction != WindowReduction::Immediate && !unreduced {
            // Nothing was delivered: the fast retransmit, and no more until an ACK.
            self.sender.window.cwnd = self.pipe() + self.sender.mss_bytes();
        }
    }

    /// Lowers the threshold and starts the way down; `flight` was in the network.
    pub(super) fn begin_reduction(&mut self, now: Instant, signal: CongestionSignal, flight: u64) {
        self.sender.note_reduction(now);
        self.undo.begin(self.sender.acked, &self.sender.window, false);
        self.sender.recovery_point = self.sender.next;
        self.sender.window.ssthresh = self.sender.congestion.threshold(signal, &self.sender.window);
        self.sender.phase = Phase::Reducing;
        self.prr.begin(flight);
        if self.sender.config.reduction == WindowReduction::Immediate {
            self.sender.window.cwnd = self.sender.window.cwnd.min(self.sender.window.ssthresh);
        }
    }

    /// The window during a reduction, after an ACK.
    pub(super) fn reduce_window(&mut self, context: &AckContext) {
        if self.sender.notices.govern() || self.sender.recovers_unreduced() {
            return;
        }
        let progress = Progress {
            delivered: context.delivery.bytes,
            pipe: self.pipe(),
            safe: context.advanced && !context.newly_lost,
            ssthresh: self.sender.window.ssthresh,
            mss: self.sender.mss_bytes(),
        };
        match self.sender.config.reduction {
            WindowReduction::Immediate => {}
            WindowReduction::Proportional => {
                if progress.delivered > 0 {
                    self.sender.window.cwnd = self.prr.proportional(&progress);
                }
            }
            WindowReduction::RateHalving => {
                if context.advanced || context.duplicate {
                    self.sender.window.cwnd = self.prr.rate_halving(self.sender.window.cwnd, &progress);
                }
            }
        }
    }

    /// The recovery point is acknowledged.
    pub(super) fn end_recovery(&mut self) {
        let ended = self.sender.phase;
        self.repairing_path = false;
        self.sender.phase = Phase::Open;
        self.sender.dup_acks = 0;
        self.returned_bytes = 0;
        self.undo.stop_watching_timeout();
        let unreduced = self.sender.end_unreduced();
        if ended == Phase::Loss {
            self.rack.on_recovery_end();
            return;
        }
        let governed = self.sender.notices.end_recovery();
        if ended == Phase::Recovery {
            self.rack.on_recovery_end();
        }
        let floor = self.sender.mss_bytes();
        match self.sender.config.reduction {
            _ if governed || unreduced || self.is_rate_based() => {}
            WindowReduction::Proportional => self.sender.window.cwnd = self.sender.window.ssthresh.max(floor),
            WindowReduction::RateHalving => {
                self.sender.window.cwnd = self.sender.window.cwnd.min(self.sender.window.ssthresh).max(floor);
            }
            WindowReduction::Immediate if !self.sender.switches.sack => {
                // RFC 6582 section 3.2 step 3 (1): no burst when little is in flight.
                let flight = self.sender.board.in_flight().bytes.max(floor) + floor;
                self.sender.window.cwnd = self.sender.window.ssthresh.min(flight).max(floor);
            }
            WindowReduction::Immediate => {}
        }
    }
}
