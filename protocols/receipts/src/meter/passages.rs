//! How long single packets took, for whoever compares links with one another.
use super::LinkMeter;
use super::records::Record;
use alloc::collections::VecDeque;
use prismux_units::{Duration, Instant};

/// Passages that nobody asks for are remembered up to here.
const MAX_PASSAGES: usize = 128;

/// A packet whose arrival was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// When it was sent.
    pub sent_at: Instant,
    /// Bytes sent over the link before it.
    pub sent_before_bytes: u64,
    /// Nanoseconds that it took, without the drift of clocks; right but for a constant.
    pub delay_nanos: i64,
    /// What of it is above the least of the last 40 s.
    pub queueing_delay: Duration,
}

/// The latest passages that nobody has asked for yet.
#[derive(Debug, Default)]
pub(super) struct Passages(VecDeque<Passage>);

impl Passages {
    /// A packet came.
    pub fn add(&mut self, record: &Record, delay_nanos: i64, queueing_delay: Duration) {
        if self.0.len() >= MAX_PASSAGES {
            self.0.pop_front();
        }
        let (sent_at, sent_before_bytes) = (record.sent_at, record.sent_before);
        self.0.push_back(Passage { sent_at, sent_before_bytes, delay_nanos, queueing_delay });
    }
}

impl LinkMeter {
    /// The next packet whose arrival was told, in the order of sending; those that came out of order are left out, and
    /// those before the latest 128.
    pub fn poll_passage(&mut self) -> Option<Passage> {
        self.passages.0.pop_front()
    }
}
