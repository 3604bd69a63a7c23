//! What a congestion control is: the hooks, and what passes through them.
use crate::engine::interface::Phase;
use alloc::boxed::Box;
use core::fmt::{self, Debug};
use prismux_units::{Duration, Instant, Rate};

/// The congestion window and the slow-start threshold, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold.
    pub ssthresh: u64,
    /// Segment size.
    pub mss: u32,
}

impl Window {
    /// Whether the window grows exponentially.
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Least threshold after a reduction: two segments (RFC 5681 equation 4).
    pub fn min_threshold(&self) -> u64 {
        2 * u64::from(self.mss)
    }
}

/// What a policy learns from an acknowledgement of new data.
#[derive(Debug, Clone, Copy)]
pub struct AckSample {
    /// Now.
    pub now: Instant,
    /// Bytes newly delivered.
    pub bytes: u64,
    /// Cumulative position acknowledged.
    pub acked: u64,
    /// Highest position sent.
    pub next: u64,
    /// RTT of this acknowledgement, if it gave one.
    pub rtt: Option<Duration>,
    /// Smoothed RTT.
    pub srtt: Option<Duration>,
}

/// What an acknowledgement says of the path's delivery rate (draft-ietf-ccwg-bbr section 4.1), for a policy that
/// [is rate based](CongestionControl::is_rate_based).
#[derive(Debug, Clone, Copy)]
pub struct RateSample {
    /// Now.
    pub now: Instant,
    /// Bytes delivered since the start, with this acknowledgement (C.delivered).
    pub delivered: u64,
    /// Bytes that this acknowledgement newly reports as delivered.
    pub newly_delivered: u64,
    /// Of these, bytes that the network marked (ECN), as far as the peer says: one that echoes as RFC 3168 has it says
    /// so of everything until it hears of the answer.
    pub newly_marked: u64,
    /// Bytes taken for lost since the last sample.
    pub newly_lost: u64,
    /// C.delivered when the newest of the segments reported was sent (P.delivered); `None` when none was reported, or
    /// nothing is known of its transmission.
    pub prior_delivered: Option<u64>,
    /// Bytes in the network just after that segment was sent (P.tx_in_flight).
    pub sent_in_flight: u64,
    /// Bytes taken for lost since that segment was sent.
    pub lost_since: u64,
    /// Rate of delivery since then; `None` where the interval is too short to say.
    pub rate: Option<Rate>,
    /// The application, not the path, was the limit in that interval.
    pub is_app_limited: bool,
    /// RTT of this acknowledgement, if it gave one.
    pub rtt: Option<Duration>,
    /// Bytes in the network after this acknowledgement.
    pub in_flight: u64,
    /// Bytes in the network before this acknowledgement.
    pub prior_in_flight: u64,
    /// The window, not the application or the pacing rate, was the limit of late.
    pub is_window_limited: bool,
    /// Where the sender stands after this acknowledgement.
    pub phase: Phase,
}

/// A segment that has been taken for lost, for a policy that [is rate based](CongestionControl::is_rate_based).
#[derive(Debug, Clone, Copy)]
pub struct LostSegment {
    /// Now.
    pub now: Instant,
    /// Its bytes.
    pub bytes: u64,
    /// Bytes in the network just after it was sent (P.tx_in_flight).
    pub sent_in_flight: u64,
    /// Bytes taken for lost since it was sent, its own included.
    pub lost_since: u64,
    /// The application, not the path, was the limit when it was sent.
    pub is_app_limited: bool,
    /// The segment before it is not among those found lost with it.
    pub begins_range: bool,
}

/// Why the window has to fall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CongestionSignal {
    /// A loss found by duplicates, time or a probe.
    Loss,
    /// An ECN mark.
    EcnMark,
    /// A retransmission timeout.
    Timeout,
}

/// What the other windows of one connection mean for this one, where they are coupled by their owner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoupledTerms {
    /// Growth in congestion avoidance, as a multiple of one segment per window (RFC 5681); below zero it shrinks.
    pub increase: f64,
    /// The part of the window that is kept at a loss.
    pub keep: f64,
    /// Segments to keep queued in the network, for controls that go by delay: they take the place of the increase.
    pub queued_segments: Option<f64>,
}

impl CoupledTerms {
    /// NewReno's.
    pub const UNCOUPLED: Self = Self { increase: 1.0, keep: 0.5, queued_segments: None };
}

/// The policy's growth cannot be scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnscalableIncrease;

impl fmt::Display for UnscalableIncrease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this congestion control has no increase of which a share could be taken")
    }
}

impl core::error::Error for UnscalableIncrease {}

/// A congestion control policy (the hooks are those a Linux module has).
///
/// There are two kinds. A *window based* policy says how far the window grows and falls; detection and recovery say
/// when. A *rate based* one sets window and pacing rate itself, from a model of the path. [`Window::cwnd`] is what
/// bounds the data in flight with both.
pub trait CongestionControl {
    /// So many bytes were newly delivered, `marked` by the network (ECN) as far as the peer says (see
    /// [`RateSample::newly_marked`]): told of every acknowledgement, in every phase, before anything else.
    fn on_delivered(&mut self, _bytes: u64, _marked: bool) {}

    /// New data was acknowledged while the window was in use: grow it.
    fn on_ack(&mut self, sample: &AckSample, window: &mut Window);

    /// The window is about to fall for `signal`: the new slow-start threshold, in bytes.
    fn threshold(&mut self, signal: CongestionSignal, window: &Window) -> u64;

    /// The window fell to `window` for a reason of its own (a loss notice with its own factor); `before` is what it
    /// was.
    fn on_external_reduction(&mut self, before: &Window, window: &Window);

    /// The last reduction was spurious; `window` has been restored.
    fn on_undo(&mut self, window: &Window);

    /// Nothing was sent for `idle`.
    fn on_idle(&mut self, idle: Duration);

    /// An RTT is known before anything was acknowledged (the handshake's).
    fn on_first_rtt(&mut self, _rtt: Duration, _window: &Window) {}

    /// Takes only `share`, between 0 and 1, of the increase of congestion avoidance from now on (RFC 6356 section 4).
    ///
    /// # Errors
    /// The policy has no such increase.
    fn set_increase_share(&mut self, _share: f64) -> Result<(), UnscalableIncrease> {
        Err(UnscalableIncrease)
    }

    /// What coupled windows are told before every acknowledgement. Without effect on a policy that is not made for it.
    fn set_coupling(&mut self, _terms: &CoupledTerms) {}

    /// Whether segments leave at the [`CongestionControl::pacing_rate`]. Asked once; a rate based policy is paced.
    fn is_paced(&self) -> bool {
        self.is_rate_based()
    }

    /// At which rate segments leave; `None` lets them go as the window opens. Asked for every segment of a paced
    /// policy.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Whether the policy sets the window itself, with every acknowledgement and in every phase, in
    /// [`CongestionControl::on_rate_sample`]: then it neither grows through [`CongestionControl::on_ack`] nor falls in
    /// recovery, save to one segment after a timeout.
    fn is_rate_based(&self) -> bool {
        false
    }

    /// A segment was taken for lost, for a rate based policy: before the acknowledgement that shows it is handed over.
    fn on_lost(&mut self, _lost: &LostSegment, _window: &Window) {}

    /// An acknowledgement, for a rate based policy.
    fn on_rate_sample(&mut self, _sample: &RateSample, _window: &mut Window) {}
}

/// A policy from outside this crate. It says how far windows grow and fall; no window becomes smaller than one
/// segment, and no threshold smaller than two.
pub trait CustomControl: CongestionControl + Debug + core::marker::Send {
    /// A copy, for a copy of its engine.
    fn boxed(&self) -> Box<dyn CustomControl>;
}

impl Clone for Box<dyn CustomControl> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}
