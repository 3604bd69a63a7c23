//! Published experiments, repeated, and every claim judged.
//!
//! * [`claims`]: what was reported. [`plan`]: the runs that experiments need. [`verdict`]: how a claim is judged.
//! * [`prism`], [`tcp_ho`]: the experiments, by system. [`queueing`]: models that need no network.
//!
//! An experiment first names its runs; all runs of all experiments then share the processors; then each experiment
//! reads its claims off the results. One run may serve several claims.

pub(crate) mod claims;
mod health;
pub(crate) mod plan;
mod prism;
mod queueing;
mod report;
mod tcp_ho;
pub(crate) mod verdict;

use crate::args::{ReproduceArguments, ReproduceBackend};
use crate::commands::prepare;
use crate::failure::Failure;
use crate::jobs;
use claims::Claim;
use plan::{Job, Outcomes, Scope};
use prismux_scenario::backend::{self, RunOptions};
use prismux_scenario::registry::Backend;
use prismux_trace::results::RunResult;
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
    /// All findings, and the tables behind them.
    judge: fn(&Scope) -> (Vec<Finding>, Vec<report::Series>),
    /// Writes the curves of the figures into a folder.
    curves: fn(&Path) -> Result<(), Failure>,
}

/// What can be reproduced.
const SYSTEMS: &[System] = &[
    System { name: "prism", claims: claims::PRISM, experiments: prism::EXPERIMENTS, model: None },
    System { name: "tcp-ho", claims: claims::TCP_HO, experiments: tcp_ho::EXPERIMENTS, model: None },
    System {
        name: "queueing",
        claims: claims::QUEUEING,
        experiments: &[],
        model: Some(Model { judge: queueing::judge, curves: queueing::write_curves }),
    },
];

/// `prismux reproduce`.
pub(crate) fn run(arguments: &ReproduceArguments) -> Result<(), Failure> {
    let Some(system) = SYSTEMS.iter().find(|system| system.name == arguments.name) else {
        let names: Vec<&str> = SYSTEMS.iter().map(|system| system.name).collect();
        let expected = names.join(", ");
        let message =
            format!("there is nothing called \"{}\" to reproduce\n  expected: {expected}", arguments.name);
        return Err(Failure::Usage(message));
    };
    check(system, arguments)?;
    let claims = claims::read(system.claims)?;
    let only: Vec<String> = arguments.only.iter().map(|id| id.to_uppercase()).collect();
    if let Some(unknown) = only.iter().find(|id| !claims.iter().any(|claim| claim.id == **id)) {
        let ends = claims.first().zip(claims.last()).map(|(first, last)| (&first.id, &last.id));
        let expected = ends.map_or(String::new(), |(first, last)| format!("{first} to {last}"));
        return Err(Failure::Usage(format!("there is no claim \"{unknown}\"\n  expected: {expected}")));
    }
    let wanted = |claim: &Claim| only.is_empty() || only.contains(&claim.id);
    let claims: Vec<Claim> = claims.into_iter().filter(wanted).collect();
    let backends: &[Backend] = match arguments.on {
        ReproduceBackend::Sim => &[Backend::Sim],
        ReproduceBackend::Lab => &[Backend::Lab],
        ReproduceBackend::Both => &[Backend::Sim, Backend::Lab],
    };
    if backends.contains(&Backend::Lab) {
        prepare(Backend::Lab)?;
    }
    let mut answers = Vec::new();
    for &backend in backends {
        answers.push(reproduce(arguments, system, &claims, backend)?);
    }
    if let (Some(model), Some(folder)) = (&system.model, &arguments.out) {
        (model.curves)(folder)?;
    }
    if arguments.markdown {
        return report::print_markdown(&claims, &answers);
    }
    report::print(&claims, &answers, arguments.json)
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
}

fn reproduce(
    arguments: &ReproduceArguments,
    system: &System,
    claims: &[Claim],
    backend: Backend,
) -> Result<Answer, Failure> {
    let seeds = arguments.seeds.unwrap_or(if arguments.quick { 3 } else { 10 });
    let scope = Scope { seeds, quick: arguments.quick };
    let serves = |experiment: &&Experiment| {
        (backend == Backend::Sim || experiment.lab)
            && experiment.claims.iter().any(|id| claims.iter().any(|claim| claim.id == *id))
    };
    let experiments: Vec<&Experiment> = system.experiments.iter().filter(serves).collect();
    let mut work = Vec::new();
    for experiment in &experiments {
        for job in (experiment.jobs)(&scope)? {
            work.push((experiment.id, job));
        }
    }
    let parallel = arguments.jobs.unwrap_or(match backend {
        Backend::Sim => jobs::processors(),
        // Slow links leave the processors idle; what limits is the packets of all runs together.
        Backend::Lab => 24,
    });
    let what = format!("reproducing ({backend})");
    let results = jobs::run(&work, parallel, &what, |(_, job)| {
        let options = RunOptions { seed: job.seed, ..RunOptions::default() };
        backend::run(&job.scenario, backend, &options).map_err(Failure::from)
    })?;
    if let Some(path) = &arguments.raw {
        write_raw(path, &work, &results)?;
    }
    let mut answer = Answer { backend, findings: Vec::new(), series: Vec::new() };
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
