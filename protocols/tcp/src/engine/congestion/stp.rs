//! The satellite transport protocol's control (T. Henderson, R. Katz, WOSBIS 1997), rebuilt from what is known of it:
//! SSCOP's polls and status reports instead of an acknowledgement for each segment, and windows in bytes.
//!
//! Three times in a round trip somebody asks for the state of things: a TCP sender sends a poll, which its receiver
//! answers with all it knows; an RCP receiver lets requests for new data go. In between nothing is acknowledged or
//! asked for, except a new gap, at once. The window counts bytes, so few reports serve it as well as many; a lost
//! segment is sent again at once, whatever the window, and once more when a report comes that must have seen it. Only
//! silence means a timeout.
use super::policy::{AckSample, CongestionControl, CongestionSignal, UnscalableIncrease, Window};
use crate::engine::config::{EngineConfig, RecoveryStyle, RtoStyle, WindowReduction};
use prismux_units::Duration;

/// Slow start and avoidance by bytes, half at a loss.
#[derive(Debug, Clone)]
pub(crate) struct Stp {
    /// Growth owed to the window, in bytes times the window.
    credit: u64,
    /// Share of the ordinary increase that this window takes.
    share: f64,
}

impl Default for Stp {
    fn default() -> Self {
        Self { credit: 0, share: 1.0 }
    }
}

impl Stp {
    /// The switches that belong to it: losses are found by reports, not by counting or timing acknowledgements.
    pub(crate) fn settle(config: EngineConfig) -> EngineConfig {
        EngineConfig {
            hystart: None,
            growth_per_ack: false,
            recovery: RecoveryStyle::Standard,
            reduction: WindowReduction::Immediate,
            rto_style: RtoStyle::Silence,
            forget_sacks: false,
            fack: false,
            rack: false,
            tlp: false,
            undo: false,
            frto: false,
            ..config
        }
    }
}

impl CongestionControl for Stp {
    fn on_ack(&mut self, sample: &AckSample, window: &mut Window) {
        let slow = if window.in_slow_start() { sample.bytes.min(window.ssthresh - window.cwnd) } else { 0 };
        window.cwnd += slow;
        // A segment in a window's worth of bytes.
        let growth = (sample.bytes - slow) * u64::from(window.mss);
        self.credit += if self.share < 1.0 { (growth as f64 * self.share) as u64 } else { growth };
        window.cwnd += self.credit / window.cwnd;
        self.credit %= window.cwnd;
    }

    fn threshold(&mut self, _signal: CongestionSignal, window: &Window) -> u64 {
        self.credit = 0;
        (window.cwnd / 2).max(window.min_threshold())
    }

    fn on_external_reduction(&mut self, _before: &Window, _window: &Window) {
        self.credit = 0;
    }

    fn on_undo(&mut self, _window: &Window) {}

    fn on_idle(&mut self, _idle: Duration) {}

    fn set_increase_share(&mut self, share: f64) -> Result<(), UnscalableIncrease> {
        self.share = share;
        Ok(())
    }
}
