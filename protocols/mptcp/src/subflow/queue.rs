//! A subflow as schedulers and coupled controls see it, and how much Linux lets it queue.
use super::Subflow;
use crate::coupling::WindowView;
use crate::scheduler::SubflowView;
use prismux_units::Duration;

/// What the kernel reckons for the book-keeping of a segment: its headers and the block behind them, rounded up to a
/// power of two together with the payload, and the descriptor.
const SEGMENT_HEADER_BYTES: u64 = 640;
const DESCRIPTOR_BYTES: u64 = 256;
/// A send buffer of two windows, each of ten segments at least.
const WINDOWS: u64 = 2;
const MIN_WINDOW_SEGMENTS: u64 = 10;
/// Rates before the first round-trip time is known.
const UNKNOWN_RTT: Duration = Duration::from_millis(1);

impl Subflow {
    /// The view; whether it is usable is the connection's to say.
    pub(crate) fn view(&self, usable: bool) -> SubflowView {
        let metrics = self.engine().metrics();
        let segment_bytes = self.engine().mss();
        SubflowView {
            usable,
            // Whether the window lets a segment go shows when it is tried: its TCP learns by that, too, that the
            // window is what limits it.
            has_room: !self.full && self.queued_end() == self.next(),
            srtt: metrics.srtt.unwrap_or(Duration::MAX),
            rttvar: metrics.rttvar,
            window_bytes: metrics.cwnd_bytes,
            in_flight_bytes: metrics.outstanding_bytes,
            held_bytes: self.held_bytes(),
            queue_bytes: self.queue_bytes,
            rate: if self.average_rate > 0.0 { self.average_rate } else { self.window_rate() },
            segment_bytes,
        }
    }

    /// Linux: how much may be queued follows the largest window so far; never more than `most`.
    pub(crate) fn size_queue(&mut self, most: u64) {
        let segment = u64::from(self.engine().mss().max(1));
        let each = (segment + SEGMENT_HEADER_BYTES).next_power_of_two() + DESCRIPTOR_BYTES;
        let windows = WINDOWS * (self.engine().cwnd() / segment).max(MIN_WINDOW_SEGMENTS) * each;
        self.queue_bytes = self.queue_bytes.max(windows).min(most);
        if self.average_rate <= 0.0 {
            self.average_rate = self.pacing_rate();
        }
    }

    pub(crate) fn queue_bytes(&self) -> u64 {
        self.queue_bytes
    }

    /// Linux: the rate at which it sends, in bytes per second: twice the window per round trip in early slow start,
    /// then 1.2 times.
    fn pacing_rate(&self) -> f64 {
        let metrics = self.engine().metrics();
        let factor = if metrics.cwnd_bytes < metrics.ssthresh_bytes / 2 { 2.0 } else { 1.2 };
        factor * self.window_rate()
    }

    /// A window per round trip, in bytes per second.
    fn window_rate(&self) -> f64 {
        let metrics = self.engine().metrics();
        let srtt = metrics.srtt.unwrap_or(UNKNOWN_RTT).as_secs_f64().max(1e-6);
        metrics.cwnd_bytes as f64 / srtt
    }

    /// Linux: `burst` bytes are about to be queued behind those held.
    pub(crate) fn average_rate_over(&mut self, burst: u64) {
        let (held, burst) = (self.held_bytes() as f64, burst as f64);
        self.average_rate = (self.average_rate * held + self.pacing_rate() * burst) / (held + burst).max(1.0);
    }

    /// The window as coupled controls see it.
    pub(crate) fn window_view(&self) -> WindowView {
        WindowView {
            window: self.engine().cwnd() as f64 / f64::from(self.engine().mss().max(1)),
            rtt: self.srtt().map_or(0.0, Duration::as_secs_f64),
            loss_interval: self.loss_interval() as f64,
        }
    }
}
