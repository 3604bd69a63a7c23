//! The runs an experiment needs, and their results by point.

use crate::claims::ClaimsError;
use crate::statistics::Summary;
use prismux_scenario::{Scenario, shipped};
use prismux_trace::results::{Backend, RunResult};
use std::collections::BTreeMap;

/// How large an experiment is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope {
    /// Independent seeds at each point.
    pub seeds: u64,
    /// Fewer points, shorter runs.
    pub quick: bool,
}

/// One run.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    /// The point it belongs to: `"prism/200"`. Jobs of one point differ in their seeds only.
    pub key: String,
    /// What to run.
    pub scenario: Scenario,
    /// Its seed.
    pub seed: u64,
}

/// The jobs of one point: a shipped scenario, a variant, overrides, all seeds.
pub(crate) fn point(
    scope: &Scope,
    key: impl Into<String>,
    shipped: &str,
    variant: Option<&str>,
    set: &[String],
) -> Result<Vec<Job>, ClaimsError> {
    point_by_seed(scope, key, shipped, variant, |_| set.to_vec())
}

/// The same with overrides that depend on the seed, such as random rates.
pub(crate) fn point_by_seed(
    scope: &Scope,
    key: impl Into<String>,
    shipped: &str,
    variant: Option<&str>,
    set: impl Fn(u64) -> Vec<String>,
) -> Result<Vec<Job>, ClaimsError> {
    let key = key.into();
    let file = match shipped::find(shipped) {
        Some(shipped) => shipped.file(),
        None => return Err(ClaimsError::MissingScenario(shipped.to_string())),
    };
    (1..=scope.seeds)
        .map(|seed| {
            let overrides = set(seed);
            let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
            Ok(Job { key: key.clone(), scenario: file.scenario(variant, &overrides)?, seed })
        })
        .collect()
}

/// Results by point, in order of seeds.
#[derive(Debug)]
pub(crate) struct Outcomes<'a> {
    points: BTreeMap<&'a str, Vec<&'a RunResult>>,
}

impl<'a> Outcomes<'a> {
    /// From jobs and their results.
    pub fn new(results: impl Iterator<Item = (&'a Job, &'a RunResult)>) -> Self {
        let mut points: BTreeMap<&str, Vec<&RunResult>> = BTreeMap::new();
        for (job, result) in results {
            points.entry(&job.key).or_default().push(result);
        }
        Self { points }
    }

    /// The results of a point; empty when it did not run.
    pub fn results(&self, key: &str) -> &[&'a RunResult] {
        self.points.get(key).map_or(&[], Vec::as_slice)
    }

    /// True for runs on this machine's kernel, where the plain senders are the kernel's own.
    pub fn in_lab(&self) -> bool {
        self.points.values().flatten().any(|result| result.backend == Backend::Lab)
    }

    /// A quantity at a point, one value for each seed; runs without it are left out.
    pub fn values(&self, key: &str, of: impl Fn(&RunResult) -> Option<f64>) -> Vec<f64> {
        self.results(key).iter().filter_map(|result| of(result)).collect()
    }

    /// Mean, spread and interval of a quantity at a point.
    pub fn summary(&self, key: &str, of: impl Fn(&RunResult) -> Option<f64>) -> Option<Summary> {
        Summary::of(&self.values(key, of))
    }

    /// Mean of a quantity at a point; NaN, which fails every comparison, when there is none.
    pub fn mean(&self, key: &str, of: impl Fn(&RunResult) -> Option<f64>) -> f64 {
        self.summary(key, of).map_or(f64::NAN, |summary| summary.mean)
    }
}

/// Goodput of all flows together, bits per second.
pub(crate) fn goodput(result: &RunResult) -> Option<f64> {
    Some(result.total.goodput_bps)
}

/// Goodput in steady state, bits per second.
pub(crate) fn steady(result: &RunResult) -> Option<f64> {
    result.total.steady_goodput_bps.or(Some(result.total.goodput_bps))
}

/// Goodput over capacity, for the whole run.
pub(crate) fn efficiency(result: &RunResult) -> Option<f64> {
    result.total.efficiency
}

/// Goodput over capacity, in steady state.
pub(crate) fn steady_efficiency(result: &RunResult) -> Option<f64> {
    result.total.steady_efficiency
}

/// Mean goodput of `flow` between two times of a run that sampled it, bits per second.
pub(crate) fn goodput_between(result: &RunResult, flow: &str, from_s: f64, to_s: f64) -> Option<f64> {
    let series = result.series.as_ref()?;
    let rates = &series.flows.get(flow)?.goodput_bps;
    let index = |seconds: f64| (seconds / series.interval_s).round() as usize;
    let window = rates.get(index(from_s)..index(to_s).min(rates.len()))?;
    (!window.is_empty()).then(|| window.iter().sum::<f64>() / window.len() as f64)
}

/// Element by element, over the seeds that both have.
pub(crate) fn ratios(above: &[f64], below: &[f64]) -> Vec<f64> {
    above.iter().zip(below).filter(|(_, below)| **below > 0.0).map(|(above, below)| above / below).collect()
}
