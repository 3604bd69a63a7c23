//! What the phases of one acknowledgement tell each other.
use crate::engine::delivery::Delivery;
use crate::engine::interface::Phase;
use prismux_units::{Duration, Instant};

/// One acknowledgement, as far as it has been understood.
#[derive(Debug, Clone)]
pub(super) struct AckContext {
    pub(super) now: Instant,
    pub(super) delivery: Delivery,
    /// The cumulative position moved.
    pub(super) advanced: bool,
    /// A duplicate in the sense of RFC 5681 (with SACK: RFC 6675 section 2).
    pub(super) duplicate: bool,
    pub(super) dsack: bool,
    /// It carries an ECN-Echo.
    pub(super) is_marked: bool,
    /// By its timestamp the ACK answers a transmission before the first retransmission of this recovery.
    pub(super) echoed_before: bool,
    /// Segments were newly found lost.
    pub(super) newly_lost: bool,
    /// Phase before this ACK.
    pub(super) phase_before: Phase,
    /// Pipe before this ACK.
    pub(super) pipe_before: u64,
    /// The window was in full use before this ACK.
    pub(super) was_limited: bool,
    pub(super) rtt: Option<Duration>,
    /// What the RTT estimator took.
    pub(super) sample: Option<Duration>,
}
