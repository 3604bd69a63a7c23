//! So many messages in a second and no more (RFC 3561 sections 6.3 and 6.11).
use prismux_units::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);

/// Counts messages in windows of a second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RateLimit {
    per_second: u32,
    window: Instant,
    sent: u32,
}

impl RateLimit {
    pub(crate) fn new(per_second: u32) -> Self {
        Self { per_second, window: Instant::ZERO, sent: 0 }
    }

    /// Whether one more may leave at `now`, which then counts.
    pub(crate) fn take(&mut self, now: Instant) -> bool {
        if now >= self.window + SECOND {
            (self.window, self.sent) = (now, 0);
        }
        let may = self.sent < self.per_second;
        self.sent += u32::from(may);
        may
    }

    /// When the next one may leave.
    pub(crate) fn next(&self) -> Instant {
        self.window + SECOND
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_after_the_first_of_a_full_window_the_next_may_leave() {
        let mut limit = RateLimit::new(2);
        let takes = [0, 10, 20, 999, 1000].map(|millis| limit.take(Instant::from_millis(millis)));
        assert_eq!(takes, [true, true, false, false, true]);
        assert_eq!(limit.next(), Instant::from_secs(2));
    }
}
