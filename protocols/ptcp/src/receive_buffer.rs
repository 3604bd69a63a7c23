//! The receiving side of the connection: one buffer for all pipes, one window.
use crate::range_map::RangeMap;
use core::ops::Range;

/// Pieces beyond a hole that are kept at most; one more is not stored, and sent again later.
const MAX_PIECES: usize = 4096;

/// The other side's stream as far as it has arrived.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReceiveBuffer {
    next: u64,
    beyond: RangeMap<()>,
    read: u64,
    capacity: u64,
    shift: u8,
    /// The right edge last told.
    told: u64,
    /// Largest number of bytes held at once, beyond holes included.
    high_water: u64,
}

/// What arriving payload changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Storing {
    /// New bytes, which perhaps complete others.
    Stored,
    /// Bytes that had all arrived before.
    Duplicate,
    /// Bytes for which the buffer has no room.
    NoRoom,
}

impl ReceiveBuffer {
    /// A buffer of `capacity` bytes whose window field is shifted by `shift`.
    pub(crate) fn new(capacity: u64, shift: u8) -> Self {
        Self { capacity, shift, ..Self::default() }
    }

    /// The smallest shift with which a window of `capacity` fits 16 bits.
    pub(crate) fn shift_for(capacity: u64) -> u8 {
        (0..14).find(|shift| capacity >> shift <= 0xffff).unwrap_or(14)
    }

    pub(crate) fn resize(&mut self, capacity: u64) {
        self.capacity = self.capacity.max(capacity);
    }

    /// First byte missing: pACK.
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

    /// Takes in `range`; tells `kept` of every part that is new and must be kept.
    pub(crate) fn store(&mut self, range: Range<u64>, mut kept: impl FnMut(Range<u64>)) -> Storing {
        let start = range.start.max(self.next);
        if start >= range.end {
            return Storing::Duplicate;
        }
        if range.end > self.read + self.capacity {
            return Storing::NoRoom;
        }
        self.high_water = self.high_water.max(range.end - self.read);
        if self.beyond.is_empty() && start == self.next {
            self.next = range.end;
            kept(start..range.end);
            return Storing::Stored;
        }
        if start > self.next && self.beyond.len() >= MAX_PIECES {
            return Storing::NoRoom;
        }
        let mut storing = Storing::Duplicate;
        self.beyond.insert(start..range.end, (), |part| {
            storing = Storing::Stored;
            kept(part);
        });
        if let Some(first) = self.beyond.first().filter(|first| first.start == self.next) {
            self.next = first.end;
            self.beyond.remove_below(self.next);
        }
        storing
    }

    /// The application has read up to `position`.
    pub(crate) fn set_read(&mut self, position: u64) {
        self.read = self.read.max(position.min(self.next));
    }

    /// The window field for a segment that leaves now.
    pub(crate) fn advertise(&mut self) -> u16 {
        let window = (self.read + self.capacity).saturating_sub(self.next);
        let field = (window >> self.shift).min(0xffff);
        self.told = self.told.max(self.next + (field << self.shift));
        field as u16
    }

    /// Reading has opened the window so much that the other side should hear of it: by two segments or half the buffer.
    pub(crate) fn update_is_due(&self, segment_bytes: u32) -> bool {
        let gain = (self.read + self.capacity).saturating_sub(self.told);
        gain >= (2 * u64::from(segment_bytes)).min(self.capacity / 2).max(1 << self.shift)
    }
}
