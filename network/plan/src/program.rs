//! Programs of the user's own, on the nodes of a plan.
use crate::NodeId;
use alloc::string::String;
use alloc::vec::Vec;
use prismux_units::Duration;

/// A program that runs on a node, where hosts have real processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Name, unique among the programs of a plan.
    pub name: String,
    /// The node on which it runs.
    pub node: NodeId,
    /// The program and its arguments. In each of them `{NAME}` stands for an address: that of a node, or that at which
    /// the data of a flow arrive.
    pub command: Vec<String>,
    /// When it starts.
    pub start: Duration,
    /// When it is told to end, if before the end of the run.
    pub stop: Option<Duration>,
}
