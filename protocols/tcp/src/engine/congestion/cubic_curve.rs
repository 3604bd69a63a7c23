//! CUBIC's window as a function of time (RFC 9438), which others that share a path with it need too.

/// Aggressiveness C, in segments per second cubed (section 5).
const C: f64 = 0.4;
/// What is kept of the window at a loss (section 4.6).
pub const BETA: f64 = 0.7;
/// Additive increase, in segments per round trip, with which Reno would get as much at the same losses (section 4.3).
pub const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// The window since the last reduction, in segments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CubicCurve {
    /// Where the plateau lies.
    w_max: f64,
    /// Seconds from the start to the plateau.
    k: f64,
}

impl CubicCurve {
    /// Begins at window `cwnd`, with the plateau at `w_max` or, where that is lower, at once (sections 4.2 and 4.8).
    pub fn new(w_max: f64, cwnd: f64) -> Self {
        if w_max > cwnd {
            Self { w_max, k: libm::cbrt((w_max - cwnd) / C) }
        } else {
            Self { w_max: cwnd, k: 0.0 }
        }
    }

    /// W_cubic(t), `t` seconds after the beginning (section 4.2).
    pub fn window(&self, t: f64) -> f64 {
        let x = t - self.k;
        C * x * x * x + self.w_max
    }

    /// Where the plateau lies.
    pub fn w_max(&self) -> f64 {
        self.w_max
    }
}
