//! A scheduler from outside: which segment a pipe's next request takes, or whether the pipe waits.
use crate::connection::PipeId;
use crate::policy::Cost;
use alloc::vec::Vec;
use core::fmt::Debug;
use prismux_units::{Duration, Instant};

/// A pipe, as schedulers see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipeView {
    /// It may ask: established, awake, heard of since its last timeout, and not about to end.
    pub usable: bool,
    /// Smoothed round-trip time, or the time that its oldest request has been under way, if that is longer; the timeout
    /// before the first sample.
    pub round_trip: Duration,
    /// When its outstanding requests left, the oldest first.
    pub asked_at: Vec<Instant>,
    /// Bytes asked for that have not come.
    pub outstanding_bytes: u64,
    /// Congestion window in bytes.
    pub window_bytes: u64,
    /// What using it costs.
    pub cost: Cost,
}

/// The request to be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// Now.
    pub now: Instant,
    /// The pipe whose window lets it ask for a segment.
    pub pipe: PipeId,
    /// Offset in the stream of the first byte that has not arrived.
    pub next_byte: u64,
    /// Offset of the first byte that no pipe has been asked for.
    pub pending_byte: u64,
    /// Bytes of the receive buffer that neither data nor requests take.
    pub room_bytes: u64,
    /// Bytes of a segment.
    pub segment_bytes: u64,
}

/// A scheduler from outside this crate.
pub trait Scheduler: Debug + Send {
    /// The place, among the segments that no pipe has been asked for, of the one that `offer.pipe` asks for: 0 is the
    /// first in the stream. Where there are fewer, the last is taken. `None` lets the pipe wait until something arrives
    /// or a timer fires; while no request at all is outstanding, the first segment is asked for all the same.
    fn choose(&mut self, pipes: &[PipeView], offer: &Offer) -> Option<usize>;
}
