//! A scheduler from outside: which pipe gets the next bytes.
//!
//! Without one a pipe gets bytes whenever its window has room for them (*delayed binding*), so that the windows alone
//! decide. With one, a pipe with room may have to wait. What a pipe has to repeat it repeats by itself.
use crate::segment::Path;
use core::fmt::Debug;
use prismux_units::{Duration, Instant};

/// A pipe, as schedulers see it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PipeView {
    /// Its number in the connection.
    pub id: u8,
    /// The path that it uses.
    pub path: Path,
    /// It may carry new bytes: established, for our stream, and not waiting in vain for an acknowledgement.
    pub usable: bool,
    /// Its window has not refused a segment since it was last heard of.
    pub has_room: bool,
    /// Smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Duration>,
    /// Round-trip time variation.
    pub rttvar: Duration,
    /// Congestion window in bytes.
    pub window_bytes: u64,
    /// Bytes of virtual segments sent and not acknowledged.
    pub in_flight_bytes: u64,
    /// Payload of a full segment.
    pub segment_bytes: u32,
}

/// What there is to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// Now.
    pub now: Instant,
    /// Offset in the stream of the first byte that is bound to no pipe.
    pub next_byte: u64,
    /// Bytes that are bound to no pipe, those unbound from a pipe in trouble included.
    pub unsent_bytes: u64,
    /// Bytes beyond all that was ever bound that the peer's buffer and ours leave room for.
    pub window_bytes: u64,
}

/// A scheduler from outside this crate.
pub trait Scheduler: Debug + Send {
    /// The pipe, by its place in `pipes`, that gets the next segment; `None` lets the bytes wait. Then, and where the
    /// pipe has no room, the next question comes with the next acknowledgement, timer or write. Where nothing at all is
    /// under way it comes after a timeout, and the first pipe with room gets the segment, whatever the answer.
    fn choose(&mut self, pipes: &[PipeView], offer: &Offer) -> Option<usize>;
}
