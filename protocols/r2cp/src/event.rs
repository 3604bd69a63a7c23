//! What a connection tells its host.
use crate::PipeId;

/// Something the application, the keeper of the bytes, or a trace should know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum R2cpEvent {
    /// A pipe has completed its handshake.
    PipeOpened(PipeId),
    /// A pipe has ended: closed by us, reset by its server, or given up. What it owed is asked for elsewhere.
    PipeEnded {
        /// Which.
        pipe: PipeId,
        /// Not by our wish.
        failed: bool,
    },
    /// Keep these bytes of the packet that just arrived, even if bytes before them are missing.
    Accepted {
        /// First byte to keep, counted from the start of the payload.
        packet_offset: u32,
        /// Where it belongs in the stream.
        stream_offset: u64,
        /// How many bytes to keep.
        bytes: u32,
    },
    /// The stream is complete up to here.
    Readable {
        /// Stream offset just after the last byte that can be read.
        up_to: u64,
    },
    /// Everything is here.
    Complete,
    /// This server's object ends elsewhere than the others': it is not the same. Its pipe is closed.
    Disagreement(PipeId),
    /// No pipe is left and the stream is not complete. Opening another one goes on.
    Stranded,
}
