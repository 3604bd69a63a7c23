//! What a congestion control is: the hooks, and what passes through them.
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
    fn on_external_reduction(&mut self, before: &Window, window: &Window);

    /// The last reduction was spurious; `window` has been restored.
    fn on_undo(&mut self, window: &Window);

    /// Nothing was sent for `idle`.
    fn on_idle(&mut self, idle: Duration);
}

/// A policy from outside this crate. It says how far windows grow and fall; no window becomes smaller than one segment, and no
/// threshold smaller than two.
pub trait CustomControl: CongestionControl + Debug + core::marker::Send {
    /// A copy, for a copy of its engine.
    fn boxed(&self) -> Box<dyn CustomControl>;
}

impl Clone for Box<dyn CustomControl> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}
