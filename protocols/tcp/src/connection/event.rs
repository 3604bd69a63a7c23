//! What a connection tells its host, kept as flags and latest values: nothing is allocated or queued.

/// Something the application, the keeper of the bytes, or a trace should know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TcpEvent {
    /// The handshake is complete.
    Connected,
    /// Keep these bytes of the segment that just arrived, even if bytes before them are still missing.
    Accepted {
        /// First byte to keep, counted from the start of the segment's payload.
        segment_offset: u32,
        /// Where it belongs in the peer's stream.
        stream_offset: u64,
        /// How many bytes to keep.
        bytes: u32,
    },
    /// The peer's stream is complete up to here.
    Readable {
        /// Stream offset just after the last byte that can be read.
        up_to: u64,
    },
    /// The peer has our stream up to here; the host may forget these bytes.
    Acknowledged {
        /// Stream offset just after the last acknowledged byte.
        up_to: u64,
    },
    /// The peer will send no more: its FIN follows the last readable byte.
    PeerClosed,
    /// The peer refused or reset the connection.
    Reset,
    /// Retransmissions or probes went unanswered for too long.
    TimedOut,
    /// The connection has reached CLOSED and may be dropped.
    Closed,
}

/// Pending events.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Events {
    pending: u8,
    accepted_bytes: u32,
    accepted_segment_offset: u32,
    accepted_stream_offset: u64,
}

/// One bit per event, in the order of delivery.
mod bit {
    pub const CONNECTED: u8 = 1 << 0;
    pub const ACCEPTED: u8 = 1 << 1;
    pub const READABLE: u8 = 1 << 2;
    pub const ACKNOWLEDGED: u8 = 1 << 3;
    pub const PEER_CLOSED: u8 = 1 << 4;
    pub const RESET: u8 = 1 << 5;
    pub const TIMED_OUT: u8 = 1 << 6;
    pub const CLOSED: u8 = 1 << 7;
}

impl Events {
    pub(super) fn connected(&mut self) {
        self.pending |= bit::CONNECTED;
    }

    pub(super) fn accepted(&mut self, segment_offset: u32, stream_offset: u64, bytes: u32) {
        debug_assert!(self.pending & bit::ACCEPTED == 0, "drain the events after every segment");
        self.pending |= bit::ACCEPTED;
        self.accepted_segment_offset = segment_offset;
        self.accepted_stream_offset = stream_offset;
        self.accepted_bytes = bytes;
    }

    pub(super) fn readable(&mut self) {
        self.pending |= bit::READABLE;
    }

    pub(super) fn acknowledged(&mut self) {
        self.pending |= bit::ACKNOWLEDGED;
    }

    pub(super) fn peer_closed(&mut self) {
        self.pending |= bit::PEER_CLOSED;
    }

    pub(super) fn reset(&mut self) {
        self.pending |= bit::RESET;
    }

    pub(super) fn timed_out(&mut self) {
        self.pending |= bit::TIMED_OUT;
    }

    pub(super) fn closed(&mut self) {
        self.pending |= bit::CLOSED;
    }

    /// The next event; how far the peer's stream can be read and ours is acknowledged is where they stand.
    #[inline]
    pub(super) fn pop(&mut self, readable: u64, acknowledged: u64) -> Option<TcpEvent> {
        if self.pending == 0 {
            return None;
        }
        let lowest = self.pending & self.pending.wrapping_neg();
        self.pending &= !lowest;
        Some(match lowest {
            bit::CONNECTED => TcpEvent::Connected,
            bit::ACCEPTED => TcpEvent::Accepted {
                segment_offset: self.accepted_segment_offset,
                stream_offset: self.accepted_stream_offset,
                bytes: self.accepted_bytes,
            },
            bit::READABLE => TcpEvent::Readable { up_to: readable },
            bit::ACKNOWLEDGED => TcpEvent::Acknowledged { up_to: acknowledged },
            bit::PEER_CLOSED => TcpEvent::PeerClosed,
            bit::RESET => TcpEvent::Reset,
            bit::TIMED_OUT => TcpEvent::TimedOut,
            _ => TcpEvent::Closed,
        })
    }
}
