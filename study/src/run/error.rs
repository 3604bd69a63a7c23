//! Why a run has no result.
use prismux_plan::Unsupported;
use prismux_simulator::SimulationError;
use std::path::PathBuf;
use std::{fmt, io};

/// Why there is no result.
#[derive(Debug)]
pub enum RunError {
    /// The backend lacks something that the scenario asks for.
    Unsupported(Unsupported),
    /// The run could not be done, or its result cannot be believed.
    Failed(RunFailure),
    /// The run was interrupted.
    Interrupted,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(what) => what.fmt(f),
            Self::Failed(why) => why.fmt(f),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for RunError {}

/// What kept a run from a result.
#[derive(Debug)]
pub enum RunFailure {
    /// A file or a folder could not be written.
    CannotWrite {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// No network could be built in the simulator.
    Simulation(SimulationError),
    /// The simulator broke a rule of its own.
    RuleBroken {
        /// The scenario.
        scenario: String,
        /// Seed of the run.
        seed: u64,
        /// What was found.
        fault: String,
    },
    /// The lab could not be built or run.
    Lab(Box<dyn std::error::Error + Send + Sync>),
    /// What arrived is not what was sent.
    Damaged {
        /// The flow.
        flow: String,
    },
    /// A program that carried a flow failed. (A connection of the kernel's that fails is a result.)
    Program {
        /// The flow.
        flow: String,
        /// What the program says.
        why: String,
    },
}

impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CannotWrite { path, source } => write!(f, "cannot write {}: {source}", path.display()),
            Self::Simulation(error) => error.fmt(f),
            Self::RuleBroken { scenario, seed, fault } => {
                write!(f, "the simulator broke a rule in \"{scenario}\" with seed {seed}: {fault}")
            }
            Self::Lab(error) => error.fmt(f),
            Self::Damaged { flow } => {
                write!(f, "flow \"{flow}\": the bytes received are not those sent (SHA-256 differs)")
            }
            Self::Program { flow, why } => write!(f, "flow \"{flow}\": {why}"),
        }
    }
}

impl std::error::Error for RunFailure {}

impl From<RunFailure> for RunError {
    fn from(why: RunFailure) -> Self {
        Self::Failed(why)
    }
}

impl From<Unsupported> for RunError {
    fn from(what: Unsupported) -> Self {
        Self::Unsupported(what)
    }
}
