//! What can stop a lab, and what to do about it.
use crate::tun::TunError;
use std::{fmt, io};

/// Why a lab could not be built or run.
#[derive(Debug)]
pub enum LabError {
    /// Neither the capabilities for network namespaces nor a way to get them.
    NotPermitted {
        /// What was refused.
        what: &'static str,
        /// What the kernel said.
        source: io::Error,
        /// What to do, as a sentence.
        remedy: String,
    },
    /// The plan does not describe a network that can be built.
    Plan(String),
    /// The kernel refused a step of the set-up.
    Setup {
        /// What was being done, and for which node or link.
        doing: String,
        /// The kernel's answer.
        source: io::Error,
    },
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
    /// The run was interrupted from outside before its end.
    Interrupted,
}

impl LabError {
    /// Wraps the kernel's answer to a step of the set-up.
    pub(crate) fn setup(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Setup { doing, source }
    }

    /// A failure of the flow called `flow`.
    pub(crate) fn flow(flow: &str, what: impl fmt::Display) -> Self {
        Self::Flow { flow: flow.to_owned(), what: what.to_string() }
    }
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPermitted { what, source, remedy } => {
                write!(f, "not permitted to {what} ({source}). {remedy}")
            }
            Self::Plan(what) => f.write_str(what),
            Self::Setup { doing, source } => write!(f, "could not {doing}: {source}"),
            Self::Tun(error) => error.fmt(f),
            Self::Daemon { node, ended } => write!(f, "the daemon on \"{node}\" {ended}"),
            Self::Flow { flow, what } => write!(f, "flow \"{flow}\": {what}"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for LabError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NotPermitted { source, .. } | Self::Setup { source, .. } => Some(source),
            Self::Tun(error) => Some(error),
            _ => None,
        }
    }
}

impl From<TunError> for LabError {
    fn from(error: TunError) -> Self {
        Self::Tun(error)
    }
}
