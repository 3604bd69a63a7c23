//! What policies from outside the crates decide.
use std::fmt;
use std::str::FromStr;

/// What a policy from outside decides, in place of what a plan names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyRole {
    /// Which link takes a packet, at every proxy.
    Scheduler,
    /// The window of every sender of TCP.
    Congestion,
    /// The window of the senders of one flow, or of one group of flows, before [`PolicyRole::Congestion`].
    CongestionOf(String),
    /// Which subflow gets a segment, at every sender of MPTCP.
    SubflowScheduler,
    /// Which pipe gets a segment, at every sender of pTCP.
    PipeScheduler,
    /// Which segment a pipe asks for next, at every receiver of R²CP.
    RequestScheduler,
}

/// The word for it in Python, on command lines and in tables; with the flow's name behind a dot.
impl fmt::Display for PolicyRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheduler => f.write_str("scheduler"),
            Self::Congestion => f.write_str("congestion"),
            Self::CongestionOf(flow) => write!(f, "congestion.{flow}"),
            Self::SubflowScheduler => f.write_str("subflow_scheduler"),
            Self::PipeScheduler => f.write_str("pipe_scheduler"),
            Self::RequestScheduler => f.write_str("request_scheduler"),
        }
    }
}

/// A text that is no role of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRole(pub String);

impl fmt::Display for UnknownRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is nothing that a policy decides", self.0)
    }
}

impl std::error::Error for UnknownRole {}

impl FromStr for PolicyRole {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        match (text, text.split_once('.')) {
            ("scheduler", _) => Ok(Self::Scheduler),
            ("congestion", _) => Ok(Self::Congestion),
            ("subflow_scheduler", _) => Ok(Self::SubflowScheduler),
            ("pipe_scheduler", _) => Ok(Self::PipeScheduler),
            ("request_scheduler", _) => Ok(Self::RequestScheduler),
            (_, Some(("congestion", flow))) => Ok(Self::CongestionOf(flow.to_string())),
            _ => Err(UnknownRole(text.to_string())),
        }
    }
}
