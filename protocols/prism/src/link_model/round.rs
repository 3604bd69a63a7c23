//! A measurement round: from sending a marked packet to hearing of it, and the rate of what was delivered meanwhile.
//!
//! In the manner of draft-cheng-iccrg-delivery-rate-estimation: the snapshot is taken when the marked packet is sent,
//! and the interval is the longer of the time over which the packets were sent and the time over which they were
//! heard of. ACKs that come all at once, after an outage or from a queue of ACKs, thus make no rate.
use prismux_units::{Duration, Instant};

/// The open measurement round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Round {
    /// Ends when a packet of at least this index is delivered.
    pub(super) index: u32,
    /// The marked packet, once it is sent.
    marker: Option<Marker>,
    /// When the round before had its marked packet sent.
    first_sent: Instant,
    /// The cap stood in the way of sending more at some time.
    pub(super) limited: bool,
    /// Too little was in flight at some time to keep the link busy.
    pub(super) starved: bool,
    /// The cap when it began.
    pub(super) cap: f64,
    /// Bytes lost.
    pub(super) lost: f64,
    /// Bytes delivered when it began.
    pub(super) delivered: u64,
    /// Most bytes in flight at any time.
    peak_in_flight: u64,
    /// Round trips in it: shortest and sum in seconds, and how many.
    min_rtt: f64,
    rtt_sum: f64,
    rtt_count: u32,
}

/// What was known when the marked packet was sent.
#[derive(Debug, Clone, Copy)]
struct Marker {
    sent: Instant,
    delivered: u64,
    delivered_at: Instant,
}

impl Round {
    /// A round that ends with the delivery of packet `index`, not sent yet. The round before had its own sent at
    /// `first_sent`.
    pub(super) fn new(index: u32, first_sent: Instant, cap: f64, delivered: u64, in_flight: u64) -> Self {
        Self {
            index,
            marker: None,
            first_sent,
            limited: false,
            starved: false,
            cap,
            lost: 0.0,
            delivered,
            peak_in_flight: in_flight,
            min_rtt: f64::MAX,
            rtt_sum: 0.0,
            rtt_count: 0,
        }
    }

    /// Packet `index` goes out; `delivered` bytes have been heard of, the last of them at `delivered_at`.
    pub(super) fn on_sent(&mut self, now: Instant, index: u32, delivered: u64, delivered_at: Instant) {
        if self.marker.is_none() && index.wrapping_sub(self.index) as i32 >= 0 {
            self.marker = Some(Marker { sent: now, delivered, delivered_at });
        }
    }

    /// So many bytes are in flight now.
    pub(super) fn on_in_flight(&mut self, bytes: u64) {
        self.peak_in_flight = self.peak_in_flight.max(bytes);
    }

    /// Most bytes in flight at any time.
    pub(super) fn peak_in_flight(&self) -> u64 {
        self.peak_in_flight
    }

    /// A round trip was measured.
    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        let rtt = rtt.as_secs_f64();
        self.min_rtt = self.min_rtt.min(rtt);
        self.rtt_sum += rtt;
        self.rtt_count += 1;
    }

    /// The mean of its round trips, in seconds; 0 without any.
    pub(super) fn mean_rtt(&self) -> f64 {
        self.rtt_sum / f64::from(self.rtt_count.max(1))
    }

    /// By how much its round trips exceed the shortest of them, in the mean; seconds. `None` for fewer than two.
    pub(super) fn jitter(&self) -> Option<f64> {
        (self.rtt_count > 1).then(|| self.mean_rtt() - self.min_rtt)
    }

    /// When its marked packet was sent; `now` if it never was.
    pub(super) fn marker_sent(&self, now: Instant) -> Instant {
        self.marker.map_or(now, |marker| marker.sent)
    }

    /// The rate at which the link delivered, in bytes per second, `delivered` bytes having been heard of by `now`.
    /// `None` over less than the shortest round trip, which is no time over which a round can have lasted.
    pub(super) fn rate(&self, now: Instant, delivered: u64, shortest: Duration) -> Option<f64> {
        let marker = self.marker?;
        let heard = now.saturating_since(marker.delivered_at);
        let interval = heard.max(marker.sent.saturating_since(self.first_sent));
        if interval.is_zero() || interval < shortest {
            return None;
        }
        let rate = (delivered - marker.delivered) as f64 / interval.as_secs_f64();
        // Nothing delivers more in a round trip than was in flight.
        let most = self.peak_in_flight as f64 / shortest.as_secs_f64();
        Some(if shortest.is_zero() { rate } else { rate.min(most) })
    }
}
