//! HyStart as Linux's CUBIC has it: slow start ends at once, at the window of the moment, when the ACKs of a round
//! come as one train longer than half of the least round trip, or when a round's least round trip has risen (S. Ha
//! and I. Rhee, "Taming the elephants: new TCP slow start", 2011; `net/ipv4/tcp_cubic.c`).
use crate::engine::congestion::policy::{AckSample, Window};
use prismux_units::{Duration, Instant};

/// Below this window, in segments, nothing is looked for.
const LOW_WINDOW: u64 = 16;
/// ACKs further apart belong to different trains; the rest of such a round is no train.
const TRAIN_GAP: Duration = Duration::from_millis(2);
const MIN_RISE: Duration = Duration::from_millis(4);
const MAX_RISE: Duration = Duration::from_millis(16);
const RISE_DIVISOR: u64 = 8;
const SAMPLES_PER_ROUND: u32 = 8;

/// Train and round-trip times of a round.
#[derive(Debug, Clone)]
pub(crate) struct LinuxHyStart {
    /// Of the whole connection.
    min_rtt: Duration,
    /// Least of the round.
    current_rtt: Duration,
    samples: u32,
    /// Acknowledging this position ends the round.
    round_end: u64,
    round_start: Instant,
    /// Last ACK of the train that began with the round.
    train_end: Instant,
    found: bool,
}

impl LinuxHyStart {
    pub(crate) fn new() -> Self {
        Self {
            min_rtt: Duration::MAX,
            current_rtt: Duration::MAX,
            samples: 0,
            round_end: 0,
            round_start: Instant::ZERO,
            train_end: Instant::ZERO,
            found: false,
        }
    }

    /// A congestion signal ended slow start. Linux watches again after a timeout; what that slow start climbs to is
    /// known from the threshold, so nothing is watched here.
    pub(crate) fn stop(&mut self) {
        self.found = true;
    }

    /// Lowers the threshold to the window where slow start is to end.
    pub(crate) fn on_ack(&mut self, sample: &AckSample, window: &mut Window) {
        let Some(rtt) = sample.rtt else { return };
        self.min_rtt = self.min_rtt.min(rtt);
        if self.found {
            return;
        }
        if sample.acked > self.round_end {
            self.begin_round(sample);
        }
        if window.cwnd < LOW_WINDOW * u64::from(window.mss) {
            return;
        }
        self.found = self.is_long_train(sample.now) | self.has_risen(rtt);
        if self.found {
            window.ssthresh = window.cwnd;
        }
    }

    fn begin_round(&mut self, sample: &AckSample) {
        self.round_end = sample.next;
        (self.round_start, self.train_end) = (sample.now, sample.now);
        (self.current_rtt, self.samples) = (Duration::MAX, 0);
    }

    fn is_long_train(&mut self, now: Instant) -> bool {
        if now.saturating_since(self.train_end) > TRAIN_GAP {
            return false;
        }
        self.train_end = now;
        now.saturating_since(self.round_start) > self.min_rtt / 2
    }

    fn has_risen(&mut self, rtt: Duration) -> bool {
        self.current_rtt = self.current_rtt.min(rtt);
        if self.samples < SAMPLES_PER_ROUND {
            self.samples += 1;
            return false;
        }
        let rise = (self.min_rtt / RISE_DIVISOR).max(MIN_RISE).min(MAX_RISE);
        self.current_rtt > self.min_rtt + rise
    }
}
