//! One ordered stream over two pipes: what delay does it cost to split it, and where should the splitting be done?
//!
//! Packets arrive in a Poisson stream of rate `l` and are served by two pipes with exponential service times of rates
//! `m1` and `m2`. The receiver releases a packet when it and all earlier ones have been served. A packet's delay has
//! two parts: *queueing* until its own service ends (D), and *resequencing* until it may be released (R).
//!
//! * [`application`]: the application deals packets out, each pipe has a queue of its own (two M/M/1 queues,
//!   Bernoulli split).
//! * [`transport`]: one queue; the pipe that is free takes the next packet (M/M/2 with unequal servers).
//! * [`limits`]: special cases: equal pipes, and loads close to the capacity.
//! * [`simulation`]: both models packet by packet, using none of the formulas.
//! * [`figures`]: the curves of the source's figures.
//!
//! Source: H.-Y. Hsieh, *Addressing Network Heterogeneity and Bandwidth Scarcity in Future Wireless Data Networks*,
//! PhD thesis, Georgia Institute of Technology, 2004, section 3.3. Numbers in parentheses are its equations. Three
//! things are wrong there and corrected here:
//!
//! * (14) has `exp(+m1 t)` in its integrand; the result that follows is that of `exp(-m1 t)`.
//! * (31) and (32) are called delays at the best split. They are those of the *proportional* split, which is not the
//!   best, not even in the limit of full load ([`limits::least_resequencing_heavy`], [`limits::least_total_heavy`]).
//! * It follows that the delay of resequencing at the best split is *not* unbounded as the pipes grow more unequal at
//!   the same total capacity; that of the proportional split is.
//!
//! Rates are per unit of time, delays in that unit.

pub mod application;
pub mod figures;
pub mod limits;
pub mod simulation;
pub mod transport;

/// A stream and the two pipes that carry it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// Packets that arrive per unit of time (`l`).
    pub arrivals: f64,
    /// Packets that each pipe serves per unit of time (`m1`, `m2`).
    pub service: [f64; 2],
}

/// The two parts of a packet's mean delay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delays {
    /// From arrival to the end of its own service (D).
    pub queueing: f64,
    /// From there until all earlier packets have been served as well (R).
    pub resequencing: f64,
}

impl Delays {
    /// From arrival to release (T = D + R).
    pub fn total(&self) -> f64 {
        self.queueing + self.resequencing
    }
}

impl Pair {
    /// The pair of these rates; `None` unless all are positive and finite and the pipes together keep up with the
    /// stream.
    pub fn new(arrivals: f64, service: [f64; 2]) -> Option<Self> {
        let positive = |rate: f64| rate > 0.0 && rate.is_finite();
        let sound = positive(arrivals) && service.into_iter().all(positive);
        (sound && arrivals < service[0] + service[1]).then_some(Self { arrivals, service })
    }

    /// Pipes of rates 1 and `ratio` under a load of `intensity`, the share of their capacity that arrives
    /// (the source's kappa and rho).
    pub fn at_intensity(intensity: f64, ratio: f64) -> Option<Self> {
        Self::new(intensity * (1.0 + ratio), [1.0, ratio])
    }

    /// What both pipes serve per unit of time.
    pub fn capacity(&self) -> f64 {
        self.service[0] + self.service[1]
    }

    /// Share of the capacity that arrives (rho).
    pub fn intensity(&self) -> f64 {
        self.arrivals / self.capacity()
    }

    /// The share for the first pipe that is proportional to the rates.
    pub fn proportional_split(&self) -> f64 {
        self.service[0] / self.capacity()
    }

    /// Whether both pipes keep up when the share `split` goes to the first one.
    pub fn is_stable(&self, split: f64) -> bool {
        let [first, second] = self.service;
        (0.0..=1.0).contains(&split)
            && self.arrivals * split < first
            && self.arrivals * (1.0 - split) < second
    }

    /// Between which shares for the first pipe both keep up. An end of 0 or 1 is itself stable, others are not.
    pub fn stable_splits(&self) -> (f64, f64) {
        let [first, second] = self.service;
        ((1.0 - second / self.arrivals).max(0.0), (first / self.arrivals).min(1.0))
    }
}
