//! Congestion control: how the window grows with acknowledgements and where it falls to.
//!
//! *When* it falls is decided by loss detection and recovery; a window-based policy only answers *how far*. A
//! rate-based one (BBR) sets window and pacing rate from a model of the path. `policy`: the trait. `newreno`,
//! `cubic`, `bbr`, `bbr3`, `stp`: one file for each; `slow_start` and `hystart` serve several,
//! `cubic_curve` others too.
mod bbr;
mod bbr3;
mod cubic;
pub mod cubic_curve;
mod hystart;
mod newreno;
mod policy;
mod slow_start;
mod stp;

pub use policy::{
    AckSample, CongestionControl, CongestionSignal, CoupledTerms, CustomControl, LostSegment, RateSample,
    UnscalableIncrease, Window,
};

pub(crate) use bbr::Bbr;
pub(crate) use bbr3::Bbr3;
pub(crate) use cubic::Cubic;
pub(crate) use hystart::HyStart;
pub(crate) use newreno::NewReno;
pub(crate) use stp::Stp;

use super::config::{CongestionKind, EngineConfig};
use alloc::boxed::Box;
use prismux_units::{Duration, Rate};

/// The policies, dispatched without a table.
#[derive(Debug, Clone)]
pub(crate) enum Congestion {
    NewReno(NewReno),
    Cubic(Cubic),
    Bbr(Box<Bbr>),
    Bbr3(Box<Bbr3>),
    Custom(Box<dyn CustomControl>),
    Stp(Stp),
}

impl Congestion {
    pub(crate) fn new(config: &EngineConfig) -> Self {
        let hystart = config.hystart.map(HyStart::new);
        match config.congestion {
            CongestionKind::NewReno => Self::NewReno(NewReno::new(hystart, config.growth_per_ack)),
            CongestionKind::Cubic => Self::Cubic(Cubic::new(hystart)),
            CongestionKind::Bbr => Self::Bbr(Box::new(Bbr::new(config.initial_window_segments))),
            CongestionKind::Bbr3 => Self::Bbr3(Box::new(Bbr3::new(config.initial_window_segments))),
            CongestionKind::Stp => Self::Stp(Stp::default()),
        }
    }

    /// Starts over, as for a new connection; a policy from outside goes on.
    pub(crate) fn restart(&mut self, config: &EngineConfig) {
        if !matches!(self, Self::Custom(_)) {
            *self = Self::new(config);
        }
    }

    fn as_policy(&self) -> &dyn CongestionControl {
        match self {
            Self::NewReno(policy) => policy,
            Self::Cubic(policy) => policy,
            Self::Bbr(policy) => policy.as_ref(),
            Self::Bbr3(policy) => policy.as_ref(),
            Self::Custom(policy) => policy.as_ref(),
            Self::Stp(policy) => policy,
        }
    }

    fn policy(&mut self) -> &mut dyn CongestionControl {
        match self {
            Self::NewReno(policy) => policy,
            Self::Cubic(policy) => policy,
            Self::Bbr(policy) => policy.as_mut(),
            Self::Bbr3(policy) => policy.as_mut(),
            Self::Custom(policy) => policy.as_mut(),
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
            Self::Bbr(policy) => policy.on_ack(sample, window),
            Self::Bbr3(policy) => policy.on_ack(sample, window),
            Self::Custom(policy) => {
                policy.on_ack(sample, window);
                window.cwnd = window.cwnd.max(u64::from(window.mss));
            }
            Self::Stp(policy) => policy.on_ack(sample, window),
        }
    }

    #[inline]
    fn on_delivered(&mut self, bytes: u64, marked: bool) {
        // No other policy counts.
        if let Self::Custom(policy) = self {
            policy.on_delivered(bytes, marked);
        }
    }

    fn threshold(&mut self, signal: CongestionSignal, window: &Window) -> u64 {
        match self {
            Self::Custom(policy) => policy.threshold(signal, window).max(window.min_threshold()),
            _ => self.policy().threshold(signal, window),
        }
    }

    fn on_external_reduction(&mut self, before: &Window, window: &Window) {
        self.policy().on_external_reduction(before, window);
    }

    fn on_undo(&mut self, window: &Window) {
        self.policy().on_undo(window);
    }

    fn on_idle(&mut self, idle: Duration) {
        self.policy().on_idle(idle);
    }

    fn on_first_rtt(&mut self, rtt: Duration, window: &Window) {
        self.policy().on_first_rtt(rtt, window);
    }

    fn set_increase_share(&mut self, share: f64) -> Result<(), UnscalableIncrease> {
        self.policy().set_increase_share(share)
    }

    fn set_coupling(&mut self, terms: &CoupledTerms) {
        self.policy().set_coupling(terms);
    }

    fn is_paced(&self) -> bool {
        self.as_policy().is_paced()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.as_policy().pacing_rate()
    }

    fn is_rate_based(&self) -> bool {
        self.as_policy().is_rate_based()
    }

    fn on_lost(&mut self, lost: &LostSegment, window: &Window) {
        self.policy().on_lost(lost, window);
    }

    fn on_rate_sample(&mut self, sample: &RateSample, window: &mut Window) {
        self.policy().on_rate_sample(sample, window);
        window.cwnd = window.cwnd.max(u64::from(window.mss));
    }
}
