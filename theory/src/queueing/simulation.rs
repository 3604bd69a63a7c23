//! Both models packet by packet, from their definitions alone.
//!
//! A pipe that is free at `f` serves a packet that is given to it at `a` from `max(a, f)` on; a packet is released
//! when the latest of all services up to its own has ended. That is the whole sample path; no list of events is
//! needed.
use super::{Delays, Pair};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use libm::sqrt;
use prismux_endpoint::random::{RandomStream, Seed};

/// Who splits the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Splitter {
    /// Each pipe has its queue: [`application`](super::application).
    Application,
    /// One queue: [`transport`](super::transport).
    Transport,
}

/// How long to simulate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Independent runs.
    pub replications: u32,
    /// Packets counted in each, after a quarter as many that only fill the queues.
    pub packets: u32,
}

/// A mean over independent runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
}

impl Estimate {
    /// Of one value for each run; an infinite error for fewer than two.
    pub fn of(values: impl ExactSizeIterator<Item = f64> + Clone) -> Self {
        let n = values.len() as f64;
        let mean = values.clone().sum::<f64>() / n;
        if n < 2.0 {
            return Self { mean, standard_error: f64::INFINITY };
        }
        let squares: f64 = values.map(|value| (value - mean) * (value - mean)).sum();
        Self { mean, standard_error: sqrt(squares / (n - 1.0) / n) }
    }

    /// How many standard errors the mean lies away from `expected`.
    pub fn distance(&self, expected: f64) -> f64 {
        let off = (self.mean - expected).abs();
        if off == 0.0 { 0.0 } else { off / self.standard_error }
    }
}

/// Mean delays of every run. `None` where a queue would grow without bound.
pub fn delays(
    pair: &Pair,
    split: f64,
    splitter: Splitter,
    effort: Effort,
    seed: Seed,
) -> Option<Vec<Delays>> {
    let bounded = match splitter {
        Splitter::Application => pair.is_stable(split),
        Splitter::Transport => true,
    };
    let run = |index| {
        let mut run = Run::new(pair, split, splitter, seed, index);
        for _ in 0..effort.packets / 4 {
            run.next_packet();
        }
        let (mut queueing, mut resequencing) = (0.0, 0.0);
        for _ in 0..effort.packets {
            let delays = run.next_packet();
            queueing += delays.queueing;
            resequencing += delays.resequencing;
        }
        let packets = f64::from(effort.packets);
        Delays { queueing: queueing / packets, resequencing: resequencing / packets }
    };
    bounded.then(|| (0..effort.replications).map(run).collect())
}

/// What arriving packets of the transport's queue find there (as all of time does, arrivals being Poisson), in every
/// run: nothing, the second pipe busy, the first, both with nobody waiting, both with `waiting` in the queue.
pub fn states_found(pair: &Pair, split: f64, waiting: usize, effort: Effort, seed: Seed) -> Vec<[f64; 5]> {
    let run = |index| {
        let mut run = Run::new(pair, split, Splitter::Transport, seed, index);
        let mut inside: VecDeque<f64> = VecDeque::new();
        let mut found = [0.0; 5];
        for packet in 0..effort.packets + effort.packets / 4 {
            run.arrive();
            inside.retain(|ends| *ends > run.now);
            let state = match (run.free[0] > run.now, run.free[1] > run.now) {
                (false, false) => Some(0),
                (false, true) => Some(1),
                (true, false) => Some(2),
                (true, true) if inside.len() == 2 => Some(3),
                (true, true) => (inside.len() == 2 + waiting).then_some(4),
            };
            if let Some(state) = state.filter(|_| packet >= effort.packets / 4) {
                found[state] += 1.0 / f64::from(effort.packets);
            }
            inside.push_back(run.serve());
        }
        found
    };
    (0..effort.replications).map(run).collect()
}

/// Mean wait for order of a packet that enters a pipe of rate `own` while an older one is being served in the other
/// pipe, of rate `other`, in every run.
pub fn waits_beside_busy(own: f64, other: f64, effort: Effort, seed: Seed) -> Vec<f64> {
    let run = |index: u32| {
        let mut stream = seed.stream(&alloc::format!("queueing/{index}/pairs"));
        let mut wait = || {
            let (younger, older) = (stream.exponential(1.0 / own), stream.exponential(1.0 / other));
            (older - younger).max(0.0)
        };
        (0..effort.packets).map(|_| wait()).sum::<f64>() / f64::from(effort.packets)
    };
    (0..effort.replications).map(run).collect()
}

/// One sample path.
struct Run {
    pair: Pair,
    split: f64,
    splitter: Splitter,
    arrivals: RandomStream,
    choices: RandomStream,
    services: [RandomStream; 2],
    now: f64,
    /// When each pipe has served all that it was given.
    free: [f64; 2],
    /// When the last packet was released.
    released: f64,
}

impl Run {
    fn new(pair: &Pair, split: f64, splitter: Splitter, seed: Seed, index: u32) -> Self {
        let stream = |part: &str| seed.stream(&alloc::format!("queueing/{index}/{part}"));
        Self {
            pair: *pair,
            split,
            splitter,
            arrivals: stream("arrivals"),
            choices: stream("choices"),
            services: [stream("first"), stream("second")],
            now: 0.0,
            free: [0.0; 2],
            released: 0.0,
        }
    }

    fn next_packet(&mut self) -> Delays {
        self.arrive();
        let served = self.serve();
        self.released = self.released.max(served);
        Delays { queueing: served - self.now, resequencing: self.released - served }
    }

    /// Time goes on to the next arrival.
    fn arrive(&mut self) {
        self.now += self.arrivals.exponential(1.0 / self.pair.arrivals);
    }

    /// The packet that has just arrived is given to a pipe. Returns when its service ends.
    fn serve(&mut self) -> f64 {
        let [first, second] = self.free;
        let both_free = first <= self.now && second <= self.now;
        let pipe = if self.splitter == Splitter::Application || both_free {
            usize::from(!self.choices.chance(self.split))
        } else {
            usize::from(second < first)
        };
        let service = self.services[pipe].exponential(1.0 / self.pair.service[pipe]);
        self.free[pipe] = self.free[pipe].max(self.now) + service;
        self.free[pipe]
    }
}
