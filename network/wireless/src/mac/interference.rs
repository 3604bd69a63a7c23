//! All signals at one receiver, and what they do to the frame that is being received.
use crate::error_rate::ErrorCurves;
use alloc::vec::Vec;
use prismux_units::{Instant, Rate};

/// The signals at a receiver, and the chance that the frame it is locked on survives them.
#[derive(Debug, Default)]
pub(crate) struct Interference {
    /// End and power of each signal but the locked one.
    others: Vec<(Instant, f64)>,
    power_w: f64,
    rate: Rate,
    began: Instant,
    /// The chance is worked out until here.
    done_until: Instant,
    ln_success: f64,
    /// Whether any other signal overlapped the locked one.
    pub overlapped: bool,
}

impl Interference {
    /// A frame begins that the receiver locks on.
    pub fn lock(&mut self, now: Instant, power_w: f64, rate: Rate) {
        self.others.retain(|(until, _)| *until > now);
        self.overlapped = !self.others.is_empty();
        (self.power_w, self.rate, self.began, self.done_until) = (power_w, rate, now, now);
        self.ln_success = 0.0;
    }

    /// Another signal begins.
    pub fn add(&mut self, now: Instant, until: Instant, power_w: f64, curves: &ErrorCurves) {
        self.work_out(now, curves);
        self.others.retain(|(until, _)| *until > now);
        self.others.push((until, power_w));
        self.overlapped = true;
    }

    /// The locked frame ends: the chance that it has survived.
    pub fn success(&mut self, now: Instant, curves: &ErrorCurves) -> f64 {
        self.work_out(now, curves);
        libm::exp(self.ln_success)
    }

    fn work_out(&mut self, now: Instant, curves: &ErrorCurves) {
        while self.done_until < now {
            let from = self.done_until;
            let (mut until, mut others_w) = (now, 0.0);
            for (end, power_w) in self.others.iter().filter(|(end, _)| *end > from) {
                until = until.min(*end);
                others_w += power_w;
            }
            let (began, power_w) = (self.began, self.power_w);
            self.ln_success += curves.ln_success(power_w, others_w, self.rate, from - began, until - began);
            self.done_until = until;
        }
    }
}
