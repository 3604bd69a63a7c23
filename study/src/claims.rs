//! Published experiments, repeated, and every claim judged.
//!
//! * [`reported`]: what was reported. [`selection`]: what of it was asked for. [`plan`]: the runs that experiments
//!   need. [`verdict`]: how a claim is judged. [`report`]: the answer.
//! * [`prism`], [`tcp_ho`], [`rcp`], [`r2cp`], [`ptcp`] (and striping), [`tcp_door`],
//!   [`network_models`]: the experiments, by system.
//!   [`queueing`]: models that need no network.
//!
//! An experiment first names its runs; all runs of all experiments then share the processors; then each experiment
//! reads its claims off the results. One run may serve several claims.

mod effect;
mod error;
mod health;
mod network_models;
mod order;
mod plan;
mod prism;
mod ptcp;
mod queueing;
mod r2cp;
mod rcp;
pub mod report;
mod reported;
mod selection;
mod tcp_door;
mod tcp_ho;
pub mod verdict;

use crate::jobs;
use crate::run::{self, RunOptions};
pub use error::ClaimsError;
use plan::{Job, Outcomes, Scope};
use prismux_scenario::registry::Backend;
use prismux_trace::results::RunResult;
pub use report::Report;
use selection::Selection;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use verdict::Finding;

/// What is to be judged, and how.
#[derive(Debug, Clone)]
pub struct ClaimsRequest {
    /// The system, by its name in [`systems`], or [`ALL`].
    pub name: String,
    /// Only these claims, experiments and figures; all when empty.
    pub only: Vec<String>,
    /// Where to run what both backends can test; the first one's verdict counts.
    pub backends: Vec<Backend>,
    /// Fewer points and shorter runs.
    pub quick: bool,
    /// Independent seeds at each point; `None`: 10, or 3 when quick.
    pub seeds: Option<u64>,
    /// File for the result of every single run, one JSON object on a line.
    pub raw: Option<PathBuf>,
    /// Folder for the curves of the figures, as CSV and JSON (queueing).
    pub out: Option<PathBuf>,
    /// Computes the curves of the figures for the report (queueing).
    pub curves: bool,
    /// Most runs at the same time; `None`: one for each processor, 24 in the lab.
    pub jobs: Option<usize>,
    /// Set from outside to end the runs early.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl ClaimsRequest {
    /// Everything that `name` stands for, in the simulator, in full.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_string(),
            only: Vec::new(),
            backends: vec![Backend::Sim],
            quick: false,
            seeds: None,
            raw: None,
            out: None,
            curves: false,
            jobs: None,
            interrupt: None,
        }
    }
}

/// Who is told how far the runs are; for a progress bar.
pub trait Watcher: Sync {
    /// `runs` runs begin, of which `what` says what they are for.
    fn begins(&self, runs: usize, what: &str);
    /// One of them is done.
    fn one_done(&self);
    /// All of them are done, or one has failed.
    fn ends(&self);
}

/// A watcher that shows nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn begins(&self, _: usize, _: &str) {}
    fn one_done(&self) {}
    fn ends(&self) {}
}

/// One experiment of a paper.
struct Experiment {
    /// Short name, as in the tables of the report ("T1").
    pub id: &'static str,
    /// What it varies and compares.
    pub title: &'static str,
    /// Claims it can judge.
    pub claims: &'static [&'static str],
    /// True if it makes sense in the lab.
    pub lab: bool,
    /// The runs it needs.
    pub jobs: fn(&Scope) -> Result<Vec<Job>, ClaimsError>,
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

/// Claims about models that need no network of packets.
struct Model {
    /// Names of its figures, with the first and the last claim about each.
    figures: &'static [(&'static str, [&'static str; 2])],
    /// All findings, and the tables behind them.
    judge: fn(&Scope) -> (Vec<Finding>, Vec<report::Series>),
    /// Its figures, where they are curves.
    curves: Option<Curves>,
}

/// Figures that are curves.
struct Curves {
    /// Computes them.
    drawings: fn(&Scope) -> Vec<report::Drawing>,
    /// Writes them into a folder.
    write: fn(&Path, &[report::Drawing]) -> Result<(), ClaimsError>,
}

impl System {
    fn curves(&self) -> Option<&Curves> {
        self.model.as_ref().and_then(|model| model.curves.as_ref())
    }
}

/// What can be reproduced.
const SYSTEMS: &[System] = &[
    System { name: "prism", claims: reported::PRISM, experiments: prism::EXPERIMENTS, model: None },
    System { name: "tcp-ho", claims: reported::TCP_HO, experiments: tcp_ho::EXPERIMENTS, model: None },
    System { name: "rcp", claims: reported::RCP, experiments: rcp::EXPERIMENTS, model: None },
    System { name: "r2cp", claims: reported::R2CP, experiments: r2cp::EXPERIMENTS, model: None },
    System { name: "ptcp", claims: reported::PTCP, experiments: ptcp::EXPERIMENTS, model: None },
    System { name: "striping", claims: reported::STRIPING, experiments: ptcp::EXPERIMENTS, model: None },
    System {
        name: "queueing",
        claims: reported::QUEUEING,
        experiments: &[],
        model: Some(Model {
            figures: queueing::FIGURES,
            judge: queueing::judge,
            curves: Some(Curves { drawings: queueing::drawings, write: queueing::write_curves }),
        }),
    },
    System { name: "tcp-door", claims: reported::TCP_DOOR, experiments: tcp_door::EXPERIMENTS, model: None },
    System {
        name: "network-models",
        claims: reported::NETWORK_MODELS,
        experiments: network_models::EXPERIMENTS,
        model: Some(Model { figures: network_models::FIGURES, judge: network_models::judge, curves: None }),
    },
];

/// The name of all systems together.
pub const ALL: &str = "all";

/// Names of the systems whose claims can be judged.
pub fn systems() -> impl Iterator<Item = &'static str> {
    SYSTEMS.iter().map(|system| system.name)
}

/// Whether `request` names what exists and makes sense, before any run.
///
/// # Errors
/// [`ClaimsError::Usage`], with what is expected.
pub fn check(request: &ClaimsRequest) -> Result<(), ClaimsError> {
    selected(request).map(drop)
}

/// Does the runs that the claims need and judges each claim; one report for each system that has any.
///
/// Runs in the lab need the privileges of `prismux_linux::privileges::ensure_privileges`, obtained before.
///
/// # Errors
/// [`ClaimsError::Usage`] for names that do not exist and options that make no sense together, [`ClaimsError::Run`]
/// when a run fails, [`ClaimsError::Write`] when a file cannot be written.
pub fn judge(request: &ClaimsRequest, watcher: &dyn Watcher) -> Result<Vec<Report>, ClaimsError> {
    let mut reports = Vec::new();
    let mut done = Done::new();
    for selection in selected(request)? {
        let own =
            if selection.system.experiments.is_empty() { &[Backend::Sim] } else { &request.backends[..] };
        let answers: Result<Vec<Answer>, ClaimsError> =
            own.iter().map(|&backend| reproduce(request, watcher, &selection, backend, &mut done)).collect();
        let Selection { system, claims, .. } = selection;
        reports.push(Report { system: system.name, claims, answers: answers? });
    }
    Ok(reports)
}

/// What `request` asks for of each system.
fn selected(request: &ClaimsRequest) -> Result<Vec<Selection>, ClaimsError> {
    let selections = selection::select(&find(&request.name)?, &request.only)?;
    // Of all systems, those do without a network that know none.
    if let [selection] = selections.as_slice() {
        check_options(selection.system, request)?;
    }
    Ok(selections)
}

/// The systems that `name` stands for.
fn find(name: &str) -> Result<Vec<&'static System>, ClaimsError> {
    let found: Vec<&System> = SYSTEMS.iter().filter(|system| name == ALL || system.name == name).collect();
    if found.is_empty() {
        let names: Vec<&str> = systems().chain([ALL]).collect();
        let expected = names.join(", ");
        let message = format!("there is nothing called \"{name}\" to reproduce\n  expected: {expected}");
        return Err(ClaimsError::Usage(message));
    }
    Ok(found)
}

/// Options must make sense for the system.
fn check_options(system: &System, request: &ClaimsRequest) -> Result<(), ClaimsError> {
    let name = system.name;
    let complaint = if system.curves().is_none() && request.out.is_some() {
        format!("{name} has no curves to write\n  expected: no --out")
    } else if system.experiments.is_empty() && request.backends != [Backend::Sim] {
        format!("{name} runs on no network\n  expected: no --on")
    } else if system.experiments.is_empty() && request.raw.is_some() {
        format!("{name} has no single runs to write\n  expected: no --raw")
    } else {
        return Ok(());
    };
    Err(ClaimsError::Usage(complaint))
}

/// What one backend says.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The backend.
    pub backend: Backend,
    /// Findings about its claims.
    pub findings: Vec<Finding>,
    /// The tables behind them.
    pub series: Vec<report::Series>,
    /// Figures that are curves.
    pub drawings: Vec<report::Drawing>,
    /// Experiments that test nothing, each with the knob that changes nothing: their claims have no verdict.
    pub errors: Vec<String>,
}

/// Results so far by backend, experiment, point and seed: what serves the claims of two systems is run once.
type Done = BTreeMap<(String, &'static str, String, u64), RunResult>;

/// Does those of `work` that are not in `done`; all their results, in the order of `work`.
fn results_of(
    work: &[(&'static str, Job)],
    request: &ClaimsRequest,
    watcher: &dyn Watcher,
    system: &str,
    backend: Backend,
    done: &mut Done,
) -> Result<Vec<RunResult>, ClaimsError> {
    let key = |(id, job): &(&'static str, Job)| (backend.to_string(), *id, job.key.clone(), job.seed);
    let fresh: Vec<(&'static str, Job)> =
        work.iter().filter(|item| !done.contains_key(&key(item))).cloned().collect();
    let parallel = request.jobs.unwrap_or(match backend {
        Backend::Sim => jobs::processors(),
        // Slow links leave the processors idle; what limits is the packets of all runs together.
        Backend::Lab => 24,
    });
    watcher.begins(fresh.len(), &format!("reproducing {system} ({backend})"));
    let once = |(_, job): &(&'static str, Job)| {
        let options =
            RunOptions { seed: job.seed, interrupt: request.interrupt.clone(), ..RunOptions::default() };
        run::run(&job.scenario, backend, &options)
    };
    let results = jobs::run(&fresh, parallel, once, || watcher.one_done());
    watcher.ends();
    let results = results?;
    if let Some(path) = &request.raw {
        write_raw(path, &fresh, &results)?;
    }
    done.extend(fresh.iter().map(key).zip(results));
    Ok(work.iter().filter_map(|item| done.get(&key(item)).cloned()).collect())
}

fn reproduce(
    request: &ClaimsRequest,
    watcher: &dyn Watcher,
    selection: &Selection,
    backend: Backend,
    done: &mut Done,
) -> Result<Answer, ClaimsError> {
    let system = selection.system;
    let seeds = request.seeds.unwrap_or(if request.quick { 3 } else { 10 });
    let scope = Scope { seeds, quick: request.quick };
    let possible = |experiment: &&Experiment| backend == Backend::Sim || experiment.lab;
    let experiments: Vec<&Experiment> =
        system.experiments.iter().filter(possible).filter(|e| selection.needs(e)).collect();
    let mut work = Vec::new();
    for experiment in &experiments {
        for mut job in (experiment.jobs)(&scope)? {
            // What health asks for: of networks with a proxy alone, whose controller lost ACKs mislead.
            job.scenario.plan.measure.lost_acks =
                backend == Backend::Sim && !job.scenario.plan.proxies().is_empty();
            work.push((experiment.id, job));
        }
    }
    let results = results_of(&work, request, watcher, system.name, backend, done)?;
    let mut answer = Answer {
        backend,
        findings: Vec::new(),
        series: Vec::new(),
        drawings: Vec::new(),
        errors: Vec::new(),
    };
    for experiment in experiments {
        let own = work.iter().zip(&results).filter(|((id, _), _)| *id == experiment.id);
        let runs: Vec<(&Job, &RunResult)> = own.map(|((_, job), result)| (job, result)).collect();
        let (mut findings, series) = (experiment.judge)(&Outcomes::new(runs.iter().copied()));
        if let Some(remark) = effect::repeated_points(&runs) {
            findings.iter_mut().for_each(|finding| finding.add_remark(&remark));
        }
        if let Some(values) = effect::knob_without_effect(&runs) {
            let error =
                format!("{}: what varies changes nothing, every run is the same at {values}", experiment.id);
            findings.iter_mut().for_each(|finding| finding.cannot_tell(&error));
            answer.errors.push(error);
        }
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
    if let Some(curves) = system.curves() {
        if request.curves || request.out.is_some() {
            answer.drawings = (curves.drawings)(&scope);
        }
        if let Some(folder) = &request.out {
            (curves.write)(folder, &answer.drawings)?;
        }
    }
    Ok(answer)
}

/// One line for every run: experiment, point and result.
fn write_raw(path: &Path, work: &[(&'static str, Job)], results: &[RunResult]) -> Result<(), ClaimsError> {
    let fail = |source| ClaimsError::Write { path: path.to_path_buf(), source };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    let mut out: BufWriter<File> = BufWriter::new(file.map_err(fail)?);
    for ((experiment, job), result) in work.iter().zip(results) {
        let line = serde_json::json!({ "experiment": experiment, "point": job.key, "result": result });
        writeln!(out, "{line}").map_err(fail)?;
    }
    out.flush().map_err(fail)
}
