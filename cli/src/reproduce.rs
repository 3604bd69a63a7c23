//! Published experiments, repeated, and every claim judged.
//!
//! * [`claims`]: what was reported. [`selection`]: what of it was asked for. [`plan`]: the runs that experiments need.
//!   [`verdict`]: how a claim is judged. [`report`]: the answer.
//! * [`prism`], [`tcp_ho`], [`rcp`], [`r2cp`], [`ptcp`] (and striping): the experiments, by system. [`queueing`]: models that
//!   need no network.
//!
//! An experiment first names its runs; all runs of all experiments then share the processors; then each experiment
//! reads its claims off the results. One run may serve several claims.

pub(crate) mod claims;
mod health;
pub(crate) mod plan;
mod prism;
mod ptcp;
mod queueing;
mod r2cp;
mod rcp;
mod report;
mod selection;
mod tcp_ho;
pub(crate) mod verdict;

use crate::args::{ReproduceArguments, ReproduceBackend};
use crate::commands::prepare;
use crate::failure::Failure;
use crate::jobs;
use plan::{Job, Outcomes, Scope};
use prismux_scenario::backend::{self, RunOptions};
use prismux_scenario::registry::Backend;
use prismux_trace::results::RunResult;
use selection::Selection;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use verdict::Finding;

/// One experiment of a paper.
pub(crate) struct Experiment {
    /// Short name, as in the tables of the report ("T1").
    pub id: &'static str,
    /// What it varies and compares.
    pub title: &'static str,
    /// Claims it can judge.
    pub claims: &'static [&'static str],
    /// True if it makes sense in the lab.
    pub lab: bool,
    /// The runs it needs.
    pub jobs: fn(&Scope) -> Result<Vec<Job>, Failure>,
    /// What the results say about its claims, and the table behind them.
    pub judge: fn(&Outcomes<'_>) -> (Vec<Finding>, Vec<report::Series>),
}

/// Everything published about one system.
struct System {
    /// Its name on the command line.
    name: &'static str,
    /// Its claims, as text.
    claims: &'static str,
    /// Its experiments on networks.
    experiments: &'static [Experiment],
    /// What is judged without a network.
    model: Option<Model>,
}

/// Claims about formulas.
struct Model {
    /// Names of its figures, with the first and the last claim about each.
    figures: &'static [(&'static str, [&'static str; 2])],
    /// All findings, and the tables behind them.
    judge: fn(&Scope) -> (Vec<Finding>, Vec<report::Series>),
    /// The figures.
    drawings: fn(&Scope) -> Vec<report::Drawing>,
    /// Writes them into a folder.
    write: fn(&Path, &[report::Drawing]) -> Result<(), Failure>,
}

/// What can be reproduced.
const SYSTEMS: &[System] = &[
    System { name: "prism", claims: claims::PRISM, experiments: prism::EXPERIMENTS, model: None },
    System { name: "tcp-ho", claims: claims::TCP_HO, experiments: tcp_ho::EXPERIMENTS, model: None },
    System { name: "rcp", claims: claims::RCP, experiments: rcp::EXPERIMENTS, model: None },
    System { name: "r2cp", claims: claims::R2CP, experiments: r2cp::EXPERIMENTS, model: None },
    System { name: "ptcp", claims: claims::PTCP, experiments: ptcp::EXPERIMENTS, model: None },
    System { name: "striping", claims: claims::STRIPING, experiments: ptcp::EXPERIMENTS, model: None },
    System {
        name: "queueing",
        claims: claims::QUEUEING,
        experiments: &[],
        model: Some(Model {
            figures: queueing::FIGURES,
            judge: queueing::judge,
            drawings: queueing::drawings,
            write: queueing::write_curves,
        }),
    },
    // Nothing here models these two yet: their claims are listed with that verdict.
    System { name: "tcp-door", claims: claims::TCP_DOOR, experiments: &[], model: None },
    System { name: "network-models", claims: claims::NETWORK_MODELS, experiments: &[], model: None },
];

/// What `prismux reproduce` calls all of them.
const ALL: &str = "all";

/// `prismux reproduce`.
pub(crate) fn run(arguments: &ReproduceArguments) -> Result<(), Failure> {
    let systems = find(&arguments.name)?;
    let selections = selection::select(&systems, &arguments.only)?;
    let backends: &[Backend] = match arguments.on {
        ReproduceBackend::Sim => &[Backend::Sim],
        ReproduceBackend::Lab => &[Backend::Lab],
        ReproduceBackend::Both => &[Backend::Sim, Backend::Lab],
    };
    // Of all systems, those do without a network that know none.
    if let [selection] = selections.as_slice() {
        check(selection.system, arguments)?;
    }
    if backends.contains(&Backend::Lab) {
        prepare(Backend::Lab)?;
    }
    let mut reports = Vec::new();
    let mut done = Done::new();
    for selection in selections {
        let own = if selection.system.experiments.is_empty() { &[Backend::Sim] } else { backends };
        let answers: Result<Vec<Answer>, Failure> =
            own.iter().map(|&backend| reproduce(arguments, &selection, backend, &mut done)).collect();
        let Selection { system, claims, .. } = selection;
        reports.push(report::Report { system: system.name, claims, answers: answers? });
    }
    match (arguments.markdown, arguments.json) {
        (true, _) => report::print_markdown(&reports),
        (_, true) => report::print_json(&reports),
        _ => report::print(&reports),
    }
}

/// The systems that `name` stands for.
fn find(name: &str) -> Result<Vec<&'static System>, Failure> {
    let found: Vec<&System> = SYSTEMS.iter().filter(|system| name == ALL || system.name == name).collect();
    if found.is_empty() {
        let names: Vec<&str> = SYSTEMS.iter().map(|system| system.name).chain([ALL]).collect();
        let expected = names.join(", ");
        let message = format!("there is nothing called \"{name}\" to reproduce\n  expected: {expected}");
        return Err(Failure::Usage(message));
    }
    Ok(found)
}

/// Options must make sense for the system.
fn check(system: &System, arguments: &ReproduceArguments) -> Result<(), Failure> {
    let name = system.name;
    let complaint = if system.model.is_none() && arguments.out.is_some() {
        format!("{name} has no curves to write\n  expected: no --out")
    } else if system.experiments.is_empty() && !matches!(arguments.on, ReproduceBackend::Sim) {
        format!("{name} runs on no network\n  expected: no --on")
    } else if system.experiments.is_empty() && arguments.raw.is_some() {
        format!("{name} has no single runs to write\n  expected: no --raw")
    } else {
        return Ok(());
    };
    Err(Failure::Usage(complaint))
}

/// What one backend says.
pub(crate) struct Answer {
    pub backend: Backend,
    pub findings: Vec<Finding>,
    pub series: Vec<report::Series>,
    pub drawings: Vec<report::Drawing>,
}

/// Results so far by backend, experiment, point and seed: what serves the claims of two systems is run once.
type Done = BTreeMap<(String, &'static str, String, u64), RunResult>;

/// Does those of `work` that are not in `done`; all their results, in the order of `work`.
fn results_of(
    work: &[(&'static str, Job)],
    arguments: &ReproduceArguments,
    system: &str,
    backend: Backend,
    done: &mut Done,
) -> Result<Vec<RunResult>, Failure> {
    let key = |(id, job): &(&'static str, Job)| (backend.to_string(), *id, job.key.clone(), job.seed);
    let fresh: Vec<(&'static str, Job)> =
        work.iter().filter(|item| !done.contains_key(&key(item))).cloned().collect();
    let parallel = arguments.jobs.unwrap_or(match backend {
        Backend::Sim => jobs::processors(),
        // Slow links leave the processors idle; what limits is the packets of all runs together.
        Backend::Lab => 24,
    });
    let what = format!("reproducing {system} ({backend})");
    let results = jobs::run(&fresh, parallel, &what, |(_, job)| {
        let options = RunOptions { seed: job.seed, ..RunOptions::default() };
        backend::run(&job.scenario, backend, &options).map_err(Failure::from)
    })?;
    if let Some(path) = &arguments.raw {
        write_raw(path, &fresh, &results)?;
    }
    done.extend(fresh.iter().map(key).zip(results));
    Ok(work.iter().filter_map(|item| done.get(&key(item)).cloned()).collect())
}

fn reproduce(
    arguments: &ReproduceArguments,
    selection: &Selection,
    backend: Backend,
    done: &mut Done,
) -> Result<Answer, Failure> {
    let system = selection.system;
    let seeds = arguments.seeds.unwrap_or(if arguments.quick { 3 } else { 10 });
    let scope = Scope { seeds, quick: arguments.quick };
    let possible = |experiment: &&Experiment| backend == Backend::Sim || experiment.lab;
    let experiments: Vec<&Experiment> =
        system.experiments.iter().filter(possible).filter(|e| selection.needs(e)).collect();
    let mut work = Vec::new();
    for experiment in &experiments {
        for job in (experiment.jobs)(&scope)? {
            work.push((experiment.id, job));
        }
    }
    let results = results_of(&work, arguments, system.name, backend, done)?;
    let mut answer = Answer { backend, findings: Vec::new(), series: Vec::new(), drawings: Vec::new() };
    for experiment in experiments {
        let own = work.iter().zip(&results).filter(|((id, _), _)| *id == experiment.id);
        let outcomes = Outcomes::new(own.map(|((_, job), result)| (job, result)));
        let (findings, series) = (experiment.judge)(&outcomes);
        answer.findings.extend(findings);
        answer.series.extend(series.into_iter().map(|series| report::Series {
            experiment: format!("{} {}", experiment.id, experiment.title),
            ..series
        }));
    }
    if backend == Backend::Sim && !work.is_empty() {
        answer.series.push(health::table(&work, &results));
        answer.findings.extend(health::lost_acks(&results));
    }
    if let Some(model) = &system.model {
        let (findings, series) = (model.judge)(&scope);
        answer.findings.extend(findings);
        answer.series.extend(series);
        if arguments.json || arguments.out.is_some() {
            answer.drawings = (model.drawings)(&scope);
        }
        if let Some(folder) = &arguments.out {
            (model.write)(folder, &answer.drawings)?;
        }
    }
    Ok(answer)
}

/// One line for every run: experiment, point and result.
fn write_raw(path: &Path, work: &[(&'static str, Job)], results: &[RunResult]) -> Result<(), Failure> {
    let fail = |error: std::io::Error| Failure::Failed(format!("cannot write {}: {error}", path.display()));
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    let mut out: BufWriter<File> = BufWriter::new(file.map_err(fail)?);
    for ((experiment, job), result) in work.iter().zip(results) {
        let line = serde_json::json!({ "experiment": experiment, "point": job.key, "result": result });
        writeln!(out, "{line}").map_err(fail)?;
    }
    out.flush().map_err(fail)
}
