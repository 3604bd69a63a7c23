//! How a command ends when it does not succeed.

use prismux_plan::Unsupported;
use prismux_scenario::ScenarioError;
use prismux_study::claims::ClaimsError;
use prismux_study::run::RunError;
use std::fmt;
use std::io;
use std::process::ExitCode;

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It tried and failed: exit code 1.
    Failed(String),
    /// It was asked for something that makes no sense, or given a bad file: exit code 2.
    Usage(String),
    /// Nobody reads the output any more: no message, exit code 0.
    PipeClosed,
    /// Interrupted by the user: exit code 130, as shells count.
    Interrupted,
}

impl Failure {
    /// Prints what went wrong and gives the exit code.
    pub fn report(self) -> ExitCode {
        match self {
            Self::Failed(message) => {
                eprintln!("error: {message}");
                ExitCode::from(1)
            }
            Self::Usage(message) => {
                eprintln!("error: {message}");
                ExitCode::from(2)
            }
            Self::PipeClosed => ExitCode::SUCCESS,
            Self::Interrupted => {
                eprintln!("interrupted");
                ExitCode::from(130)
            }
        }
    }

    /// A failure with what was being done.
    pub fn failed(what: impl fmt::Display) -> Self {
        Self::Failed(what.to_string())
    }
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<Unsupported> for Failure {
    fn from(error: Unsupported) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Unsupported(what) => what.into(),
            RunError::Failed(why) => Self::failed(why),
            RunError::Interrupted => Self::Interrupted,
        }
    }
}

impl From<ClaimsError> for Failure {
    fn from(error: ClaimsError) -> Self {
        match error {
            ClaimsError::Usage(what) => Self::Usage(what),
            ClaimsError::Scenario(error) => error.into(),
            ClaimsError::Run(error) => error.into(),
            other => Self::failed(other),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::PipeClosed,
            _ => Self::Failed(error.to_string()),
        }
    }
}
