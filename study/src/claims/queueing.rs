//! The queueing models of striping: closed forms, simulations of the queues, and what the source concludes from them.
//!
//! * [`formulas`]: every formula against a simulation that does not use it. [`equal`], [`unequal`]: what figures 6
//!   and 7 show.
//! * [`curves`]: the figures, computed and simulated, and their files.
//!
//! A formula holds when it lies within [`NEAR`] standard errors of the simulated mean at every point of a grid.
//! Shapes of curves are read off the closed forms, and the points that carry them are simulated too.

mod curves;
mod equal;
mod formulas;
mod unequal;

pub(super) use curves::write as write_curves;

use super::plan::Scope;
use super::report::{Drawing, Series};
use super::verdict::Finding;
use crate::number::digits;
use prismux_endpoint::random::Seed;
use prismux_theory::queueing::simulation::{self, Effort, Estimate, Splitter};
use prismux_theory::queueing::{Delays, Pair, application, transport};

/// The figures, with the first and the last claim about each.
pub(super) const FIGURES: &[(&str, [&str; 2])] =
    &[("Q6", ["QM-012", "QM-022"]), ("Q7", ["QM-023", "QM-035"])];

/// Standard errors within which a formula must lie. With the least number of runs Student's t passes five by chance
/// once in 20 000; some 200 points are compared.
const NEAR: f64 = 5.0;
/// Independent runs at each point, at least.
const LEAST_RUNS: u64 = 24;

/// All claims, and the tables behind them.
pub(super) fn judge(scope: &Scope) -> (Vec<Finding>, Vec<Series>) {
    let bench = Bench::new(scope);
    let mut findings = formulas::judge(&bench);
    findings.extend(equal::judge(&bench));
    findings.extend(unequal::judge(&bench));
    (findings, vec![equal::table(&bench), unequal::table(&bench)])
}

/// The figures.
pub(super) fn drawings(scope: &Scope) -> Vec<Drawing> {
    curves::drawings(&Bench::new(scope))
}

/// How thoroughly the queues are simulated.
struct Bench {
    effort: Effort,
}

impl Bench {
    /// Runs of a model are short and cheap, so there are several for each seed asked for.
    fn new(scope: &Scope) -> Self {
        let replications = (scope.seeds * 3).clamp(LEAST_RUNS, 1000) as u32;
        Self { effort: Effort { replications, packets: if scope.quick { 60_000 } else { 300_000 } } }
    }

    const SEED: Seed = Seed(33);

    /// Mean delays of every run; none where a queue grows without bound.
    fn run(&self, pair: &Pair, split: f64, splitter: Splitter) -> Vec<Delays> {
        simulation::delays(pair, split, splitter, self.effort, Self::SEED).unwrap_or_default()
    }

    /// Simulated mean of `of`.
    fn mean(&self, pair: &Pair, split: f64, splitter: Splitter, of: fn(&Delays) -> f64) -> Estimate {
        Estimate::of(self.run(pair, split, splitter).iter().map(of))
    }
}

fn queueing(delays: &Delays) -> f64 {
    delays.queueing
}

fn resequencing(delays: &Delays) -> f64 {
    delays.resequencing
}

fn total(delays: &Delays) -> f64 {
    delays.total()
}

/// The pair at a load and ratio that the authors of this file have chosen.
fn loaded(intensity: f64, ratio: f64) -> Pair {
    Pair::at_intensity(intensity, ratio).expect("loads below one and positive ratios")
}

/// A closed form of the application's delays; NaN, which agrees with nothing, beyond the stable splits.
fn application_delays(pair: &Pair, split: f64) -> Delays {
    application::delays(pair, split).unwrap_or(Delays { queueing: f64::NAN, resequencing: f64::NAN })
}

/// The closed form for either.
fn computed(pair: &Pair, split: f64, splitter: Splitter) -> Delays {
    match splitter {
        Splitter::Application => application_delays(pair, split),
        Splitter::Transport => transport::delays(pair, split),
    }
}

/// Simulated against expected values, gathered point by point.
#[derive(Debug, Default)]
struct Agreement {
    points: u32,
    worst_distance: f64,
    worst_error: f64,
}

impl Agreement {
    fn add(&mut self, simulated: Estimate, expected: f64) {
        let distance = simulated.distance(expected);
        self.points += 1;
        // A point that could not be simulated must not pass.
        self.worst_distance =
            self.worst_distance.max(if distance.is_nan() { f64::INFINITY } else { distance });
        self.worst_error = self.worst_error.max(((simulated.mean - expected) / expected).abs());
    }

    fn holds(&self) -> bool {
        self.points > 0 && self.worst_distance <= NEAR
    }

    fn text(&self) -> String {
        format!(
            "simulation within {} standard errors and {} % at {} points",
            digits(self.worst_distance),
            digits(self.worst_error * 100.0),
            self.points
        )
    }

    fn finding(&self, claim: &'static str) -> Finding {
        Finding::shape(claim, self.holds(), self.text())
    }
}
