//! What can go wrong with a download.
use crate::partial::PartialError;
use std::fmt;
use std::io;

/// Why a file was not fetched.
#[derive(Debug)]
pub enum FetchError {
    /// The request makes no sense on this machine.
    Usage(String),
    /// It was tried.
    Failed(String),
    /// The user wanted it to end. What was received is kept.
    Interrupted {
        /// Bytes that are here.
        received_bytes: u64,
        /// Of how many, if that is known.
        size: Option<u64>,
    },
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(why) | Self::Failed(why) => f.write_str(why),
            Self::Interrupted { received_bytes, size: Some(size) } => write!(
                f,
                "interrupted with {received_bytes} of {size} bytes; the same command goes on from there"
            ),
            Self::Interrupted { .. } => f.write_str("interrupted before any server answered"),
        }
    }
}

impl std::error::Error for FetchError {}

impl From<PartialError> for FetchError {
    fn from(error: PartialError) -> Self {
        match error {
            PartialError::Exists(_) | PartialError::Sidecar(..) => Self::Usage(error.to_string()),
            _ => Self::Failed(error.to_string()),
        }
    }
}

impl From<io::Error> for FetchError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}
