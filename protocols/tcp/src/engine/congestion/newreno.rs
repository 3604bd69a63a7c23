//! Additive increase, multiplicative decrease (RFC 5681 section 3.1, RFC 3465).
use super::hystart::HyStart;
use super::policy::{AckSample, CongestionControl, CongestionSignal, UnscalableIncrease, Window};
use super::slow_start::slow_start;
use prismux_units::Duration;

/// One segment per round trip, half at a loss.
#[derive(Debug, Clone)]
pub(crate) struct NewReno {
    hystart: Option<HyStart>,
    /// Count ACKs, not bytes.
    per_ack: bool,
    /// By bytes: acknowledged and not yet turned into growth. Per ACK: the fraction of a byte the window is owed.
    credit: f64,
    /// Share of the ordinary increase that this window takes; less than all where several are coupled (RFC 6356).
    share: f64,
}

impl NewReno {
    pub(crate) fn new(hystart: Option<HyStart>, per_ack: bool) -> Self {
        Self { hystart, per_ack, credit: 0.0, share: 1.0 }
    }
}

impl CongestionControl for NewReno {
    fn on_ack(&mut self, sample: &AckSample, window: &mut Window) {
        let mut bytes = sample.bytes;
        if window.in_slow_start() {
            bytes = slow_start(&mut self.hystart, self.per_ack, sample, window);
            if bytes == 0 || self.per_ack {
                return;
            }
        }
        let mss = u64::from(window.mss);
        if self.per_ack {
            // cwnd += SMSS * SMSS / cwnd (RFC 5681 equation 3), fraction kept.
            let exact = window.cwnd as f64 + self.credit;
            let grown = exact + self.share * (mss * mss) as f64 / exact;
            window.cwnd = grown as u64;
            self.credit = grown - window.cwnd as f64;
            return;
        }
        self.credit += bytes as f64 * self.share;
        if self.credit >= window.cwnd as f64 {
            self.credit = (self.credit - window.cwnd as f64).min(window.cwnd as f64);
            window.cwnd += mss;
        }
    }

    fn threshold(&mut self, _signal: CongestionSignal, window: &Window) -> u64 {
        self.credit = 0.0;
        if let Some(hystart) = &mut self.hystart {
            hystart.stop();
        }
        (window.cwnd / 2).max(window.min_threshold())
    }

    fn on_external_reduction(&mut self, _before: &Window, _window: &Window) {
        self.credit = 0.0;
    }

    fn on_undo(&mut self, _window: &Window) {
        self.credit = 0.0;
    }

    fn on_idle(&mut self, _idle: Duration) {}

    fn set_increase_share(&mut self, share: f64) -> Result<(), UnscalableIncrease> {
        self.share = share;
        Ok(())
    }
}
