//! Nodes with rules of their own: where they are kept.
use super::node::Node;
use crate::core::ids::NodeId;

/// How a node forwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forwarding {
    /// By its table of next hops, if routes lead through it at all (hosts are left out by routing).
    Table,
    /// By a rule of its own, kept at this place.
    Rule(u32),
}

/// A node with a rule of its own.
#[derive(Debug)]
pub(crate) struct RuleNode {
    pub node: NodeId,
    /// Absent while it acts.
    pub rule: Option<Box<dyn Node>>,
}
