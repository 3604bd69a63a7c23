//! What can stop a lab, and what to do about it.
use prismux_linux::SetupError;
use prismux_linux::tun::TunError;
use prismux_plan::{PlanError, Unsupported};
use std::{fmt, io};

/// Why a lab could not be built or run.
#[derive(Debug)]
pub enum LabError {
    /// The plan makes no sense.
    Plan(PlanError),
    /// The lab lacks something that the plan asks for.
    Unsupported(Unsupported),
    /// The plan asks for a network that one machine's kernel cannot be.
    Layout(String),
    /// The set-up failed.
    Setup(SetupError),
    /// A TUN device could not be made.
    Tun(TunError),
    /// A proxy or member daemon ended by itself.
    Daemon {
        /// The node it served.
        node: String,
        /// How it ended and what it said last.
        ended: String,
    },
    /// A flow could not do its work.
    Flow {
        /// The flow's name.
        flow: String,
        /// What went wrong.
        what: String,
    },
    /// A program of the user's own could not be started.
    Program {
        /// The program's name in the plan.
        program: String,
        /// What went wrong.
        source: io::Error,
    },
    /// The run was interrupted from outside before its end.
    Interrupted,
}

impl LabError {
    /// Wraps the kernel's answer to a step of the set-up.
    pub(crate) fn setup(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Setup(SetupError::Refused { doing, source })
    }

    /// A failure of the flow called `flow`.
    pub(crate) fn flow(flow: &str, what: impl fmt::Display) -> Self {
        Self::Flow { flow: flow.to_owned(), what: what.to_string() }
    }
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => error.fmt(f),
            Self::Unsupported(error) => error.fmt(f),
            Self::Layout(what) => f.write_str(what),
            Self::Setup(error) => error.fmt(f),
            Self::Tun(error) => error.fmt(f),
            Self::Daemon { node, ended } => write!(f, "the daemon on \"{node}\" {ended}"),
            Self::Flow { flow, what } => write!(f, "flow \"{flow}\": {what}"),
            Self::Program { program, source } => write!(f, "program \"{program}\" cannot be run: {source}"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for LabError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Setup(error) => error.source(),
            Self::Tun(error) => Some(error),
            Self::Program { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<TunError> for LabError {
    fn from(error: TunError) -> Self {
        Self::Tun(error)
    }
}

impl From<SetupError> for LabError {
    fn from(error: SetupError) -> Self {
        Self::Setup(error)
    }
}
