//! Congestion control: how the window grows with acknowledgements and where it falls to.
//!
//! *When* it falls is decided by loss detection and recovery; a policy here only answers *how far*.
mod cubic;
mod hystart;
mod newreno;
mod stp;

pub(crate) use cubic::Cubic;
pub(crate) use hystart::HyStart;
pub(crate) use newreno::NewReno;
pub(crate) use stp::{POLLS_PER_RTT, Stp};

use super::config::{CongestionKind, EngineConfig};
use alloc::boxed::Box;
use core::fmt::Debug;
use prismux_units::{Duration, Instant};

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
    pub fn least_threshold(&self) -> u64 {
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

/// A congestion control policy (the hooks are those a Linux module has).
pub trait CongestionControl {
    /// New data was acknowledged while the window was in use: grow it.
    fn on_ack(&mut self, sample: &AckSample, window: &mut Window);

    /// The window is about to fall for `signal`: the new slow-start threshold, in bytes.
    fn threshold(&mut self, signal: CongestionSignal, window: &Window) -> u64;

    /// The window fell to `window` for a reason of its own (a loss notice with its own factor); `before` is what it was.
    fn on_outside_reduction(&mut self, before: &Window, window: &Window);

    /// The last reduction was spurious; `window` has been restored.
    fn on_undo(&mut self, window: &Window);

    /// Nothing was sent for `idle`.
    fn on_idle(&mut self, idle: Duration);
}

/// A policy from outside this crate. It says how far windows grow and fall; no window becomes smaller than one segment, and no
/// threshold smaller than two.
pub trait OutsideControl: CongestionControl + Debug + core::marker::Send {
    /// A copy, for a copy of its engine.
    fn boxed(&self) -> Box<dyn OutsideControl>;
}

impl Clone for Box<dyn OutsideControl> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

/// The policies, dispatched without a table.
#[derive(Debug, Clone)]
pub(crate) enum Congestion {
    NewReno(NewReno),
    Cubic(Cubic),
    Outside(Box<dyn OutsideControl>),
    Stp(Stp),
}

impl Congestion {
    pub(crate) fn new(config: &EngineConfig) -> Self {
        let hystart = config.hystart.map(HyStart::new);
        match config.congestion {
            CongestionKind::NewReno => Self::NewReno(NewReno::new(hystart, config.growth_per_ack)),
            CongestionKind::Cubic => Self::Cubic(Cubic::new(hystart)),
            CongestionKind::Stp => Self::Stp(Stp::default()),
        }
    }

    /// Starts over, as for a new connection; a policy from outside goes on.
    pub(crate) fn restart(&mut self, config: &EngineConfig) {
        if !matches!(self, Self::Outside(_)) {
            *self = Self::new(config);
        }
    }

    /// The share of the ordinary increase to take (RFC 6356); with effect on NewReno alone.
    pub(crate) fn set_share(&mut self, share: f64) {
        if let Self::NewReno(policy) = self {
            policy.set_share(share);
        }
    }

    fn policy(&mut self) -> &mut dyn CongestionControl {
        match self {
            Self::NewReno(policy) => policy,
            Self::Cubic(policy) => policy,
            Self::Outside(policy) => policy.as_mut(),
            Self::Stp(policy) => policy,
        }
    }
}

impl CongestionControl for Congestion {
    #[inline]
    fn on_ack(&mut self, sample: &AckSample, window: &mut Window) {
        match self {
            Self::NewReno(policy) => policy.on_ack(sample, window),
            Self::Cubic(policy) => policy.on_ack(sample, window),
            Self::Outside(policy) => {
                policy.on_ack(sample, window);
                window.cwnd = window.cwnd.max(u64::from(window.mss));
            }
            Self::Stp(policy) => policy.on_ack(sample, window),
        }
    }

    fn threshold(&mut self, signal: CongestionSignal, window: &Window) -> u64 {
        match self {
            Self::Outside(policy) => policy.threshold(signal, window).max(window.least_threshold()),
            _ => self.policy().threshold(signal, window),
        }
    }

    fn on_outside_reduction(&mut self, before: &Window, window: &Window) {
        self.policy().on_outside_reduction(before, window);
    }

    fn on_undo(&mut self, window: &Window) {
        self.policy().on_undo(window);
    }

    fn on_idle(&mut self, idle: Duration) {
        self.policy().on_idle(idle);
    }
}

/// Slow start for any policy: by bytes, or a segment per ACK, or as what watches for its end allows.
///
/// Returns the bytes left over once the threshold is reached, for congestion avoidance to use.
pub(crate) fn slow_start(
    hystart: &mut Option<HyStart>,
    per_ack: bool,
    sample: &AckSample,
    window: &mut Window,
) -> u64 {
    let mut bytes = if per_ack { u64::from(window.mss) } else { sample.bytes };
    if let Some(hystart) = hystart {
        bytes = hystart.on_ack(sample, bytes, window);
    }
    if per_ack {
        window.cwnd += bytes;
        return 0;
    }
    let room = window.ssthresh.saturating_sub(window.cwnd);
    let used = bytes.min(room);
    window.cwnd += used;
    bytes - used
}
