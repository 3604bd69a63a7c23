//! ProbeBW: down, cruise, refill, up, and what is learned of how much may be in flight (section 5.3.3).
use super::super::policy::{RateSample, Window};
use super::loss::{is_too_high, part};
use super::{Bbr3, MIN_PIPE_SEGMENTS, State};
use prismux_units::{Duration, Instant};

/// BBR.Headroom: what is left to others of the most that may be in flight.
const HEADROOM: f64 = 0.15;
/// T_reno_bound: after so many round trips at the latest the next probe begins, for flows that share with CUBIC.
const MOST_ROUNDS: u64 = 63;
/// T_bbr: the next probe begins after this and up to a second.
const LEAST_WAIT: Duration = Duration::from_secs(2);
/// Steps of growth double no more often.
const MOST_DOUBLINGS: u32 = 30;

/// BBR.ack_phase: what acknowledgements tell of the probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum AckPhase {
    #[default]
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// Where in the cycle the sender is.
#[derive(Debug, Clone, Default)]
pub(super) struct Cycle {
    /// BBR.cycle_stamp.
    since: Instant,
    /// BBR.bw_probe_wait.
    wait: Duration,
    /// BBR.rounds_since_probe_up.
    rounds: u64,
    pub(super) ack_phase: AckPhase,
    /// BBR.is_bw_probe_sample: what returns was sent while bandwidth was probed.
    pub(super) is_probe_sample: bool,
    /// BBR.prev_probe_too_high.
    pub(super) was_too_high: bool,
    /// BBR.prev_probe_precautionary.
    was_precautionary: bool,
    /// BBR.bw_probe_up_acked, BBR.probe_up_acked_per_inc, BBR.bw_probe_up_rounds.
    acked: u64,
    acked_per_step: u64,
    doublings: u32,
}

impl Bbr3 {
    /// UpdateProbeBWCyclePhase.
    pub(super) fn update_cycle(&mut self, sample: &RateSample, window: &Window) {
        if self.rounds.has_begun {
            self.cycle.rounds += 1;
        }
        if !self.full.reached || self.adapt_long_term(sample, window) {
            return;
        }
        let round_began = self.rounds.has_begun;
        match self.state {
            State::Down | State::Cruise => {
                if self.is_time_to_probe(sample.now, window) {
                    self.start_refill();
                } else if self.state == State::Down && self.is_time_to_cruise(sample, window) {
                    self.state = State::Cruise;
                }
            }
            State::Refill if round_began => {
                self.cycle.is_probe_sample = true;
                self.start_up(sample, window);
            }
            State::Up => {
                if self.is_time_to_go_down(sample, window) {
                    self.cycle.was_too_high = false;
                    self.start_down(sample.now);
                }
            }
            State::Startup | State::Drain | State::Refill | State::ProbeRtt => {}
        }
    }

    /// StartProbeBW_DOWN.
    pub(super) fn start_down(&mut self, now: Instant) {
        self.last_round.reset();
        self.cycle.acked_per_step = u64::MAX;
        self.pick_wait(now);
        self.cycle.since = now;
        self.cycle.ack_phase = AckPhase::ProbeStopping;
        self.rounds.begin();
        self.state = State::Down;
    }

    /// StartProbeBW_REFILL: what losses between probes said is forgotten.
    pub(super) fn start_refill(&mut self) {
        self.short_term = Default::default();
        (self.cycle.doublings, self.cycle.acked) = (0, 0);
        self.cycle.was_precautionary = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.rounds.begin();
        self.state = State::Refill;
    }

    /// StartProbeBW_UP.
    fn start_up(&mut self, sample: &RateSample, window: &Window) {
        self.cycle.ack_phase = AckPhase::ProbeStarting;
        self.rounds.begin();
        self.full.reset(sample.rate);
        self.state = State::Up;
        self.raise_slope(window);
    }

    /// PickProbeWait. What is random in the draft the digits of the time say: a core draws no random numbers.
    fn pick_wait(&mut self, now: Instant) {
        let digits = scrambled(now.as_nanos());
        self.cycle.rounds = digits & 1;
        self.cycle.wait = LEAST_WAIT + Duration::from_nanos((digits >> 1) % 1_000_000_000);
    }

    /// IsTimeToProbeBW: by the clock, or by the round trips that Reno would need for the same window.
    fn is_time_to_probe(&self, now: Instant, window: &Window) -> bool {
        let reno_rounds = self.target_inflight(window) / u64::from(window.mss);
        now > self.cycle.since + self.cycle.wait || self.cycle.rounds >= reno_rounds.min(MOST_ROUNDS)
    }

    /// IsTimeToCruise: the queue is drained, and there is room for others.
    fn is_time_to_cruise(&self, sample: &RateSample, window: &Window) -> bool {
        let drained = self.quantized(self.multiple_of(self.max_bandwidth.get(), 1.0, window), window);
        self.inflight_with_headroom(window).is_none_or(|most| sample.in_flight <= most)
            && sample.in_flight <= drained
    }

    /// IsTimeToGoDown: the rate grows no more, or what the last probe lost is in flight again.
    fn is_time_to_go_down(&mut self, sample: &RateSample, window: &Window) -> bool {
        let reaches = |bytes: u64| self.inflight_longterm.is_some_and(|most| bytes >= most);
        if self.cycle.was_too_high && reaches(sample.in_flight) {
            self.cycle.was_precautionary = true;
            return true;
        }
        if sample.is_window_limited && reaches(window.cwnd) {
            self.full.reset(sample.rate);
            return false;
        }
        self.full.now
    }

    /// InflightWithHeadroom.
    pub(super) fn inflight_with_headroom(&self, window: &Window) -> Option<u64> {
        let most = self.inflight_longterm?;
        let mss = u64::from(window.mss);
        let headroom = part(most, HEADROOM).max(mss);
        Some(most.saturating_sub(headroom).max(MIN_PIPE_SEGMENTS * mss))
    }

    /// AdaptLongTermModel. Says whether it has changed the state.
    fn adapt_long_term(&mut self, sample: &RateSample, window: &Window) -> bool {
        let round_began = self.rounds.has_begun;
        if self.cycle.ack_phase == AckPhase::ProbeStarting && round_began {
            self.cycle.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.cycle.ack_phase == AckPhase::ProbeStopping && round_began {
            self.cycle.is_probe_sample = false;
            self.cycle.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() {
                if !self.is_app_limited(sample) {
                    self.max_bandwidth.advance();
                }
                if self.cycle.was_precautionary && !self.cycle.was_too_high {
                    self.start_refill();
                    return true;
                }
            }
        }
        if sample.prior_delivered.is_some() && !is_too_high(sample.lost_since, sample.sent_in_flight) {
            self.raise_inflight(sample, window);
        }
        false
    }

    /// Losses are few: what was in flight may be.
    fn raise_inflight(&mut self, sample: &RateSample, window: &Window) {
        let Some(most) = self.inflight_longterm else { return };
        self.inflight_longterm = Some(most.max(sample.sent_in_flight));
        if self.state == State::Up {
            self.probe_upward(sample, window);
        }
    }

    /// ProbeInflightLongtermUpward: by one segment a round trip, then two, four, eight.
    fn probe_upward(&mut self, sample: &RateSample, window: &Window) {
        let Some(most) = self.inflight_longterm.filter(|&most| window.cwnd >= most) else { return };
        if !sample.is_window_limited {
            return;
        }
        self.cycle.acked += sample.newly_delivered;
        if self.cycle.acked >= self.cycle.acked_per_step {
            let steps = self.cycle.acked / self.cycle.acked_per_step;
            self.cycle.acked -= steps * self.cycle.acked_per_step;
            self.inflight_longterm = Some(most + steps * u64::from(window.mss));
        }
        if self.rounds.has_begun {
            self.raise_slope(window);
        }
    }

    /// RaiseInflightLongtermSlope.
    pub(super) fn raise_slope(&mut self, window: &Window) {
        let growth = 1_u64 << self.cycle.doublings;
        self.cycle.doublings = (self.cycle.doublings + 1).min(MOST_DOUBLINGS);
        self.cycle.acked_per_step = (window.cwnd / growth).max(u64::from(window.mss));
    }

    /// TargetInflight: the path's product, unless congestion has cut the window.
    pub(super) fn target_inflight(&self, window: &Window) -> u64 {
        self.product(window).min(window.cwnd)
    }
}

/// SplitMix64 (S. Vigna): every digit of the result depends on every digit of `value`.
const fn scrambled(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
