//! The ways of flows: addresses made for them, routes there and back.
use super::{FIRST_TABLE, MAIN_TABLE, NodeIndex, Topology, address};
use crate::LabError;
use crate::orders::{Carrier, FlowOrders};
use prismux_plan::Flow;
use std::net::Ipv4Addr;

/// One way for a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    pub from: NodeIndex,
    pub to: NodeIndex,
    /// The receiver's address on this path.
    pub address: Ipv4Addr,
    /// The member, where the path is tied to one.
    pub member: Option<NodeIndex>,
    /// The proxy that takes the path over.
    pub proxy: Option<NodeIndex>,
    /// Routing table of the way back; 0 for a path without one of its own.
    pub table: u32,
}

impl Path {
    /// The path's number among all that have an address of their own, from 1.
    pub fn number(&self) -> u32 {
        (self.table + 1).saturating_sub(FIRST_TABLE)
    }
}

impl Topology {
    /// Every path that a proxy takes over.
    pub fn proxied_paths(&self) -> impl Iterator<Item = &Path> {
        self.made.values().filter(|path| path.proxy.is_some())
    }

    /// The ways a flow may go, made on first use: one, or one for each member under MPTCP.
    ///
    /// # Errors
    /// [`LabError::Plan`] when no links lead there, or a node lacks what the flow needs of it.
    pub fn paths(&mut self, orders: &FlowOrders<'_>) -> Result<Vec<Path>, LabError> {
        let flow = orders.flow;
        let (from, to) = (flow.from.index(), flow.to.index());
        if self.share_air(from, to) || self.is_station(from) || self.is_station(to) {
            return Ok(vec![Path {
                from,
                to,
                address: self.address(to),
                member: None,
                proxy: None,
                table: 0,
            }]);
        }
        let walk = self.walk(from, to)?;
        if let Some(member) = flow.via {
            return Ok(vec![self.path_via(from, to, member.index())?]);
        }
        let proxy = self.proxy_on(&walk);
        if orders.carrier == Carrier::Mptcp {
            let members = proxy.map(|proxy| self.members_of(proxy).to_vec()).unwrap_or_default();
            if members.is_empty() {
                return Err(LabError::flow(
                    &flow.name,
                    "MPTCP needs a proxy with members on its way, whose links it uses",
                ));
            }
            return members.into_iter().map(|member| self.path_via(from, to, member)).collect();
        }
        if let Some(proxy) = proxy {
            return Ok(vec![self.path_through(from, to, proxy)?]);
        }
        Ok(vec![Path { from, to, address: self.address(to), member: None, proxy: None, table: 0 }])
    }

    /// The address from which the end of `flow` calls that sends requests. Where the answers pass a proxy, it is one
    /// that the proxy serves.
    ///
    /// # Errors
    /// [`LabError::Plan`] when no links lead there.
    pub fn client_address(&mut self, flow: &Flow) -> Result<Ipv4Addr, LabError> {
        let (client, server) = (flow.from.index(), flow.to.index());
        if self.communities.is_empty() || self.is_station(client) || self.is_station(server) {
            return Ok(self.address(client));
        }
        let answers = self.walk(server, client)?;
        match self.proxy_on(&answers) {
            Some(proxy) => Ok(self.path_through(server, client, proxy)?.address),
            None => Ok(self.address(client)),
        }
    }

    /// The first proxy on the way that has one of its members between itself and the receiver.
    fn proxy_on(&self, walk: &[(NodeIndex, usize)]) -> Option<NodeIndex> {
        let nodes: Vec<_> = walk.iter().map(|&(node, _)| node).collect();
        let serves = |&(at, &node): &(usize, &NodeIndex)| {
            self.members_of(node).iter().any(|member| nodes[at + 1..].contains(member))
        };
        nodes.iter().enumerate().find(serves).map(|(_, &node)| node)
    }

    /// The way from `from` to `to` through `member`, and back.
    fn path_via(&mut self, from: NodeIndex, to: NodeIndex, member: NodeIndex) -> Result<Path, LabError> {
        if let Some(path) = self.made.get(&(from, to, member)) {
            return Ok(path.clone());
        }
        let mut steps = self.walk(from, member)?;
        steps.extend(self.walk(member, to)?);
        if steps.iter().any(|&(node, _)| node == to) {
            let [from, to, member] = [from, to, member].map(|node| &self.names[node]);
            return Err(LabError::Layout(format!(
                "the way from \"{from}\" through \"{member}\" passes its own receiver \"{to}\""
            )));
        }
        let path = self.new_path(32, from, to);
        let path = Path { member: Some(member), ..path };
        for (node, port) in steps {
            self.add_route(
                node,
                MAIN_TABLE,
                Some(path.address),
                port,
                (node == from).then(|| self.address(from)),
            );
        }
        self.add_return(&path, member, true)?;
        self.made.insert((from, to, member), path.clone());
        Ok(path)
    }

    /// The way from `from` to `to` that `proxy` takes over. The receiver answers through the member nearest to
    /// it, until [`Topology::return_steps`] are taken through another one.
    fn path_through(&mut self, from: NodeIndex, to: NodeIndex, proxy: NodeIndex) -> Result<Path, LabError> {
        if let Some(path) = self.made.get(&(from, to, proxy)) {
            return Ok(path.clone());
        }
        let path = Path { proxy: Some(proxy), ..self.new_path(33, from, to) };
        for (node, port) in self.walk(from, proxy)? {
            self.add_route(
                node,
                MAIN_TABLE,
                Some(path.address),
                port,
                (node == from).then(|| self.address(from)),
            );
        }
        for member in self.members_of(proxy).to_vec() {
            for (node, port) in self.walk(member, to)? {
                self.add_route(node, MAIN_TABLE, Some(path.address), port, None);
            }
            self.add_return(&path, member, false)?;
        }
        self.made.insert((from, to, proxy), path.clone());
        Ok(path)
    }

    /// The member through which a proxied path's ACKs return: the first one present on the receiver's shortest
    /// way to the proxy, else the first one present at all.
    pub fn return_member(&self, path: &Path, present: impl Fn(NodeIndex) -> bool) -> Option<NodeIndex> {
        let proxy = path.proxy?;
        let members = self.members_of(proxy);
        let walk = self.walk(path.to, proxy).ok()?;
        let on_the_way = walk.into_iter().map(|(node, _)| node).filter(|node| members.contains(node));
        on_the_way.chain(members.iter().copied()).find(|&member| present(member))
    }

    /// The nodes between a path's receiver and `member`, with their ports towards it.
    ///
    /// # Errors
    /// [`LabError::Plan`] when no links lead there.
    pub fn return_steps(&self, path: &Path, member: NodeIndex) -> Result<Vec<(NodeIndex, usize)>, LabError> {
        self.walk(path.to, member)
    }

    /// Lets the nodes between a path's receiver and `member` look its packets up in the path's table, and fills
    /// that table if the member is the one to answer through.
    fn add_return(&mut self, path: &Path, member: NodeIndex, fill: bool) -> Result<(), LabError> {
        for (node, port) in self.return_steps(path, member)? {
            let rule = (path.address, path.table);
            if !self.nodes[node].rules.contains(&rule) {
                self.nodes[node].rules.push(rule);
            }
            if fill {
                self.add_route(node, path.table, None, port, None);
            }
        }
        Ok(())
    }

    fn new_path(&mut self, block: u8, from: NodeIndex, to: NodeIndex) -> Path {
        let address = address(block, self.made.len() + 1);
        self.nodes[to].addresses.push(address);
        Path { from, to, address, member: None, proxy: None, table: FIRST_TABLE + self.made.len() as u32 }
    }
}
