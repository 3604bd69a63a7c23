//! How far a link reorders, and so when a packet counts as lost (after RACK, RFC 8985 section 6.2).
//!
//! A packet is lost when enough later ones have come, and enough time has passed since it should have. Both
//! thresholds begin at what a link needs that keeps order, and rise above the largest displacement seen in the last
//! 30 s. Both must be passed; four times the time alone does too, for a packet that few follow.
use crate::windowed::Windowed;
use prismux_units::{Duration, Instant};

/// Packets after a hole that prove a loss where nothing is reordered (RFC 5681, RFC 8985 section 3.3).
const MIN_PACKETS: u64 = 3;
const MAX_PACKETS: u64 = 1024;
const MAX_TIME: Duration = Duration::from_secs(1);
/// Displacements are remembered for so long.
const WINDOW: Duration = Duration::from_secs(30);
/// A packet with few behind it is lost no earlier than this.
const MIN_ALONE: Duration = Duration::from_millis(10);

/// The thresholds of a link.
#[derive(Debug)]
pub(super) struct Reordering {
    /// How many later packets had come before the one that was late.
    packets: Windowed,
    /// How late that was, in nanoseconds.
    nanos: Windowed,
}

impl Reordering {
    /// A link that keeps order.
    pub const fn new() -> Self {
        Self { packets: Windowed::max(WINDOW), nanos: Windowed::max(WINDOW) }
    }

    /// A packet came after `packets` later ones, so much later than they.
    pub fn displaced(&mut self, now: Instant, packets: u64, late: Duration) {
        self.packets.add(now, i64::try_from(packets).unwrap_or(i64::MAX));
        self.nanos.add(now, i64::try_from(late.as_nanos()).unwrap_or(i64::MAX));
    }

    /// Later packets that must have come.
    pub fn packets(&self, now: Instant) -> u64 {
        let seen = self.packets.get(now).and_then(|packets| u64::try_from(packets).ok()).unwrap_or(0);
        (seen + seen / 4 + 1).clamp(MIN_PACKETS, MAX_PACKETS)
    }

    /// Time that must have passed since the packet should have come.
    pub fn time(&self, now: Instant) -> Duration {
        let seen = self.nanos.get(now).and_then(|nanos| u64::try_from(nanos).ok()).unwrap_or(0);
        Duration::from_nanos(seen.saturating_add(seen / 4)).min(MAX_TIME)
    }

    /// Time that is enough alone, given the shortest round trip.
    pub fn time_alone(&self, now: Instant, min_rtt: Duration) -> Duration {
        (self.time(now) * 4).max(min_rtt / 4).max(MIN_ALONE)
    }
}
