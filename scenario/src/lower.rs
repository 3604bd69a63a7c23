//! From a scenario to what a backend builds.

mod lab;
mod simulation;
mod tcp;

pub use lab::to_lab;
pub use simulation::{SimulationPlan, ends_by_itself, to_simulation, transport_name};

use std::fmt;

/// A scenario asks for something that the backend does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// What, and where in the scenario.
    pub what: String,
    /// What to do instead.
    pub remedy: String,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  remedy: {}", self.what, self.remedy)
    }
}

impl std::error::Error for Unsupported {}
