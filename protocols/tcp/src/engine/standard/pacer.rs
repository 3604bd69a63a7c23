//! The pacer: segments leave at a rate, in bursts short enough not to matter (draft-ietf-ccwg-bbr section 5.6.2,
//! 5.6.3).
use prismux_units::{ByteCount, Duration, Instant, Rate};

/// What leaves at once lasts so long at the pacing rate, so that fast senders need not wake for every segment.
const BURST_TIME: Duration = Duration::from_millis(1);
/// The largest burst (Linux: the largest segment of a segmenting interface).
const MAX_BURST_BYTES: u64 = 65_536;

/// When the next burst may begin, and what is left of the present one.
#[derive(Debug, Clone)]
pub(super) struct Pacer {
    /// The link of this rate would be free again.
    next_at: Instant,
    /// Something waits until then; [`Instant::MAX`] if nothing does.
    pub(super) due: Instant,
    burst_bytes_left: u64,
}

impl Pacer {
    pub(super) fn new() -> Self {
        Self { next_at: Instant::ZERO, due: Instant::MAX, burst_bytes_left: 0 }
    }

    /// Whether a segment that is ready has to wait. If so, [`Pacer::due`] is when it need no longer.
    #[inline]
    pub(super) fn holds(&mut self, now: Instant) -> bool {
        if now >= self.next_at || self.burst_bytes_left > 0 {
            return false;
        }
        self.due = self.next_at;
        true
    }

    /// A segment leaves. A burst that begins late may make up for as much as one burst.
    pub(super) fn on_sent(&mut self, now: Instant, bytes: u64, rate: Rate, mss: u64) {
        if now >= self.next_at {
            let burst = rate.bytes_in(BURST_TIME).as_u64().clamp(mss, MAX_BURST_BYTES);
            let late = rate.transmission_time(ByteCount::new(burst));
            self.next_at = self.next_at.max(now - late);
            self.burst_bytes_left = burst;
        }
        self.next_at += rate.transmission_time(ByteCount::new(bytes));
        self.burst_bytes_left = self.burst_bytes_left.saturating_sub(bytes);
        self.due = Instant::MAX;
    }
}
