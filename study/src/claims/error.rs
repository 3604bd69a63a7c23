//! Why claims could not be judged.
use crate::run::RunError;
use prismux_scenario::ScenarioError;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why there is no verdict.
#[derive(Debug)]
pub enum ClaimsError {
    /// Something was asked for that does not exist or makes no sense; says what is expected.
    Usage(String),
    /// An experiment's scenario cannot be read: a fault of this program.
    Scenario(ScenarioError),
    /// An experiment's scenario is not among those shipped: a fault of this program.
    MissingScenario(String),
    /// A table of reported results cannot be read: a fault of this program.
    Table(toml::de::Error),
    /// A run failed.
    Run(RunError),
    /// A file could not be written.
    Write {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

impl fmt::Display for ClaimsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(what) => f.write_str(what),
            Self::Scenario(error) => error.fmt(f),
            Self::MissingScenario(name) => write!(f, "the scenario \"{name}\" is missing"),
            Self::Table(error) => error.fmt(f),
            Self::Run(error) => error.fmt(f),
            Self::Write { path, source } => write!(f, "cannot write {}: {source}", path.display()),
        }
    }
}

impl std::error::Error for ClaimsError {}

impl From<ScenarioError> for ClaimsError {
    fn from(error: ScenarioError) -> Self {
        Self::Scenario(error)
    }
}

impl From<RunError> for ClaimsError {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}
