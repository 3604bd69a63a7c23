//! The path changes under the connection: what was learnt on the old one is forgotten, what was sent on it is taken
//! for lost, and slow start begins anew towards a threshold that somebody else knows (TCP-HO).
use super::acking::AckContext;
use super::congestion::CongestionSignal;
use super::core::Engine;
use super::interface::Phase;
use super::rack::Rack;
use super::undo::Undo;
use prismux_units::{Duration, Instant};

/// A new path, as far as its properties are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathChange {
    /// The window to begin with, in bytes; at least a segment is used.
    pub window_bytes: u64,
    /// Slow-start threshold, in bytes; `None` keeps the old one.
    pub threshold_bytes: Option<u64>,
    /// No timeout is shorter than this until [`PathUpdate::settled`].
    pub least_rto: Duration,
}

/// What becomes known about the path later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PathUpdate {
    /// New slow-start threshold, in bytes; the window stays.
    pub threshold_bytes: Option<u64>,
    /// The path is known well enough: [`PathChange::least_rto`] no longer holds.
    pub settled: bool,
}

/// What the engine remembers of the last change.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Path {
    /// When the present path came into use. Transmissions before say nothing about it.
    since: Instant,
    /// What the old path held is being sent again, and no loss has been seen meanwhile.
    repairing: bool,
}

impl Engine {
    /// Starts over on another path: window and threshold as `change` says; RTT, back-off and loss detection without
    /// memory; everything outstanding and not selectively acknowledged is lost and the first of it due at once.
    pub fn change_path(&mut self, now: Instant, change: &PathChange) {
        let mss = self.mss_bytes();
        self.path = Path { since: now, repairing: true };
        self.window.cwnd = change.window_bytes.max(mss);
        if let Some(threshold) = change.threshold_bytes {
            self.window.ssthresh = threshold.max(self.window.least_threshold());
        }
        self.congestion.restart(&self.config);
        self.rtt.forget(change.least_rto);
        self.rack = Rack::new();
        self.undo = Undo::default();
        self.prr = Default::default();
        self.ns2 = Default::default();
        self.notices.end_recovery();
        self.dup_acks = 0;
        self.returned_bytes = 0;
        self.dup_threshold = self.config.dup_threshold.max(1);
        self.burst = 0;
        self.rescued = false;
        self.cancel_probe();
        self.forget_probe();
        self.reorder_at = Instant::MAX;
        if self.board.is_empty() {
            self.phase = Phase::Open;
            self.urgent = None;
            self.rto_at = Instant::MAX;
            // Not idle: the pause was the old path's.
            self.last_sent = now;
            return;
        }
        self.phase = Phase::Loss;
        self.recovery_point = self.next;
        self.board.mark_all_lost(self.is_ns2());
        self.urgent = self.board.first_lost().map(|index| self.board.get(index).start);
        self.rto_at = now + self.rtt.rto();
    }

    /// Takes in what became known about the path.
    pub fn update_path(&mut self, update: &PathUpdate) {
        if let Some(threshold) = update.threshold_bytes {
            self.window.ssthresh = threshold.max(self.window.least_threshold());
        }
        if update.settled {
            self.rtt.release_floor();
        }
    }

    /// A transmission at `sent_at` went over the present path, as far as a clock of granularity `tick` can tell.
    pub(super) fn is_of_this_path(&self, sent_at: Instant, tick: Duration) -> bool {
        sent_at + tick >= self.path.since
    }

    /// While the old path's flight is repaired: something sent on the new path was lost or marked, which is ordinary
    /// congestion. Returns whether the window was reduced.
    pub(super) fn reduce_on_new_path(&mut self, context: &AckContext, signal: CongestionSignal) -> bool {
        if !core::mem::take(&mut self.path.repairing) {
            return false;
        }
        self.begin_reduction(signal, context.pipe_before);
        self.enter_recovery();
        true
    }

    /// The old path's flight has been repaired, or a timeout begins an ordinary repair.
    pub(super) fn end_path_repair(&mut self) {
        self.path.repairing = false;
    }

    /// A repair of the old path's flight is under way: the return of something sent again may be that of its first copy,
    /// late, and tells nothing about what was sent after the change.
    pub(super) fn repairs_old_path(&self) -> bool {
        self.path.repairing && self.phase == Phase::Loss
    }
}
