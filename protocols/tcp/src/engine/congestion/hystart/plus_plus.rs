//! HyStart++: leave slow start when the round-trip time rises, through a phase of conservative slow start that
//! ends early if the rise was a mistake (RFC 9406).
use crate::engine::congestion::policy::{AckSample, Window};
use prismux_units::Duration;

const MIN_RTT_THRESHOLD: Duration = Duration::from_millis(4);
const MAX_RTT_THRESHOLD: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const SAMPLES_PER_ROUND: u32 = 8;
const GROWTH_DIVISOR: u64 = 4;
const CONSERVATIVE_ROUNDS: u8 = 5;
/// Segments of growth per ACK for a sender without pacing.
const UNPACED_LIMIT: u64 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    SlowStart,
    /// Conservative slow start with this many rounds left, entered at this minimum.
    Conservative {
        rounds_left: u8,
        baseline: Duration,
    },
    /// Only the first slow start of a connection is watched (section 4.3).
    Done,
}

/// Per-round RTT minima and the state of section 4.2.
#[derive(Debug, Clone)]
pub(crate) struct HyStartPlusPlus {
    state: State,
    /// Acknowledging this position ends the round.
    round_end: u64,
    last_minimum: Duration,
    current_minimum: Duration,
    samples: u32,
}

impl HyStartPlusPlus {
    pub(crate) fn new() -> Self {
        Self {
            state: State::SlowStart,
            round_end: 0,
            last_minimum: Duration::MAX,
            current_minimum: Duration::MAX,
            samples: 0,
        }
    }

    /// A congestion signal ended slow start.
    pub(crate) fn stop(&mut self) {
        self.state = State::Done;
    }

    /// Bytes of growth for this ACK, which alone would allow `bytes`. Lowers the threshold to the window when
    /// conservative slow start has run its rounds.
    pub(crate) fn on_ack(&mut self, sample: &AckSample, bytes: u64, window: &mut Window) -> u64 {
        if self.state == State::Done {
            return bytes;
        }
        if let Some(rtt) = sample.rtt {
            self.current_minimum = self.current_minimum.min(rtt);
            self.samples += 1;
        }
        let bytes = bytes.min(UNPACED_LIMIT * u64::from(window.mss));
        let growth = match self.state {
            State::SlowStart => {
                if self.has_risen() {
                    self.state = State::Conservative {
                        rounds_left: CONSERVATIVE_ROUNDS,
                        baseline: self.current_minimum,
                    };
                }
                bytes
            }
            State::Conservative { baseline, .. } => {
                if self.samples >= SAMPLES_PER_ROUND && self.current_minimum < baseline {
                    self.state = State::SlowStart;
                }
                bytes / GROWTH_DIVISOR
            }
            State::Done => bytes,
        };
        if sample.acked > self.round_end {
            self.end_round(sample, window);
        }
        growth
    }

    fn has_risen(&self) -> bool {
        if self.samples < SAMPLES_PER_ROUND
            || self.current_minimum == Duration::MAX
            || self.last_minimum == Duration::MAX
        {
            return false;
        }
        let threshold = (self.last_minimum / MIN_RTT_DIVISOR).max(MIN_RTT_THRESHOLD).min(MAX_RTT_THRESHOLD);
        self.current_minimum >= self.last_minimum + threshold
    }

    fn end_round(&mut self, sample: &AckSample, window: &mut Window) {
        self.round_end = sample.next;
        self.last_minimum = self.current_minimum;
        self.current_minimum = Duration::MAX;
        self.samples = 0;
        if let State::Conservative { rounds_left, .. } = &mut self.state {
            *rounds_left -= 1;
            if *rounds_left == 0 {
                self.state = State::Done;
                window.ssthresh = window.cwnd;
            }
        }
    }
}
