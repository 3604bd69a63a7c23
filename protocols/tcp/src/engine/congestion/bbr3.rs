//! BBR, version 3 (N. Cardwell, I. Swett, J. Beshay, draft-ietf-ccwg-bbr, its editors' copy of 2026, after version 06;
//! names in capitals and after dots are the draft's, sections those of its version 04).
//!
//! As in version 1 the path is two numbers, the most that it delivered of late and the shortest round trip of late. To
//! them come bounds that losses set. In the long term: how much in flight a probe for bandwidth found to be too much,
//! with more than 2 % lost. In the short term: what the path delivered since it last lost anything. Probes come every
//! two to three seconds, or as often as Reno would lose a packet with the same window; between them some room is left
//! to others.
//!
//! | file | does | section |
//! |---|---|---|
//! | here | the order of things at an acknowledgement; Startup, Drain, ProbeRTT | 5.2, 5.3 |
//! | `state` | the states, their gains | 5.6.1 |
//! | `rounds` | round trips, and the maximum of the delivery rate | 5.5.1 to 5.5.6 |
//! | `full_bandwidth` | whether a rising rate has filled the pipe | 5.3.1.2 |
//! | `cycle` | ProbeBW, and the long-term bound | 5.3.3 |
//! | `loss` | what losses and marks say, and taking it back | 5.5.10, 5.5.11 |
//! | `aggregation` | acknowledgements that come in bunches | 5.5.9 |
//! | `min_rtt` | the propagation time, and when to probe for it | 5.3.4, 5.5.7 |
//! | `window` | pacing rate and window | 5.6 |
//!
//! Where the draft leaves something open, or the engine has it otherwise: an ECN mark counts as a loss, once a window;
//! a window after a timeout is one segment, whatever is in flight; a connection that pauses in ProbeRTT leaves it with
//! the first acknowledgement after the pause, not when it sends; what spurious losses restore is saved once a recovery
//! (as in Linux), since the draft's text saves it again after the probe that the first of them ended.
mod aggregation;
mod cycle;
mod full_bandwidth;
mod loss;
mod min_rtt;
mod rounds;
mod state;
#[cfg(test)]
mod tests;
mod window;

use super::policy::{AckSample, CongestionControl, CongestionSignal, LostSegment, RateSample, Window};
use aggregation::Aggregation;
use cycle::{AckPhase, Cycle};
use full_bandwidth::FullBandwidth;
use loss::{LastRound, ShortTerm, Undo};
use min_rtt::MinRtt;
use prismux_units::{ByteCount, Duration, Rate};
use rounds::{MaxBandwidth, Rounds};
use state::State;
use window::repairs;

use crate::engine::interface::Phase;

/// BBR.MinPipeCwnd, in segments.
const MIN_PIPE_SEGMENTS: u64 = 4;
/// Drain ends after so many round trips, whatever is in flight.
const DRAIN_ROUNDS: u64 = 3;
/// RTT taken for the first pacing rate as long as none is known.
const NOMINAL_RTT: Duration = Duration::from_millis(1);

/// The model of the path, and what follows from it.
#[derive(Debug, Clone)]
pub(crate) struct Bbr3 {
    state: State,
    rounds: Rounds,
    max_bandwidth: MaxBandwidth,
    /// BBR.bw: the maximum, within what losses allow.
    rate: Option<Rate>,
    full: FullBandwidth,
    min_rtt: MinRtt,
    aggregation: Aggregation,
    last_round: LastRound,
    short_term: ShortTerm,
    /// `None` as long as no probe has lost too much.
    inflight_longterm: Option<u64>,
    cycle: Cycle,
    undo: Undo,
    drain_start_round: u64,
    /// What was sent before so much was delivered says nothing of the bandwidth.
    discounted_until: u64,
    /// `None` before the first RTT.
    pacing_rate: Option<Rate>,
    initial_window_segments: u64,
    /// Data leaves again after a pause: the round trip of that time is not one to be probed.
    idle_restart: bool,
    /// A mark came; it counts with the acknowledgement that brought it.
    marked: bool,
    /// The window of before comes back.
    restores: bool,
    prior_cwnd: u64,
    phase: Phase,
}

impl Bbr3 {
    pub(crate) fn new(initial_window_segments: u32) -> Self {
        Self {
            state: State::Startup,
            rounds: Rounds::default(),
            max_bandwidth: MaxBandwidth::default(),
            rate: None,
            full: FullBandwidth::default(),
            min_rtt: MinRtt::default(),
            aggregation: Aggregation::default(),
            last_round: LastRound::default(),
            short_term: ShortTerm::default(),
            inflight_longterm: None,
            cycle: Cycle::default(),
            undo: Undo::default(),
            drain_start_round: 0,
            discounted_until: 0,
            pacing_rate: None,
            initial_window_segments: u64::from(initial_window_segments.max(1)),
            idle_restart: false,
            marked: false,
            restores: false,
            prior_cwnd: 0,
            phase: Phase::Open,
        }
    }

    fn is_app_limited(&self, sample: &RateSample) -> bool {
        sample.is_app_limited || sample.prior_delivered.is_some_and(|prior| prior < self.discounted_until)
    }

    /// UpdateModelAndState.
    fn update_model(&mut self, sample: &RateSample, window: &Window) {
        self.last_round.update(sample);
        self.rounds.update(sample);
        let is_app_limited = self.is_app_limited(sample);
        self.max_bandwidth.update(sample.rate, is_app_limited);
        self.adapt_lower_bounds(window);
        let filter = (self.rounds.count, !self.full.reached);
        self.aggregation.update(sample.now, sample.newly_delivered, self.rate, window.cwnd, filter);
        if self.rounds.has_begun && !is_app_limited {
            self.full.update(sample.rate);
        }
        self.check_startup_done(sample, window);
        self.check_drain_done(sample, window);
        self.update_cycle(sample, window);
        self.update_min_rtt(sample, window);
        self.check_probe_rtt(sample, window);
        self.last_round.advance(sample);
        let most = self.max_bandwidth.get();
        self.rate = most.map(|most| self.short_term.rate.map_or(most, |bound| most.min(bound)));
    }

    /// CheckStartupDone.
    fn check_startup_done(&mut self, sample: &RateSample, window: &Window) {
        if self.state != State::Startup {
            return;
        }
        self.check_startup_loss(sample, window);
        if self.full.reached {
            self.state = State::Drain;
            self.drain_start_round = self.rounds.count;
        }
    }

    /// CheckDrainDone.
    fn check_drain_done(&mut self, sample: &RateSample, window: &Window) {
        if self.state != State::Drain {
            return;
        }
        let drained = sample.in_flight <= self.quantized(self.product(window), window);
        if drained || self.rounds.count > self.drain_start_round + DRAIN_ROUNDS {
            self.start_down(sample.now);
        }
    }

    /// UpdateMinRTT. What ProbeRTT will leave in flight follows from the minimum before a queue's takes its place.
    fn update_min_rtt(&mut self, sample: &RateSample, window: &Window) {
        if self.min_rtt.expires(sample.now) && self.state != State::ProbeRtt {
            let half = self.multiple_of(self.rate, State::ProbeRtt.cwnd_gain(), window);
            self.min_rtt.probe_bytes = half.max(MIN_PIPE_SEGMENTS * u64::from(window.mss));
        }
        self.min_rtt.update(sample);
    }

    /// CheckProbeRTT.
    fn check_probe_rtt(&mut self, sample: &RateSample, window: &Window) {
        if self.state != State::ProbeRtt && self.min_rtt.is_expired && !self.idle_restart {
            self.save_window(window);
            self.state = State::ProbeRtt;
            self.min_rtt.begin_probe();
            self.cycle.ack_phase = AckPhase::ProbeStopping;
            self.rounds.begin();
        }
        if self.state == State::ProbeRtt {
            // So little in flight says nothing of the bandwidth.
            self.discounted_until = (sample.delivered + sample.in_flight).max(1);
            match self.min_rtt.continue_probe(sample, self.rounds.has_begun) {
                Some(true) => self.exit_probe_rtt(sample),
                Some(false) => self.rounds.begin(),
                None => {}
            }
        }
        self.idle_restart = self.idle_restart && sample.newly_delivered == 0;
    }

    /// ExitProbeRTT.
    fn exit_probe_rtt(&mut self, sample: &RateSample) {
        self.restores = true;
        self.short_term = ShortTerm::default();
        if self.full.reached {
            self.start_down(sample.now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}

impl CongestionControl for Bbr3 {
    fn on_ack(&mut self, _sample: &AckSample, _window: &mut Window) {}

    /// The threshold stays where it is: the window follows the model.
    fn threshold(&mut self, signal: CongestionSignal, window: &Window) -> u64 {
        match signal {
            CongestionSignal::Loss | CongestionSignal::Timeout => self.save_state(window),
            CongestionSignal::EcnMark => self.marked = true,
        }
        window.ssthresh
    }

    fn on_external_reduction(&mut self, before: &Window, _window: &Window) {
        self.save_window(before);
    }

    fn on_undo(&mut self, _window: &Window) {
        self.take_back_losses();
        self.restores = true;
    }

    /// HandleRestartFromIdle: after a pause the estimate is the rate to begin with.
    fn on_idle(&mut self, _idle: Duration) {
        self.idle_restart = true;
        self.aggregation.restart();
        if self.state.is_probe_bw() {
            self.set_pacing_rate(1.0);
        }
    }

    /// InitPacingRate.
    fn on_first_rtt(&mut self, rtt: Duration, window: &Window) {
        if self.rate.is_none() {
            let first = Rate::from_transfer(ByteCount::new(window.cwnd), rtt.max(NOMINAL_RTT));
            self.pacing_rate = first.map(|rate| rate.mul_f64(State::Startup.pacing_gain()));
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing_rate
    }

    fn is_rate_based(&self) -> bool {
        true
    }

    fn on_lost(&mut self, lost: &LostSegment, window: &Window) {
        self.heed_loss(lost, window);
    }

    fn on_rate_sample(&mut self, sample: &RateSample, window: &mut Window) {
        if core::mem::take(&mut self.marked) {
            self.heed_mark(sample.now, sample.sent_in_flight, window);
        }
        self.update_model(sample, window);
        if self.pacing_rate.is_none()
            && let Some(rtt) = sample.rtt
        {
            self.on_first_rtt(rtt, window);
        }
        self.set_pacing_rate(self.state.pacing_gain());
        self.set_window(sample, window);
        self.phase = sample.phase;
        if !repairs(self.phase) {
            self.end_recovery();
        }
    }
}
