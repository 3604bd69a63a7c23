//! Running a scenario on a backend.

use crate::lower::Unsupported;
use crate::model::Scenario;
use crate::registry::{self, Backend, name_of};
use prismux_trace::results::RunResult;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How a run is done, apart from what is run.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Seed of every random stream.
    pub seed: u64,
    /// Folder for a capture of every link.
    pub pcap: Option<PathBuf>,
    /// File for the events of the run.
    pub events: Option<PathBuf>,
    /// Set from outside to end a run in real time early.
    pub interrupt: Option<Arc<AtomicBool>>,
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
pub fn run(scenario: &Scenario, backend: Backend, options: &RunOptions) -> Result<RunResult, RunError> {
    let _ = options;
    Err(RunError::Failed(format!(
        "the backend \"{}\" is not part of this build",
        name_of(registry::BACKENDS, &backend)
    )))
    .map(|()| unreachable_result(scenario))
}

fn unreachable_result(_: &Scenario) -> RunResult {
    unimplemented!()
}
