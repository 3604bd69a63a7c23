//! How much is answered to hosts that nobody knows.
use prismux_units::{Duration, Instant};

/// Answers in a row at most, and how long each has to be waited for after that: whoever asks under another's address
/// makes this host answer there.
pub(crate) const BURST: u32 = 20;
const REFILL: Duration = Duration::from_millis(100);

/// A token bucket of answers.
#[derive(Debug)]
pub(crate) struct Allowance {
    left: u32,
    refilled_at: Instant,
}

impl Allowance {
    pub const fn full() -> Self {
        Self { left: BURST, refilled_at: Instant::ZERO }
    }

    /// Takes one answer out, if there is one.
    pub fn take(&mut self, now: Instant) -> bool {
        let passed = now.saturating_since(self.refilled_at).as_nanos() / REFILL.as_nanos();
        if passed > 0 {
            self.left = u32::try_from(passed).unwrap_or(BURST).saturating_add(self.left).min(BURST);
            self.refilled_at = now;
        }
        let may = self.left > 0;
        self.left = self.left.saturating_sub(1);
        may
    }
}
