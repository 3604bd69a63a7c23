//! The receiving side of the connection: one buffer for all subflows, one window.
use crate::ranges::Ranges;
use core::ops::Range;

/// Pieces beyond a hole that are kept at most; one more is not taken, and sent again later.
const MAX_PIECES: usize = 4096;
/// The largest shift of the window field (RFC 7323 section 2.3).
pub(crate) const MAX_SHIFT: u8 = 14;

/// The other side's stream as far as it has arrived.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReceiveBuffer {
    /// First byte that no subflow has delivered in its order.
    next: u64,
    /// Delivered beyond it.
    beyond: Ranges,
    /// Held by the host beyond `next`, whether a subflow has delivered it in its order or not.
    kept: Ranges,
    read: u64,
    capacity: u64,
    /// The right edge last told.
    told: u64,
    /// Largest number of bytes held at once, beyond holes included.
    high_water: u64,
}

impl ReceiveBuffer {
    pub(crate) fn new(capacity: u64) -> Self {
        Self { capacity, ..Self::default() }
    }

    /// The smallest shift with which a window of `capacity` fits 16 bits.
    pub(crate) fn shift_for(capacity: u64) -> u8 {
        (0..MAX_SHIFT).find(|shift| capacity >> shift <= 0xffff).unwrap_or(MAX_SHIFT)
    }

    /// First byte missing.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn read(&self) -> u64 {
        self.read
    }

    /// Most bytes held at once so far.
    pub(crate) fn high_water(&self) -> u64 {
        self.high_water
    }

    /// Whether bytes up to `end` have room.
    pub(crate) fn has_room(&self, end: u64) -> bool {
        end <= self.read + self.capacity && self.kept.len() < MAX_PIECES
    }

    /// A segment has brought `range`, in the order of its subflow or not; tells `new` of every part to keep.
    pub(crate) fn keep(&mut self, range: Range<u64>, new: impl FnMut(Range<u64>)) {
        self.high_water = self.high_water.max(range.end.saturating_sub(self.read));
        self.kept.insert(range.start.max(self.next)..range.end, new);
    }

    /// Bytes of `range` that no subflow has delivered yet.
    pub(crate) fn new_in(&self, range: &Range<u64>) -> u64 {
        let beyond = range.start.max(self.next)..range.end;
        if beyond.is_empty() { 0 } else { (beyond.end - beyond.start) - self.beyond.overlap(&beyond) }
    }

    /// A subflow has delivered `range` in its order.
    pub(crate) fn deliver(&mut self, range: Range<u64>) {
        if range.start <= self.next && self.beyond.is_empty() {
            self.next = self.next.max(range.end);
        } else {
            self.beyond.insert(range.start.max(self.next)..range.end, |_| {});
            if let Some(first) = self.beyond.first().filter(|first| first.start == self.next) {
                self.next = first.end;
                self.beyond.remove_below(self.next);
            }
        }
        self.kept.remove_below(self.next);
    }

    /// The application has read up to `position`.
    pub(crate) fn set_read(&mut self, position: u64) {
        self.read = self.read.max(position.min(self.next));
    }

    /// The window field, shifted by `shift`, for a segment that leaves now.
    pub(crate) fn advertise(&mut self, shift: u8) -> u16 {
        let window = (self.read + self.capacity).saturating_sub(self.next);
        let field = (window >> shift).min(0xffff);
        self.told = self.told.max(self.next + (field << shift));
        field as u16
    }

    /// Reading has opened the window so much that the other side should hear of it: by two segments or half the buffer.
    pub(crate) fn update_is_due(&self, segment_bytes: u32, shift: u8) -> bool {
        let gain = (self.read + self.capacity).saturating_sub(self.told);
        gain >= (2 * u64::from(segment_bytes)).min(self.capacity / 2).max(1 << shift)
    }
}
