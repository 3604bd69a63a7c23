//! What is remembered of the tail loss probes of a flow.
use prismux_units::{Duration, Instant};

/// When the receiver's answer was missed and asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TailProbe {
    /// When the last probe went out, and how long to wait for an answer; `None` while the receiver answers.
    pub(crate) sent: Option<(Instant, Duration)>,
}

impl TailProbe {
    /// The receiver was heard of.
    pub(crate) fn on_heard(&mut self) {
        self.sent = None;
    }
}
