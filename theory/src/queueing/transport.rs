//! Split by the transport: one queue, and the pipe that is free takes the next packet.
use super::{Delays, Pair};

/// Probabilities of the states that set the delays. Pipes busy or not; then how many packets wait.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct States {
    /// Nothing is in the system (23).
    pub idle: f64,
    /// Only the second pipe is busy (19).
    pub second_busy: f64,
    /// Only the first pipe is busy (20).
    pub first_busy: f64,
    /// Both are busy and nobody waits (21).
    pub both_busy: f64,
    /// The load, by which each further waiting packet makes a state rarer (22).
    pub intensity: f64,
}

impl States {
    /// Both pipes busy and `waiting` packets in the queue (22).
    pub fn waiting(&self, waiting: u32) -> f64 {
        (0..waiting).fold(self.both_busy, |chance, _| chance * self.intensity)
    }
}

/// Work per packet that decides how often both pipes are busy; shared by (21), (23) and (25).
fn pressure(pair: &Pair, split: f64) -> f64 {
    let [first, second] = pair.service;
    (pair.arrivals + first * (1.0 - split) + second * split)
        / (first * second * (1.0 + 2.0 * pair.intensity()))
}

/// The states when a packet that finds both pipes free takes the first with probability `split`: (19) to (23).
pub fn states(pair: &Pair, split: f64) -> States {
    let Pair { arrivals, service: [first, second] } = *pair;
    let intensity = pair.intensity();
    let pressure = arrivals * pressure(pair, split);
    let idle = 1.0 / (1.0 + pressure / (1.0 - intensity));
    let busy =
        |share: f64, rate: f64| arrivals * (share + intensity) / (rate * (1.0 + 2.0 * intensity)) * idle;
    States {
        idle,
        second_busy: busy(1.0 - split, second),
        first_busy: busy(split, first),
        both_busy: pressure * intensity * idle,
        intensity,
    }
}

/// Mean wait for order of a packet that enters the pipe of rate `own` while that of rate `other` is busy: (14) for
/// the first pipe, (15) for the second. The packet is overtaken by the older one in the other pipe only.
pub fn wait_beside_busy(own: f64, other: f64) -> f64 {
    own / (other * (own + other))
}

/// Mean delays when a packet that finds both pipes free takes the first with probability `split`: (24) and (25).
pub fn delays(pair: &Pair, split: f64) -> Delays {
    let [first, second] = pair.service;
    let states = states(pair, split);
    let spare = pair.capacity() - pair.arrivals;
    let beside_second = states.second_busy + first / spare * states.both_busy;
    let beside_first = states.first_busy + second / spare * states.both_busy;
    let left = 1.0 - states.intensity;
    Delays {
        queueing: pressure(pair, split) / (left * left) * states.idle,
        resequencing: beside_second * wait_beside_busy(first, second)
            + beside_first * wait_beside_busy(second, first),
    }
}
