//! CPU time of the proxy's calls.
use crate::cpu::{median, thread_seconds};

/// One call in so many is timed: reading the clock costs as much as a packet.
const TIMED: u64 = 16;

/// CPU time of some kind of call.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    /// Calls.
    pub calls: u64,
    timed: u64,
    seconds: f64,
}

impl Cost {
    /// Nanoseconds for each call, in the mean.
    pub fn mean_ns(&self) -> f64 {
        self.seconds * 1e9 / self.timed.max(1) as f64
    }

    pub(super) fn time<R>(&mut self, clock_s: f64, call: impl FnOnce() -> R) -> R {
        self.calls += 1;
        if !self.calls.is_multiple_of(TIMED) {
            return call();
        }
        let before = thread_seconds();
        let result = call();
        if let Some((before, after)) = before.zip(thread_seconds()) {
            self.timed += 1;
            self.seconds += after - before - clock_s;
        }
        result
    }
}

/// What passing packets has cost.
#[derive(Debug, Clone, Copy, Default)]
pub struct Costs {
    /// Data packets.
    pub data: Cost,
    /// ACKs.
    pub acks: Cost,
    /// Deadlines.
    pub timeouts: Cost,
    /// Receipts: read, and what they tell taken in.
    pub receipts: Cost,
}

/// CPU seconds that reading the clock twice takes.
pub(super) fn clock_seconds() -> f64 {
    let times = (0..1000).filter_map(|_| thread_seconds().zip(thread_seconds()));
    median(&times.map(|(before, after)| after - before).collect::<Vec<_>>())
}
