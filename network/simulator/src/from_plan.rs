//! From a plan to a simulated network. Parts keep their positions: the first node of the plan is the network's first.
use crate::{
    AnyTransport, BuildError, Cbr, CongestionFactory, ExtensionFactory, FlowConfig, FlowId, Handoff,
    LinkIndex, NetworkBuilder, NetworkEvent, NodeId, ParetoOnOff, PtcpFlow, R2cpFlow, R2cpPath, RcpFlow,
    RequestResponse, SchedulerFactory, Simulation, StripingFlow, TcpFlow,
};
use prismux_endpoint::random::Seed;
use prismux_link::LinkChange;
use prismux_plan::{
    Action, Congestion, Directions, Event, Feature, Flow, Lack, Pipe, Plan, PlanError, Role,
    StripingSettings, Traffic, Transport, Unsupported,
};
use prismux_rcp::RcpConfig;
use prismux_striping::Policy;
use prismux_tcp::TcpConfig;
use prismux_tcp_ho::HandoffConfig;
use prismux_trace::event::EventSink;
use prismux_units::Instant;
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
        feature: Feature::Congestion(Congestion::Bbr),
        what: "{}: BBR is the kernel's and exists in the lab only",
        remedy: "use --on lab, or congestion = \"cubic\" or \"newreno\"",
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
        let mut network =
            Network { plan, builder: NetworkBuilder::new(seed), bypassed: bypassed_proxies(plan)? };
        network.add_nodes();
        network.add_links();
        network.add_memberships();
        for id in plan.flow_ids() {
            network.add_flow(id)?;
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

    fn add_flow(&mut self, id: prismux_plan::FlowId) -> Result<(), Unsupported> {
        let flow = &self.plan[id];
        let (start, stop) = self.plan.times_of(id);
        let (from, to) = (NodeId(flow.from.0), NodeId(flow.to.0));
        let mut config = FlowConfig::new(from, to, transport(flow)?).starting(Instant::ZERO + start);
        config.stop = stop.map(|stop| Instant::ZERO + stop);
        config.links = flow.links.iter().map(|link| LinkIndex(link.0)).collect();
        config.bytes = flow.file_bytes().map(|bytes| bytes.as_u64());
        let built: FlowId = self.builder.flow(&flow.name, config);
        debug_assert_eq!(built.index(), id.index());
        if let Some(member) = flow.via {
            self.route_via(flow, member);
        }
        Ok(())
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

/// A flow's transport as the simulator has it.
fn transport(flow: &Flow) -> Result<AnyTransport, Unsupported> {
    let tcp = tcp(flow)?;
    let rcp = RcpConfig::from_tcp(&tcp);
    Ok(match (&flow.traffic, &flow.transport) {
        (&Traffic::Cbr { rate, packet }, _) => Cbr { rate, packet_bytes: packet.as_u64() as u32 }.into(),
        (&Traffic::ParetoOnOff { rate, packet, on, off, shape }, _) => {
            let packet_bytes = packet.as_u64() as u32;
            ParetoOnOff { rate, packet_bytes, mean_on: on, mean_off: off, shape }.into()
        }
        (&Traffic::RequestResponse { request, response, think, exchanges }, _) => {
            let (request_bytes, response_bytes) = (request.as_u64(), response.as_u64());
            RequestResponse { tcp, request_bytes, response_bytes, think, exchanges }.into()
        }
        (_, Transport::TcpPrism) => {
            let extension = ExtensionFactory::new(|| Box::new(prismux_prism::TcpPrism::new()));
            TcpFlow::new(tcp).with_extension(flow.transport.name(), extension).into()
        }
        (_, Transport::TcpHo) => TcpFlow::new(tcp).with_handoff(HandoffConfig::default()).into(),
        (_, Transport::TcpEln) => TcpFlow::new(tcp).with_loss_notification().into(),
        (_, Transport::Rcp) => RcpFlow::new(rcp).into(),
        (_, Transport::RcpEln) => RcpFlow::new(rcp).with_loss_notification().into(),
        (_, Transport::R2cp(settings)) => {
            let (config, paths) = (settings.config(&tcp), settings.pipes.iter().map(pipe).collect());
            R2cpFlow { config, sender: rcp, paths, name: flow.transport.name().into() }.into()
        }
        (_, Transport::Ptcp(settings)) => {
            PtcpFlow { config: settings.config(tcp, prismux_ptcp::MAX_PIPES) }.into()
        }
        (_, Transport::StripingUnaware(settings)) => striping(settings, tcp, Policy::Unaware).into(),
        (_, Transport::StripingSmart(settings)) => striping(settings, tcp, Policy::Smart).into(),
        // The kernel's transport is refused before; datagrams are no bulk.
        (_, Transport::Tcp | Transport::Mptcp | Transport::Udp) => TcpFlow::new(tcp).into(),
    })
}

/// The flow's switches of TCP.
fn tcp(flow: &Flow) -> Result<TcpConfig, Unsupported> {
    flow.tcp.config().map_err(|kernels| Unsupported {
        what: format!("flow \"{}\": {kernels} and exists in the lab only", flow.name),
        remedy: "use --on lab, or congestion = \"cubic\" or \"newreno\"".to_string(),
    })
}

fn striping(settings: &StripingSettings, tcp: TcpConfig, policy: Policy) -> StripingFlow {
    let wide = settings.wide(&tcp);
    StripingFlow {
        tcp,
        other_tcp: settings.wide_links.iter().map(|link| (LinkIndex(link.0), wide.clone())).collect(),
        policy,
        resequencing_buffer: settings.buffer,
        estimate_every: settings.estimate_every,
        loss_notification: settings.loss_notification,
    }
}

fn pipe(pipe: &Pipe) -> R2cpPath {
    R2cpPath {
        name: pipe.name.clone(),
        server: NodeId(pipe.server.0),
        link: pipe.link.map(|link| LinkIndex(link.0)),
        cost: pipe.cost,
        // What only kernels have was refused before.
        congestion: pipe.congestion.and_then(|congestion| congestion.kind().ok()),
        opens: Instant::ZERO + pipe.opens,
        closes: pipe.closes.map(|at| Instant::ZERO + at),
        drops: pipe.drops.map(|at| Instant::ZERO + at),
    }
}
