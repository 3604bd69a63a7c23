//! Addresses, routes and rules, computed from the plan before anything is built.
//!
//! * Every node has one address of its own, `10.0.x.y`, on its loopback device. All nodes have a route to it,
//!   by the fewest hops.
//! * Every link is numbered, `10.64.x.y`, one address at each end: what tunnels run between.
//! * A flow tied to a member ends at an address of its receiver made for that path, `10.32.x.y`; routes along the
//!   path lead to it, and rules send what comes from it back the same way.
//! * A flow that a proxy takes over ends at `10.33.x.y`: routes lead it to the proxy and from the members to the
//!   receiver; what happens between is the daemons' affair. Its ACKs go to one member.
//! * A pipe of `prismux fetch` leaves by the device of its link, which has a table of its own, from the link's
//!   address; the servers have routes back to it.
//! * A host on a radio medium has one device for it, and by that a route to the own address of every other host there.
//! * A sender that is not the kernel's has an address of its own behind a TUN device of its node, `10.34.x.y`.
//!
//! * A station of a cell keeps its address; the routes to it and from it turn while the air works ([`cells`]).
//!
//! A host's handoff moves its routes, and those to it, to another link ([`handoff`]).
mod cells;
mod handoff;
mod paths;
mod pipes;

use crate::LabError;
use crate::kernel_tcp::KernelTcp;
use crate::orders::{Carrier, FlowOrders, Orders};
pub(super) use cells::{Access, Turn, gates_of};
pub(super) use paths::Path;
pub(super) use pipes::PipeEnds;

use prismux_plan::{FlowId, Medium, MediumModel, NodeId, NodeKind, Plan, Traffic, registry};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::Ipv4Addr;

/// Index of a node in the plan.
pub(super) type NodeIndex = usize;

/// Number of the first routing table made for a path; one more for each further path.
const FIRST_TABLE: u32 = 10_000;

/// One node's end of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Port {
    /// Index of the link in the plan.
    pub link: usize,
    /// Name of the TUN device.
    pub device: String,
    /// This end's address.
    pub local: Ipv4Addr,
    /// The other end's address.
    pub remote: Ipv4Addr,
    /// The node at the other end.
    pub neighbour: NodeIndex,
}

/// A node's device on a radio medium.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RadioPort {
    /// Index of the medium in the plan.
    pub medium: usize,
    /// Name of the TUN device.
    pub device: String,
    /// The own addresses of the other hosts on the medium, where they are neighbours; none where it has cells.
    pub others: Vec<Ipv4Addr>,
    /// The routing protocol of the daemon that has the device, by its name in scenario files; `None` without one.
    pub protocol: Option<&'static str>,
}

/// A route out of one of a node's ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RouteEntry {
    pub table: u32,
    /// Where to; `None` for everything.
    pub destination: Option<Ipv4Addr>,
    /// Index in [`NodeNet::ports`].
    pub port: usize,
    /// Address that local senders use.
    pub source: Option<Ipv4Addr>,
}

/// A node's share of the network.
#[derive(Debug, Clone, Default)]
pub(super) struct NodeNet {
    /// Addresses on the loopback device, the node's own first.
    pub addresses: Vec<Ipv4Addr>,
    pub ports: Vec<Port>,
    pub radio: Vec<RadioPort>,
    /// Routes that may turn later: destination and device.
    pub first_ways: Vec<(Ipv4Addr, String)>,
    /// Whether it may have packets of its own for a link that it did not have when they were made.
    pub changes_links: bool,
    pub routes: Vec<RouteEntry>,
    /// Packets from this address are looked up in this table first.
    pub rules: Vec<(Ipv4Addr, u32)>,
    /// Packets bound to leave by this port are looked up in this table first.
    pub port_rules: Vec<(usize, u32)>,
    /// Settings of the flows that end here.
    pub tcp: KernelTcp,
    /// Senders that are not the kernel's: a TUN device and the address behind it.
    pub own_senders: Vec<(String, Ipv4Addr)>,
}

/// The whole network on paper.
#[derive(Debug, Clone, Default)]
pub(super) struct Topology {
    pub nodes: Vec<NodeNet>,
    names: Vec<String>,
    /// Stations of cells.
    stations: BTreeSet<NodeIndex>,
    /// Whether a node passes on what is not for it; hosts do not.
    forwards: Vec<bool>,
    /// Members of each proxy.
    communities: BTreeMap<NodeIndex, Vec<NodeIndex>>,
    /// Addresses of senders that are not the kernel's, by flow.
    own_senders: BTreeMap<FlowId, Ipv4Addr>,
    /// Paths with an address of their own, by (sender, receiver, member or proxy).
    made: BTreeMap<(NodeIndex, NodeIndex, NodeIndex), Path>,
}

impl Topology {
    /// Lays out a plan.
    ///
    /// # Errors
    /// [`LabError::Layout`] for a flow without a way, or flows that ask different things of one node's kernel.
    pub fn new(orders: &Orders<'_>) -> Result<Self, LabError> {
        let plan = orders.plan;
        let mut topology = Self::default();
        for (index, node) in plan.nodes.iter().enumerate() {
            topology.names.push(node.name.clone());
            topology.forwards.push(node.kind() != NodeKind::Host);
            topology.nodes.push(NodeNet { addresses: vec![address(0, index + 1)], ..NodeNet::default() });
        }
        topology.lay_links(plan);
        topology.lay_media(plan);
        topology.route_between_nodes();
        topology.lay_cells(plan);
        topology.check_cells(orders)?;
        for proxy in plan.proxies() {
            let members = plan.members_of(proxy).into_iter().map(NodeId::index).collect();
            topology.communities.insert(proxy.index(), members);
        }
        for (id, flow) in plan.flow_ids().zip(&orders.flows) {
            match &flow.carrier {
                Carrier::Fetch(fetch) => topology.lay_pipes(plan, flow.flow, fetch)?,
                _ => drop(topology.paths(flow)?),
            }
            if matches!(flow.flow.traffic, Traffic::RequestResponse { .. }) {
                topology.client_address(flow.flow)?;
            }
            topology.demand_kernel(orders, flow)?;
            if matches!(flow.carrier, Carrier::OwnTcp(_)) {
                topology.add_own_sender(flow, id);
            }
        }
        topology.check_handoffs(orders)?;
        Ok(topology)
    }

    fn lay_links(&mut self, plan: &Plan) {
        for (index, link) in plan.links.iter().enumerate() {
            let [a, b] = link.ends.map(NodeId::index);
            let device = device_name(&link.name, index);
            let ends = (address(64, 4 * index + 1), address(64, 4 * index + 2));
            for (node, neighbour, local, remote) in [(a, b, ends.0, ends.1), (b, a, ends.1, ends.0)] {
                let port = Port { link: index, device: device.clone(), local, remote, neighbour };
                self.nodes[node].ports.push(port);
            }
        }
    }

    fn lay_media(&mut self, plan: &Plan) {
        for (index, medium) in plan.media.iter().enumerate() {
            let device = device_name(&medium.name, plan.links.len() + index);
            for node in &medium.attached {
                let neighbours = if gates_of(medium).is_some() { &[] } else { &medium.attached[..] };
                let others = neighbours.iter().filter(|other| *other != node);
                let others = others.map(|other| self.address(other.index())).collect();
                let protocol = protocol_of(medium);
                let port = RadioPort { medium: index, device: device.clone(), others, protocol };
                self.nodes[node.index()].radio.push(port);
            }
        }
    }

    /// Whether two nodes are on one radio medium.
    pub fn share_air(&self, from: NodeIndex, to: NodeIndex) -> bool {
        self.nodes[from].radio.iter().any(|port| port.others.contains(&self.address(to)))
    }

    /// Gives a flow's own TCP an address that everybody has a route to.
    fn add_own_sender(&mut self, flow: &FlowOrders<'_>, id: FlowId) {
        let (node, index) = (flow.flow.from.index(), id.index());
        let own = address(34, index + 1);
        for (other, port) in self.ports_towards(node).into_iter().enumerate() {
            if let Some(port) = port {
                let source = Some(self.address(other));
                self.add_route(other, MAIN_TABLE, Some(own), port, source);
            }
        }
        self.nodes[node].own_senders.push((format!("own{index}"), own));
        self.own_senders.insert(id, own);
    }

    /// The address that a flow's data comes from.
    pub fn sender_address(&self, id: FlowId, flow: &FlowOrders<'_>) -> Ipv4Addr {
        let own = self.own_senders.get(&id).copied();
        own.unwrap_or_else(|| self.address(flow.flow.from.index()))
    }

    /// Notes what a flow asks of the kernels at its ends.
    fn demand_kernel(&mut self, orders: &Orders<'_>, flow: &FlowOrders<'_>) -> Result<(), LabError> {
        if !flow.carrier.is_kernel_tcp() {
            return Ok(());
        }
        for end in [flow.flow.from, flow.flow.to] {
            let ends_here = |other: &&FlowOrders<'_>| {
                other.carrier.is_kernel_tcp() && [other.flow.from, other.flow.to].contains(&end)
            };
            if let Some(other) =
                orders.flows.iter().filter(ends_here).find(|other| !other.tcp.agrees_with(&flow.tcp))
            {
                return Err(LabError::Layout(format!(
                    "flows \"{}\" and \"{}\" end at node \"{}\" but ask different things of its kernel's TCP; give \
                     them nodes of their own",
                    flow.flow.name, other.flow.name, orders.plan[end].name
                )));
            }
            self.nodes[end.index()].tcp = flow.tcp.clone();
        }
        Ok(())
    }

    /// The index of the node called `name`.
    ///
    /// # Errors
    /// [`LabError::Plan`] when there is none.
    pub fn node(&self, name: &str) -> Result<NodeIndex, LabError> {
        self.names.iter().position(|known| known == name).ok_or_else(|| {
            LabError::Layout(format!("there is no node \"{name}\"; the nodes are {}", self.names.join(", ")))
        })
    }

    /// A node's own address.
    pub fn address(&self, node: NodeIndex) -> Ipv4Addr {
        self.nodes[node].addresses[0]
    }

    /// The name of a node.
    pub fn name(&self, node: NodeIndex) -> &str {
        &self.names[node]
    }

    /// The members of a proxy.
    pub fn members_of(&self, proxy: NodeIndex) -> &[NodeIndex] {
        self.communities.get(&proxy).map_or(&[], Vec::as_slice)
    }

    /// The nodes between `from` and `to` by the fewest hops, as (node, port towards the next).
    ///
    /// # Errors
    /// [`LabError::Plan`] when no links lead there.
    pub fn walk(&self, from: NodeIndex, to: NodeIndex) -> Result<Vec<(NodeIndex, usize)>, LabError> {
        let towards = self.ports_towards(to);
        let (mut at, mut steps) = (from, Vec::new());
        while at != to {
            let port = towards[at].ok_or_else(|| {
                LabError::Layout(format!(
                    "no links lead from \"{}\" to \"{}\"",
                    self.names[from], self.names[to]
                ))
            })?;
            steps.push((at, port));
            at = self.nodes[at].ports[port].neighbour;
        }
        Ok(steps)
    }

    /// For every node its port towards `to` by the fewest hops, ties by the order of the links. Hosts do not forward.
    fn ports_towards(&self, to: NodeIndex) -> Vec<Option<usize>> {
        let mut hops = vec![usize::MAX; self.nodes.len()];
        let mut queue = VecDeque::from([to]);
        hops[to] = 0;
        let passes = |node: NodeIndex| node == to || self.forwards[node];
        while let Some(node) = queue.pop_front() {
            if !passes(node) {
                continue;
            }
            for port in &self.nodes[node].ports {
                if hops[port.neighbour] == usize::MAX {
                    hops[port.neighbour] = hops[node] + 1;
                    queue.push_back(port.neighbour);
                }
            }
        }
        let nearest = |node: NodeIndex| {
            let ports = self.nodes[node].ports.iter().enumerate();
            let closer =
                ports.filter(|(_, port)| passes(port.neighbour) && hops[port.neighbour] < hops[node]);
            closer.min_by_key(|(_, port)| port.link).map(|(index, _)| index)
        };
        (0..self.nodes.len()).map(nearest).collect()
    }

    /// Routes from every node to every other node's own address.
    fn route_between_nodes(&mut self) {
        for to in 0..self.nodes.len() {
            let destination = self.address(to);
            for (node, port) in self.ports_towards(to).into_iter().enumerate() {
                if let Some(port) = port {
                    let source = Some(self.address(node));
                    let destination = Some(destination);
                    self.nodes[node].routes.push(RouteEntry { table: MAIN_TABLE, destination, port, source });
                }
            }
        }
    }

    fn add_route(
        &mut self,
        node: NodeIndex,
        table: u32,
        destination: Option<Ipv4Addr>,
        port: usize,
        source: Option<Ipv4Addr>,
    ) {
        let entry = RouteEntry { table, destination, port, source };
        if !self.nodes[node].routes.contains(&entry) {
            self.nodes[node].routes.push(entry);
        }
    }
}

/// The routing protocol that daemons of a medium's hosts speak: all of them, unless they belong to cells.
fn protocol_of(medium: &Medium) -> Option<&'static str> {
    let MediumModel::Radio(radio) = &medium.model else { return None };
    radio.has_routers().then(|| registry::name_of(registry::ROUTING, &radio.routing))
}

/// The kernel's main routing table.
pub(super) const MAIN_TABLE: u32 = libc::RT_TABLE_MAIN as u32;

/// Address number `index` of the range `10.block.0.0`, running on into the blocks behind it.
fn address(block: u8, index: usize) -> Ipv4Addr {
    let base = u32::from(Ipv4Addr::new(10, block, 0, 0));
    Ipv4Addr::from(base + index as u32)
}

/// The link's own name where the kernel accepts it, so that `ip` shows what the plan says.
fn device_name(link: &str, index: usize) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let fits = !link.is_empty() && link.len() < libc::IFNAMSIZ && link.chars().all(plain) && link != "lo";
    if fits { link.to_owned() } else { format!("link.{index}") }
}

#[cfg(test)]
mod tests;
