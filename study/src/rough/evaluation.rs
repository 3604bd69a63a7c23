//! Every cell with every seed in every way of using its links.
use super::busy::Spinning;
use super::{Cell, Way};
use crate::compare::{self, Outcome};
use crate::run::{RunError, doubt};
use crate::variant::{Candidate, Variant};
use prismux_scenario::{Scenario, ScenarioError};
use prismux_trace::results::RunResult;
use prismux_units::Duration;
use serde::Serialize;

/// What is run for every cell.
#[derive(Debug, Clone)]
pub struct RoughPlan {
    /// Seed of the first run, and how many runs there are of each way.
    pub first_seed: u64,
    /// Runs of each way, with one seed after the other.
    pub seeds: u64,
    /// Length of a run.
    pub duration: Duration,
    /// The ways beside the single links.
    pub ways: Vec<Way>,
    /// Overrides (`path=value`) of every scenario.
    pub set: Vec<String>,
}

/// What one way of using a cell's links achieved; one value for each seed.
#[derive(Debug, Clone, Serialize)]
pub struct WayOutcome {
    /// Which way.
    pub way: Way,
    /// Goodput of the download from its start on, in bit/s; of several in a row, their mean.
    pub goodput_bps: Vec<f64>,
    /// Of several downloads in a row, the least bytes that one got over those of the first.
    pub least_over_first: Vec<f64>,
    /// Goodput of others meanwhile, in bit/s.
    pub rivals_bps: Vec<f64>,
    /// The most goodput that the links' rates allow, in bit/s.
    pub capacity_bps: Vec<f64>,
    /// Runs during which the machine was too busy to trust the figure (see [`crate::run::doubt`]).
    pub doubtful_runs: usize,
    /// Why it could not run.
    pub failure: Option<String>,
}

/// What came of a cell.
#[derive(Debug, Clone, Serialize)]
pub struct CellOutcome {
    /// Its name.
    pub name: String,
    /// What it shows.
    pub summary: String,
    /// One for each way, single links first.
    pub ways: Vec<WayOutcome>,
}

/// The ways of using a cell's links that `plan` asks for, single links first.
fn ways(cell: &Cell, plan: &RoughPlan) -> Vec<Way> {
    (0..cell.links.len()).map(Way::Single).chain(plan.ways.iter().copied()).collect()
}

/// How many runs [`evaluate`] does.
pub fn run_count(cells: &[Cell], plan: &RoughPlan) -> usize {
    cells.iter().map(|cell| ways(cell, plan).len()).sum::<usize>() * plan.seeds as usize
}

/// Why there is no table.
#[derive(Debug)]
pub enum RoughError {
    /// A scenario with the overrides of the plan makes no sense.
    Scenario(ScenarioError),
    /// A run had no result.
    Run(RunError),
}

impl From<ScenarioError> for RoughError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(error)
    }
}

impl From<RunError> for RoughError {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

/// Runs every cell with `once`, `parallel` at a time. A way that cannot run on this machine (a kernel without MPTCP)
/// fails alone. `done` is called after each run.
///
/// # Errors
/// [`RoughError::Scenario`] for overrides that make no sense, [`RoughError::Run`] for what `once` refuses for another
/// reason than [`RunError::Failed`].
pub fn evaluate(
    cells: &[Cell],
    plan: &RoughPlan,
    parallel: usize,
    once: impl Fn(&Scenario, u64) -> Result<RunResult, RunError> + Sync,
    done: impl Fn() + Sync,
) -> Result<Vec<CellOutcome>, RoughError> {
    let empty = |cell: &Cell| {
        let ways = ways(cell, plan).into_iter().map(WayOutcome::new).collect();
        CellOutcome { name: cell.name.clone(), summary: cell.summary.clone(), ways }
    };
    let mut outcomes: Vec<CellOutcome> = cells.iter().map(empty).collect();
    // Cells that need the processors to be busy run together, the others before them.
    let mut loads: Vec<usize> = cells.iter().map(|cell| cell.spinning_per_processor).collect();
    loads.sort_unstable();
    loads.dedup();
    for load in loads {
        let _spinning = Spinning::start(load);
        let now = || cells.iter().enumerate().filter(|(_, cell)| cell.spinning_per_processor == load);
        for seed in (0..plan.seeds).map(|run| plan.first_seed.wrapping_add(run)) {
            let mut work = Vec::new();
            for (_, cell) in now() {
                work.extend(variants(cell, plan, seed)?);
            }
            let mut results = compare::run_all(&work, &[seed], parallel, &once, &done)?.into_iter();
            for (index, _) in now() {
                let ways = outcomes[index].ways.iter_mut();
                ways.zip(results.by_ref()).for_each(|(way, outcome)| way.take(outcome));
            }
        }
    }
    Ok(outcomes)
}

/// A cell's scenarios for one seed, one for each way.
fn variants(cell: &Cell, plan: &RoughPlan, seed: u64) -> Result<Vec<Variant>, ScenarioError> {
    let set: Vec<&str> = plan.set.iter().map(String::as_str).collect();
    let variant = |way: Way| {
        let scenario = cell.scenario(way, seed, plan.duration, &set)?;
        let candidates = vec![Candidate { label: String::new(), scenario }];
        Ok(Variant { name: way.name(), candidates })
    };
    ways(cell, plan).into_iter().map(variant).collect()
}

impl WayOutcome {
    fn new(way: Way) -> Self {
        Self {
            way,
            goodput_bps: Vec::new(),
            least_over_first: Vec::new(),
            rivals_bps: Vec::new(),
            capacity_bps: Vec::new(),
            doubtful_runs: 0,
            failure: None,
        }
    }

    /// Notes the result of one seed.
    fn take(&mut self, mut outcome: Outcome) {
        let Some(result) = outcome.results.pop() else {
            self.failure = outcome.failure;
            return;
        };
        self.doubtful_runs += usize::from(doubt(&result).is_some());
        let is_download = |name: &str| name.starts_with("download");
        let downloads = || result.flows.iter().filter(|(name, _)| is_download(name)).map(|(_, flow)| flow);
        let others = result.flows.iter().filter(|(name, _)| !is_download(name));
        let count = downloads().count().max(1) as f64;
        self.goodput_bps.push(downloads().map(|flow| flow.goodput_bps).sum::<f64>() / count);
        self.rivals_bps.push(others.map(|(_, flow)| flow.goodput_bps).sum());
        self.capacity_bps.push(result.total.capacity_bps);
        let bytes = || downloads().map(|flow| flow.bytes as f64);
        if let (Some(first), true) = (bytes().next(), count > 1.0) {
            self.least_over_first.push(bytes().fold(f64::INFINITY, f64::min) / first.max(1.0));
        }
    }
}
