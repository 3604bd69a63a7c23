//! The plan itself: its lists, and the calls that fill them.
use crate::{
    Action, Direction, Event, Flow, FlowId, Link, LinkDirection, LinkId, Medium, MediumId, MediumModel,
    MemberSettings, Node, NodeId, NodeKind, Program, ProxySettings, Radio, Role,
};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};
use prismux_link::LinkConfig;
use prismux_units::{Duration, Rate};

/// One experiment. Every list keeps its order; parts refer to each other by their positions.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Name of the experiment, for results.
    pub name: String,
    /// When the run ends at the latest.
    pub duration: Duration,
    /// Nodes.
    pub nodes: Vec<Node>,
    /// Links.
    pub links: Vec<Link>,
    /// Media that several nodes share.
    pub media: Vec<Medium>,
    /// Flows.
    pub flows: Vec<Flow>,
    /// Programs of the user's own.
    pub programs: Vec<Program>,
    /// What happens at set times, in order of time.
    pub events: Vec<Event>,
    /// What is measured, and when.
    pub measure: Measure,
}

/// What is measured, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Measure {
    /// Steady goodput leaves out this much from each flow's start. When `None`, flows with an end are measured from a
    /// fifth of their bytes, others not at all.
    pub warm_up: Option<Duration>,
    /// Sampling interval of the time series; `None` takes none.
    pub interval: Option<Duration>,
    /// The one-way delay of every data packet is taken (in the lab: of every datagram).
    pub delays: bool,
    /// Lost ACKs of TCP are counted, and how many were lost in a row.
    pub lost_acks: bool,
}

/// Filling a plan.
impl Plan {
    /// A plan without nodes.
    pub fn new(name: &str, duration: Duration) -> Self {
        Self {
            name: name.into(),
            duration,
            nodes: Vec::new(),
            links: Vec::new(),
            media: Vec::new(),
            flows: Vec::new(),
            programs: Vec::new(),
            events: Vec::new(),
            measure: Measure::default(),
        }
    }

    /// Adds a node.
    pub fn add_node(&mut self, name: &str, role: Role) -> NodeId {
        self.nodes.push(Node { name: name.into(), role });
        NodeId::new(self.nodes.len() - 1)
    }

    /// Adds a host.
    pub fn host(&mut self, name: &str) -> NodeId {
        self.add_node(name, Role::Host)
    }

    /// Adds a router.
    pub fn router(&mut self, name: &str) -> NodeId {
        self.add_node(name, Role::Router)
    }

    /// Adds a member that is there from the start.
    pub fn member(&mut self, name: &str) -> NodeId {
        self.add_node(name, Role::Member(MemberSettings::default()))
    }

    /// Adds a proxy.
    pub fn prism_proxy(&mut self, name: &str, settings: ProxySettings) -> NodeId {
        self.add_node(name, Role::PrismProxy(Box::new(settings)))
    }

    /// Connects `a` and `b`; `forward` is the direction from `a` to `b`, which results report. The link counts as
    /// capacity when it joins a proxy and a member.
    ///
    /// A queue limit in bandwidth-delay products uses the delays of both directions unless it names its own.
    pub fn link(
        &mut self,
        name: &str,
        [a, b]: [NodeId; 2],
        forward: LinkConfig,
        reverse: LinkConfig,
    ) -> LinkId {
        let round_trip = forward.delay + reverse.delay;
        let working = |mut link: LinkConfig| {
            link.bdp_round_trip.get_or_insert(round_trip);
            LinkDirection::from(link)
        };
        let shared = self.is_uplink([a, b]);
        self.links.push(Link {
            name: name.into(),
            ends: [a, b],
            forward: working(forward),
            reverse: working(reverse),
            shared,
            advertised_rate: None,
        });
        LinkId::new(self.links.len() - 1)
    }

    /// Connects `a` and `b` with the same properties in both directions.
    pub fn symmetric_link(&mut self, name: &str, ends: [NodeId; 2], link: LinkConfig) -> LinkId {
        self.link(name, ends, link.clone(), link)
    }

    /// Attaches nodes to a medium that they share.
    pub fn medium(&mut self, name: &str, attached: &[NodeId], model: MediumModel) -> MediumId {
        self.media.push(Medium { name: name.into(), attached: attached.to_vec(), model });
        MediumId::new(self.media.len() - 1)
    }

    /// Adds a flow.
    pub fn flow(&mut self, flow: Flow) -> FlowId {
        self.flows.push(flow);
        FlowId::new(self.flows.len() - 1)
    }

    /// Adds a program that runs on `node` from the start of the run.
    pub fn program(&mut self, name: &str, node: NodeId, command: &[&str]) {
        let command = command.iter().map(|&word| word.into()).collect();
        self.programs.push(Program { name: name.into(), node, command, start: Duration::ZERO, stop: None });
    }

    /// Adds an event, behind those that are at the same time.
    pub fn event(&mut self, at: Duration, action: Action) {
        let behind = self.events.partition_point(|event| event.at <= at);
        self.events.insert(behind, Event { at, action });
    }
}

/// Looking things up.
impl Plan {
    /// The node called `name`.
    pub fn node_named(&self, name: &str) -> Option<NodeId> {
        self.nodes.iter().position(|node| node.name == name).map(NodeId::new)
    }

    /// The link called `name`.
    pub fn link_named(&self, name: &str) -> Option<LinkId> {
        self.links.iter().position(|link| link.name == name).map(LinkId::new)
    }

    /// The flow called `name`.
    pub fn flow_named(&self, name: &str) -> Option<FlowId> {
        self.flows.iter().position(|flow| flow.name == name).map(FlowId::new)
    }

    /// The radio medium that a node is on.
    pub fn radio_of(&self, node: NodeId) -> Option<&Radio> {
        self.media.iter().filter(|medium| medium.attached.contains(&node)).find_map(|medium| {
            match &medium.model {
                MediumModel::Radio(radio) => Some(&**radio),
                MediumModel::Bus(_) | MediumModel::Cell(_) | MediumModel::External => None,
            }
        })
    }

    /// Every node.
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId::new)
    }

    /// Every link.
    pub fn link_ids(&self) -> impl Iterator<Item = LinkId> + use<> {
        (0..self.links.len()).map(LinkId::new)
    }

    /// Every medium.
    pub fn medium_ids(&self) -> impl Iterator<Item = MediumId> + use<> {
        (0..self.media.len()).map(MediumId::new)
    }

    /// Every flow.
    pub fn flow_ids(&self) -> impl Iterator<Item = FlowId> + use<> {
        (0..self.flows.len()).map(FlowId::new)
    }

    /// Proxies.
    pub fn proxies(&self) -> Vec<NodeId> {
        self.of_kind(NodeKind::PrismProxy)
    }

    /// Nodes of this kind.
    pub fn of_kind(&self, kind: NodeKind) -> Vec<NodeId> {
        self.node_ids().filter(|&node| self[node].kind() == kind).collect()
    }

    /// The first link between two nodes.
    pub fn link_between(&self, a: NodeId, b: NodeId) -> Option<LinkId> {
        self.links.iter().position(|link| link.other_end(a) == Some(b)).map(LinkId::new)
    }

    /// The links that end at `node`.
    pub fn links_at(&self, node: NodeId) -> Vec<LinkId> {
        self.link_ids().filter(|&link| self[link].ends.contains(&node)).collect()
    }

    /// Links whose rates count as capacity.
    pub fn shared_links(&self) -> Vec<LinkId> {
        self.link_ids().filter(|&link| self[link].shared).collect()
    }

    /// Whether a link between these nodes joins a proxy and a member.
    pub fn is_uplink(&self, ends: [NodeId; 2]) -> bool {
        let kinds = ends.map(|end| self[end].kind());
        matches!(kinds, [NodeKind::PrismProxy, NodeKind::Member] | [NodeKind::Member, NodeKind::PrismProxy])
    }

    /// The members that `proxy` sends through: those it names, else those that a link joins it to.
    pub fn members_of(&self, proxy: NodeId) -> Vec<NodeId> {
        if let Role::PrismProxy(settings) = &self[proxy].role
            && let Some(members) = &settings.members
        {
            return members.clone();
        }
        let neighbours = self.links.iter().filter_map(|link| link.other_end(proxy));
        neighbours.filter(|&node| self[node].kind() == NodeKind::Member).collect()
    }

    /// The rate that a member tells its proxies: the `advertised_rate` of its link towards them; where a proxy does
    /// not learn rates and none is given, the link's own rate.
    pub fn advertised_rate(&self, member: NodeId) -> Option<Rate> {
        let told = |proxy: NodeId| -> Option<Rate> {
            let Role::PrismProxy(settings) = &self[proxy].role else { return None };
            let path = self.shortest_path(proxy, member)?;
            let [.., before, last] = path[..] else { return None };
            let link = &self[self.link_between(before, last)?];
            let own = link.from_end(before).link.mean_rate().filter(|_| !settings.config.learn_rates);
            link.advertised_rate.or(own)
        };
        self.proxies().into_iter().filter(|&proxy| self.members_of(proxy).contains(&member)).find_map(told)
    }

    /// When a flow starts and stops, [`Action::StartFlow`] and [`Action::StopFlow`] included.
    pub fn times_of(&self, flow: FlowId) -> (Duration, Option<Duration>) {
        let (mut start, mut stop) = (self[flow].start, self[flow].stop);
        for event in &self.events {
            match event.action {
                Action::StartFlow(which) if which == flow => start = event.at,
                Action::StopFlow(which) if which == flow => stop = Some(event.at),
                _ => {}
            }
        }
        (start, stop)
    }

    /// The flows that share what there is: all but datagrams, whose rates are set.
    pub fn competing_flows(&self) -> impl Iterator<Item = FlowId> {
        self.flow_ids().filter(|&flow| !self[flow].traffic.is_datagrams())
    }

    /// True when the run is over before its duration once all transfers are complete: there are any, and every flow but
    /// datagrams is a file with an end.
    pub fn ends_by_itself(&self) -> bool {
        let mut transfers =
            self.flows.iter().filter(|flow| flow.transport != crate::Transport::Udp).peekable();
        transfers.peek().is_some() && transfers.all(|flow| flow.file_bytes().is_some())
    }
}

macro_rules! by_id {
    ($id:ident, $part:ident, $list:ident) => {
        impl Index<$id> for Plan {
            type Output = $part;

            fn index(&self, id: $id) -> &$part {
                &self.$list[id.index()]
            }
        }

        impl IndexMut<$id> for Plan {
            fn index_mut(&mut self, id: $id) -> &mut $part {
                &mut self.$list[id.index()]
            }
        }
    };
}

by_id!(NodeId, Node, nodes);
by_id!(LinkId, Link, links);
by_id!(FlowId, Flow, flows);
by_id!(MediumId, Medium, media);

impl Link {
    /// The state of one direction when the run starts.
    pub fn direction(&self, direction: Direction) -> &LinkDirection {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Reverse => &self.reverse,
        }
    }
}
