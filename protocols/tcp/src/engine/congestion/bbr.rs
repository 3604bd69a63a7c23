//! BBR, version 1: bottleneck bandwidth and round-trip propagation time (N. Cardwell et al., ACM Queue 14(5), 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00; `net/ipv4/tcp_bbr.c`).
//!
//! The path is two numbers: the most it delivered of late, and the shortest round trip of late. Segments leave at the
//! first; the window holds twice their product. Now and then the rate is raised for a round trip, to see whether the
//! path gives more, and the window is lowered, to see whether the round trip is shorter.
//!
//! | file | does | section of the draft |
//! |---|---|---|
//! | here | the state machine: Startup, Drain, ProbeBW, ProbeRTT | 4.3 |
//! | `bandwidth` | BtlBw: rounds, and the maximum over ten of them | 4.1.1 |
//! | `full_pipe` | whether Startup has filled the pipe | 4.3.2.2 |
//! | `min_rtt` | RTprop, and when to probe for it | 4.1.2, 4.3.5 |
//! | `cycle` | the gains of ProbeBW | 4.3.4 |
//! | `window` | the window from the model, and in recovery | 4.2.3 |
//!
//! Left out: the compensation for aggregated ACKs and the detection of policers that Linux added.
mod bandwidth;
mod conservation;
mod cycle;
mod full_pipe;
mod min_rtt;
mod window;

use super::policy::{AckSample, CongestionControl, CongestionSignal, RateSample, Window};
use crate::engine::config::{EngineConfig, RecoveryStyle};
use crate::engine::interface::Phase;
use bandwidth::Bandwidth;
use conservation::Conservation;
use cycle::Cycle;
use full_pipe::FullPipe;
use min_rtt::MinRtt;
use prismux_units::{ByteCount, Duration, Instant, Rate};

/// 2 / ln 2: doubles the rate in each round trip of Startup.
const HIGH_GAIN: f64 = 2.885;
/// Empties in one round trip what Startup left in the queue.
const DRAIN_GAIN: f64 = 1.0 / HIGH_GAIN;
/// Window in products of bandwidth and delay, for delayed and aggregated ACKs.
const CWND_GAIN: f64 = 2.0;
/// Segments leave a little below the estimate, so that no queue grows by its error (Linux).
const PACING_MARGIN: f64 = 0.99;
/// The window of ProbeRTT, and the smallest otherwise, in segments.
const MIN_WINDOW_SEGMENTS: u64 = 4;
/// RTT taken for the first pacing rate as long as none is known.
const NOMINAL_RTT: Duration = Duration::from_millis(1);

/// The states of section 4.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The model of the path, and what follows from it.
#[derive(Debug, Clone)]
pub(crate) struct Bbr {
    mode: Mode,
    bandwidth: Bandwidth,
    full_pipe: FullPipe,
    min_rtt: MinRtt,
    cycle: Cycle,
    conservation: Conservation,
    /// `None` before the first RTT.
    pacing_rate: Option<Rate>,
    initial_window_segments: u64,
    /// Data leaves again after a pause: the round trip of that time is not one to be probed.
    idle_restart: bool,
    /// The window before recovery, a timeout or ProbeRTT.
    prior_cwnd: u64,
    phase: Phase,
}

impl Bbr {
    pub(crate) fn new(initial_window_segments: u32) -> Self {
        Self {
            mode: Mode::Startup,
            bandwidth: Bandwidth::default(),
            full_pipe: FullPipe::default(),
            min_rtt: MinRtt::default(),
            cycle: Cycle::default(),
            conservation: Conservation::default(),
            pacing_rate: None,
            initial_window_segments: u64::from(initial_window_segments.max(1)),
            idle_restart: false,
            prior_cwnd: 0,
            phase: Phase::Open,
        }
    }

    /// The switches that belong to it: the machine of the RFCs finds losses.
    pub(crate) fn settle(config: EngineConfig) -> EngineConfig {
        EngineConfig { recovery: RecoveryStyle::Standard, hystart: None, ..config }
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => DRAIN_GAIN,
            Mode::ProbeBw => self.cycle.gain(),
            Mode::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBw => CWND_GAIN,
            Mode::ProbeRtt => 1.0,
        }
    }

    /// `gain` products of bandwidth and delay; before the first RTT the initial window.
    fn inflight_bytes(&self, gain: f64, window: &Window) -> u64 {
        let (Some(rate), Some(min_rtt)) = (self.bandwidth.rate(), self.min_rtt.get()) else {
            return self.initial_window_segments * u64::from(window.mss);
        };
        rate.mul_f64(gain).bytes_in(min_rtt).as_u64()
    }

    /// Section 4.3.2 to 4.3.4: which state the sample leads to.
    fn update_mode(&mut self, sample: &RateSample, window: &Window) {
        if self.mode == Mode::Startup && self.full_pipe.is_reached() {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && sample.in_flight <= self.inflight_bytes(1.0, window) {
            self.enter_probe_bw(sample.now);
        }
        if self.mode == Mode::ProbeBw {
            let target = self.inflight_bytes(self.cycle.gain(), window);
            let one = self.inflight_bytes(1.0, window);
            self.cycle.advance(sample, self.min_rtt.get(), target, one);
        }
    }

    fn enter_probe_bw(&mut self, now: Instant) {
        self.mode = Mode::ProbeBw;
        self.cycle.begin(now);
    }

    /// Section 4.3.5: a window of four segments for 200 ms and a round trip, when the minimum is ten seconds old.
    fn probe_rtt(&mut self, sample: &RateSample, window: &Window) {
        if self.min_rtt.is_outdated() && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.save_window(window);
            self.mode = Mode::ProbeRtt;
            self.min_rtt.begin_probe();
        }
        if self.mode != Mode::ProbeRtt {
            return;
        }
        // So little in flight says nothing of the bandwidth.
        self.bandwidth.discount_until(sample.delivered + sample.in_flight);
        let small = sample.in_flight <= MIN_WINDOW_SEGMENTS * u64::from(window.mss);
        if self.min_rtt.continue_probe(sample, small, self.bandwidth.round_has_begun()) {
            self.conservation.restore(self.prior_cwnd);
            if self.full_pipe.is_reached() {
                self.enter_probe_bw(sample.now);
            } else {
                self.mode = Mode::Startup;
            }
        }
    }

    fn set_pacing_rate(&mut self) {
        let Some(rate) = self.bandwidth.rate() else { return };
        let rate = rate.mul_f64(self.pacing_gain() * PACING_MARGIN);
        // Before the pipe is full, a slow sample is one of the application or of the first window.
        if self.full_pipe.is_reached() || self.pacing_rate.is_none_or(|now| rate > now) {
            self.pacing_rate = Some(rate);
        }
    }

    /// Remembers the window that recovery, a timeout or ProbeRTT is about to lower.
    fn save_window(&mut self, window: &Window) {
        let lowered = matches!(self.phase, Phase::Recovery | Phase::Loss) || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if lowered { self.prior_cwnd.max(window.cwnd) } else { window.cwnd };
    }
}

impl CongestionControl for Bbr {
    fn on_ack(&mut self, _sample: &AckSample, _window: &mut Window) {}

    /// The threshold stays where it is: the window follows the model.
    fn threshold(&mut self, signal: CongestionSignal, window: &Window) -> u64 {
        self.save_window(window);
        if signal == CongestionSignal::Timeout {
            self.full_pipe.reconsider();
        }
        window.ssthresh
    }

    fn on_external_reduction(&mut self, before: &Window, _window: &Window) {
        self.save_window(before);
    }

    fn on_undo(&mut self, _window: &Window) {
        self.full_pipe.reconsider();
    }

    /// Section 4.3.4.4: after a pause the estimate is the rate to begin with.
    fn on_idle(&mut self, _idle: Duration) {
        self.idle_restart = true;
        if self.mode == Mode::ProbeBw {
            self.pacing_rate =
                self.bandwidth.rate().map(|rate| rate.mul_f64(PACING_MARGIN)).or(self.pacing_rate);
        }
    }

    fn on_first_rtt(&mut self, rtt: Duration, window: &Window) {
        if self.bandwidth.rate().is_none() {
            let first = Rate::from_transfer(ByteCount::new(window.cwnd), rtt.max(NOMINAL_RTT));
            self.pacing_rate = first.map(|rate| rate.mul_f64(HIGH_GAIN));
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing_rate
    }

    fn is_rate_based(&self) -> bool {
        true
    }

    fn on_rate_sample(&mut self, sample: &RateSample, window: &mut Window) {
        self.bandwidth.update(sample);
        self.full_pipe.update(sample, &self.bandwidth);
        self.min_rtt.update(sample);
        self.update_mode(sample, window);
        self.probe_rtt(sample, window);
        self.idle_restart = self.idle_restart && sample.newly_delivered == 0;
        if self.pacing_rate.is_none()
            && let Some(rtt) = sample.rtt
        {
            self.on_first_rtt(rtt, window);
        }
        self.set_pacing_rate();
        self.set_window(sample, window);
        self.phase = sample.phase;
    }
}
