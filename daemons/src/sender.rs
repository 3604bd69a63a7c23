//! TCP-PRISM on an unmodified kernel: the sender's half of loss reports, as programs that the kernel runs.
//!
//! * `programs`, `control`: what they do. `window`: what both share. [`counters`]: what they count. [`setup`]: putting
//!   them in and taking them out.
//!
//! A connection stays with the congestion control that it has until a proxy reports a loss to it. Then it goes over to
//! `prismux`, which grows as the kernel's CUBIC does and decreases by what the reports say. The host's default is never
//! touched.
mod control;
pub mod counters;
mod programs;
pub mod setup;
mod window;

use std::{fmt, io};

/// The congestion control's name, as the kernel lists it.
pub const CONGESTION_CONTROL: &str = "prismux";

/// Why the sender's programs could not be put in or taken out. Nothing is changed then.
#[derive(Debug)]
pub enum SenderError {
    /// The kernel lacks something.
    Lacking {
        /// What, and since when kernels have it.
        what: String,
    },
    /// Root's privileges are needed.
    NotPermitted,
    /// It is enabled already, for this cgroup.
    AlreadyEnabled {
        /// Folder of the cgroup.
        cgroup: String,
    },
    /// It is not enabled.
    NotEnabled,
    /// The kernel refused a step.
    Refused {
        /// What was being done.
        doing: String,
        /// The kernel's answer.
        source: io::Error,
    },
}

impl SenderError {
    fn refused(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| match source.kind() {
            io::ErrorKind::PermissionDenied => Self::NotPermitted,
            _ if source.raw_os_error() == Some(libc::ENOSYS) => {
                Self::Lacking { what: "bpf(2) (CONFIG_BPF_SYSCALL)".to_string() }
            }
            _ => Self::Refused { doing, source },
        }
    }
}

impl fmt::Display for SenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lacking { what } => write!(
                f,
                "this kernel lacks {what}; nothing was changed. Senders go on with their own congestion control, which \
                 the proxy's default settings serve without reports"
            ),
            Self::NotPermitted => f.write_str(
                "not permitted to put programs into the kernel; nothing was changed. Run as root (CAP_BPF, \
                 CAP_NET_ADMIN and CAP_SYS_ADMIN, outside of containers)",
            ),
            Self::AlreadyEnabled { cgroup } => write!(
                f,
                "the sender is enabled already, for {cgroup}; `prismux sender disable` takes it out first"
            ),
            Self::NotEnabled => f.write_str("the sender is not enabled; nothing to disable"),
            Self::Refused { doing, source } => {
                write!(f, "could not {doing}: {source}; nothing was changed")
            }
        }
    }
}

impl std::error::Error for SenderError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Refused { source, .. } => Some(source),
            _ => None,
        }
    }
}
