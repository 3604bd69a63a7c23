//! Running a scenario on a backend.

mod doubt;
mod error;
#[cfg(all(feature = "lab", target_os = "linux"))]
mod lab;

use crate::policies::Policies;
use crate::record::EventLog;
pub use doubt::doubt;
pub use error::{RunError, RunFailure};
use prismux_endpoint::random::Seed;
use prismux_plan::Plan;
#[cfg(not(all(feature = "lab", target_os = "linux")))]
use prismux_plan::Unsupported;
use prismux_scenario::Scenario;
use prismux_scenario::registry::Backend;
use prismux_simulator::{Simulation, SimulationError, SimulationOptions};
use prismux_trace::event::{EVENTS_FILE, SharedLog};
use prismux_trace::results::RunResult;
use prismux_units::Instant;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How a run is done, apart from what is run.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Seed of every random stream.
    pub seed: u64,
    /// Folder for a capture of every link.
    pub pcap: Option<PathBuf>,
    /// Folder for a record of the run: its events ([`EVENTS_FILE`]) and, in the lab, what every proxy is told and
    /// decides.
    pub record: Option<PathBuf>,
    /// File for the events of the run, in place of the one in `record`.
    pub events: Option<PathBuf>,
    /// The `prismux` program that the lab starts as daemons, servers and clients; this program itself without.
    pub program: Option<PathBuf>,
    /// Set from outside to end a run early.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Called a thousand times in a run (simulator).
    pub watch: Option<Watch>,
    /// Policies from outside, in place of those that the scenario names (simulator).
    pub policies: Policies,
}

/// Called now and then by the thread that does a run, which it may end with [`RunOptions::interrupt`]. It is for
/// callers that have to look for something on that very thread, and should take little time.
#[derive(Clone)]
pub struct Watch(Arc<dyn Fn() + Send + Sync>);

impl Watch {
    /// Calls `look`.
    pub fn new(look: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

/// Runs `scenario` once.
///
/// # Errors
/// [`RunError::Unsupported`] for what only the other backend has, [`RunError::Failed`] when files cannot be written
/// or the lab cannot be built, [`RunError::Interrupted`].
pub fn run(scenario: &Scenario, backend: Backend, options: &RunOptions) -> Result<RunResult, RunError> {
    let plan = &scenario.plan;
    let log = event_log(plan, backend, options)?;
    let sink = log.as_ref().map(|(log, _)| log.sink());
    let result = match backend {
        Backend::Sim => simulate(plan, options, sink)?,
        #[cfg(all(feature = "lab", target_os = "linux"))]
        Backend::Lab => lab::run(plan, options, sink)?,
        #[cfg(not(all(feature = "lab", target_os = "linux")))]
        Backend::Lab => {
            return Err(RunError::Unsupported(Unsupported {
                what: "this build has no lab, which needs Linux and the feature `lab`".to_string(),
                remedy: "use --on sim, or the program built on Linux".to_string(),
            }));
        }
    };
    if let Some((log, path)) = log {
        log.finish(result.duration_s).map_err(|error| cannot_write(&path, error))?;
    }
    Ok(result)
}

/// The event log that `options` ask for, begun, and where it lies.
fn event_log(
    plan: &Plan,
    backend: Backend,
    options: &RunOptions,
) -> Result<Option<(EventLog, PathBuf)>, RunError> {
    if let Some(folder) = &options.record {
        make_folder(folder)?;
    }
    let in_record = || options.record.as_ref().map(|folder| folder.join(EVENTS_FILE));
    let Some(path) = options.events.clone().or_else(in_record) else { return Ok(None) };
    let log = EventLog::create(&path, plan, backend, options.seed);
    log.map(|log| Some((log, path.clone()))).map_err(|error| cannot_write(&path, error))
}

fn simulate(plan: &Plan, options: &RunOptions, events: Option<SharedLog>) -> Result<RunResult, RunError> {
    let stem = format!("{}-seed{}", plan.name.replace(['/', ' '], "-"), options.seed);
    prismux_simulator::check_supported(plan)?;
    let mut simulated =
        SimulationOptions { policies: options.policies.clone(), ..SimulationOptions::default() };
    let mut captured = PathBuf::new();
    if let Some(folder) = &options.pcap {
        make_folder(folder)?;
        captured = folder.join(format!("{stem}.pcapng"));
        simulated.capture = Some(Box::new(create(&captured)?));
    }
    if let Some(events) = events {
        simulated.events = Some(Box::new(events));
    }
    let simulation = Simulation::from_plan(plan, Seed(options.seed), simulated);
    let mut simulation = simulation.map_err(|error| match error {
        SimulationError::Unsupported(what) => RunError::Unsupported(what),
        error => RunFailure::Simulation(error).into(),
    })?;
    // With a policy from outside the scenario alone does not say what ran.
    let hash = if !options.policies.is_empty() { String::new() } else { prismux_scenario::hash(plan) };
    simulation.set_scenario(&plan.name, &hash);
    pass_time(&mut simulation, plan, options)?;
    let result = simulation.result();
    if let Some(fault) = simulation.faults().first() {
        // Ours to mend: a result that breaks a rule of its own must not be believed.
        let (scenario, seed, fault) = (plan.name.clone(), options.seed, fault.clone());
        return Err(RunFailure::RuleBroken { scenario, seed, fault }.into());
    }
    simulation.finish().map_err(|error| cannot_write(&captured, error))?;
    Ok(result)
}

/// How often a run looks whether it is to stop: so many times in its duration.
const SLICES: u64 = 1000;

/// Lets the virtual time of the run pass, slice by slice.
fn pass_time(simulation: &mut Simulation, plan: &Plan, options: &RunOptions) -> Result<(), RunError> {
    let interrupted = || options.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
    let ends_by_itself = plan.ends_by_itself();
    for slice in 1..=SLICES {
        let end = Instant::ZERO + plan.duration;
        let until = if slice == SLICES { end } else { Instant::ZERO + plan.duration / SLICES * slice };
        if ends_by_itself {
            if simulation.run_to_completion(until) {
                break;
            }
        } else {
            simulation.run_until(until);
        }
        if let Some(Watch(look)) = &options.watch {
            look();
        }
        if interrupted() {
            return Err(RunError::Interrupted);
        }
    }
    Ok(())
}

fn create(path: &Path) -> Result<BufWriter<File>, RunError> {
    File::create(path).map(BufWriter::new).map_err(|error| cannot_write(path, error))
}

fn make_folder(path: &Path) -> Result<(), RunError> {
    std::fs::create_dir_all(path).map_err(|error| match path.exists() && !path.is_dir() {
        true => {
            cannot_write(path, io::Error::new(io::ErrorKind::NotADirectory, "it is there, and no folder"))
        }
        false => cannot_write(path, error),
    })
}

fn cannot_write(path: &Path, source: io::Error) -> RunError {
    RunFailure::CannotWrite { path: path.to_owned(), source }.into()
}
