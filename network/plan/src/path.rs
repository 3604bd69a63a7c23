//! Which path a flow takes: the fewest hops, ties by the order of the links, as every host routes.
use crate::{Flow, LinkId, NodeId, NodeKind, Plan, Transport};
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

impl Plan {
    /// Nodes from `from` to `to`, both included; `None` when nothing leads there. Hosts do not forward. Of a node's
    /// neighbours those on links come first, in order, then those on shared media.
    pub fn shortest_path(&self, from: NodeId, to: NodeId) -> Option<Vec<NodeId>> {
        let neighbours = self.neighbours_on_links();
        let mut before: Vec<Option<NodeId>> = vec![None; self.nodes.len()];
        // Whoever is on a medium first reaches all others on it.
        let mut taken = vec![false; self.media.len()];
        let mut waiting = VecDeque::from([from]);
        while let Some(node) = waiting.pop_front() {
            if node == to {
                return Some(walk_back(&before, from, to));
            }
            let mut visit = |other: NodeId| {
                let passes = other == to || self[other].kind() != NodeKind::Host;
                if passes && other != from && before[other.index()].is_none() {
                    before[other.index()] = Some(node);
                    waiting.push_back(other);
                }
            };
            neighbours[node.index()].iter().copied().for_each(&mut visit);
            for (medium, taken) in self.media.iter().zip(&mut taken) {
                if medium.attached.contains(&node) && !core::mem::replace(taken, true) {
                    medium.attached.iter().copied().filter(|&other| other != node).for_each(&mut visit);
                }
            }
        }
        None
    }

    /// By node: who is at the other ends of its links, in order.
    fn neighbours_on_links(&self) -> Vec<Vec<NodeId>> {
        let mut neighbours = vec![Vec::new(); self.nodes.len()];
        for &[a, b] in self.links.iter().map(|link| &link.ends) {
            neighbours[a.index()].push(b);
            neighbours[b.index()].push(a);
        }
        neighbours
    }

    /// The proxy that splits the data of `flow` over its members, if one does: the flow is TCP, enters the proxy and
    /// leaves through one of its members to somewhere beyond.
    pub fn proxy_of(&self, flow: &Flow) -> Option<NodeId> {
        let is_split = matches!(flow.transport, Transport::Tcp | Transport::TcpPrism);
        if flow.via.is_some() || !is_split { None } else { self.proxy_between(flow.from, flow.to) }
    }

    /// The proxy that `flow` goes past: it is MPTCP's, which uses the members' links by itself, or names a member.
    pub fn proxy_past(&self, flow: &Flow) -> Option<NodeId> {
        let past = flow.via.is_some() || matches!(flow.transport, Transport::Mptcp(_));
        if past { self.proxy_between(flow.from, flow.to) } else { None }
    }

    /// The first proxy on the shortest path between two nodes that has one of its members behind it on that path.
    pub fn proxy_between(&self, from: NodeId, to: NodeId) -> Option<NodeId> {
        let path = self.shortest_path(from, to)?;
        let inner = path.get(1..path.len() - 1)?;
        inner.iter().enumerate().find_map(|(position, &node)| {
            let is_proxy = self[node].kind() == NodeKind::PrismProxy;
            let members = if is_proxy { self.members_of(node) } else { return None };
            inner[position + 1..].iter().any(|later| members.contains(later)).then_some(node)
        })
    }
}

impl Plan {
    /// The access links of a flow, one for each pipe: those it names, else all of the multi-homed end where its
    /// transport has a pipe for each, or all of both ends where these tell lists of addresses.
    pub fn access_links(&self, flow: &Flow) -> Vec<LinkId> {
        if !flow.links.is_empty() || !flow.transport.has_pipe_per_link() {
            return flow.links.clone();
        }
        let (mut from, to) = (self.links_at(flow.from), self.links_at(flow.to));
        if matches!(&flow.transport, Transport::Ptcp(settings) if settings.address_lists) {
            from.extend(to.into_iter().filter(|&link| !self[link].ends.contains(&flow.from)));
            return from;
        }
        if let Some(proxy) = self.proxy_past(flow).filter(|_| matches!(flow.transport, Transport::Mptcp(_))) {
            // One way through each member, in their order.
            let members = self.members_of(proxy);
            let ways: Vec<LinkId> =
                members.iter().filter_map(|&member| self.link_between(member, flow.to)).collect();
            if !ways.is_empty() {
                return ways;
            }
        }
        if from.len() > 1 || to.len() <= 1 { from } else { to }
    }
}

fn walk_back(before: &[Option<NodeId>], from: NodeId, to: NodeId) -> Vec<NodeId> {
    let mut path = vec![to];
    while let Some(previous) = before[path[path.len() - 1].index()].filter(|_| path[path.len() - 1] != from) {
        path.push(previous);
    }
    path.reverse();
    path
}
