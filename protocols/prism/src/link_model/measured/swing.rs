//! Links whose rate swings: what one of them has carried of late may be asked of it again.
use super::{LinkModel, Measured};

/// A link is given packets at most this times as fast as it carries them.
const MAX_SWING: f64 = 2.0;

impl Measured {
    /// How many times what it carries now the link has carried of late, for some time: as much may be asked of it again
    /// from one moment to the next.
    pub(super) fn swing(&self) -> f64 {
        if self.capacity > 0.0 { (self.best.get() / self.capacity).max(1.0) } else { 1.0 }
    }
}

impl LinkModel {
    /// How much faster a link is given packets that has carried more of late.
    pub(in crate::link_model) fn swing_gain(&self) -> f64 {
        self.swing().min(MAX_SWING)
    }

    /// See [`Measured::swing`]. What a link no longer carries whose queue has overflowed is others' now, and it is
    /// asked for no more than it carries; where jitter hides queues, an overflow says less.
    pub(super) fn swing(&self) -> f64 {
        let is_ours = |measured: &&Measured| !self.overload.has_overflowed() || measured.is_jittery();
        self.measured().filter(is_ours).map_or(1.0, Measured::swing)
    }
}
