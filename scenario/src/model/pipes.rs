//! Flows over several RCP pipes.

use super::{LinkIndex, NodeIndex};
use prismux_r2cp::Scheduling;
use prismux_units::{Duration, Rate};

/// The pipes of an R²CP flow and how it uses them.
#[derive(Debug, Clone, PartialEq)]
pub struct R2cpSettings {
    /// The pipes in order of the file, at least one.
    pub pipes: Vec<Pipe>,
    /// Which segment a pipe asks for next.
    pub scheduling: Scheduling,
    /// The rate at which the stream is wanted.
    pub target_rate: Option<Rate>,
}

impl Default for R2cpSettings {
    fn default() -> Self {
        Self { pipes: Vec::new(), scheduling: Scheduling::ExpectedArrival, target_rate: None }
    }
}

/// A pipe of an R²CP flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipe {
    /// Name.
    pub name: String,
    /// Who serves it.
    pub server: NodeIndex,
    /// The link it uses; `None` leaves that to routing.
    pub link: Option<LinkIndex>,
    /// Its cost.
    pub cost: u8,
    /// When it opens.
    pub opens: Duration,
    /// When it ends in peace.
    pub closes: Option<Duration>,
    /// When its interface is gone.
    pub drops: Option<Duration>,
}
