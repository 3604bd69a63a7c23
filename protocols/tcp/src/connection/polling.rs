//! What a sender that polls its peer remembers (STP).
use prismux_units::Instant;

/// When the sender polled last, and how many bytes have left since.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Polling {
    pub(super) polled_at: Instant,
    pub(super) bytes: u64,
}

impl Polling {
    pub(super) fn data_left(&mut self, bytes: u64) {
        self.bytes += bytes;
    }
}
