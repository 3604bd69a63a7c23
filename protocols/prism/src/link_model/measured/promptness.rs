//! Whether receipts come soon enough to tell of losses.
use super::LinkModel;
use prismux_units::Duration;

/// Receipts that take less than this times the round trip by ACKs come in time to tell of losses.
const PROMPT: f64 = 1.2;

impl LinkModel {
    /// Receipts come, and hardly later than ACKs: not over a way back that is much longer than that of ACKs.
    pub(crate) fn has_prompt_receipts(&self) -> bool {
        self.is_measured() && self.promises_receipts()
    }

    /// Receipts came as promptly when there was last anything to tell, however long ago.
    pub(crate) fn promises_receipts(&self) -> bool {
        let least = self.min_rtt().map_or(0.0, Duration::as_secs_f64);
        self.measured.as_ref().is_some_and(|measured| measured.own_rtt < PROMPT * least)
    }
}
