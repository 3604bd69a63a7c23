//! What recovery and ProbeRTT ask of the window.

/// What recovery does to the window.
#[derive(Debug, Clone, Default)]
pub(super) struct Conservation {
    /// The first round of recovery: a segment leaves for each that was delivered.
    pub(super) conserving: bool,
    /// The window to return to.
    pub(super) restore: Option<u64>,
}

impl Conservation {
    /// Recovery or ProbeRTT is over: the window is `cwnd` again, or more.
    pub(super) fn restore(&mut self, cwnd: u64) {
        self.conserving = false;
        self.restore = Some(cwnd);
    }
}
