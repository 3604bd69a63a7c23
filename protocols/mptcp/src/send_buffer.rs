//! The sending side of the connection: what is new, what has to go again by another subflow.
use alloc::vec::Vec;
use core::ops::Range;

/// Bytes that a subflow in trouble may not deliver.
#[derive(Debug, Clone)]
struct Reinjection {
    range: Range<u64>,
    /// The place of the subflow that holds them: it repeats them by itself.
    holder: usize,
}

/// The bytes written, by where they stand. Positions are offsets in the stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct SendBuffer {
    /// Everything below has been acknowledged by DATA_ACK.
    pub acked: u64,
    /// First byte that no subflow has been given.
    pub frontier: u64,
    /// Handed over by the application.
    pub written: u64,
    /// Right edge of the peer's window.
    pub window_end: u64,
    /// The largest window the peer ever offered.
    largest_window: u64,
    /// Use a window that is too small to be worth it.
    pub override_silly: bool,
    /// The most bytes between `acked` and `frontier`.
    pub capacity: u64,
    reinjections: Vec<Reinjection>,
    /// Bytes that were given to a second subflow.
    pub reinjected_bytes: u64,
}

impl SendBuffer {
    pub(crate) fn new(capacity: u64) -> Self {
        Self { capacity, ..Self::default() }
    }

    /// The right edge: of the peer's buffer and of ours, which may be smaller than the configuration's (`room`).
    fn edge(&self, room: u64) -> u64 {
        self.window_end.min(self.acked.saturating_add(self.capacity.min(room)))
    }

    /// New bytes for a subflow, at most `most`, with at most `room` unacknowledged.
    pub(crate) fn new_bytes(&self, most: u64, room: u64) -> Option<Range<u64>> {
        let edge = self.edge(room);
        let end = self.written.min(edge).min(self.frontier + most);
        if end <= self.frontier {
            return None;
        }
        // Less than a segment, and not for want of data: wait for more window (RFC 9293 section 3.8.6.2.1).
        let length = end - self.frontier;
        let silly = end < self.written && length < most.min(MAX_SEGMENT) && length < self.largest_window / 2;
        (!silly || self.override_silly).then_some(self.frontier..end)
    }

    /// Marks new bytes as given to a subflow.
    pub(crate) fn take(&mut self, range: &Range<u64>) {
        self.frontier = self.frontier.max(range.end);
        self.override_silly = false;
    }

    /// Bytes that another subflow than their holder should send, lowest first, at most `most`, for the subflow at
    /// `place`; only those whose holder `counts`.
    pub(crate) fn reinjection_for(
        &self,
        place: usize,
        most: u64,
        counts: impl Fn(usize) -> bool,
    ) -> Option<Range<u64>> {
        let fits = |waiting: &&Reinjection| waiting.holder != place && counts(waiting.holder);
        let waiting = self.reinjections.iter().find(fits)?;
        let start = waiting.range.start.max(self.acked);
        Some(start..waiting.range.end.min(start + most))
    }

    /// They have been given to one.
    pub(crate) fn reinject(&mut self, taken: &Range<u64>, place: usize) {
        self.reinjected_bytes += taken.end - taken.start;
        let Some(at) = self.reinjections.iter().position(|waiting| {
            waiting.holder != place && waiting.range.start <= taken.start && taken.end <= waiting.range.end
        }) else {
            return;
        };
        self.reinjections[at].range.start = taken.end;
        if self.reinjections[at].range.is_empty() {
            self.reinjections.remove(at);
        }
    }

    /// What the subflow at `place` holds may go by others too.
    pub(crate) fn release(&mut self, range: Range<u64>, place: usize) {
        let start = range.start.max(self.acked);
        let known = |known: &Reinjection| known.range.start <= start && range.end <= known.range.end;
        if start >= range.end || self.reinjections.iter().any(known) {
            return;
        }
        let at = self.reinjections.partition_point(|waiting| waiting.range.start < start);
        self.reinjections.insert(at, Reinjection { range: start..range.end, holder: place });
    }

    /// DATA_ACK and the right edge. Says whether either moved.
    pub(crate) fn acknowledge(&mut self, acked: u64, window_end: u64) -> bool {
        let moved = acked > self.acked || window_end > self.window_end;
        self.window_end = self.window_end.max(window_end);
        self.largest_window = self.largest_window.max(window_end.saturating_sub(acked));
        if acked > self.acked {
            self.acked = acked;
            self.reinjections.retain(|waiting| waiting.range.end > acked);
        }
        moved
    }

    pub(crate) fn has_reinjections(&self) -> bool {
        !self.reinjections.is_empty()
    }

    /// Bytes sent and not acknowledged.
    pub(crate) fn outstanding(&self) -> u64 {
        self.frontier - self.acked
    }

    pub(crate) fn has_work(&self) -> bool {
        self.frontier < self.written || self.has_reinjections()
    }

    /// The peer's window, or our buffer, has no room for what waits.
    pub(crate) fn is_blocked(&self) -> bool {
        self.frontier < self.written && self.frontier >= self.edge(u64::MAX)
    }
}

/// What silly-window avoidance waits for at most: more is a full segment anywhere.
const MAX_SEGMENT: u64 = 1460;
