//! Nodes with rules of their own: how they are called.
use super::Network;
use crate::core::ids::NodeId;
use crate::core::packet::{Carried, Transit};
use crate::nodes::context::NodeContext;
use crate::nodes::node::Node;
use crate::nodes::rule::{Forwarding, RuleNode};
use std::any::Any;

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

    /// The place of a node among those with rules of their own, if it has one.
    pub fn rule_of(&self, node: NodeId) -> Option<u32> {
        match self.forwarding.get(node.index())? {
            Forwarding::Table => None,
            Forwarding::Rule(place) => Some(*place),
        }
    }

    /// The run begins for nodes with rules of their own.
    pub fn start_rules(&mut self) {
        for place in 0..self.rules.len() as u32 {
            self.with_rule(place, |rule, context| rule.start(context));
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
        self.with_rule(self.rule_of(node)?, |rule, context| {
            let rule: &mut dyn Any = rule;
            rule.downcast_mut().map(|rule| act(rule, context))
        })?
    }

    /// The node's rule, if it is of type `T`.
    pub fn node_as<T: Node>(&self, node: NodeId) -> Option<&T> {
        let rule: &dyn Any = &**self.rules[self.rule_of(node)? as usize].rule.as_ref()?;
        rule.downcast_ref()
    }
}
