//! Who belongs to which proxy, and whose packets it takes.
use super::community::{Community, Member, Receiver};
use super::member::{MemberNode, MemberTunnel};
use super::neighbours::Neighbours;
use super::policy::SchedulerFactory;
use super::proxy::ProxyNode;
use super::receipts::{Meters, Receipts};
use crate::core::factory::Part;
use crate::core::ids::NodeId;
use crate::nodes::ground::Ground;
use crate::nodes::node::Node;
use prismux_endpoint::Alarm;
use prismux_plan::{IpFamily, NodeKind, ProxySettings, Role, Unsupported};
use prismux_prism::{LinkId as ProxyLinkId, Proxy};
use prismux_units::{Duration, Rate};
use std::sync::Arc;

/// What has been found: communities, their nodes, and members to join before the run begins, in order.
pub(crate) struct Found {
    pub community: Community,
    pub nodes: Vec<(NodeId, Box<dyn Node>)>,
    pub joins: Vec<NodeId>,
}

/// A proxy whose members are being found.
struct Draft<'a> {
    node: NodeId,
    settings: &'a ProxySettings,
    members: Vec<NodeId>,
    /// By node: packets for it travel over the members' links.
    serves: Arc<[bool]>,
    /// By node: its packets for those pass the proxy.
    passed_from: Arc<[bool]>,
}

/// A member's place in a community.
struct Membership {
    proxy: NodeId,
    member: NodeId,
    advertised_rate: Option<Rate>,
    from_start: bool,
}

/// Finds the communities of a plan. Proxies that are `bypassed` are routers; `scheduler` takes the place of the
/// proxies' own.
///
/// # Errors
/// When a proxy has more members than the simulator can tell apart, or a member more than one proxy.
pub(crate) fn found(
    ground: &Ground<'_>,
    bypassed: &[NodeId],
    scheduler: Option<&SchedulerFactory>,
) -> Result<Found, Unsupported> {
    let plan = ground.plan;
    let drafts = plan.node_ids().filter(|node| !bypassed.contains(node)).filter_map(|node| {
        let Role::PrismProxy(settings) = &plan[node].role else { return None };
        let (serves, passed_from): (Arc<[bool]>, Arc<[bool]>) = (Arc::new([]), Arc::new([]));
        Some(Draft { node, settings, members: Vec::new(), serves, passed_from })
    });
    let members = plan.of_kind(NodeKind::Member).into_iter();
    let members = members.map(|node| Member::unconnected(node, &plan[node].name));
    let mut finder =
        Finder { ground, drafts: drafts.collect(), members: members.collect(), joins: Vec::new() };
    for membership in finder.memberships() {
        finder.enrol(&membership)?;
    }
    finder.find_served();
    let receivers = finder.find_receivers();
    Ok(finder.finish(receivers, scheduler))
}

impl Draft<'_> {
    /// Bytes that its tunnels add to a packet: nodes know each other by IPv4 addresses.
    fn tunnel_bytes(&self) -> u32 {
        self.settings.tunnel.overhead_bytes(IpFamily::V4)
    }

    /// A host that reaches those whom the proxy serves past it, as neighbours do on a member's link, gets its answers
    /// past it too.
    fn find_passed(&mut self, ground: &Ground<'_>) {
        let mut passed_from = vec![false; ground.places.len()];
        for flow in &ground.plan.flows {
            for (outside, inside) in [(flow.from, flow.to), (flow.to, flow.from)] {
                let crosses =
                    outside != self.node && !self.serves[outside.index()] && self.serves[inside.index()];
                if crosses && !passed_from[outside.index()] {
                    passed_from[outside.index()] = ground.path(outside, inside).contains(&self.node);
                }
            }
        }
        self.passed_from = passed_from.into();
    }

    /// The other members that a link joins to `member`.
    fn neighbours_of(&self, ground: &Ground<'_>, member: NodeId) -> Vec<NodeId> {
        let is_near = |other: &NodeId| *other != member && ground.plan.link_between(member, *other).is_some();
        self.members.iter().copied().filter(is_near).collect()
    }
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
    ground: &'a Ground<'a>,
    drafts: Vec<Draft<'a>>,
    members: Vec<Member>,
    joins: Vec<NodeId>,
}

impl Finder<'_> {
    fn memberships(&self) -> Vec<Membership> {
        let plan = self.ground.plan;
        let mut list = Vec::new();
        for proxy in self.drafts.iter().map(|draft| draft.node) {
            for member in plan.members_of(proxy) {
                let Role::Member(settings) = &plan[member].role else { continue };
                let advertised_rate = plan.advertised_rate(member);
                list.push(Membership { proxy, member, advertised_rate, from_start: settings.present });
            }
        }
        // A member that no proxy names stays outside, also where there is but one proxy that it could belong to.
        if let ([proxy], [_]) = (&plan.proxies()[..], &self.drafts[..]) {
            for member in self.members.iter().map(|member| member.node) {
                if !list.iter().any(|membership| membership.member == member) {
                    list.push(Membership { proxy: *proxy, member, advertised_rate: None, from_start: false });
                }
            }
        }
        list
    }

    fn enrol(&mut self, membership: &Membership) -> Result<(), Unsupported> {
        let &Membership { proxy, member, advertised_rate, from_start } = membership;
        let ground = self.ground;
        let draft = self.drafts.iter_mut().find(|draft| draft.node == proxy);
        let record = self.members.iter_mut().find(|record| record.node == member);
        let (Some(draft), Some(record)) = (draft, record) else { return Ok(()) };
        let Ok(number) = u8::try_from(draft.members.len()) else {
            return Err(ground.unsupported(member, "is a proxy's 257th member", "give a proxy at most 256"));
        };
        if record.proxy.is_some() {
            return Err(ground.unsupported(
                member,
                "belongs to two proxies",
                "name it in one proxy's members",
            ));
        }
        record.proxy = Some((proxy, ProxyLinkId(number)));
        draft.members.push(member);
        if from_start {
            self.joins.push(member);
        }
        record.advertised_rate = advertised_rate;
        // The links on the path from the proxy.
        record.links = ground.links_of(&ground.path(proxy, member));
        let delays = record.links.iter().map(|&link| ground.plan[link].round_trip());
        record.round_trip = delays.fold(Duration::ZERO, |sum, delay| sum + delay);
        if let Some(&link) = record.links.last() {
            record.link_name = ground.plan[link].name.clone();
        }
        Ok(())
    }

    /// A proxy serves the nodes that it reaches through its members, and the members themselves.
    fn find_served(&mut self) {
        let ground = self.ground;
        for draft in &mut self.drafts {
            let serves = |node: NodeId| {
                node != draft.node
                    && ground.path(draft.node, node).iter().any(|hop| draft.members.contains(hop))
            };
            draft.serves = (0..ground.places.len()).map(NodeId::new).map(serves).collect();
            draft.find_passed(ground);
        }
    }

    /// Receivers are served hosts with a link to a member; what lies outside they reach through it.
    fn find_receivers(&self) -> Vec<Receiver> {
        let mut receivers = Vec::new();
        let places = self.ground.places;
        for Draft { members, serves, .. } in &self.drafts {
            for (index, place) in places.iter().enumerate() {
                let node = NodeId::new(index);
                if !serves[index] || members.contains(&node) {
                    continue;
                }
                let exits = place.exits.iter().filter(|(_, next)| members.contains(next));
                let exits: Vec<_> = exits.map(|&(port, member)| (member, port)).collect();
                let beyond = (0..places.len()).filter(|&other| !serves[other]);
                let beyond = beyond.map(NodeId::new).collect();
                receivers.push(Receiver { node, exits, beyond });
            }
        }
        receivers
    }

    /// The nodes, now that everybody is known.
    fn finish(mut self, receivers: Vec<Receiver>, scheduler: Option<&SchedulerFactory>) -> Found {
        let mut nodes: Vec<(NodeId, Box<dyn Node>)> = Vec::new();
        for member in &mut self.members {
            // The last link of the path is the member's own; what comes before may be others' too.
            member.links.drain(..member.links.len().saturating_sub(1));
            let draft = self.drafts.iter().find(|draft| draft.members.contains(&member.node));
            let tunnel = draft.map(|draft| MemberTunnel {
                proxy: draft.node,
                overhead_bytes: draft.tunnel_bytes(),
                serves: Arc::clone(&draft.serves),
                passed_from: Arc::clone(&draft.passed_from),
            });
            // Without a proxy it is a router.
            if let Some(tunnel) = tunnel {
                let asked = draft.map(|draft| &draft.settings).filter(|settings| settings.receipts);
                let receipts = asked.map(|settings| Receipts::new(tunnel.overhead_bytes, settings.fec));
                let near = draft.map(|draft| draft.neighbours_of(self.ground, member.node));
                let neighbours = near.filter(|near| !near.is_empty()).map(|near| {
                    Neighbours::new(near, (tunnel.proxy, tunnel.overhead_bytes), member.round_trip)
                });
                let onwards = Vec::new();
                nodes.push((member.node, Box::new(MemberNode { tunnel, receipts, neighbours, onwards })));
            }
        }
        let proxies = self.drafts.iter().map(|draft| draft.node).collect();
        for draft in self.drafts {
            let mut proxy = Proxy::new(draft.settings.config.clone());
            if let Some(factory) = scheduler {
                let name = &self.ground.plan[draft.node].name;
                proxy.set_scheduler(factory.make(Part { name, deadline: None }));
            }
            let (tunnel_bytes, alarm) = (draft.tunnel_bytes(), Alarm::new());
            let is_asked =
                draft.members.iter().any(|&member| !draft.neighbours_of(self.ground, member).is_empty());
            let Draft { node, members, serves, settings, .. } = draft;
            let meters =
                if settings.receipts { Meters::new(members.len(), settings.fec) } else { Meters::default() };
            let node_of_proxy = ProxyNode { proxy, tunnel_bytes, members, serves, meters, is_asked, alarm };
            nodes.push((node, Box::new(node_of_proxy)));
        }
        let community = Community { proxies, members: self.members, receivers };
        Found { community, nodes, joins: self.joins }
    }
}
