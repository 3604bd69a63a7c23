//! What a sender keeps of its connection.
use crate::traffic::PAYLOAD_BYTES;
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// A sender's first window.
const FIRST_WINDOW_BYTES: u32 = 10 * PAYLOAD_BYTES;

/// A sender beside what [`Flow`] has of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sender {
    pub(super) window_bytes: u32,
    /// Where the receiver's window ends, as far as the sender was shown.
    pub(super) edge: SeqNumber,
    /// When something was last acknowledged, or sent again.
    pub(super) progress_at: Instant,
    /// What ACKs took of late, and a packet whose ACK is timed.
    pub(super) round_trip: Duration,
    pub(super) timed: Option<(SeqNumber, Instant)>,
    /// Timeouts since something was last acknowledged.
    pub(super) timeouts: u32,
    /// The newest TSval that it has heard.
    pub(super) echo: u32,
    /// Its SYN has been answered.
    pub(super) is_open: bool,
    /// It sends again what is not acknowledged below this.
    pub(super) recover: Option<SeqNumber>,
    /// Bytes that reached its receiver, each once.
    pub(super) delivered_bytes: u64,
}

impl Default for Sender {
    fn default() -> Self {
        Self {
            window_bytes: FIRST_WINDOW_BYTES,
            edge: SeqNumber(0),
            progress_at: Instant::ZERO,
            round_trip: Duration::ZERO,
            timed: None,
            timeouts: 0,
            echo: 0,
            is_open: false,
            recover: None,
            delivered_bytes: 0,
        }
    }
}
