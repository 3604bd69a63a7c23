//! CUBIC (RFC 9438).
use super::cubic_curve::{ALPHA, BETA, CubicCurve};
use super::hystart::HyStart;
use super::policy::{AckSample, CongestionControl, CongestionSignal, UnscalableIncrease, Window};
use super::slow_start::slow_start;
use prismux_units::{Duration, Instant};

/// The cubic function of time since the last reduction. Windows are in segments.
#[derive(Debug, Clone)]
pub(crate) struct Cubic {
    hystart: Option<HyStart>,
    /// Start of this congestion avoidance stage; none before its first ACK.
    epoch: Option<Instant>,
    /// Window where the plateau lies.
    w_max: f64,
    /// The window of this stage.
    curve: CubicCurve,
    /// What Reno would have.
    w_est: f64,
    /// Window before the last reduction.
    cwnd_prior: f64,
    /// Growth not yet a whole byte, in bytes.
    fraction: f64,
    /// `w_max` and `cwnd_prior` before the last reduction, for undo.
    before: (f64, f64),
    /// Share of the ordinary increase that this window takes; less than all where several are coupled. The stage goes
    /// by so much more slowly.
    share: f64,
    last_ack: Instant,
}

impl Cubic {
    pub(crate) fn new(hystart: Option<HyStart>) -> Self {
        Self {
            hystart,
            epoch: None,
            w_max: 0.0,
            curve: CubicCurve::new(0.0, 0.0),
            w_est: 0.0,
            cwnd_prior: 0.0,
            fraction: 0.0,
            before: (0.0, 0.0),
            share: 1.0,
            last_ack: Instant::ZERO,
        }
    }

    /// Begins a stage at window `cwnd` (sections 4.2 and 4.8).
    fn begin(&mut self, now: Instant, cwnd: f64) {
        self.epoch = Some(now);
        self.curve = CubicCurve::new(self.w_max, cwnd);
        self.w_max = self.curve.w_max();
        self.w_est = cwnd;
    }

    /// With a share below one, that part of the time since the last ACK does not count.
    fn stretch(&mut self, now: Instant) {
        let since = now - self.last_ack.max(self.epoch.unwrap_or(now));
        self.last_ack = now;
        if self.share < 1.0 {
            self.on_idle(since.mul_f64(1.0 - self.share));
        }
    }

    /// Fast convergence (section 4.7), and the end of the stage.
    fn note_reduction(&mut self, cwnd: f64) {
        self.before = (self.w_max, self.cwnd_prior);
        self.w_max = if cwnd < self.w_max { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        self.cwnd_prior = cwnd;
        self.epoch = None;
        self.fraction = 0.0;
        if let Some(hystart) = &mut self.hystart {
            hystart.stop();
        }
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, sample: &AckSample, window: &mut Window) {
        let mut bytes = sample.bytes;
        if window.in_slow_start() {
            bytes = slow_start(&mut self.hystart, false, sample, window);
            if bytes == 0 {
                return;
            }
        }
        let mss = f64::from(window.mss);
        let cwnd = (window.cwnd as f64 + self.fraction) / mss;
        if self.epoch.is_none() {
            self.begin(sample.now, cwnd);
        }
        let segments = bytes as f64 / mss;
        self.stretch(sample.now);
        let srtt = sample.srtt.unwrap_or(Duration::ZERO).as_secs_f64() * self.share;
        let elapsed = (sample.now - self.epoch.unwrap_or(sample.now)).as_secs_f64();
        let alpha = if self.w_est < self.cwnd_prior { ALPHA } else { 1.0 };
        self.w_est += self.share * alpha * segments / cwnd;
        let grown = if self.curve.window(elapsed) < self.w_est {
            // Reno-friendly region (section 4.3).
            self.w_est.max(cwnd)
        } else {
            // Concave and convex regions (sections 4.4 and 4.5).
            let target = self.curve.window(elapsed + srtt).clamp(cwnd, 1.5 * cwnd);
            cwnd + (target - cwnd) / cwnd * segments
        };
        let exact = grown * mss;
        window.cwnd = exact as u64;
        self.fraction = exact - window.cwnd as f64;
    }

    fn threshold(&mut self, signal: CongestionSignal, window: &Window) -> u64 {
        self.note_reduction(window.cwnd as f64 / f64::from(window.mss));
        if signal == CongestionSignal::Timeout {
            // The first stage after a timeout has its plateau where it begins (section 4.8).
            self.w_max = 0.0;
        }
        ((window.cwnd as f64 * BETA) as u64).max(window.min_threshold())
    }

    fn on_external_reduction(&mut self, before: &Window, _window: &Window) {
        self.note_reduction(before.cwnd as f64 / f64::from(before.mss));
    }

    /// Section 4.9.
    fn on_undo(&mut self, _window: &Window) {
        (self.w_max, self.cwnd_prior) = self.before;
        self.epoch = None;
        self.fraction = 0.0;
    }

    /// Time in which nothing was sent does not count (section 4.2, section 5.8).
    fn on_idle(&mut self, idle: Duration) {
        self.epoch = self.epoch.map(|epoch| epoch + idle);
    }

    /// RFC 6356 couples the increase of RFC 5681; this is the same share of CUBIC's, in both of its regions.
    fn set_increase_share(&mut self, share: f64) -> Result<(), UnscalableIncrease> {
        self.share = share;
        Ok(())
    }
}
