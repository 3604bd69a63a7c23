//! What one acknowledgement newly reports as arrived.
use super::scoreboard::Segment;
use prismux_units::Instant;

/// Sums and marks over the segments one ACK newly reports.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delivery {
    /// Bytes, not counting those sacked before.
    pub(crate) bytes: u64,
    /// Segments, likewise.
    pub(crate) segments: u32,
    /// Of these, reported selectively.
    pub(crate) sacked_segments: u32,
    /// Of these, acknowledged cumulatively after having been sent more than once.
    pub(crate) retransmitted: bool,
    /// Of these, at least one sent once only and below the recovery point (F-RTO).
    pub(crate) original_before_recovery: bool,
    /// Recovery point for the above.
    pub(crate) recovery_point: u64,
    /// Earliest and latest transmission among those sent once only: the longest and the shortest RTT.
    pub(crate) first_sent: Option<Instant>,
    pub(crate) last_sent: Option<Instant>,
    /// The most recently sent segment, by (time, end), and whether it had been retransmitted (RACK).
    pub(crate) newest: Option<Newest>,
    /// Lowest start of a segment sent once only that arrived after something above it had (reordering).
    pub(crate) reordered_from: Option<u64>,
}

/// The most recently sent segment among those delivered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Newest {
    pub(crate) sent_at: Instant,
    pub(crate) end: u64,
    pub(crate) retransmitted: bool,
}

impl Delivery {
    pub(crate) fn new(recovery_point: u64) -> Self {
        Self { recovery_point, ..Self::default() }
    }

    /// Takes note of `segment`; `forward` is the highest position known to have arrived before this ACK.
    pub(crate) fn note(&mut self, segment: &Segment, forward: u64, cumulative: bool) {
        self.bytes += u64::from(segment.length);
        self.segments += 1;
        self.sacked_segments += u32::from(!cumulative);
        let retransmitted = segment.was_retransmitted();
        if retransmitted {
            self.retransmitted |= cumulative;
        } else {
            self.original_before_recovery |= segment.end() <= self.recovery_point;
            self.first_sent = Some(self.first_sent.map_or(segment.sent_at, |t| t.min(segment.sent_at)));
            self.last_sent = Some(self.last_sent.map_or(segment.sent_at, |t| t.max(segment.sent_at)));
            if segment.end() <= forward {
                self.reordered_from =
                    Some(self.reordered_from.map_or(segment.start, |p| p.min(segment.start)));
            }
        }
        if self.newest.is_none_or(|newest| segment.sent_after(newest.sent_at, newest.end)) {
            self.newest = Some(Newest { sent_at: segment.sent_at, end: segment.end(), retransmitted });
        }
    }
}
