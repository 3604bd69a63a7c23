//! Nodes with rules of their own: where they are kept, and how they are called.
use super::{Node, NodeContext, Transit};
use crate::core::ids::NodeId;
use crate::core::packet::Carried;
use crate::network::Network;
use std::any::Any;

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

impl Network {
    /// A packet is at a node that sends it or has a rule of its own.
    pub fn pass(&mut self, node: NodeId, size_bytes: u32, carried: Carried) {
        match self.forwarding[node.index()] {
            Forwarding::Table if carried.towards == node => self.local.push_back(carried.packet),
            Forwarding::Table => self.forward(node, size_bytes, carried),
            Forwarding::Rule(place) => {
                self.with_rule(place, |rule, context| rule.arrive(context, Transit { size_bytes, carried }));
            }
        }
    }

    /// A time that a node with a rule of its own waited for has come.
    #[inline(never)] // Rare: the loop stays small.
    pub fn node_timeout(&mut self, place: u32) {
        self.with_rule(place, |rule, context| rule.timeout(context));
    }

    /// Lets the node at `place` act.
    pub fn with_rule<R>(
        &mut self,
        place: u32,
        act: impl FnOnce(&mut dyn Node, &mut NodeContext<'_>) -> R,
    ) -> Option<R> {
        let RuleNode { node, rule } = &mut self.rules[place as usize];
        let (node, mut rule) = (*node, rule.take()?);
        let result = act(&mut *rule, &mut NodeContext { network: self, node, place });
        self.rules[place as usize].rule = Some(rule);
        Some(result)
    }

    /// Lets the node act if its rule is of type `T`.
    pub fn with_node_as<T: Node, R>(
        &mut self,
        node: NodeId,
        act: impl FnOnce(&mut T, &mut NodeContext<'_>) -> R,
    ) -> Option<R> {
        let Forwarding::Rule(place) = self.forwarding[node.index()] else { return None };
        self.with_rule(place, |rule, context| {
            let rule: &mut dyn Any = rule;
            rule.downcast_mut().map(|rule| act(rule, context))
        })?
    }

    /// The node's rule, if it is of type `T`.
    pub fn node_as<T: Node>(&self, node: NodeId) -> Option<&T> {
        let Forwarding::Rule(place) = self.forwarding[node.index()] else { return None };
        let rule: &dyn Any = &**self.rules[place as usize].rule.as_ref()?;
        rule.downcast_ref()
    }
}
