//! Running a scenario on a backend.

use crate::lower::{self, Unsupported};
use crate::model::Scenario;
use crate::registry::Backend;
use prismux_datapath::lab::{self, LabError, LabOptions};
pub use prismux_simulator::SchedulerFactory;
use prismux_simulator::Simulation;
use prismux_trace::event::JsonLines;
use prismux_trace::results::{Named, RunResult};
use prismux_units::Instant;
use std::fmt;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Name of the counter, under `nodes.lab`, of packets that the lab itself lost for want of processor time. A result
/// that has any is not to be trusted.
pub const DEVICE_DROPS: &str = "device_drops";

/// How a run is done, apart from what is run.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Seed of every random stream.
    pub seed: u64,
    /// Folder for a capture of every link.
    pub pcap: Option<PathBuf>,
    /// Folder for what every proxy of the lab is told and decides.
    pub record: Option<PathBuf>,
    /// File for the events of the run.
    pub events: Option<PathBuf>,
    /// Set from outside to end a run early.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Scheduler of every proxy, in place of those that the scenario names (simulator).
    pub scheduler: Option<SchedulerFactory>,
}

/// Why there is no result.
#[derive(Debug)]
pub enum RunError {
    /// The backend lacks something that the scenario asks for.
    Unsupported(Unsupported),
    /// The run could not be done.
    Failed(String),
    /// The run was interrupted.
    Interrupted,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(what) => what.fmt(f),
            Self::Failed(what) => f.write_str(what),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<Unsupported> for RunError {
    fn from(what: Unsupported) -> Self {
        Self::Unsupported(what)
    }
}

/// Runs `scenario` once.
///
/// # Errors
/// [`RunError::Unsupported`] for what only the other backend has, [`RunError::Failed`] when files cannot be written
/// or the lab cannot be built, [`RunError::Interrupted`].
pub fn run(scenario: &Scenario, backend: Backend, options: &RunOptions) -> Result<RunResult, RunError> {
    let mut result = match backend {
        Backend::Sim => simulate(scenario, options)?,
        Backend::Lab => in_lab(scenario, options)?,
    };
    for flow in &scenario.flows {
        if let Some(line) = result.flows.get_mut(&flow.name) {
            line.transport = lower::transport_name(flow).to_string();
        }
    }
    Ok(result)
}

fn simulate(scenario: &Scenario, options: &RunOptions) -> Result<RunResult, RunError> {
    if options.record.is_some() {
        return Err(RunError::Unsupported(Unsupported {
            what: "only the lab has proxies to record".to_string(),
            remedy: "use --events or --pcap, or --on lab".to_string(),
        }));
    }
    let mut plan = lower::to_simulation(scenario, options.seed)?;
    let stem = format!("{}-seed{}", scenario.name.replace(['/', ' '], "-"), options.seed);
    if let Some(factory) = &options.scheduler {
        for &node in &plan.nodes {
            plan.builder.scheduler(node, factory.clone());
        }
    }
    if let Some(folder) = &options.pcap {
        std::fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
        plan.builder.capture(Box::new(create(&folder.join(format!("{stem}.pcapng")))?), &[]);
    }
    if let Some(path) = &options.events {
        plan.builder.log_events(Box::new(JsonLines::new(create(path)?)));
    }
    let mut simulation = plan.builder.build().map_err(|error| RunError::Failed(error.to_string()))?;
    // With a policy from outside the scenario alone does not say what ran.
    let hash = if options.scheduler.is_some() { String::new() } else { crate::hash(scenario) };
    simulation.set_scenario(&scenario.name, &hash);
    pass_time(&mut simulation, scenario, options)?;
    let result = simulation.result();
    if let Some(fault) = simulation.faults().first() {
        // Ours to mend: a result that breaks a rule of its own must not be believed.
        let name = &scenario.name;
        let seed = options.seed;
        return Err(RunError::Failed(format!(
            "the simulator broke a rule in \"{name}\" with seed {seed}: {fault}"
        )));
    }
    simulation.finish().map_err(|error| RunError::Failed(format!("cannot write the trace: {error}")))?;
    Ok(result)
}

/// How often a run looks whether it is to stop: so many times in its duration.
const SLICES: u64 = 1000;

/// Lets the virtual time of the run pass, slice by slice.
fn pass_time(simulation: &mut Simulation, scenario: &Scenario, options: &RunOptions) -> Result<(), RunError> {
    let interrupted = || options.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
    let ends_by_itself = lower::ends_by_itself(scenario);
    for slice in 1..=SLICES {
        let end = Instant::ZERO + scenario.duration;
        let until = if slice == SLICES { end } else { Instant::ZERO + scenario.duration / SLICES * slice };
        if ends_by_itself {
            if simulation.run_to_completion(until) {
                break;
            }
        } else {
            simulation.run_until(until);
        }
        if interrupted() {
            return Err(RunError::Interrupted);
        }
    }
    Ok(())
}

fn in_lab(scenario: &Scenario, options: &RunOptions) -> Result<RunResult, RunError> {
    if options.scheduler.is_some() {
        return Err(RunError::Unsupported(Unsupported {
            what: "the lab takes no scheduler from outside".to_string(),
            remedy: "use --on sim".to_string(),
        }));
    }
    if options.events.is_some() {
        return Err(RunError::Unsupported(Unsupported {
            what: "the lab records no events".to_string(),
            remedy: "leave out --events, or use --on sim".to_string(),
        }));
    }
    let plan = lower::to_lab(scenario, options.seed)?;
    let mut lab_options = LabOptions { interrupt: options.interrupt.clone(), ..LabOptions::default() };
    if let Some(folder) = &options.pcap {
        std::fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
        let name = scenario.name.replace(['/', ' '], "-");
        lab_options.capture = Some(folder.join(format!("{name}-seed{}-lab.pcapng", options.seed)));
    }
    if let Some(folder) = &options.record {
        // The daemons open it from elsewhere.
        let made = std::fs::create_dir_all(folder).and_then(|()| folder.canonicalize());
        lab_options.record = Some(made.map_err(|error| cannot_write(folder, &error))?);
    }
    match lab::run(&plan, &lab_options) {
        Ok(mut outcome) => {
            // Drops by devices of the emulation itself: with any, the machine was too slow for the run.
            let lab = Named::from_iter([(DEVICE_DROPS.to_string(), outcome.device_drops)]);
            outcome.result.nodes.insert("lab".to_string(), lab);
            let damaged = |flow: &lab::FlowOutcome| match (&flow.sha256, &flow.expected_sha256) {
                (Some(received), Some(sent)) => received != sent,
                _ => false,
            };
            match outcome.flows.iter().find(|(_, flow)| damaged(flow)) {
                Some((name, _)) => Err(RunError::Failed(format!(
                    "flow \"{name}\": the bytes received are not those sent (SHA-256 differs)"
                ))),
                None => Ok(outcome.result),
            }
        }
        Err(LabError::Interrupted) => Err(RunError::Interrupted),
        Err(error) => Err(RunError::Failed(error.to_string())),
    }
}

fn create(path: &Path) -> Result<BufWriter<File>, RunError> {
    File::create(path).map(BufWriter::new).map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> RunError {
    RunError::Failed(format!("cannot write {}: {error}", path.display()))
}
