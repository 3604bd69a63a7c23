//! Congestion control: how the window grows with acknowledgements and where it falls to.
//!
//! *When* it falls is decided by loss detection and recovery; a policy here only answers *how far*. `policy`: the trait.
//! `newreno`, `cubic`, `stp`: one file for each; `slow_start` and `hystart` serve several.
mod cubic;
mod hystart;
mod newreno;
mod policy;
mod slow_start;
mod stp;

pub use policy::{AckSample, CongestionControl, CongestionSignal, CustomControl, Window};

pub(crate) use cubic::Cubic;
pub(crate) use hystart::HyStart;
pub(crate) use newreno::NewReno;
pub(crate) use stp::{POLLS_PER_RTT, Stp};

use super::config::{CongestionKind, EngineConfig};
use alloc::boxed::Box;
use prismux_units::Duration;

/// The policies, dispatched without a table.
#[derive(Debug, Clone)]
pub(crate) enum Congestion {
    NewReno(NewReno),
    Cubic(Cubic),
    Custom(Box<dyn CustomControl>),
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
        if !matches!(self, Self::Custom(_)) {
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
            Self::Custom(policy) => {
                policy.on_ack(sample, window);
                window.cwnd = window.cwnd.max(u64::from(window.mss));
            }
            Self::Stp(policy) => policy.on_ack(sample, window),
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
}
