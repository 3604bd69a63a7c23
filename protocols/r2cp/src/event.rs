//! What a connection tells its host.
use crate::PipeId;
use prismux_rcp::StreamEvent;

/// Something the application, the keeper of the bytes, or a trace should know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum R2cpEvent {
    /// A pipe has completed its handshake.
    PipeOpened(PipeId),
    /// A pipe has ended: closed by us, reset by its server, or given up. What it owed is asked for elsewhere.
    PipeEnded {
        /// The pipe that ended.
        pipe: PipeId,
        /// It did not end by our wish.
        failed: bool,
    },
    /// What happened to the stream, which all pipes fetch together.
    Stream(StreamEvent),
    /// This server's object ends elsewhere than the others': it is not the same. Its pipe is closed.
    Disagreement(PipeId),
    /// No pipe is left and the stream is not complete. Opening another one goes on.
    Stranded,
}
