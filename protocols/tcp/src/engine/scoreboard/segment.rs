//! One segment, and sums over segments.
use core::ops::Range;
use prismux_units::Instant;

/// Number of a segment since the start of the connection, modulo 2^31.
pub(crate) type Index = u32;

/// No segment.
pub(super) const NIL: Index = u32::MAX;

/// What is known about a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SegmentState {
    InFlight,
    Lost,
    Sacked,
}

/// One outstanding segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    pub(crate) start: u64,
    /// Last (re)transmission.
    pub(crate) sent_at: Instant,
    pub(crate) length: u32,
    /// Flight: the one sent before; lost: the lost one below; sacked, last of its run: the first.
    pub(super) before: Index,
    /// Flight: the one sent after; lost: the lost one above; sacked, first of its run: the last.
    pub(super) after: Index,
    pub(crate) state: SegmentState,
    /// Times sent, saturating.
    pub(crate) transmissions: u8,
}

impl Segment {
    pub(super) const EMPTY: Self = Self {
        start: 0,
        sent_at: Instant::ZERO,
        length: 0,
        before: NIL,
        after: NIL,
        state: SegmentState::InFlight,
        transmissions: 0,
    };

    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.length)
    }

    pub(crate) fn range(&self) -> Range<u64> {
        self.start..self.end()
    }

    pub(crate) fn before(&self) -> Index {
        self.before
    }

    pub(crate) fn after(&self) -> Index {
        self.after
    }

    pub(crate) fn was_retransmitted(&self) -> bool {
        self.transmissions > 1
    }

    /// Order of transmission; segments of one instant left in order of position (RFC 8985 section 6.2).
    pub(crate) fn sent_after(&self, sent_at: Instant, end: u64) -> bool {
        self.sent_at > sent_at || (self.sent_at == sent_at && self.end() > end)
    }
}

/// Bytes and segments in one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    pub(crate) bytes: u64,
    pub(crate) segments: u32,
}

impl Tally {
    pub(super) fn add(&mut self, length: u32) {
        self.bytes += u64::from(length);
        self.segments += 1;
    }

    pub(super) fn remove(&mut self, length: u32) {
        self.bytes -= u64::from(length);
        self.segments -= 1;
    }
}
