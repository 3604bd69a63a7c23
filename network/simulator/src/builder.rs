//! Building a network.
mod assemble;
mod capacity;
mod check;
mod interfaces;

pub use check::BuildError;
pub(crate) use interfaces::Interfaces;

use crate::core::ids::{FlowId, LinkIndex, NodeId};
use crate::flows::{CongestionFactory, FlowConfig};
use crate::media::{Bus, Medium, MediumIndex};
use crate::nodes::Node;
use crate::nodes::prism::{Membership, PrismPlan, ProxyPlan, SchedulerFactory};
use crate::simulation::{NetworkEvent, Simulation};
use prismux_endpoint::random::Seed;
use prismux_link::LinkConfig;
use prismux_plan::Tunnel;
use prismux_prism::ProxyConfig;
use prismux_trace::event::EventSink;
use prismux_units::{Duration, Instant, Rate};
use std::fmt;
use std::io::Write;

/// Collects nodes, links, flows and events; [`NetworkBuilder::build`] makes a [`Simulation`] of them.
///
/// Names must differ among nodes, among links and among flows: random streams and results go by name.
#[derive(Debug)]
pub struct NetworkBuilder {
    seed: Seed,
    nodes: Vec<NodePlan>,
    links: Vec<LinkPlan>,
    media: Vec<MediumPlan>,
    flows: Vec<FlowPlan>,
    events: Vec<(Instant, NetworkEvent)>,
    routes: Vec<(NodeId, NodeId, LinkIndex)>,
    prism: PrismPlan,
    sample_every: Option<Duration>,
    warm_up: Option<Duration>,
    checks: bool,
    capture: Option<CapturePlan>,
    event_sink: Option<SinkPlan>,
}

#[derive(Debug)]
struct NodePlan {
    name: String,
    /// Carries other nodes' packets.
    forwards: bool,
    /// Forwards by this rule, not by a table.
    rule: Option<Box<dyn Node>>,
}

#[derive(Debug)]
pub(crate) struct LinkPlan {
    pub name: String,
    pub ends: [NodeId; 2],
    pub forward: LinkConfig,
    pub reverse: LinkConfig,
    /// Counts as capacity, where somebody has said so.
    pub shared: Option<bool>,
}

/// A shared medium under construction.
#[derive(Debug)]
struct MediumPlan {
    medium: Box<dyn Medium>,
    attached: Vec<NodeId>,
}

impl LinkPlan {
    /// Propagation there and back.
    pub fn round_trip(&self) -> Duration {
        self.forward.delay + self.reverse.delay
    }
}

/// A flow, and the congestion control that takes the place of its own.
#[derive(Debug)]
struct FlowPlan {
    name: String,
    config: FlowConfig,
    congestion: Option<CongestionFactory>,
}

struct CapturePlan {
    writer: Box<dyn Write + Send>,
    links: Vec<LinkIndex>,
}

impl fmt::Debug for CapturePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CapturePlan({:?})", self.links)
    }
}

struct SinkPlan(Box<dyn EventSink + Send>);

impl fmt::Debug for SinkPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SinkPlan")
    }
}

impl NetworkBuilder {
    /// An empty network whose random streams follow from `seed`.
    pub fn new(seed: Seed) -> Self {
        Self {
            seed,
            nodes: Vec::new(),
            links: Vec::new(),
            media: Vec::new(),
            flows: Vec::new(),
            events: Vec::new(),
            routes: Vec::new(),
            prism: PrismPlan::default(),
            sample_every: None,
            warm_up: None,
            checks: cfg!(debug_assertions),
            capture: None,
            event_sink: None,
        }
    }

    /// A host: the end of flows; it forwards nothing.
    pub fn host(&mut self, name: &str) -> NodeId {
        self.add_node(name, false)
    }

    /// A router: forwards by shortest path.
    pub fn router(&mut self, name: &str) -> NodeId {
        self.add_node(name, true)
    }

    /// Gives a node a rule of its own, in place of the shortest path. It sees every packet that comes to it.
    pub fn forward_by(&mut self, node: NodeId, rule: impl Node) {
        self.nodes[node.index()].rule = Some(Box::new(rule));
    }

    /// A host of the community: forwards, ends tunnels, and may be the end of flows too.
    pub fn member(&mut self, name: &str) -> NodeId {
        let node = self.add_node(name, true);
        self.prism.members.push(node);
        node
    }

    /// A PRISM proxy that reaches its members through GRE.
    pub fn prism_proxy(&mut self, name: &str, config: ProxyConfig) -> NodeId {
        self.prism_proxy_with_tunnel(name, config, Tunnel::Gre)
    }

    /// A PRISM proxy with another tunnel.
    pub fn prism_proxy_with_tunnel(&mut self, name: &str, config: ProxyConfig, tunnel: Tunnel) -> NodeId {
        let node = self.add_node(name, true);
        self.prism.proxies.push(ProxyPlan { node, config, tunnel, scheduler: None });
        node
    }

    /// Gives a proxy a scheduler from outside in place of the one that its settings name; any other node ignores it.
    pub fn scheduler(&mut self, proxy: NodeId, factory: SchedulerFactory) {
        if let Some(plan) = self.prism.proxies.iter_mut().find(|plan| plan.node == proxy) {
            plan.scheduler = Some(factory);
        }
    }

    /// Gives the senders of all TCP transfers so far a congestion control from outside; returns how many there are.
    pub fn congestion(&mut self, factory: &CongestionFactory) -> usize {
        let takes = |plan: &&mut FlowPlan| plan.config.transport.get().takes_congestion_control();
        let transfers = self.flows.iter_mut().filter(takes);
        transfers.map(|plan| plan.congestion = Some(factory.clone())).count()
    }

    fn add_node(&mut self, name: &str, forwards: bool) -> NodeId {
        self.nodes.push(NodePlan { name: name.into(), forwards, rule: None });
        NodeId((self.nodes.len() - 1) as u32)
    }

    /// Connects `a` and `b`; `forward` is the direction from `a` to `b`, which results report.
    ///
    /// A queue limit in bandwidth-delay products uses the delays of both directions unless it names its own.
    pub fn link(
        &mut self,
        name: &str,
        a: NodeId,
        b: NodeId,
        forward: LinkConfig,
        reverse: LinkConfig,
    ) -> LinkIndex {
        let round_trip = forward.delay + reverse.delay;
        let with_round_trip = |mut config: LinkConfig| {
            config.bdp_round_trip.get_or_insert(round_trip);
            config
        };
        let (forward, reverse) = (with_round_trip(forward), with_round_trip(reverse));
        self.links.push(LinkPlan { name: name.into(), ends: [a, b], forward, reverse, shared: None });
        LinkIndex((self.links.len() - 1) as u32)
    }

    /// Connects `a` and `b` with the same properties in both directions.
    pub fn symmetric_link(&mut self, name: &str, a: NodeId, b: NodeId, config: LinkConfig) -> LinkIndex {
        self.link(name, a, b, config.clone(), config)
    }

    /// Attaches nodes to a medium that they share. Each is a neighbour of all others.
    pub fn medium(&mut self, attached: &[NodeId], medium: impl Medium) -> MediumIndex {
        self.media.push(MediumPlan { medium: Box::new(medium), attached: attached.to_vec() });
        MediumIndex((self.media.len() - 1) as u32)
    }

    /// A [`Bus`] between nodes: a rate, a delay and a queue that all of them share.
    pub fn bus(&mut self, name: &str, attached: &[NodeId], link: &LinkConfig) -> MediumIndex {
        let bus = Bus::new(link, self.seed, name, attached);
        self.medium(attached, bus)
    }

    /// Says whether a link's rate counts as the community's capacity. Without a word, links from a proxy
    /// to one of its members do.
    pub fn shared(&mut self, link: LinkIndex, shared: bool) {
        self.links[link.index()].shared = Some(shared);
    }

    /// Sends what `at` has for `destination` over `link`, whatever the shortest path.
    pub fn route(&mut self, at: NodeId, destination: NodeId, link: LinkIndex) {
        self.routes.push((at, destination, link));
    }

    /// Puts `member` into the community of `proxy`. A network with a single proxy needs this only for details:
    /// there every member joins at the start, with the rate of its link as advertised rate.
    pub fn membership(
        &mut self,
        proxy: NodeId,
        member: NodeId,
        advertised_rate: Option<Rate>,
        from_start: bool,
    ) {
        self.prism.memberships.push(Membership { proxy, member, advertised_rate, from_start });
    }

    /// Packets from `receiver` to the outside, ACKs above all, leave through `member` as long as it is in the
    /// community. Without a word they leave through the receiver's first link to a member that is.
    pub fn return_through(&mut self, receiver: NodeId, member: NodeId) {
        self.prism.return_members.push((receiver, member));
    }

    /// Adds a flow.
    pub fn flow(&mut self, name: &str, config: FlowConfig) -> FlowId {
        self.flows.push(FlowPlan { name: name.into(), config, congestion: None });
        FlowId((self.flows.len() - 1) as u32)
    }

    /// Plans an event.
    pub fn event(&mut self, at: Instant, event: NetworkEvent) {
        self.events.push((at, event));
    }

    /// Samples time series at this interval.
    pub fn sample_every(&mut self, interval: Duration) {
        self.sample_every = Some(interval);
    }

    /// Steady goodput is measured from this long after a flow's start. Without a word, flows with an end are measured
    /// from a fifth of their bytes, others not at all.
    pub fn steady_after(&mut self, warm_up: Duration) {
        self.warm_up = Some(warm_up);
    }

    /// Switches the checkers on or off; they are on in debug builds.
    pub fn checks(&mut self, on: bool) {
        self.checks = on;
    }

    /// Captures what is handed to `links` (all, if empty) in pcapng; `writer` should be buffered.
    pub fn capture(&mut self, writer: Box<dyn Write + Send>, links: &[LinkIndex]) {
        self.capture = Some(CapturePlan { writer, links: links.to_vec() });
    }

    /// Hands every event to `sink`.
    pub fn log_events(&mut self, sink: Box<dyn EventSink + Send>) {
        self.event_sink = Some(SinkPlan(sink));
    }

    /// Makes the network.
    ///
    /// # Errors
    /// When names clash, a flow has no way or makes no sense, or a node is used as what it is not.
    pub fn build(self) -> Result<Simulation, BuildError> {
        assemble::assemble(self)
    }

    pub(crate) fn seed(&self) -> Seed {
        self.seed
    }

    pub(crate) fn has_checks(&self) -> bool {
        self.checks
    }

    pub(crate) fn prism(&self) -> &PrismPlan {
        &self.prism
    }

    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn node_name(&self, node: NodeId) -> &str {
        &self.nodes[node.index()].name
    }

    pub(crate) fn link_plan(&self, link: LinkIndex) -> &LinkPlan {
        &self.links[link.index()]
    }

    pub(crate) fn link_indices(&self) -> impl Iterator<Item = LinkIndex> + use<> {
        (0..self.links.len() as u32).map(LinkIndex)
    }
}
