//! Several ways of using the same links, side by side.

use crate::jobs;
use crate::measures::managed_queues;
use crate::policies::{self, PolicyName};
use crate::repetition;
use crate::run::RunError;
use crate::statistics::Summary;
use crate::table::{Columns, TOTAL_QUANTITIES, birth, completion_s};
use crate::variant::Variant;
use arrow_array::RecordBatch;
use prismux_scenario::Scenario;
use prismux_trace::results::{FlowResult, RunResult};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What one variant achieved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Its name; with the member's, where the best of several counts.
    pub name: String,
    /// One result for each seed; none when it could not run.
    pub results: Vec<RunResult>,
    /// Why it could not run.
    pub failure: Option<String>,
    /// The policies from outside that decided.
    pub policies: Vec<PolicyName>,
}

impl Outcome {
    /// Mean goodput over the seeds in bits per second; 0 without a result.
    pub fn mean_goodput_bps(&self) -> f64 {
        let sum: f64 = self.results.iter().map(|result| result.total.goodput_bps).sum();
        sum / self.results.len().max(1) as f64
    }

    /// Whether its results are one run over and over, since nothing in the variant is random.
    pub fn is_one_run(&self) -> bool {
        repetition::is_one_run(&self.results)
    }

    /// Its goodput over that of `other`, seed by seed; `None` where the two have no seed in common.
    pub fn times(&self, other: &Self) -> Option<Summary> {
        let of = |result: &RunResult| {
            let paired = other.results.iter().find(|paired| paired.seed == result.seed)?;
            (paired.total.goodput_bps > 0.0).then(|| result.total.goodput_bps / paired.total.goodput_bps)
        };
        Summary::of(&self.results.iter().filter_map(of).collect::<Vec<_>>())
    }
}

/// Measures every result against the same capacity: for each seed the highest that any variant could have used, so
/// that efficiencies compare. (Who goes past the proxy has no tunnel's headers to carry, and keeps the link of a member
/// that leaves.)
pub fn measure_against_one_capacity(outcomes: &mut [Outcome]) {
    let mut highest: BTreeMap<u64, f64> = BTreeMap::new();
    for result in outcomes.iter().flat_map(|outcome| &outcome.results) {
        let capacity = highest.entry(result.seed).or_default();
        *capacity = capacity.max(result.total.capacity_bps);
    }
    for result in outcomes.iter_mut().flat_map(|outcome| &mut outcome.results) {
        let capacity_bps = highest.get(&result.seed).copied().unwrap_or_default();
        let of_capacity = |bps: f64| (capacity_bps > 0.0).then(|| bps / capacity_bps);
        let total = &mut result.total;
        total.capacity_bps = capacity_bps;
        total.efficiency = of_capacity(total.goodput_bps);
        total.steady_efficiency = total.steady_goodput_bps.and_then(of_capacity);
    }
}

/// Runs every candidate of every variant with each of `seeds`, `parallel` at a time; of several candidates the one with
/// the highest mean goodput stands for its variant. A variant whose run fails on this machine (a kernel without MPTCP)
/// fails alone.
///
/// # Errors
/// Whatever `once` refuses for another reason than [`RunError::Failed`].
pub fn run_all(
    variants: &[Variant],
    seeds: &[u64],
    parallel: usize,
    once: impl Fn(&Scenario, u64) -> Result<RunResult, RunError> + Sync,
    done: impl Fn() + Sync,
) -> Result<Vec<Outcome>, RunError> {
    let work = runs(variants, seeds);
    let run_one = |&(_, _, scenario, seed): &Run<'_>| match once(scenario, seed) {
        Err(RunError::Failed(why)) => Ok(Err(why.to_string())),
        Err(other) => Err(other),
        Ok(result) => Ok(Ok(result)),
    };
    let results = jobs::run(&work, parallel, run_one, done)?;
    let candidate = |c: usize, k: usize| -> Outcome {
        let variant = &variants[c];
        let label = &variant.candidates[k].label;
        let name =
            if label.is_empty() { variant.name.clone() } else { format!("{} ({label})", variant.name) };
        let mut outcome = Outcome { name, results: Vec::new(), failure: None, policies: Vec::new() };
        let own = work.iter().zip(&results).filter(|((wc, wk, ..), _)| (*wc, *wk) == (c, k));
        for (_, result) in own {
            match result {
                Ok(result) => outcome.results.push(result.clone()),
                Err(reason) => outcome.failure = Some(reason.clone()),
            }
        }
        if outcome.failure.is_some() {
            outcome.results.clear();
        }
        outcome
    };
    let best = |c: usize| {
        let all = (0..variants[c].candidates.len()).map(|k| candidate(c, k));
        all.max_by(|a, b| a.mean_goodput_bps().total_cmp(&b.mean_goodput_bps()))
    };
    Ok((0..variants.len()).filter_map(best).collect())
}

/// The same for variants of one network, which compete: all are measured against one capacity.
///
/// # Errors
/// As [`run_all`].
pub fn compete(
    variants: &[Variant],
    seeds: &[u64],
    parallel: usize,
    once: impl Fn(&Scenario, u64) -> Result<RunResult, RunError> + Sync,
    done: impl Fn() + Sync,
) -> Result<Vec<Outcome>, RunError> {
    let mut outcomes = run_all(variants, seeds, parallel, once, done)?;
    measure_against_one_capacity(&mut outcomes);
    Ok(outcomes)
}

/// Notes of each outcome which of `policies` have something to do in its variant.
pub fn note_policies(outcomes: &mut [Outcome], variants: &[Variant], policies: &[PolicyName]) {
    for outcome in outcomes {
        let of_outcome = |variant: &&Variant| {
            outcome
                .name
                .strip_prefix(&variant.name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
        };
        let candidates = variants.iter().filter(of_outcome).flat_map(|variant| &variant.candidates);
        let mut plans = candidates.map(|candidate| &candidate.scenario.plan);
        outcome.policies = plans.next().map_or_else(Vec::new, |plan| policies::useful(policies, plan));
    }
}

/// Variant, candidate, scenario and seed of one run.
type Run<'a> = (usize, usize, &'a Scenario, u64);

/// The runs that [`compete`] does.
fn runs<'a>(variants: &'a [Variant], seeds: &[u64]) -> Vec<Run<'a>> {
    let mut work = Vec::new();
    for (c, variant) in variants.iter().enumerate() {
        for (k, candidate) in variant.candidates.iter().enumerate() {
            work.extend(seeds.iter().map(|&seed| (c, k, &candidate.scenario, seed)));
        }
    }
    work
}

/// How many runs [`compete`] does.
pub fn run_count(variants: &[Variant], seeds: usize) -> usize {
    variants.iter().map(|variant| variant.candidates.len() * seeds).sum()
}

/// The outcomes as a table, one row for each variant and seed.
pub fn table(outcomes: &[Outcome]) -> RecordBatch {
    let rows =
        || outcomes.iter().flat_map(|outcome| outcome.results.iter().map(move |result| (outcome, result)));
    let mut columns = Columns::default();
    columns.text("variant", "way of using the links", rows().map(|(outcome, _)| Some(outcome.name.as_str())));
    columns.whole("seed", "1", "seed of every random stream", rows().map(|(_, result)| Some(result.seed)));
    for quantity in TOTAL_QUANTITIES {
        columns.quantity(quantity, quantity.name, rows().map(|(_, result)| result));
    }
    let complete = rows().map(|(_, result)| completion_s(&result.flows));
    columns.float("completion_s", "s", "time until the last transfer was complete", complete);
    let count = |of: fn(&FlowResult) -> u64| {
        rows().map(move |(_, result)| Some(result.flows.values().map(of).sum::<u64>()))
    };
    columns.whole("retransmitted_segments", "1", "segments sent again", count(|f| f.retransmitted_segments));
    columns.whole("timeouts", "1", "retransmission timeouts", count(|f| f.timeouts));
    let managed = |which: usize| rows().map(move |(_, result)| Some(managed_queues(result)?[which]));
    columns.whole("early_drops", "1", "dropped early by managed queues; null without any", managed(0));
    columns.whole("marked_packets", "1", "marked by managed queues; null without any", managed(1));
    let hashes = rows().map(|(_, result)| Some(result.scenario_hash.as_str()));
    columns.text("scenario_hash", "SHA-256 of the scenario as it ran", hashes);
    policies::add_columns(
        &mut columns,
        &rows().map(|(outcome, _)| &outcome.policies[..]).collect::<Vec<_>>(),
    );
    let first = rows().next().map(|(_, result)| birth(result)).unwrap_or_default();
    let shared = ["scenario", "backend", "version"];
    columns.finish(first.into_iter().filter(|(key, _)| shared.contains(&key.as_str())).collect())
}

#[cfg(test)]
mod tests;
