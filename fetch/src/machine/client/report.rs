//! How a download and its paths are doing.
use super::carrier::Carried;
use super::{Delivery, Download};
use prismux_units::Duration;

/// Counters of a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DownloadCounters {
    /// Datagrams not made by the server they claim to come from.
    pub forged: u64,
    /// Datagrams that came before.
    pub replayed: u64,
    /// Datagrams that belong to no path, or to a connection that is no more.
    pub unmatched: u64,
    /// Datagrams of no known type, or without meaning.
    pub malformed: u64,
    /// Payload bytes that had arrived before.
    pub duplicate_bytes: u64,
}

/// How a path is doing.
#[derive(Debug, Clone, PartialEq)]
pub struct PathReport {
    /// Bytes it was the first to bring.
    pub received_bytes: u64,
    /// Smoothed round trip, while it is open.
    pub round_trip: Option<Duration>,
    /// Retransmission timeout, while it is open.
    pub timeout: Option<Duration>,
    /// Bytes asked for over it, those asked for again included.
    pub asked_bytes: u64,
    /// Asked for and not here, in bytes.
    pub outstanding_bytes: u64,
    /// Segments asked for again, and timeouts that were waited for.
    pub repeated_segments: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// In a word.
    pub state: &'static str,
}

impl Download {
    /// Counters so far.
    pub fn counters(&self) -> DownloadCounters {
        let duplicate_bytes = self.carrier.as_ref().map_or(0, |carrier| carrier.duplicate_bytes());
        DownloadCounters { duplicate_bytes, ..self.counters }
    }

    /// How far the stream is without a gap, and the longest time that it stood still.
    pub const fn delivery(&self) -> Delivery {
        self.delivery
    }

    /// How path `index` is doing.
    pub fn report(&self, index: usize) -> PathReport {
        let path = &self.paths[index];
        let carrier = self.carrier.as_ref().filter(|_| path.is_open());
        let now = carrier.map_or_else(Carried::default, |carrier| carrier.carried(index));
        let total = path.past.plus(&now);
        PathReport {
            received_bytes: total.received_bytes,
            round_trip: now.round_trip,
            timeout: now.timeout,
            asked_bytes: total.asked_bytes,
            outstanding_bytes: now.outstanding_bytes,
            repeated_segments: total.repeated_segments,
            timeouts: total.timeouts,
            state: path.state_name(),
        }
    }
}
