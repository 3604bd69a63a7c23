//! Writing off what is outstanding when its fate says nothing about the path.
use super::Standard;
use super::undo::Undo;
use crate::engine::interface::Phase;
use prismux_units::Instant;

impl Standard {
    /// A recovery under way ends as if it were complete.
    pub(crate) fn write_off(&mut self) {
        if self.sender.phase != Phase::Open {
            self.end_recovery();
        }
        self.sender.write_off();
        self.returned_bytes = 0;
        self.rescued = false;
        self.limited_until = 0;
        self.undo = Undo::default();
        self.probe.cancel();
        self.probe.forget();
        self.reorder_at = Instant::MAX;
    }
}
