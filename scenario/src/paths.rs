//! Which way a flow goes: the fewest hops, ties by the order of the links, as both backends route.

use crate::model::{Action, Flow, NodeIndex, Scenario};
use crate::registry::{NodeKind, Transport};
use prismux_units::Duration;
use std::collections::VecDeque;

/// Nodes from `from` to `to`, both included; `None` when no links lead there.
pub(crate) fn shortest(scenario: &Scenario, from: NodeIndex, to: NodeIndex) -> Option<Vec<NodeIndex>> {
    let mut before: Vec<Option<NodeIndex>> = vec![None; scenario.nodes.len()];
    let mut waiting = VecDeque::from([from]);
    while let Some(node) = waiting.pop_front() {
        if node == to {
            let mut path = vec![to];
            while let Some(previous) = before[path[path.len() - 1]].filter(|_| path[path.len() - 1] != from) {
                path.push(previous);
            }
            path.reverse();
            return Some(path);
        }
        for link in &scenario.links {
            let other = match link.ends {
                [a, b] if a == node => b,
                [a, b] if b == node => a,
                _ => continue,
            };
            // Hosts do not forward.
            let passes = other == to || scenario.nodes[other].kind() != NodeKind::Host;
            if passes && other != from && before[other].is_none() {
                before[other] = Some(node);
                waiting.push_back(other);
            }
        }
    }
    None
}

/// The proxy that splits the flow's data over its members, if one does: a TCP flow that enters it and leaves
/// through one of its members to somewhere beyond.
pub fn proxy_of(scenario: &Scenario, flow: &Flow) -> Option<NodeIndex> {
    if flow.via.is_some() || !matches!(flow.transport, Transport::Tcp | Transport::TcpPrism) {
        return None;
    }
    let path = shortest(scenario, flow.from, flow.to)?;
    let inner = path.get(1..path.len() - 1)?;
    inner.iter().enumerate().find_map(|(position, &node)| {
        let is_proxy = scenario.nodes[node].kind() == NodeKind::PrismProxy;
        let members = if is_proxy { scenario.members_of(node) } else { return None };
        inner[position + 1..].iter().any(|later| members.contains(later)).then_some(node)
    })
}

/// When a flow starts and stops, events included.
pub(crate) fn times(scenario: &Scenario, index: usize) -> (Duration, Option<Duration>) {
    let flow = &scenario.flows[index];
    let (mut start, mut stop) = (flow.start, flow.stop);
    for event in &scenario.events {
        match event.action {
            Action::StartFlow(which) if which == index => start = event.at,
            Action::StopFlow(which) if which == index => stop = Some(event.at),
            _ => {}
        }
    }
    (start, stop)
}
