//! Who belongs to which proxy, and whose packets it takes.
use super::community::{Community, Member, Receiver};
use super::member::{MemberNode, MemberTunnel};
use super::{ProxyNode, SchedulerFactory};
use crate::builder::{BuildError, NetworkBuilder};
use crate::core::ids::{LinkIndex, NodeId};
use crate::nodes::Node;
use crate::nodes::routing::{Place, Routes};
use prismux_endpoint::Alarm;
use prismux_plan::{IpFamily, Tunnel};
use prismux_prism::{LinkId, Proxy, ProxyConfig};
use prismux_units::{Duration, Rate};
use std::sync::Arc;

/// The communities of a network under construction.
#[derive(Debug, Default)]
pub(crate) struct PrismPlan {
    pub proxies: Vec<ProxyPlan>,
    pub members: Vec<NodeId>,
    pub memberships: Vec<Membership>,
    /// Receivers, and the members that their packets are to leave through.
    pub return_members: Vec<(NodeId, NodeId)>,
}

/// A proxy under construction.
#[derive(Debug)]
pub(crate) struct ProxyPlan {
    pub node: NodeId,
    pub config: ProxyConfig,
    pub tunnel: Tunnel,
    pub scheduler: Option<SchedulerFactory>,
}

impl ProxyPlan {
    /// Bytes that its tunnels add to a packet: nodes know each other by IPv4 addresses.
    pub fn tunnel_bytes(&self) -> u32 {
        self.tunnel.overhead_bytes(IpFamily::V4)
    }
}

/// A member's place in a community.
#[derive(Debug, Clone)]
pub(crate) struct Membership {
    pub proxy: NodeId,
    pub member: NodeId,
    pub advertised_rate: Option<Rate>,
    pub from_start: bool,
}

/// What has been found: communities, their nodes, and members to join before the run begins, in order.
pub(crate) struct Found {
    pub community: Community,
    pub nodes: Vec<(NodeId, Box<dyn Node>)>,
    pub joins: Vec<NodeId>,
}

/// A proxy whose members are being found.
struct Draft<'a> {
    plan: &'a ProxyPlan,
    members: Vec<NodeId>,
    /// By node: packets for it travel over the members' links.
    serves: Arc<[bool]>,
}

/// Finds the communities of a network.
pub(crate) fn found(
    builder: &NetworkBuilder,
    places: &[Place],
    routes: &Routes,
) -> Result<Found, BuildError> {
    let plan = builder.prism();
    let drafts = plan.proxies.iter();
    let drafts = drafts.map(|plan| Draft { plan, members: Vec::new(), serves: Arc::new([]) }).collect();
    let members = plan.members.iter().map(|&node| Member::unconnected(node, builder.node_name(node)));
    let mut finder =
        Finder { builder, places, routes, drafts, members: members.collect(), joins: Vec::new() };
    for membership in memberships(builder) {
        finder.enrol(&membership)?;
    }
    finder.find_served();
    let receivers = finder.find_receivers()?;
    Ok(finder.finish(receivers))
}

/// The stated memberships; with a single proxy also those of members that none was stated for.
fn memberships(builder: &NetworkBuilder) -> Vec<Membership> {
    let plan = builder.prism();
    let mut list = plan.memberships.clone();
    if let [ProxyPlan { node: proxy, .. }] = plan.proxies[..] {
        for &member in &plan.members {
            if plan.memberships.iter().any(|membership| membership.member == member) {
                continue;
            }
            let link = link_between(builder, proxy, member);
            let advertised_rate = link.and_then(|link| forward_rate(builder, link, proxy));
            list.push(Membership { proxy, member, advertised_rate, from_start: true });
        }
    }
    list
}

/// The rate of `link` away from `from`.
fn forward_rate(builder: &NetworkBuilder, link: LinkIndex, from: NodeId) -> Option<Rate> {
    let plan = builder.link_plan(link);
    if plan.ends[0] == from { plan.forward.mean_rate() } else { plan.reverse.mean_rate() }
}

fn link_between(builder: &NetworkBuilder, a: NodeId, b: NodeId) -> Option<LinkIndex> {
    let joins = |link: &LinkIndex| {
        let ends = builder.link_plan(*link).ends;
        ends == [a, b] || ends == [b, a]
    };
    builder.link_indices().find(joins)
}

impl Member {
    fn unconnected(node: NodeId, name: &str) -> Self {
        Self {
            node,
            proxy: None,
            joined: false,
            link_name: name.into(),
            advertised_rate: None,
            round_trip: Duration::ZERO,
            links: Vec::new(),
        }
    }
}

/// Communities under construction.
struct Finder<'a> {
    builder: &'a NetworkBuilder,
    places: &'a [Place],
    routes: &'a Routes,
    drafts: Vec<Draft<'a>>,
    members: Vec<Member>,
    joins: Vec<NodeId>,
}

impl Finder<'_> {
    fn wrong(&self, node: NodeId, expected: &'static str) -> BuildError {
        BuildError::WrongKind { node: self.builder.node_name(node).into(), expected }
    }

    fn enrol(&mut self, membership: &Membership) -> Result<(), BuildError> {
        let Membership { proxy, member, .. } = *membership;
        let Some(at) = self.drafts.iter().position(|draft| draft.plan.node == proxy) else {
            return Err(self.wrong(proxy, "a proxy"));
        };
        let Some(index) = self.members.iter().position(|known| known.node == member) else {
            return Err(self.wrong(member, "a member"));
        };
        let draft = &mut self.drafts[at];
        let full = draft.members.len() > usize::from(u8::MAX);
        if full || self.members[index].proxy.is_some() {
            let expected = if full { "among the first 256 members" } else { "free for a second proxy" };
            return Err(self.wrong(member, expected));
        }
        let record = &mut self.members[index];
        record.proxy = Some((proxy, LinkId(draft.members.len() as u8)));
        draft.members.push(member);
        if membership.from_start {
            self.joins.push(member);
        }
        record.advertised_rate = membership.advertised_rate;
        // The links on the path from the proxy.
        let path = self.routes.path(self.places, proxy, member).unwrap_or_default();
        let hops = path.windows(2).filter_map(|hop| link_between(self.builder, hop[0], hop[1]));
        record.links = hops.collect();
        let delays = record.links.iter().map(|link| self.builder.link_plan(*link).round_trip());
        record.round_trip = delays.fold(Duration::ZERO, |sum, delay| sum + delay);
        if let Some(&link) = record.links.last() {
            record.link_name = self.builder.link_plan(link).name.clone();
        }
        Ok(())
    }

    /// A proxy serves the nodes that it reaches through its members, and the members themselves.
    fn find_served(&mut self) {
        for draft in &mut self.drafts {
            let serves = |index: usize| {
                let node = NodeId(index as u32);
                let path = self.routes.path(self.places, draft.plan.node, node).unwrap_or_default();
                node != draft.plan.node && path.iter().any(|hop| draft.members.contains(hop))
            };
            draft.serves = (0..self.builder.node_count()).map(serves).collect();
        }
    }

    /// Receivers are served hosts with a link to a member; what lies outside they reach through it.
    fn find_receivers(&self) -> Result<Vec<Receiver>, BuildError> {
        let mut receivers = Vec::new();
        for Draft { members, serves, .. } in &self.drafts {
            for (index, place) in self.places.iter().enumerate() {
                let node = NodeId(index as u32);
                if !serves[index] || members.contains(&node) {
                    continue;
                }
                let exits = place.exits.iter().filter(|(_, next)| members.contains(next));
                let mut exits: Vec<_> = exits.map(|&(port, member)| (member, port)).collect();
                let chosen = self.builder.prism().return_members.iter().rev();
                if let Some((_, member)) = { chosen }.find(|(receiver, _)| *receiver == node) {
                    let Some(at) = exits.iter().position(|(exit, _)| exit == member) else {
                        return Err(self.wrong(*member, "a member next to its receiver"));
                    };
                    exits[..=at].rotate_right(1);
                }
                let beyond = (0..self.places.len()).filter(|&other| !serves[other]);
                let beyond = beyond.map(|other| NodeId(other as u32)).collect();
                receivers.push(Receiver { node, exits, beyond });
            }
        }
        Ok(receivers)
    }

    /// The nodes, now that everybody is known.
    fn finish(mut self, receivers: Vec<Receiver>) -> Found {
        let mut nodes: Vec<(NodeId, Box<dyn Node>)> = Vec::new();
        for member in &mut self.members {
            // The last link of the path is the member's own; what comes before may be others' too.
            member.links.drain(..member.links.len().saturating_sub(1));
            let draft = self.drafts.iter().find(|draft| draft.members.contains(&member.node));
            let tunnel = draft.map(|draft| MemberTunnel {
                proxy: draft.plan.node,
                overhead_bytes: draft.plan.tunnel_bytes(),
                serves: Arc::clone(&draft.serves),
            });
            // Without a proxy it is a router.
            if let Some(tunnel) = tunnel {
                nodes.push((member.node, Box::new(MemberNode { tunnel })));
            }
        }
        for Draft { plan, members, serves } in self.drafts {
            let mut proxy = Proxy::new(plan.config.clone());
            if let Some(factory) = &plan.scheduler {
                proxy.set_scheduler(factory.make(self.builder.node_name(plan.node)));
            }
            let (tunnel_bytes, alarm) = (plan.tunnel_bytes(), Alarm::new());
            nodes.push((plan.node, Box::new(ProxyNode { proxy, tunnel_bytes, members, serves, alarm })));
        }
        let proxies = self.builder.prism().proxies.iter().map(|plan| plan.node).collect();
        let community = Community { proxies, members: self.members, receivers };
        Found { community, nodes, joins: self.joins }
    }
}
