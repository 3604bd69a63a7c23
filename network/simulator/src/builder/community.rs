//! Who belongs to which proxy, and whose packets it takes.
use super::{BuildError, Membership, NetworkBuilder, NodeKind};
use crate::core::ids::{LinkIndex, NodeId};
use crate::network::{MemberNode, NodeRole, ProxyNode};
use crate::routing::{Place, Routes};
use crate::simulation::{MemberRecord, Receiver, Report};
use prismux_prism::{LinkId, Proxy};
use prismux_units::{Duration, Instant, Rate};

/// Roles, members and proxies of a network.
pub(super) struct Community {
    pub roles: Vec<NodeRole>,
    pub members: Vec<MemberNode>,
    pub proxies: Vec<ProxyNode>,
    /// Members to join before the run begins, in order.
    pub joins: Vec<NodeId>,
    records: Vec<MemberRecord>,
    receivers: Vec<Receiver>,
}

/// Finds the communities of a network.
pub(super) fn found(
    builder: &NetworkBuilder,
    places: &[Place],
    routes: &Routes,
) -> Result<Community, BuildError> {
    let mut community = Community {
        roles: vec![NodeRole::Plain; builder.nodes.len()],
        members: Vec::new(),
        proxies: Vec::new(),
        joins: Vec::new(),
        records: Vec::new(),
        receivers: Vec::new(),
    };
    for (index, node) in builder.nodes.iter().enumerate() {
        let node_id = NodeId(index as u32);
        match &node.kind {
            NodeKind::Host | NodeKind::Router => {}
            NodeKind::Member => {
                community.roles[index] = NodeRole::Member(community.members.len() as u32);
                community.members.push(MemberNode { proxy: None, joined: false });
                community.records.push(MemberRecord::unconnected(&node.name));
            }
            NodeKind::Proxy { config, tunnel, scheduler } => {
                let mut proxy = Proxy::new((**config).clone());
                if let Some(factory) = scheduler {
                    proxy.set_scheduler(factory.make(&node.name));
                }
                community.roles[index] = NodeRole::Proxy(community.proxies.len() as u32);
                community.proxies.push(ProxyNode {
                    node: node_id,
                    proxy,
                    tunnel: *tunnel,
                    members: Vec::new(),
                    serves: vec![false; builder.nodes.len()],
                    armed: Instant::MAX,
                });
            }
        }
    }
    for membership in memberships(builder, &community) {
        community.enrol(builder, places, routes, &membership)?;
    }
    community.find_served(places, routes);
    community.find_receivers(builder, places)?;
    Ok(community)
}

/// The stated memberships; with a single proxy also those of members that none was stated for.
fn memberships(builder: &NetworkBuilder, community: &Community) -> Vec<Membership> {
    let mut list = builder.memberships.clone();
    if let [proxy] = community.proxies.as_slice() {
        for (index, role) in community.roles.iter().enumerate() {
            let member = NodeId(index as u32);
            let stated = builder.memberships.iter().any(|membership| membership.member == member);
            if matches!(role, NodeRole::Member(_)) && !stated {
                let rate = link_between(builder, proxy.node, member)
                    .and_then(|link| forward_rate(builder, link, proxy.node));
                list.push(Membership { proxy: proxy.node, member, advertised_rate: rate, from_start: true });
            }
        }
    }
    list
}

/// The rate of `link` away from `from`.
fn forward_rate(builder: &NetworkBuilder, link: LinkIndex, from: NodeId) -> Option<Rate> {
    let plan = &builder.links[link.index()];
    if plan.ends[0] == from { plan.forward.mean_rate() } else { plan.reverse.mean_rate() }
}

fn link_between(builder: &NetworkBuilder, a: NodeId, b: NodeId) -> Option<LinkIndex> {
    let joins = |ends: [NodeId; 2]| ends == [a, b] || ends == [b, a];
    builder.links.iter().position(|link| joins(link.ends)).map(|index| LinkIndex(index as u32))
}

impl MemberRecord {
    fn unconnected(name: &str) -> Self {
        Self { link_name: name.into(), advertised_rate: None, round_trip: Duration::ZERO, links: Vec::new() }
    }
}

impl Community {
    fn enrol(
        &mut self,
        builder: &NetworkBuilder,
        places: &[Place],
        routes: &Routes,
        membership: &Membership,
    ) -> Result<(), BuildError> {
        let name = |node: NodeId| builder.nodes[node.index()].name.clone();
        let NodeRole::Proxy(proxy) = self.roles[membership.proxy.index()] else {
            return Err(BuildError::WrongKind { node: name(membership.proxy), expected: "a proxy" });
        };
        let NodeRole::Member(member) = self.roles[membership.member.index()] else {
            return Err(BuildError::WrongKind { node: name(membership.member), expected: "a member" });
        };
        let entry = &mut self.proxies[proxy as usize];
        let full = entry.members.len() > usize::from(u8::MAX);
        if full || self.members[member as usize].proxy.is_some() {
            let expected = if full { "among the first 256 members" } else { "free for a second proxy" };
            return Err(BuildError::WrongKind { node: name(membership.member), expected });
        }
        let link = LinkId(entry.members.len() as u8);
        entry.members.push(membership.member);
        self.members[member as usize].proxy = Some((proxy, link));
        if membership.from_start {
            self.joins.push(membership.member);
        }
        let record = &mut self.records[member as usize];
        record.advertised_rate = membership.advertised_rate;
        // Its links: those on the way from the proxy.
        let path = routes.path(places, membership.proxy, membership.member).unwrap_or_default();
        let hops = path.windows(2).filter_map(|hop| link_between(builder, hop[0], hop[1]));
        record.links = hops.collect();
        let delays = record.links.iter().map(|link| builder.links[link.index()].round_trip());
        record.round_trip = delays.fold(Duration::ZERO, |sum, delay| sum + delay);
        if let Some(link) = record.links.last() {
            record.link_name = builder.links[link.index()].name.clone();
        }
        Ok(())
    }

    /// A proxy serves the nodes that it reaches through its members, and the members themselves.
    fn find_served(&mut self, places: &[Place], routes: &Routes) {
        for proxy in &mut self.proxies {
            for (index, serves) in proxy.serves.iter_mut().enumerate() {
                let node = NodeId(index as u32);
                let path = routes.path(places, proxy.node, node).unwrap_or_default();
                *serves = node != proxy.node && path.iter().any(|hop| proxy.members.contains(hop));
            }
        }
    }

    /// Receivers are served hosts with a link to a member; what lies outside they reach through it.
    fn find_receivers(&mut self, builder: &NetworkBuilder, places: &[Place]) -> Result<(), BuildError> {
        for proxy in &self.proxies {
            for (index, place) in places.iter().enumerate() {
                let node = NodeId(index as u32);
                if !proxy.serves[index] || proxy.members.contains(&node) {
                    continue;
                }
                let exits = place.exits.iter().filter(|(_, next)| proxy.members.contains(next));
                let mut ways_out: Vec<_> = exits.map(|&(port, member)| (member, port)).collect();
                let chosen = builder.return_members.iter().rev().find(|(receiver, _)| *receiver == node);
                if let Some((_, member)) = chosen {
                    let Some(at) = ways_out.iter().position(|(way, _)| way == member) else {
                        let node = builder.nodes[member.index()].name.clone();
                        return Err(BuildError::WrongKind {
                            node,
                            expected: "a member next to its receiver",
                        });
                    };
                    ways_out[..=at].rotate_right(1);
                }
                let served = |other: &usize| proxy.serves[*other];
                let beyond =
                    (0..places.len()).filter(|other| !served(other)).map(|other| NodeId(other as u32));
                self.receivers.push(Receiver { node, ways_out, beyond: beyond.collect() });
            }
        }
        Ok(())
    }

    /// Fills the report: members' records, receivers, and which links are shared.
    pub fn describe(&mut self, builder: &NetworkBuilder, report: &mut Report) {
        for record in &mut self.records {
            // The last link of the way is the member's own; what comes before may be others' too.
            record.links.drain(..record.links.len().saturating_sub(1));
            for link in &record.links {
                let line = &mut report.links[link.index()];
                line.shared = builder.links[link.index()].shared.unwrap_or(true);
                line.in_use = false;
            }
        }
        report.members = std::mem::take(&mut self.records);
        report.receivers = std::mem::take(&mut self.receivers);
    }
}
