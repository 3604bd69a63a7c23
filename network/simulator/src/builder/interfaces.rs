//! Addresses of multi-homed hosts: one for every access link that some flow names, so that packets come and go by it.
use super::NetworkBuilder;
use crate::core::ids::{LinkIndex, NodeId, PortId};
use crate::flows::FlowConfig;
use crate::nodes::routing::{Place, Routes};

/// A host's address on one of its links.
#[derive(Debug, Clone, Copy)]
struct Interface {
    host: NodeId,
    link: LinkIndex,
    /// The host's exit into the link, and the link's into the host.
    exit: PortId,
    entry: PortId,
    /// The node at the other end.
    neighbour: NodeId,
}

/// All of them, numbered after the nodes.
#[derive(Debug)]
pub(crate) struct Interfaces {
    nodes: usize,
    list: Vec<Interface>,
}

impl NetworkBuilder {
    /// The links of a flow, one for each pipe: those it names, else all of the multi-homed end.
    pub(crate) fn access_links(&self, flow: &FlowConfig) -> Vec<LinkIndex> {
        if !flow.links.is_empty() || flow.transport.get().max_links() == 1 {
            return flow.links.clone();
        }
        let of = |node: NodeId| -> Vec<LinkIndex> {
            let ends_there = |index: &usize| self.links[*index].ends.contains(&node);
            (0..self.links.len()).filter(ends_there).map(|index| LinkIndex(index as u32)).collect()
        };
        let (from, to) = (of(flow.from), of(flow.to));
        if from.len() > 1 || to.len() <= 1 { from } else { to }
    }
}

impl Interfaces {
    /// Those that the flows of `builder` need.
    pub(crate) fn of(builder: &NetworkBuilder) -> Self {
        let mut interfaces = Self { nodes: builder.nodes.len(), list: Vec::new() };
        for flow in builder.flows.iter().map(|plan| &plan.config) {
            for link in builder.access_links(flow) {
                interfaces.add(builder, link, [flow.from, flow.to]);
            }
            for (host, link) in flow.transport.get().further_hosts() {
                interfaces.add(builder, link, [host, flow.to]);
            }
        }
        interfaces
    }

    /// Of these hosts, those that `link` touches have an address on it.
    fn add(&mut self, builder: &NetworkBuilder, link: LinkIndex, hosts: [NodeId; 2]) {
        let ends = builder.links[link.index()].ends;
        for host in hosts {
            let known = self.address(host, link) != host;
            if known || !ends.contains(&host) {
                continue;
            }
            let outward = ends[0] == host;
            let (exit, entry) = match outward {
                true => (link.forward(), link.reverse()),
                false => (link.reverse(), link.forward()),
            };
            let neighbour = if outward { ends[1] } else { ends[0] };
            self.list.push(Interface { host, link, exit, entry, neighbour });
        }
    }

    /// The host of each address, in order.
    pub(crate) fn hosts(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.list.iter().map(|interface| interface.host)
    }

    /// The address of `host` on `link`; the host's own where it has none there.
    pub(crate) fn address(&self, host: NodeId, link: LinkIndex) -> NodeId {
        let at = self.list.iter().position(|interface| interface.host == host && interface.link == link);
        at.map_or(host, |index| NodeId((self.nodes + index) as u32))
    }

    /// Addresses of both ends of a flow, as far as one address will do.
    pub(crate) fn ends_of(&self, flow: &FlowConfig) -> (NodeId, NodeId) {
        match flow.links.as_slice() {
            [link] if flow.transport.get().max_links() == 1 => {
                (self.address(flow.from, *link), self.address(flow.to, *link))
            }
            _ => (flow.from, flow.to),
        }
    }

    /// From where to where packets of a flow must find a path, both directions. A path to an address ends at the node
    /// before its link.
    pub(crate) fn paths_of(&self, builder: &NetworkBuilder, flow: &FlowConfig) -> Vec<(NodeId, NodeId)> {
        let links = builder.access_links(flow);
        if links.is_empty() {
            return vec![(flow.from, flow.to), (flow.to, flow.from)];
        }
        let mut paths = Vec::new();
        for link in links {
            for (near, far) in [(flow.from, flow.to), (flow.to, flow.from)] {
                let gate = |host: NodeId| {
                    let found = self.list.iter().find(|i| i.host == host && i.link == link);
                    found.map_or(host, |interface| interface.neighbour)
                };
                let (start, end) = (self.address(near, link), gate(far));
                if gate(near) != end && start != end && end != near {
                    paths.push((start, end));
                }
            }
        }
        paths
    }

    /// As places of routing: one exit each, and nothing leads to them but the routes below.
    pub(crate) fn add_places(&self, places: &mut Vec<Place>) {
        let place = |interface: &Interface| Place {
            exits: vec![(interface.exit, interface.neighbour)],
            forwards: false,
        };
        places.extend(self.list.iter().map(place));
    }

    /// Packets for an address take the way to the other end of its link, then the link.
    pub(crate) fn add_routes(&self, places: &[Place], routes: &mut Routes) {
        for (index, interface) in self.list.iter().enumerate() {
            let address = NodeId((self.nodes + index) as u32);
            for at in (0..self.nodes as u32).map(NodeId).filter(|&at| at != interface.host) {
                if at == interface.neighbour {
                    routes.set(at, address, interface.entry);
                } else if places[at.index()].exits.len() > 1
                    && let Some(port) = routes.next(at, interface.neighbour)
                {
                    routes.set(at, address, port);
                }
            }
        }
    }
}
