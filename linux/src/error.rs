//! What can stop the making of namespaces and devices, and what to do about it.
use std::{fmt, io};

/// Why a step of a set-up failed.
#[derive(Debug)]
pub enum SetupError {
    /// Neither the capabilities for network namespaces nor a way to get them.
    NotPermitted {
        /// What was refused.
        what: &'static str,
        /// What the kernel said.
        source: io::Error,
        /// What to do, as a sentence.
        remedy: String,
    },
    /// The kernel refused a step.
    Refused {
        /// What was being done, and for which node or link.
        doing: String,
        /// The kernel's answer.
        source: io::Error,
    },
}

impl SetupError {
    /// Wraps the kernel's answer to a step.
    pub fn setup(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::Refused { doing, source }
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPermitted { what, source, remedy } => {
                write!(f, "not permitted to {what} ({source}). {remedy}")
            }
            Self::Refused { doing, source } => write!(f, "could not {doing}: {source}"),
        }
    }
}

impl std::error::Error for SetupError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NotPermitted { source, .. } | Self::Refused { source, .. } => Some(source),
        }
    }
}
