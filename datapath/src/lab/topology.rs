//! Addresses, routes and rules, computed from the plan before anything is built.
//!
//! * Every node has one address of its own, `10.0.x.y`, on its loopback device. All nodes have a route to it,
//!   by the fewest hops.
//! * Every link is numbered, `10.64.x.y`, one address at each end: what tunnels run between.
//! * A flow that must go *through* a certain member ends at an address of its receiver made for that
//!   path, `10.32.x.y`; routes along the path lead to it, and a rule at the receiver sends what comes from
//!   it back the same way.
//! * A flow through the proxy ends at `10.33.x.y`: everybody sends that to the proxy, and what the proxy
//!   does with it is the daemon's affair.
use super::LabError;
use super::plan::{FlowPlan, LabPlan, Role, Route, Transport};
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

/// Index of a node in the plan.
pub(super) type NodeIndex = usize;

/// Number of the first routing table made for a path; one more for each further path of a receiver.
const FIRST_TABLE: u32 = 100;

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

/// A route out of one of a node's ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RouteEntry {
    pub table: u32,
    pub destination: Ipv4Addr,
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
    pub routes: Vec<RouteEntry>,
    /// Packets from this address are looked up in this table first.
    pub rules: Vec<(Ipv4Addr, u32)>,
}

/// One way for a flow: where its receiver is and through whom the packets go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    /// The receiver's address on this path.
    pub address: Ipv4Addr,
    /// The member, where the path is tied to one.
    pub member: Option<NodeIndex>,
}

/// The whole network on paper.
#[derive(Debug, Clone, Default)]
pub(super) struct Topology {
    pub nodes: Vec<NodeNet>,
    names: Vec<String>,
    /// Addresses made so far, by (sender, receiver, member); the member is absent for the way through the proxy.
    made: BTreeMap<(NodeIndex, NodeIndex, Option<NodeIndex>), Path>,
}

impl Topology {
    /// Lays out `plan`.
    ///
    /// # Errors
    /// [`LabError::Plan`] for a name that is unknown or used twice, or a flow without a way.
    pub fn new(plan: &LabPlan) -> Result<Self, LabError> {
        let mut topology = Self::default();
        for (index, node) in plan.nodes.iter().enumerate() {
            if topology.names.contains(&node.name) {
                return Err(LabError::Plan(format!("two nodes are called \"{}\"", node.name)));
            }
            topology.names.push(node.name.clone());
            topology.nodes.push(NodeNet { addresses: vec![address(0, index + 1)], ..NodeNet::default() });
        }
        for (index, link) in plan.links.iter().enumerate() {
            let (a, b) = (topology.node(&link.a)?, topology.node(&link.b)?);
            if a == b {
                return Err(LabError::Plan(format!(
                    "link \"{}\" leads from \"{}\" to itself",
                    link.name, link.a
                )));
            }
            if plan.links[..index].iter().any(|other| other.name == link.name) {
                return Err(LabError::Plan(format!("two links are called \"{}\"", link.name)));
            }
            let device = device_name(&link.name, index);
            let ends = (address(64, 4 * index + 1), address(64, 4 * index + 2));
            for (node, neighbour, local, remote) in [(a, b, ends.0, ends.1), (b, a, ends.1, ends.0)] {
                topology.nodes[node].ports.push(Port {
                    link: index,
                    device: device.clone(),
                    local,
                    remote,
                    neighbour,
                });
            }
        }
        topology.route_between_nodes();
        for flow in &plan.flows {
            topology.paths(plan, flow)?;
        }
        Ok(topology)
    }

    /// The index of the node called `name`.
    pub fn node(&self, name: &str) -> Result<NodeIndex, LabError> {
        self.names.iter().position(|known| known == name).ok_or_else(|| {
            LabError::Plan(format!("there is no node \"{name}\"; the nodes are {}", self.names.join(", ")))
        })
    }

    /// A node's own address.
    pub fn address(&self, node: NodeIndex) -> Ipv4Addr {
        self.nodes[node].addresses[0]
    }

    /// The ways a flow may go, made on first use: one, or one for each member under MPTCP.
    pub fn paths(&mut self, plan: &LabPlan, flow: &FlowPlan) -> Result<Vec<Path>, LabError> {
        let (from, to) = (self.node(&flow.from)?, self.node(&flow.to)?);
        match &flow.transport {
            Transport::Tcp { route: Route::Via(member), .. } => {
                let member = self.node(member)?;
                Ok(vec![self.path_via(from, to, member)?])
            }
            Transport::Tcp { route: Route::Prism, .. } => Ok(vec![self.path_through_proxy(plan, from, to)?]),
            Transport::Mptcp { .. } => {
                let members: Vec<_> = members_of(plan).collect();
                if members.is_empty() {
                    return Err(LabError::flow(&flow.name, "MPTCP needs members, whose links it uses"));
                }
                members.into_iter().map(|member| self.path_via(from, to, member)).collect()
            }
            _ => {
                self.walk(from, to)?;
                Ok(vec![Path { address: self.address(to), member: None }])
            }
        }
    }

    /// The nodes between `from` and `to` by the fewest hops, as (node, port towards the next).
    pub fn walk(&self, from: NodeIndex, to: NodeIndex) -> Result<Vec<(NodeIndex, usize)>, LabError> {
        let towards = self.ports_towards(to);
        let (mut at, mut steps) = (from, Vec::new());
        while at != to {
            let port = towards[at].ok_or_else(|| {
                LabError::Plan(format!(
                    "no links lead from \"{}\" to \"{}\"",
                    self.names[from], self.names[to]
                ))
            })?;
            steps.push((at, port));
            at = self.nodes[at].ports[port].neighbour;
        }
        Ok(steps)
    }

    /// For every node its port towards `to` by the fewest hops, ties by the order of the links.
    fn ports_towards(&self, to: NodeIndex) -> Vec<Option<usize>> {
        let mut hops = vec![usize::MAX; self.nodes.len()];
        let mut queue = VecDeque::from([to]);
        hops[to] = 0;
        while let Some(node) = queue.pop_front() {
            for port in &self.nodes[node].ports {
                if hops[port.neighbour] == usize::MAX {
                    hops[port.neighbour] = hops[node] + 1;
                    queue.push_back(port.neighbour);
                }
            }
        }
        let nearest = |node: NodeIndex| {
            let ports = self.nodes[node].ports.iter().enumerate();
            let closer = ports
                .filter(|(_, port)| hops[port.neighbour] != usize::MAX && hops[port.neighbour] < hops[node]);
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
                    let entry = RouteEntry { table: MAIN_TABLE, destination, port, source };
                    self.nodes[node].routes.push(entry);
                }
            }
        }
    }

    /// The way from `from` to `to` through `member`, and back.
    fn path_via(&mut self, from: NodeIndex, to: NodeIndex, member: NodeIndex) -> Result<Path, LabError> {
        if let Some(path) = self.made.get(&(from, to, Some(member))) {
            return Ok(path.clone());
        }
        let mut steps = self.walk(from, member)?;
        steps.extend(self.walk(member, to)?);
        if steps.iter().any(|&(node, _)| node == to) {
            let name = |node: NodeIndex| &self.names[node];
            return Err(LabError::Plan(format!(
                "the way from \"{}\" through \"{}\" passes its own receiver \"{}\"",
                name(from),
                name(member),
                name(to)
            )));
        }
        let path = Path { address: address(32, self.made.len() + 1), member: Some(member) };
        let source = self.address(from);
        let table = FIRST_TABLE + self.nodes[to].rules.len() as u32;
        for (node, port) in steps {
            let local_source = (node == from).then_some(source);
            self.nodes[node].routes.push(RouteEntry {
                table: MAIN_TABLE,
                destination: path.address,
                port,
                source: local_source,
            });
        }
        let (_, back) = self.walk(to, member)?[0];
        self.nodes[to].addresses.push(path.address);
        self.nodes[to].rules.push((path.address, table));
        self.nodes[to].routes.push(RouteEntry { table, destination: source, port: back, source: None });
        self.made.insert((from, to, Some(member)), path.clone());
        Ok(path)
    }

    /// The way from `from` to `to` through the proxy. The receiver answers through its first member.
    fn path_through_proxy(
        &mut self,
        plan: &LabPlan,
        from: NodeIndex,
        to: NodeIndex,
    ) -> Result<Path, LabError> {
        if let Some(path) = self.made.get(&(from, to, None)) {
            return Ok(path.clone());
        }
        let proxy = plan.nodes.iter().position(|node| matches!(node.role, Role::Proxy(_)));
        let proxy = proxy
            .ok_or_else(|| LabError::Plan("a flow through the proxy needs a node of that role".to_owned()))?;
        let path = Path { address: address(33, self.made.len() + 1), member: None };
        for (node, port) in self.walk(from, proxy)? {
            let source = (node == from).then_some(self.address(from));
            self.nodes[node].routes.push(RouteEntry {
                table: MAIN_TABLE,
                destination: path.address,
                port,
                source,
            });
        }
        for member in members_of(plan) {
            for (node, port) in self.walk(member, to)? {
                let entry = RouteEntry { table: MAIN_TABLE, destination: path.address, port, source: None };
                if !self.nodes[node].routes.contains(&entry) {
                    self.nodes[node].routes.push(entry);
                }
            }
        }
        let table = FIRST_TABLE + self.nodes[to].rules.len() as u32;
        let (_, back) = self.walk(to, proxy)?[0];
        self.nodes[to].addresses.push(path.address);
        self.nodes[to].rules.push((path.address, table));
        let destination = self.address(from);
        self.nodes[to].routes.push(RouteEntry { table, destination, port: back, source: None });
        self.made.insert((from, to, None), path.clone());
        Ok(path)
    }
}

/// The kernel's main routing table.
pub(super) const MAIN_TABLE: u32 = libc::RT_TABLE_MAIN as u32;

/// The members of a plan, in its order.
pub(super) fn members_of(plan: &LabPlan) -> impl Iterator<Item = NodeIndex> {
    let members = plan.nodes.iter().enumerate().filter(|(_, node)| matches!(node.role, Role::Member(_)));
    members.map(|(index, _)| index)
}

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
