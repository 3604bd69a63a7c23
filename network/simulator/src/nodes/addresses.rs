//! Addresses of multi-homed hosts: one for every access link that some flow names, so that packets come and go by it.
use super::routing::{Place, Routes};
use crate::core::ids::{LinkId, NodeId, PortId};
use prismux_plan::{Flow, Plan};

/// A host's address on one of its links.
#[derive(Debug, Clone, Copy)]
struct Interface {
    host: NodeId,
    link: LinkId,
    /// The host's exit into the link, and the link's into the host.
    exit: PortId,
    entry: PortId,
    /// The node at the other end.
    neighbour: NodeId,
}

/// All of them, numbered after the nodes.
#[derive(Debug)]
pub(crate) struct Addresses {
    nodes: usize,
    list: Vec<Interface>,
}

impl Addresses {
    /// None yet.
    pub fn new(plan: &Plan) -> Self {
        Self { nodes: plan.nodes.len(), list: Vec::new() }
    }

    /// Of these hosts, those that `link` touches get an address on it.
    pub fn add(&mut self, plan: &Plan, link: LinkId, hosts: [NodeId; 2]) {
        let ends = plan[link].ends;
        for host in hosts {
            let known = self.of_host(host, link) != host;
            if known || !ends.contains(&host) {
                continue;
            }
            let outward = ends[0] == host;
            let (exit, entry) = match outward {
                true => (PortId::forward(link), PortId::reverse(link)),
                false => (PortId::reverse(link), PortId::forward(link)),
            };
            let neighbour = if outward { ends[1] } else { ends[0] };
            self.list.push(Interface { host, link, exit, entry, neighbour });
        }
    }

    /// The host of each address, in order.
    pub fn hosts(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.list.iter().map(|interface| interface.host)
    }

    /// The address of `host` on `link`; the host's own where it has none there.
    pub fn of_host(&self, host: NodeId, link: LinkId) -> NodeId {
        let at = self.list.iter().position(|interface| interface.host == host && interface.link == link);
        at.map_or(host, |index| NodeId::new(self.nodes + index))
    }

    /// Addresses of both ends of a flow, as far as one address will do.
    pub fn of_ends(&self, flow: &Flow) -> (NodeId, NodeId) {
        match flow.links.as_slice() {
            [link] if !flow.transport.has_pipe_per_link() => {
                (self.of_host(flow.from, *link), self.of_host(flow.to, *link))
            }
            _ => (flow.from, flow.to),
        }
    }

    /// As places of routing: one exit each, and nothing leads to them but [`Addresses::add_routes`].
    pub fn add_places(&self, places: &mut Vec<Place>) {
        let place = |interface: &Interface| Place {
            exits: vec![(interface.exit, interface.neighbour)],
            forwards: false,
        };
        places.extend(self.list.iter().map(place));
    }

    /// Packets for an address take the way to the other end of its link, then the link.
    pub fn add_routes(&self, places: &[Place], routes: &mut Routes) {
        for (index, interface) in self.list.iter().enumerate() {
            let address = NodeId::new(self.nodes + index);
            for at in (0..self.nodes).map(NodeId::new).filter(|&at| at != interface.host) {
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
