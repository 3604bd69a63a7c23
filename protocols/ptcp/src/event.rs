//! What a connection tells its host.
use alloc::collections::VecDeque;

/// Something the application, the keeper of the bytes, or a trace should know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PtcpEvent {
    /// The first pipe is established: data may flow.
    Connected,
    /// A pipe is established; the first one too.
    PipeEstablished {
        /// Its number.
        pipe: u8,
    },
    /// A pipe has ended, or could not be opened; the others go on.
    PipeClosed {
        /// Its number.
        pipe: u8,
    },
    /// Keep these bytes of the segment that just arrived.
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
    /// The peer will send no more.
    PeerClosed,
    /// The peer refused the connection, or reset its last pipe.
    Reset,
    /// The last pipe was given up.
    TimedOut,
    /// Every pipe has ended: the connection may be dropped.
    Closed,
}

/// Pending events.
#[derive(Debug, Default)]
pub(crate) struct Events {
    list: VecDeque<PtcpEvent>,
}

impl Events {
    pub(crate) fn push(&mut self, event: PtcpEvent) {
        self.list.push_back(event);
    }

    pub(crate) fn pop(&mut self) -> Option<PtcpEvent> {
        self.list.pop_front()
    }
}
