//! The path changes under the connection: what was learnt on the old one is forgotten, what was sent on it is taken
//! for lost, and slow start begins anew towards a threshold that somebody else knows (TCP-HO).
use super::Standard;
use super::ack_context::AckContext;
use super::prr::Prr;
use super::rack::Rack;
use super::undo::Undo;
use crate::engine::congestion::CongestionSignal;
use crate::engine::interface::Phase;
use crate::engine::path::PathChange;
use prismux_units::{Duration, Instant};

impl Standard {
    /// Window and threshold as `change` says; RTT, back-off and loss detection without memory; everything outstanding
    /// and not selectively acknowledged is lost and the first of it due at once.
    pub(crate) fn change_path(&mut self, now: Instant, change: &PathChange) {
        self.path_since = now;
        self.repairing_path = true;
        self.rack = Rack::new();
        self.undo = Undo::default();
        self.prr = Prr::default();
        self.returned_bytes = 0;
        self.rescued = false;
        self.probe.cancel();
        self.probe.forget();
        self.reorder_at = Instant::MAX;
        self.sender.change_path(now, change, false);
    }

    /// A transmission at `sent_at` went over the present path, as far as a clock of granularity `tick` can tell.
    pub(super) fn is_of_this_path(&self, sent_at: Instant, tick: Duration) -> bool {
        sent_at + tick >= self.path_since
    }

    /// While the old path's flight is repaired: something sent on the new path was lost or marked, which is ordinary
    /// congestion. Returns whether the window was reduced.
    pub(super) fn reduce_on_new_path(&mut self, context: &AckContext, signal: CongestionSignal) -> bool {
        if self.sender.is_frozen(context.now) || !core::mem::take(&mut self.repairing_path) {
            return false;
        }
        self.begin_reduction(context.now, signal, context.pipe_before);
        self.enter_recovery();
        true
    }

    /// A repair of the old path's flight is under way: the return of something sent again may be that of its first
    /// copy, late, and tells nothing about what was sent after the change.
    pub(super) fn repairs_old_path(&self) -> bool {
        self.repairing_path && self.sender.phase == Phase::Loss
    }
}
