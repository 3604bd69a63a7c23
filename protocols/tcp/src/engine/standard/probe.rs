//! State of the tail loss probe (RFC 8985 section 7.1).
use prismux_units::Instant;

/// When a probe is due, and what became of the last one.
#[derive(Debug, Clone)]
pub(super) struct Probe {
    /// When the next probe is due.
    pub(super) at: Instant,
    /// The timer fired; the probe waits to be sent.
    pub(super) pending: bool,
    /// TLP.end_seq and TLP.is_retrans of the probe under way.
    pub(super) outstanding: Option<(u64, bool)>,
}

impl Probe {
    pub(super) fn new() -> Self {
        Self { at: Instant::MAX, pending: false, outstanding: None }
    }

    /// No probe is due.
    pub(super) fn cancel(&mut self) {
        self.at = Instant::MAX;
        self.pending = false;
    }

    /// What becomes of the probe under way says nothing any more.
    pub(super) fn forget(&mut self) {
        self.outstanding = None;
    }
}
