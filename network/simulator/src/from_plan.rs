//! From a plan to a simulated network. Parts keep their positions: the first node of the plan is the network's first.
use crate::flows::planned;
use crate::{
    AnyTransport, BuildError, CongestionFactory, FlowConfig, FlowId, Handoff, LinkIndex, NetworkBuilder,
    NetworkEvent, NodeId, SchedulerFactory, Simulation,
};
use prismux_endpoint::random::Seed;
use prismux_link::LinkChange;
use prismux_plan::{Action, Directions, Event, Feature, Flow, Lack, Plan, PlanError, Role, Unsupported};
use prismux_trace::event::EventSink;
use prismux_units::Instant;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;

/// What plans may ask for and the simulator does not have.
const LACKS: &[Lack] = &[
    Lack {
        feature: Feature::Transport("mptcp"),
        what: "{}: Multipath TCP is the kernel's and exists in the lab only",
        remedy: "use --on lab, or another transport",
    },
    Lack {
        feature: Feature::Processes,
        what: "the simulator has no process of {} to kill",
        remedy: "use leave and join, or --on lab",
    },
];

/// How a plan is simulated, apart from what it says.
#[derive(Default)]
pub struct SimulationOptions {
    /// Checkers on or off; without a word they are on in debug builds.
    pub checks: Option<bool>,
    /// Where a capture of all links goes, in pcapng; should be buffered.
    pub capture: Option<Box<dyn Write + Send>>,
    /// Who is told of every event.
    pub events: Option<Box<dyn EventSink + Send>>,
    /// Scheduler of every proxy, in place of those that the plan names.
    pub scheduler: Option<SchedulerFactory>,
    /// Congestion control of every sender of TCP, in place of those that the plan names.
    pub congestion: Option<CongestionFactory>,
    /// Transports from outside, by the names of the flows that they carry in place of those that the plan names.
    pub transports: BTreeMap<String, AnyTransport>,
}

/// Why a plan cannot be simulated.
#[derive(Debug)]
pub enum SimulationError {
    /// The plan makes no sense.
    Plan(PlanError),
    /// The simulator lacks something that the plan asks for.
    Unsupported(Unsupported),
    /// No network can be built of it.
    Build(BuildError),
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => error.fmt(f),
            Self::Unsupported(error) => error.fmt(f),
            Self::Build(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SimulationError {}

impl From<Unsupported> for SimulationError {
    fn from(error: Unsupported) -> Self {
        Self::Unsupported(error)
    }
}

/// Refuses a plan that the simulator cannot run.
///
/// # Errors
/// For what the simulator lacks, with a way out.
pub fn check_supported(plan: &Plan) -> Result<(), Unsupported> {
    plan.refuse(LACKS)?;
    bypassed_proxies(plan).map(|_| ())
}

impl Simulation {
    /// The network of `plan` with its flows, ready to run; all random streams follow from `seed`.
    ///
    /// # Errors
    /// When the plan makes no sense, or asks for what the simulator does not have.
    pub fn from_plan(plan: &Plan, seed: Seed, options: SimulationOptions) -> Result<Self, SimulationError> {
        plan.check().map_err(SimulationError::Plan)?;
        check_supported(plan)?;
        let (builder, bypassed) = (NetworkBuilder::new(seed), bypassed_proxies(plan)?);
        let mut network = Network { plan, builder, bypassed, transports: &options.transports };
        network.add_nodes();
        network.add_links();
        network.add_memberships();
        for id in plan.flow_ids() {
            network.add_flow(id);
        }
        for event in &plan.events {
            network.add_event(event);
        }
        let Network { mut builder, .. } = network;
        if let Some(warm_up) = plan.measure.warm_up {
            builder.steady_after(warm_up);
        }
        if let Some(interval) = plan.measure.interval {
            builder.sample_every(interval);
        }
        apply(options, plan, &mut builder)?;
        builder.build().map_err(SimulationError::Build)
    }
}

fn apply(options: SimulationOptions, plan: &Plan, builder: &mut NetworkBuilder) -> Result<(), Unsupported> {
    if let Some(on) = options.checks {
        builder.checks(on);
    }
    if let Some(writer) = options.capture {
        builder.capture(writer, &[]);
    }
    if let Some(sink) = options.events {
        builder.log_events(sink);
    }
    for node in plan.node_ids() {
        options.scheduler.iter().for_each(|factory| builder.scheduler(NodeId(node.0), factory.clone()));
    }
    if let Some(factory) = &options.congestion
        && builder.congestion(factory) == 0
    {
        return Err(Unsupported {
            what: "a congestion control from outside has no flow to control: none runs over TCP".to_string(),
            remedy: "use transport \"tcp\", \"tcp-prism\", \"tcp-ho\" or \"tcp-eln\"".to_string(),
        });
    }
    Ok(())
}

/// Proxies that every TCP flow on the way goes past: they become routers. A proxy that some flows use and others
/// go past cannot be simulated.
fn bypassed_proxies(plan: &Plan) -> Result<Vec<prismux_plan::NodeId>, Unsupported> {
    let past = plan.flows.iter().filter(|flow| flow.via.is_some());
    let bypassed: Vec<_> = past.filter_map(|flow| plan.proxy_between(flow.from, flow.to)).collect();
    for flow in &plan.flows {
        if let Some(proxy) = plan.proxy_of(flow).filter(|proxy| bypassed.contains(proxy)) {
            let name = &plan[proxy].name;
            return Err(Unsupported {
                what: format!(
                    "flow \"{}\" passes the proxy \"{name}\" while others go past it by \"via\"",
                    flow.name
                ),
                remedy: "give all flows of this proxy a \"via\", or none; or use --on lab".to_string(),
            });
        }
    }
    Ok(bypassed)
}

/// A network under construction.
struct Network<'a> {
    plan: &'a Plan,
    builder: NetworkBuilder,
    bypassed: Vec<prismux_plan::NodeId>,
    /// From outside, by flow.
    transports: &'a BTreeMap<String, AnyTransport>,
}

impl Network<'_> {
    fn add_nodes(&mut self) {
        for id in self.plan.node_ids() {
            let (node, builder) = (&self.plan[id], &mut self.builder);
            match &node.role {
                Role::Host => builder.host(&node.name),
                Role::Router => builder.router(&node.name),
                Role::Member(_) => builder.member(&node.name),
                Role::PrismProxy(_) if self.bypassed.contains(&id) => builder.router(&node.name),
                Role::PrismProxy(settings) => {
                    builder.prism_proxy_with_tunnel(&node.name, settings.config.clone(), settings.tunnel)
                }
            };
        }
    }

    fn add_links(&mut self) {
        for link in &self.plan.links {
            let [a, b] = link.ends.map(|end| NodeId(end.0));
            let (forward, reverse) = (link.forward.link.clone(), link.reverse.link.clone());
            let index = self.builder.link(&link.name, a, b, forward, reverse);
            self.builder.shared(index, link.shared);
            if !link.forward.up {
                self.builder.event(Instant::ZERO, NetworkEvent::ForwardChange(index, LinkChange::DOWN));
            }
            if !link.reverse.up {
                self.builder.event(Instant::ZERO, NetworkEvent::ReverseChange(index, LinkChange::DOWN));
            }
        }
    }

    fn add_memberships(&mut self) {
        let (plan, proxies) = (self.plan, self.plan.proxies());
        let mut enrolled = vec![false; plan.nodes.len()];
        for &proxy in proxies.iter().filter(|proxy| !self.bypassed.contains(proxy)) {
            for member in plan.members_of(proxy) {
                let Role::Member(settings) = &plan[member].role else { continue };
                let rate = plan.advertised_rate(member);
                self.builder.membership(NodeId(proxy.0), NodeId(member.0), rate, settings.present);
                enrolled[member.index()] = true;
            }
        }
        // A member that no proxy names stays outside, also where there is but one proxy that it could belong to.
        if let [proxy] = proxies[..]
            && !self.bypassed.contains(&proxy)
        {
            for member in plan.node_ids() {
                if matches!(plan[member].role, Role::Member(_)) && !enrolled[member.index()] {
                    self.builder.membership(NodeId(proxy.0), NodeId(member.0), None, false);
                }
            }
        }
    }

    fn add_flow(&mut self, id: prismux_plan::FlowId) {
        let flow = &self.plan[id];
        let (start, stop) = self.plan.times_of(id);
        let (from, to) = (NodeId(flow.from.0), NodeId(flow.to.0));
        let transport = match self.transports.get(&flow.name) {
            Some(custom) => custom.clone(),
            None => planned(flow, flow.tcp.config()),
        };
        let mut config = FlowConfig::new(from, to, transport).starting(Instant::ZERO + start);
        config.stop = stop.map(|stop| Instant::ZERO + stop);
        config.links = flow.links.iter().map(|link| LinkIndex(link.0)).collect();
        config.bytes = flow.file_bytes().map(|bytes| bytes.as_u64());
        let built: FlowId = self.builder.flow(&flow.name, config);
        debug_assert_eq!(built.index(), id.index());
        if let Some(member) = flow.via {
            self.route_via(flow, member);
        }
    }

    /// Leads both directions of `flow` through `member`.
    fn route_via(&mut self, flow: &Flow, member: prismux_plan::NodeId) {
        for (from, to) in [(flow.from, flow.to), (flow.to, flow.from)] {
            let first = self.plan.shortest_path(from, member).unwrap_or_default();
            let second = self.plan.shortest_path(member, to).unwrap_or_default();
            for hop in first.windows(2).chain(second.windows(2)) {
                if let Some(link) = self.plan.link_between(hop[0], hop[1]) {
                    self.builder.route(NodeId(hop[0].0), NodeId(to.0), LinkIndex(link.0));
                }
            }
        }
    }

    fn add_event(&mut self, event: &Event) {
        let action = match event.action {
            Action::Join(member) => NetworkEvent::Join(NodeId(member.0)),
            Action::Leave(member) => NetworkEvent::Leave(NodeId(member.0)),
            Action::ChangeLink { link, directions, change } => match directions {
                Directions::Both => NetworkEvent::LinkChange(LinkIndex(link.0), change),
                Directions::Forward => NetworkEvent::ForwardChange(LinkIndex(link.0), change),
                Directions::Reverse => NetworkEvent::ReverseChange(LinkIndex(link.0), change),
            },
            Action::Handoff { host, link, bandwidth } => NetworkEvent::Handoff(Handoff {
                host: NodeId(host.0),
                link: link.map(|link| LinkIndex(link.0)),
                bandwidth,
            }),
            // Times of flows are part of the flows; processes are refused before.
            Action::StartFlow(_) | Action::StopFlow(_) | Action::Kill(_) | Action::Restart(_) => return,
        };
        self.builder.event(Instant::ZERO + event.at, action);
    }
}
