//! What losses say (section 5.5.10): while bandwidth is probed, how much is too much in flight; otherwise that the path
//! gives less for now. And what is taken back when they were none (section 5.5.11).
use super::super::policy::{LostSegment, RateSample, Window};
use super::cycle::AckPhase;
use super::{Bbr3, State};
use prismux_units::Rate;

/// BBR.LossThresh: so much may be lost in a round trip while bandwidth is probed.
pub(super) const LOSS_THRESHOLD: f64 = 0.02;
/// BBR.Beta: a round trip with losses takes no more than this from the bounds.
const BETA: f64 = 0.7;
/// BBRStartupFullLossCnt: ranges lost in a round trip that end Startup.
const STARTUP_LOST_RANGES: u32 = 6;

/// The last round trip: what it delivered and lost.
#[derive(Debug, Clone, Default)]
pub(super) struct LastRound {
    /// BBR.is_loss_in_round.
    has_loss: bool,
    /// BBR.loss_round_start.
    has_ended: bool,
    /// BBR.loss_round_delivered.
    ends_with: u64,
    /// BBR.bw_latest and BBR.inflight_latest.
    rate: Option<Rate>,
    delivered: u64,
    /// Ranges lost, apart from one another.
    lost_ranges: u32,
}

impl LastRound {
    /// ResetCongestionSignals.
    pub(super) fn reset(&mut self) {
        (self.has_loss, self.rate, self.delivered) = (false, None, 0);
    }

    /// UpdateLatestDeliverySignals.
    pub(super) fn update(&mut self, sample: &RateSample) {
        self.has_ended = false;
        let Some(prior) = sample.prior_delivered else { return };
        self.rate = self.rate.max(sample.rate);
        self.delivered = self.delivered.max(sample.delivered - prior);
        if prior >= self.ends_with {
            self.ends_with = sample.delivered;
            self.has_ended = true;
        }
    }

    /// AdvanceLatestDeliverySignals.
    pub(super) fn advance(&mut self, sample: &RateSample) {
        if self.has_ended {
            self.rate = sample.rate;
            self.delivered = sample.prior_delivered.map_or(0, |prior| sample.delivered - prior);
            self.lost_ranges = 0;
        }
    }
}

/// The short-term model: what the path gives since it last lost something. `None` where nothing bounds it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ShortTerm {
    /// BBR.bw_shortterm.
    pub(super) rate: Option<Rate>,
    /// BBR.inflight_shortterm.
    pub(super) inflight: Option<u64>,
}

impl ShortTerm {
    /// The less strict of two.
    fn relaxed(self, other: Self) -> Self {
        Self {
            rate: self.rate.zip(other.rate).map(|(a, b)| a.max(b)),
            inflight: self.inflight.zip(other.inflight).map(|(a, b)| a.max(b)),
        }
    }
}

/// What is remembered in case the losses are none.
#[derive(Debug, Clone, Default)]
pub(super) struct Undo {
    /// It is of the present recovery.
    is_saved: bool,
    /// The state that losses ended.
    state: Option<State>,
    short_term: ShortTerm,
    inflight_longterm: Option<u64>,
}

impl Bbr3 {
    /// Adapts the bounds once a round trip (AdaptLowerBoundsFromCongestion).
    pub(super) fn adapt_lower_bounds(&mut self, window: &Window) {
        if !self.last_round.has_ended {
            return;
        }
        if self.last_round.has_loss && !self.state.probes_bandwidth() {
            let rate = self.short_term.rate.or(self.max_bandwidth.get()).unwrap_or(Rate::ZERO);
            let inflight = self.short_term.inflight.unwrap_or(window.cwnd);
            let latest = self.last_round.rate.unwrap_or(Rate::ZERO);
            self.short_term.rate = Some(latest.max(rate.mul_f64(BETA)));
            self.short_term.inflight = Some(self.last_round.delivered.max(part(inflight, BETA)));
        }
        self.last_round.has_loss = false;
    }

    /// NoteLoss.
    pub(super) fn note_loss(&mut self, window: &Window) {
        if !self.last_round.has_loss {
            self.last_round.ends_with = self.rounds.delivered;
        }
        self.last_round.has_loss = true;
        if !self.undo.is_saved {
            self.save_state(window);
        }
    }

    /// SaveStateUponLoss, once a recovery: the end of a probe, which the first losses bring, forgets the round's.
    pub(super) fn save_state(&mut self, window: &Window) {
        self.save_window(window);
        self.undo = Undo {
            is_saved: true,
            state: None,
            short_term: self.short_term,
            inflight_longterm: self.inflight_longterm,
        };
    }

    /// The next losses are those of another recovery.
    pub(super) fn end_recovery(&mut self) {
        self.undo.is_saved = false;
    }

    /// HandleLostPacket.
    pub(super) fn heed_loss(&mut self, lost: &LostSegment, window: &Window) {
        self.note_loss(window);
        self.last_round.lost_ranges += u32::from(lost.begins_range);
        if self.cycle.is_probe_sample && is_too_high(lost.lost_since, lost.sent_in_flight) {
            self.reduce_inflight(inflight_at_loss(lost), lost.is_app_limited, lost.now, window);
        }
    }

    /// HandleInflightTooHigh: `inflight` was too much.
    pub(super) fn reduce_inflight(
        &mut self,
        inflight: u64,
        is_app_limited: bool,
        now: prismux_units::Instant,
        window: &Window,
    ) {
        self.cycle.was_too_high = true;
        self.cycle.is_probe_sample = false;
        if !is_app_limited {
            self.inflight_longterm = Some(inflight.max(part(self.target_inflight(window), BETA)));
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(now);
        }
    }

    /// CheckStartupHighLoss: a round trip in recovery that lost more than the threshold, in several places.
    pub(super) fn check_startup_loss(&mut self, sample: &RateSample, window: &Window) {
        let round = &self.last_round;
        let in_recovery = sample.phase == crate::engine::interface::Phase::Recovery;
        if !round.has_ended || !in_recovery || round.lost_ranges < STARTUP_LOST_RANGES {
            return;
        }
        if is_too_high(sample.lost_since, sample.sent_in_flight) {
            self.undo.state = Some(State::Startup);
            self.full.reached = true;
            self.inflight_longterm = Some(self.product(window).max(self.last_round.delivered));
        }
    }

    /// HandleSpuriousLossDetection, but for the window, which comes back with the next acknowledgement.
    pub(super) fn take_back_losses(&mut self) {
        self.last_round.has_loss = false;
        self.full.reset(None);
        self.short_term = self.short_term.relaxed(self.undo.short_term);
        self.inflight_longterm =
            self.inflight_longterm.zip(self.undo.inflight_longterm).map(|(now, then)| now.max(then));
        match self.undo.state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full.reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => self.start_refill(),
            _ => {}
        }
    }

    /// A mark of the network in a window: congestion, as a loss is (the draft leaves open how much). While bandwidth is
    /// probed, what is in flight is too much; otherwise the round counts as one with losses.
    pub(super) fn heed_mark(&mut self, now: prismux_units::Instant, in_flight: u64, window: &Window) {
        self.note_loss(window);
        if self.cycle.is_probe_sample && self.cycle.ack_phase != AckPhase::Refilling {
            self.reduce_inflight(in_flight, false, now, window);
        }
    }
}

/// IsInflightTooHigh: more than the threshold of `inflight` bytes was lost.
pub(super) fn is_too_high(lost: u64, inflight: u64) -> bool {
    lost as f64 > inflight as f64 * LOSS_THRESHOLD
}

/// InflightAtLoss: how much was in flight, the segment itself included, when losses crossed the threshold.
fn inflight_at_loss(lost: &LostSegment) -> u64 {
    let before = lost.sent_in_flight.saturating_sub(lost.bytes) as f64;
    let lost_before = lost.lost_since.saturating_sub(lost.bytes) as f64;
    let prefix = (LOSS_THRESHOLD * before - lost_before) / (1.0 - LOSS_THRESHOLD);
    (before + prefix).max(0.0) as u64
}

pub(super) fn part(bytes: u64, share: f64) -> u64 {
    (bytes as f64 * share) as u64
}
