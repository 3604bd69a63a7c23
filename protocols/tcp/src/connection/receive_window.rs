//! The window we offer (RFC 9293 section 3.8.6): its right edge never moves left, and moves right only by
//! worthwhile steps (silly window syndrome avoidance, section 3.8.6.2.2).

/// Scale shifts may not exceed 14 (RFC 7323 section 2.3).
const MAX_SHIFT: u8 = 14;

/// Where our window ends, and what was told to the peer. Positions are the peer's stream positions.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReceiveWindow {
    /// The application has read up to here.
    read: u64,
    /// The largest right edge ever advertised.
    advertised: u64,
    /// No window is larger than 2^30 bytes, whatever room there is.
    capacity: u32,
    /// Smallest step of the right edge that is worth a window update.
    step: u32,
    shift: u8,
}

/// The smallest shift with which a window of `capacity` and its reserve fit 16 bits; none is needed, nor a reserve,
/// where the window fits unscaled.
pub(super) fn shift_for(capacity: u64) -> u8 {
    if capacity <= 0xffff {
        return 0;
    }
    (0..MAX_SHIFT).find(|&shift| (capacity + capacity / 2) >> shift <= 0xffff).unwrap_or(MAX_SHIFT)
}

impl ReceiveWindow {
    /// A window of `capacity` bytes, first advertised unscaled in a SYN.
    pub(super) fn new(capacity: u64) -> Self {
        let capacity = u32::try_from(capacity).unwrap_or(u32::MAX);
        Self { capacity, shift: 0, read: 0, advertised: 0, step: 1 }
    }

    /// Fixes the scale and the segment size once the handshake has settled them.
    pub(super) fn negotiate(&mut self, shift: u8, mss: u32) {
        self.shift = shift;
        self.capacity = self.capacity.min(0xffff << shift);
        self.step = mss.min(self.capacity / 2).max(1);
    }

    /// Bytes a buffer must hold beyond the read position for all that [`ReceiveWindow::limit`] lets in.
    ///
    /// With scaling a right edge that may not move left must be rounded up with every ACK, so a window that
    /// nobody reads from creeps beyond the capacity. Half the capacity is kept for that; where segments are
    /// so small that it does not suffice, bytes beyond are dropped and sent again later.
    pub(super) const fn buffer_bytes(&self) -> u64 {
        let capacity = self.capacity as u64;
        if self.shift == 0 { capacity } else { capacity + capacity / 2 }
    }

    /// The last advertised right edge.
    pub(super) const fn advertised(&self) -> u64 {
        self.advertised
    }

    /// Bytes at or beyond this position are not accepted.
    pub(super) fn limit(&self) -> u64 {
        self.advertised.min(self.read + self.buffer_bytes())
    }

    pub(super) const fn read(&self) -> u64 {
        self.read
    }

    pub(super) fn set_read(&mut self, position: u64) {
        self.read = self.read.max(position);
    }

    /// The window field of a SYN, which is never scaled (RFC 7323 section 2.2).
    pub(super) fn advertise_unscaled(&mut self, next: u64) -> u16 {
        let window = self.capacity.min(0xffff);
        self.advertised = self.advertised.max(next + u64::from(window));
        window as u16
    }

    /// The right edge that the buffer would allow, if the step towards it is worthwhile.
    fn worthwhile_edge(&self) -> u64 {
        let edge = self.read + u64::from(self.capacity);
        if edge >= self.advertised + u64::from(self.step) { edge } else { self.advertised }
    }

    /// The window field for an ACK of `next`; remembers what it promises.
    pub(super) fn advertise(&mut self, next: u64) -> u16 {
        let window = self.worthwhile_edge().saturating_sub(next);
        let mut field = window >> self.shift;
        if next + (field << self.shift) < self.advertised {
            field = self.advertised.saturating_sub(next).div_ceil(1 << self.shift);
        }
        let field = field.min(0xffff);
        self.advertised = self.advertised.max(next + (field << self.shift));
        field as u16
    }

    /// True when reading has opened the window so much that the peer should hear of it at once: by two
    /// steps or half the buffer, or from nearly nothing.
    pub(super) fn update_is_due(&self, next: u64) -> bool {
        let (capacity, step) = (u64::from(self.capacity), u64::from(self.step));
        let gain = (self.read + capacity).saturating_sub(self.advertised);
        let open = self.advertised.saturating_sub(next);
        gain >= (2 * step).min(capacity / 2).max(1) || (open < step && gain >= step)
    }
}

#[cfg(test)]
mod tests;
