//! Entering, walking through and leaving recovery (RFC 5681 section 3.2, RFC 6582, RFC 6675 section 5).
use super::acking::AckContext;
use super::config::WindowReduction;
use super::congestion::{CongestionControl, CongestionSignal};
use super::core::Engine;
use super::interface::Phase;
use super::prr::Progress;

impl Engine {
    /// Losses were found: enter recovery, once per window. Returns whether the window was reduced.
    pub(super) fn on_losses(&mut self, context: &AckContext) -> bool {
        match self.phase {
            Phase::Open => {
                self.begin_reduction(CongestionSignal::Loss, context.pipe_before);
                self.enter_recovery();
                true
            }
            Phase::Reducing => {
                // The window is already coming down for this round trip.
                self.recovery_point = self.next;
                self.enter_recovery();
                false
            }
            Phase::Recovery => self.reduce_within_notified(context),
            Phase::Loss => self.reduce_on_new_path(context, CongestionSignal::Loss),
        }
    }

    pub(super) fn enter_recovery(&mut self) {
        self.phase = Phase::Recovery;
        self.counters.fast_recoveries += 1;
        self.rescued = false;
        if self.urgent.is_none() {
            self.urgent = self.board.first_lost().map(|index| self.board.get(index).start);
        }
    }

    /// The reordering timer found losses without an ACK.
    pub(super) fn lose_without_ack(&mut self, flight: u64) {
        if self.phase == Phase::Open {
            self.begin_reduction(CongestionSignal::Loss, flight);
        } else {
            self.recovery_point = self.next;
        }
        self.enter_recovery();
        if self.config.reduction != WindowReduction::Immediate {
            // Nothing was delivered: the fast retransmit, and no more until an ACK.
            self.window.cwnd = self.pipe() + self.mss_bytes();
        }
    }

    /// Lowers the threshold and starts the way down; `flight` was in the network.
    pub(super) fn begin_reduction(&mut self, signal: CongestionSignal, flight: u64) {
        self.undo.begin(self.acked, &self.window, false);
        self.recovery_point = self.next;
        self.window.ssthresh = self.congestion.threshold(signal, &self.window);
        self.phase = Phase::Reducing;
        self.prr.begin(flight);
        if self.config.reduction == WindowReduction::Immediate {
            self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
        }
    }

    /// The window during a reduction, after an ACK.
    pub(super) fn reduce_window(&mut self, context: &AckContext) {
        if self.notices.govern() {
            return;
        }
        let progress = Progress {
            delivered: context.delivery.bytes,
            pipe: self.pipe(),
            safe: context.advanced && !context.newly_lost,
            ssthresh: self.window.ssthresh,
            mss: self.mss_bytes(),
        };
        match self.config.reduction {
            WindowReduction::Immediate => {}
            WindowReduction::Proportional => {
                if progress.delivered > 0 {
                    self.window.cwnd = self.prr.proportional(&progress);
                }
            }
            WindowReduction::RateHalving => {
                if context.advanced || context.duplicate {
                    self.window.cwnd = self.prr.rate_halving(self.window.cwnd, &progress);
                }
            }
        }
    }

    /// The recovery point is acknowledged.
    pub(super) fn end_recovery(&mut self) {
        let ended = self.phase;
        self.end_path_repair();
        self.phase = Phase::Open;
        self.dup_acks = 0;
        self.returned_bytes = 0;
        self.undo.stop_watching_timeout();
        if ended == Phase::Loss {
            self.rack.on_recovery_end();
            return;
        }
        let governed = self.notices.end_recovery();
        if ended == Phase::Recovery {
            self.rack.on_recovery_end();
        }
        let floor = self.mss_bytes();
        match self.config.reduction {
            _ if governed => {}
            WindowReduction::Proportional => self.window.cwnd = self.window.ssthresh.max(floor),
            WindowReduction::RateHalving => {
                self.window.cwnd = self.window.cwnd.min(self.window.ssthresh).max(floor);
            }
            WindowReduction::Immediate if !self.config.sack => {
                // RFC 6582 section 3.2 step 3 (1): no burst when little is in flight.
                let flight = self.board.in_flight().bytes.max(floor) + floor;
                self.window.cwnd = self.window.ssthresh.min(flight).max(floor);
            }
            WindowReduction::Immediate => {}
        }
    }
}
