//! `prismux compare`.

use super::in_python::InPython;
use super::run::{interval, once, parallel, prepare, summarise};
use crate::args::{BackendName, Common, CompareArguments};
use crate::failure::Failure;
use crate::jobs;
use crate::output::{over_time, print};
use prismux_scenario::{Scenario, ScenarioFile};
use prismux_study::compare;
pub(crate) use prismux_study::compare::Outcome;
use prismux_study::measures::managed_queues;
use prismux_study::number::{digits, milliseconds, or_dash, percent, rate, seconds};
use prismux_study::policies::in_words;
use prismux_study::repetition::one_run;
use prismux_study::run::RunOptions;
use prismux_study::statistics::Summary;
use prismux_study::table::completion_s;
use prismux_study::text_table::Table;
use prismux_study::variant::{self, Variant};
use prismux_trace::results::RunResult;
use serde_json::{Value, json};
use std::process::Stdio;

pub(crate) fn run(arguments: &CompareArguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let set: Vec<&str> = common.set.iter().map(String::as_str).collect();
    let file = ScenarioFile::find(&arguments.scenario)?;
    let variants = variant::variants(&file, &arguments.variants, &set, common.on.into())?;
    let outcomes = if arguments.policies.given().is_empty() {
        prepare(common.on.into())?;
        compete(&variants, common, arguments.runs)?
    } else {
        in_python(arguments)?
    };
    if outcomes.iter().all(|outcome| outcome.results.is_empty()) {
        let reason = outcomes.into_iter().find_map(|outcome| outcome.failure);
        return Err(Failure::Failed(reason.unwrap_or_else(|| "there is nothing to compare".to_string())));
    }
    if let Some(file) = &arguments.svg {
        over_time::draw(&outcomes, file).map_err(Failure::failed)?;
    }
    if common.json {
        return Ok(print(json_of(&file, &outcomes)?)?);
    }
    print(table_of(&outcomes))?;
    for outcome in outcomes.iter().filter(|outcome| !outcome.policies.is_empty()) {
        print(format!("{}: {}", outcome.name, in_words(&outcome.policies)))?;
    }
    for outcome in &outcomes {
        if let Some(reason) = &outcome.failure {
            print(format!("\n{}: {reason}", outcome.name))?;
        }
    }
    Ok(())
}

/// Leaves the runs to the Python package, which knows policies written in Python, and reads what came of them.
fn in_python(arguments: &CompareArguments) -> Result<Vec<Outcome>, Failure> {
    let common = &arguments.common;
    if common.on != BackendName::Sim {
        let remedy = "without --on lab, whose kernel and daemons decide for themselves";
        return Err(Failure::Usage(format!(
            "policies written in Python decide in the simulator only\n  remedy: {remedy}"
        )));
    }
    let mut python = InPython::new(
        "prismux.compare_command",
        &arguments.scenario,
        &common.set,
        &arguments.variants,
        &arguments.policies,
    );
    let command = &mut python.command;
    command.args(common.jobs.map(|jobs| format!("--jobs={jobs}")));
    command.args(["--seed", &common.seed.to_string(), "--runs", &arguments.runs.to_string()]);
    command.stderr(Stdio::inherit());
    let output = command.output().map_err(|error| python.cannot_start(&error))?;
    python.check("the comparison", output.status)?;
    serde_json::from_slice(&output.stdout).map_err(Failure::failed)
}

/// Runs the variants of one network with seeds from `common.seed` on, `runs` each: all are measured against one
/// capacity.
pub(crate) fn compete(variants: &[Variant], common: &Common, runs: u64) -> Result<Vec<Outcome>, Failure> {
    let mut outcomes = run_all(variants, common, runs)?;
    compare::measure_against_one_capacity(&mut outcomes);
    Ok(outcomes)
}

/// Runs the variants with seeds from `common.seed` on, `runs` each.
pub(crate) fn run_all(variants: &[Variant], common: &Common, runs: u64) -> Result<Vec<Outcome>, Failure> {
    let seeds: Vec<u64> = (0..runs).map(|run| common.seed.wrapping_add(run)).collect();
    let bar = jobs::progress_bar(compare::run_count(variants, seeds.len()), "comparing");
    let once =
        |scenario: &Scenario, seed| once(scenario, common, &RunOptions { seed, ..RunOptions::default() });
    let outcomes = compare::run_all(variants, &seeds, parallel(common), once, || bar.inc(1));
    bar.finish_and_clear();
    Ok(outcomes?)
}

/// The outcomes as a table, one line each.
pub(crate) fn table_of(outcomes: &[Outcome]) -> String {
    let Some(first) = outcomes.first().and_then(|outcome| outcome.results.first()) else {
        return String::new();
    };
    let shared: Vec<&String> =
        first.links.iter().filter(|(_, link)| link.shared).map(|(name, _)| name).collect();
    // Shares of many links would not fit a screen.
    let shown = if shared.len() <= 5 { &shared[..] } else { &[] };
    let reference = &outcomes[0];
    let mut columns = vec!["variant", "goodput", "ratio", "efficiency", "complete", "resent", "timeouts"];
    let waits = waits(outcomes);
    columns.extend(waits.iter().map(|wait| wait.name.as_str()));
    let is_managed =
        outcomes.iter().flat_map(|outcome| &outcome.results).any(|result| managed_queues(result).is_some());
    if is_managed {
        columns.extend(["early drops", "marks"]);
    }
    columns.extend(shown.iter().map(|name| name.as_str()));
    let mut table = Table::new(&columns);
    for outcome in outcomes {
        let of = |value: &dyn Fn(&RunResult) -> Option<f64>, form: fn(f64) -> String| {
            or_dash(summarise(&outcome.results, value), |summary: Summary| interval(summary, form))
        };
        let flows = |value: fn(&prismux_trace::results::FlowResult) -> u64| {
            move |result: &RunResult| Some(result.flows.values().map(value).sum::<u64>() as f64)
        };
        let completion = |result: &RunResult| completion_s(&result.flows);
        let mut row = vec![
            outcome.name.clone(),
            of(&|result| Some(result.total.goodput_bps), rate),
            or_dash(outcome.times(reference), |ratio| interval(ratio, digits)),
            of(&|result| result.total.efficiency, percent),
            of(&completion, seconds),
            of(&flows(|flow| flow.retransmitted_segments), whole),
            of(&flows(|flow| flow.timeouts), whole),
        ];
        for wait in &waits {
            row.push(of(&|result| wait.of(result), milliseconds));
        }
        if is_managed {
            row.push(of(&|result| Some(managed_queues(result)?[0] as f64), whole));
            row.push(of(&|result| Some(managed_queues(result)?[1] as f64), whole));
        }
        for name in shown {
            row.push(of(&|result| result.links.get(*name).and_then(|link| link.share), percent));
        }
        table.row(row);
    }
    let seeds_run = outcomes.iter().map(|outcome| outcome.results.len()).max().unwrap_or(0);
    let seeds = match first.seed {
        seed if seeds_run == 1 => format!("seed {seed}"),
        seed => format!("{seeds_run} runs from seed {seed}; means and 95 % intervals"),
    };
    // The air, and links that nobody shares, have no capacity to be measured against.
    let possible = match first.total.capacity_bps {
        bps if bps > 0.0 => format!(", at most {} possible", rate(bps)),
        _ => String::new(),
    };
    let equal: Vec<&str> =
        outcomes.iter().filter(|outcome| outcome.is_one_run()).map(|outcome| outcome.name.as_str()).collect();
    let note = match equal.is_empty() {
        true => String::new(),
        false => format!("\n{}: {}", equal.join(", "), one_run(seeds_run)),
    };
    let head = format!("{} ({}, {seeds}){possible}", first.scenario, first.backend);
    format!("{head}\n\n{table}\n\nratio: goodput over that of {}, seed by seed{note}", reference.name)
}

/// The 95th percentile of a flow's response times, or of its delays.
struct Wait {
    /// The column.
    name: String,
    flow: String,
    is_response: bool,
}

impl Wait {
    fn of(&self, result: &RunResult) -> Option<f64> {
        let flow = result.flows.get(&self.flow)?;
        if self.is_response { Some(flow.response?.p95_s) } else { Some(flow.delay?.p95_s) }
    }
}

/// Waits of more flows would not fit a screen.
const MAX_WAITS: usize = 4;

/// Whose waits are known, in any of the outcomes.
fn waits(outcomes: &[Outcome]) -> Vec<Wait> {
    let results = || outcomes.iter().flat_map(|outcome| &outcome.results);
    let Some(first) = results().next() else { return Vec::new() };
    let wait = |(flow, is_response): (&String, bool)| Wait {
        name: if is_response { format!("{flow} p95") } else { format!("{flow} delay p95") },
        flow: flow.clone(),
        is_response,
    };
    let both = first.flows.keys().flat_map(|flow| [(flow, true), (flow, false)]).map(wait);
    both.filter(|wait| results().any(|result| wait.of(result).is_some())).take(MAX_WAITS).collect()
}

fn whole(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { digits(value) }
}

fn json_of(file: &ScenarioFile, outcomes: &[Outcome]) -> Result<String, Failure> {
    let variant = |outcome: &Outcome| -> Value {
        let of = |value: fn(&RunResult) -> Option<f64>| summarise(&outcome.results, value);
        json!({
            "name": outcome.name,
            "goodput_bps": of(|r| Some(r.total.goodput_bps)),
            "times_first": outcomes.first().and_then(|first| outcome.times(first)),
            "one_run": outcome.is_one_run(),
            "capacity_bps": of(|r| Some(r.total.capacity_bps)),
            "efficiency": of(|r| r.total.efficiency),
            "steady_efficiency": of(|r| r.total.steady_efficiency),
            "failed": outcome.failure,
            "policies": outcome.policies,
            "runs": outcome.results,
        })
    };
    let value =
        json!({ "scenario": file.name(), "variants": outcomes.iter().map(variant).collect::<Vec<_>>() });
    serde_json::to_string(&value).map_err(Failure::failed)
}
