//! A host moves from one of its links to another, and keeps its address.
use super::{MAIN_TABLE, NodeIndex, RouteEntry, Topology};
use crate::LabError;
use crate::orders::{Carrier, Orders};
use prismux_plan::{Action, NodeId};
use std::net::Ipv4Addr;

impl Topology {
    /// The routes that a handoff of `host` to the link number `link` of the plan sets, each with its node: all that the
    /// host sends leaves by that link, and all that is for its own addresses goes to the link's other end first, as in
    /// the simulator. Empty when the link does not end at the host.
    pub fn hand_over(&self, host: NodeIndex, link: usize) -> Vec<(NodeIndex, RouteEntry)> {
        let ends_with = |node: NodeIndex| self.nodes[node].ports.iter().position(|port| port.link == link);
        let Some(outwards) = ends_with(host) else { return Vec::new() };
        let access = self.nodes[host].ports[outwards].neighbour;
        let towards_access = self.ports_towards(access);
        let mut routes = Vec::new();
        for node in (0..self.nodes.len()).filter(|&node| node != host) {
            let entry = |destination, port, from| RouteEntry {
                table: MAIN_TABLE,
                destination: Some(destination),
                port,
                source: Some(self.address(from)),
            };
            routes.extend(self.own_addresses(node).map(|to| (host, entry(to, outwards, host))));
            let inwards = if node == access { ends_with(access) } else { towards_access[node] };
            if let Some(port) = inwards {
                routes.extend(self.own_addresses(host).map(|to| (node, entry(to, port, node))));
            }
        }
        routes
    }

    /// The addresses that a node has whichever way packets take: its own, and those of its own senders.
    fn own_addresses(&self, node: NodeIndex) -> impl Iterator<Item = Ipv4Addr> + '_ {
        let senders = self.nodes[node].own_senders.iter().map(|(_, address)| *address);
        std::iter::once(self.address(node)).chain(senders)
    }

    /// Refuses a handoff of a host at which a flow ends that is tied to links: through a member, taken over by a proxy,
    /// or by the pipes of `prismux fetch`. Its routes are its own, and the handoff would not move them.
    pub(super) fn check_handoffs(&self, orders: &Orders<'_>) -> Result<(), LabError> {
        for event in &orders.plan.events {
            let Action::Handoff { host, link: Some(_), .. } = event.action else { continue };
            let fixed = |from: NodeId, to: NodeId| {
                let ends = (from.index(), to.index());
                self.made.keys().any(|&(from, to, _)| (from, to) == ends)
            };
            let tied = orders.flows.iter().find(|orders| {
                let flow = orders.flow;
                [flow.from, flow.to].contains(&host)
                    && (matches!(orders.carrier, Carrier::Fetch(_)) || fixed(flow.from, flow.to))
            });
            if let Some(tied) = tied {
                return Err(LabError::Layout(format!(
                    "\"{}\" hands over, but its flow \"{}\" is tied to links, by a member, a proxy or pipes\n  remedy: \
                     a flow by routing (without via, past no proxy), or --on sim",
                    orders.plan[host].name, tied.flow.name
                )));
            }
        }
        Ok(())
    }
}
