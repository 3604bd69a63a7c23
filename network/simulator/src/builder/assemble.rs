//! From the builder's lists to a simulation.
use super::capacity::full_packet;
use super::interfaces::Interfaces;
use super::{BuildError, LinkPlan, NetworkBuilder, NodeKind, community, receiver_driven, striped};
use crate::checker::StreamCheck;
use crate::endpoint::{
    Client, ENDLESS, Endpoint, Pattern, Role, Site, TcpEndpoint, TcpSetup, UdpSink, UdpSource,
};
use crate::event_queue::EventQueue;
use crate::fabric::{End, Fabric, NodeRole, Port, Target};
use crate::flow::{ExtensionFactory, FlowConfig, Transport};
use crate::ids::{EndpointId, FlowId, LinkIndex, NodeId};
use crate::observer::{Capture, LastSeen, Names, Observer};
use crate::packet::PacketPool;
use crate::routing::{Place, Routes};
use crate::series::Sampler;
use crate::simulation::{Answers, FlowRecord, LinkRecord, NetworkEvent, Plan, Report, Simulation};
use prismux_endpoint::random::Seed;
use prismux_link::Link;
use prismux_tcp::TcpConfig;
use prismux_tcp::loss_notification::LossMarker;
use prismux_tcp_ho::HandoffHost;
use prismux_units::{Instant, Rate};
use prismux_wire::SeqNumber;
use std::collections::BTreeSet;
use std::collections::VecDeque;
use std::sync::Arc;

pub(super) fn assemble(mut builder: NetworkBuilder) -> Result<Simulation, BuildError> {
    check(&builder)?;
    let interfaces = Interfaces::of(&builder);
    let mut places = places(&builder);
    interfaces.add_places(&mut places);
    let mut routes = Routes::shortest_paths(&places);
    let mut community = community::found(&builder, &places, &routes)?;
    let mut report = report(&builder);
    community.describe(&builder, &mut report);
    for &(at, destination, link) in &builder.routes {
        let LinkPlan { ends, .. } = &builder.links[link.index()];
        routes.set(at, destination, if ends[0] == at { link.forward() } else { link.reverse() });
    }
    interfaces.add_routes(&places, &mut routes);
    community.roles.extend(interfaces.hosts().map(|_| NodeRole::Plain));
    let observer = observer(&mut builder)?;
    let ports = ports(&builder);
    let end = |node: NodeId| End::new(node, community.roles[node.index()] == NodeRole::Plain);
    let mut fabric = Fabric {
        now: Instant::ZERO,
        queue: EventQueue::new(),
        pool: PacketPool::default(),
        armed: vec![Instant::MAX; ports.len()],
        ports,
        ends: builder.links.iter().flat_map(|link| [link.ends[1], link.ends[0]]).map(end).collect(),
        roles: community.roles,
        routes,
        interfaces: interfaces.hosts().collect(),
        members: community.members,
        proxies: community.proxies,
        counters: Default::default(),
        local: VecDeque::new(),
        observer,
    };
    fabric.start();
    let sampler =
        builder.sample_every.map(|interval| Sampler::new(interval, builder.flows.len(), builder.links.len()));
    if let Some(sampler) = &sampler {
        fabric.queue.push(Instant::ZERO + sampler.interval(), Target::Sample);
    }
    let mut simulation = Simulation {
        fabric,
        endpoints: Vec::new(),
        flows: Vec::new(),
        planned: Vec::new(),
        sampler,
        report,
        unfinished: 0,
        checks: builder.checks,
    };
    let mut configs = Vec::new();
    for (name, config) in &builder.flows {
        simulation.add_flow(&builder, &interfaces, name, config, &mut configs);
    }
    simulation.name_residents();
    (simulation.report.payload_bytes, simulation.report.packet_bytes) = full_packet(&builder);
    simulation.choose_return_members();
    for (name, config) in &builder.flows {
        check_way(&builder, &simulation, &places, &interfaces, name, config)?;
    }
    for node in community.joins {
        simulation.apply(NetworkEvent::Join(node));
    }
    simulation.plan_events(&builder);
    Ok(simulation)
}

/// What can be said of the plan before anything is built.
fn check(builder: &NetworkBuilder) -> Result<(), BuildError> {
    unique("node", builder.nodes.iter().map(|node| &node.name))?;
    unique("link", builder.links.iter().map(|link| &link.name))?;
    unique("flow", builder.flows.iter().map(|(name, _)| name))?;
    builder.check_handoffs()?;
    for (name, config) in &builder.flows {
        builder.check_flow(name, config)?;
    }
    Ok(())
}

fn unique<'a>(kind: &'static str, names: impl Iterator<Item = &'a String>) -> Result<(), BuildError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(BuildError::DuplicateName { kind, name: name.clone() });
        }
    }
    Ok(())
}

fn places(builder: &NetworkBuilder) -> Vec<Place> {
    let forwards = |kind: &NodeKind| !matches!(kind, NodeKind::Host);
    let mut places: Vec<Place> =
        builder.nodes.iter().map(|node| Place { exits: vec![], forwards: forwards(&node.kind) }).collect();
    for (index, link) in builder.links.iter().enumerate() {
        let (index, [a, b]) = (LinkIndex(index as u32), link.ends);
        places[a.index()].exits.push((index.forward(), b));
        places[b.index()].exits.push((index.reverse(), a));
    }
    places
}

/// Links made of late that a new one is compared with.
const LATELY: usize = 8;

fn ports(builder: &NetworkBuilder) -> Vec<Port> {
    let mut ports: Vec<Port> = Vec::with_capacity(2 * builder.links.len());
    for plan in &builder.links {
        for (way, config) in [("forward", &plan.forward), ("reverse", &plan.reverse)] {
            let mut link = Link::new(config, builder.seed, &format!("{}/{way}", plan.name));
            ports.iter().rev().take(LATELY).any(|known| link.share(&known.link));
            ports.push(Port::new(link));
        }
    }
    ports
}

fn report(builder: &NetworkBuilder) -> Report {
    let link = |link: &LinkPlan| LinkRecord {
        name: link.name.clone(),
        shared: link.shared.unwrap_or(false),
        offered_bits: 0.0,
        since: Instant::ZERO,
        in_use: true,
    };
    Report {
        seed: builder.seed.0,
        warm_up: builder.warm_up,
        links: builder.links.iter().map(link).collect(),
        node_names: builder.nodes.iter().map(|node| node.name.clone()).collect(),
        ..Report::default()
    }
}

fn observer(builder: &mut NetworkBuilder) -> Result<Option<Box<Observer>>, BuildError> {
    if builder.capture.is_none() && builder.event_sink.is_none() {
        return Ok(None);
    }
    let name = |node: NodeId| builder.nodes[node.index()].name.clone();
    let both = |link: &LinkPlan| {
        let (a, b) = (name(link.ends[0]), name(link.ends[1]));
        [(a.clone(), b.clone()), (b, a)]
    };
    let names = Names {
        nodes: builder.nodes.iter().map(|node| node.name.clone()).collect(),
        links: builder.links.iter().map(|link| link.name.clone()).collect(),
        flows: builder.flows.iter().map(|(name, _)| name.clone()).collect(),
        ends: builder.links.iter().flat_map(both).collect(),
    };
    let capture = builder.capture.take().map(|plan| {
        let wanted = |index: &usize| plan.links.is_empty() || plan.links.contains(&LinkIndex(*index as u32));
        let links: Vec<(usize, String)> =
            (0..names.links.len()).filter(wanted).map(|index| (index, names.links[index].clone())).collect();
        Capture::new(plan.writer, &links, names.links.len())
    });
    let capture = capture.transpose().map_err(BuildError::Capture)?;
    let events = builder.event_sink.take().map(|sink| sink.0);
    Ok(Some(Box::new(Observer { names, capture, events, last: LastSeen::default() })))
}

/// Every flow's packets must find both ways. (Behind a member, "way" ends at the proxy's side: tunnels follow their own routes.)
fn check_way(
    builder: &NetworkBuilder,
    simulation: &Simulation,
    places: &[Place],
    interfaces: &Interfaces,
    name: &str,
    flow: &FlowConfig,
) -> Result<(), BuildError> {
    for (from, to) in interfaces.ways_of(builder, flow) {
        if simulation.fabric.routes.path(places, from, to).is_none() {
            let text = |node: NodeId| builder.nodes[node.index()].name.clone();
            let (from, to) = (text(flow.from), text(flow.to));
            return Err(BuildError::NoRoute { flow: name.into(), from, to });
        }
    }
    Ok(())
}

impl Simulation {
    fn add_flow(
        &mut self,
        builder: &NetworkBuilder,
        interfaces: &Interfaces,
        name: &str,
        config: &FlowConfig,
        configs: &mut Vec<Arc<TcpConfig>>,
    ) {
        let seed = builder.seed;
        let flow = FlowId(self.flows.len() as u32);
        let first = self.endpoints.len() as u32;
        let (source, sink) = (EndpointId(first), EndpointId(first + 1));
        let site = |own, node, peer, peer_node| Site::routed(flow, (own, node), (peer, peer_node));
        let (from, to) = interfaces.ends_of(config);
        let sites = [site(source, from, sink, to), site(sink, to, source, from)];
        let [first, second] = match &config.transport {
            Transport::Striping(striping) => {
                striped::striping_ends(builder, interfaces, config, striping, sites)
            }
            Transport::Ptcp(ptcp) => {
                striped::ptcp_ends(builder, interfaces, name, config, ptcp, sites, self.checks)
            }
            Transport::Tcp(_) | Transport::RequestResponse(_) => {
                tcp_ends(seed, name, config, sites, self.checks, configs)
            }
            Transport::Rcp(rcp) => {
                receiver_driven::rcp_ends(seed, name, rcp, config.bytes, sites, self.checks)
            }
            Transport::R2cp(r2cp) => {
                receiver_driven::r2cp_ends(seed, name, r2cp, config.bytes, sites, self.checks)
            }
            Transport::Cbr(_) | Transport::ParetoOnOff(_) => udp_ends(seed, name, config, sites),
        };
        self.endpoints.extend([first, second]);
        if let Transport::R2cp(r2cp) = &config.transport {
            self.add_ways(seed, name, r2cp, config.bytes, (sites, interfaces));
        }
        let (returns, counts) = match &config.transport {
            Transport::RequestResponse(exchange) => (true, exchange.exchanges.is_some()),
            Transport::Tcp(_)
            | Transport::Ptcp(_)
            | Transport::Striping(_)
            | Transport::Rcp(_)
            | Transport::R2cp(_) => (false, config.bytes.is_some()),
            _ => (false, false),
        };
        self.unfinished += usize::from(counts);
        self.flows.push(FlowRecord {
            name: name.into(),
            transport: config.transport.name().into(),
            source,
            sink,
            returns,
            bytes: config.bytes,
            counts,
            started_at: None,
            finished_at: None,
            stopped_at: None,
            warms_up: false,
            steady_from: None,
            steady_to: None,
            answers: Answers::default(),
            records: Vec::new(),
        });
    }

    /// Sorts planned events by time; those at equal times keep their order, flows' own starts and stops first.
    fn plan_events(&mut self, builder: &NetworkBuilder) {
        let mut events: Vec<(Instant, NetworkEvent)> = Vec::new();
        for (index, (_, config)) in builder.flows.iter().enumerate() {
            let flow = FlowId(index as u32);
            events.push((config.start, NetworkEvent::FlowStart(flow)));
            events.extend(config.stop.map(|stop| (stop, NetworkEvent::FlowStop(flow))));
        }
        events.extend(builder.events.iter().copied());
        events.sort_by_key(|(at, _)| *at);
        for (at, event) in events {
            self.plan(at, Plan::Event(event));
        }
    }
}

fn tcp_ends(
    seed: Seed,
    name: &str,
    config: &FlowConfig,
    sites: [Site; 2],
    checks: bool,
    configs: &mut Vec<Arc<TcpConfig>>,
) -> [Endpoint; 2] {
    let mut numbers = seed.stream(&format!("flow/{name}/initial-sequence"));
    let flow = sites[0].flow.0;
    // Ports differ between flows as long as there are ports.
    let (near, far) = (20_000 + (flow % 40_000) as u16, 5001 + (flow / 40_000) as u16);
    let (handoff, hears_damage, congestion) = match &config.transport {
        Transport::Tcp(tcp) => (tcp.handoff.as_ref(), tcp.hears_damage, tcp.congestion.as_ref()),
        _ => (None, false, None),
    };
    let mut end =
        |site: Site, tcp: &TcpConfig, role: Role, extension: Option<&ExtensionFactory>, active: bool| {
            let (local_port, remote_port) = if active { (near, far) } else { (far, near) };
            let setup = TcpSetup {
                config: shared(configs, tcp),
                extension: extension.cloned(),
                congestion: congestion.filter(|_| active).cloned(),
                local_port,
                remote_port,
                initial_sequence: SeqNumber(numbers.next_u64() as u32),
            };
            let next_mark = match &role {
                Role::Server { request_bytes, .. } => *request_bytes,
                _ => u64::MAX,
            };
            let check = checks.then(Box::<StreamCheck>::default);
            let notifier = handoff.filter(|_| !active).map(|config| Box::new(HandoffHost::new(config)));
            let (armed, connection, setup) = (Instant::MAX, None, Arc::new(setup));
            let marker = (hears_damage && !active).then(Box::<LossMarker>::default);
            let end =
                TcpEndpoint { site, armed, next_mark, connection, role, notifier, marker, setup, check };
            Endpoint::Tcp(end)
        };
    match &config.transport {
        Transport::RequestResponse(exchange) => {
            let (request_bytes, response_bytes) = (exchange.request_bytes, exchange.response_bytes);
            let client = Client {
                request_bytes,
                response_bytes,
                think: exchange.think,
                exchanges: exchange.exchanges.unwrap_or(u64::MAX),
                asked: 0,
                asked_at: Instant::ZERO,
                answered: 0,
            };
            let server = Role::Server { request_bytes, response_bytes, answered: 0 };
            [
                end(sites[0], &exchange.tcp, Role::Client(client), None, true),
                end(sites[1], &exchange.tcp, server, None, false),
            ]
        }
        Transport::Tcp(tcp) => {
            let source = Role::Source { bytes: config.bytes.unwrap_or(ENDLESS) };
            [
                end(sites[0], &tcp.sender, source, tcp.extension.as_ref(), true),
                end(sites[1], &tcp.receiver, Role::Sink, None, false),
            ]
        }
        _ => udp_ends(seed, name, config, sites),
    }
}

/// One copy of equal configurations, the latest first: thousands of flows that share one keep it in the cache.
fn shared(configs: &mut Vec<Arc<TcpConfig>>, config: &TcpConfig) -> Arc<TcpConfig> {
    // Simulated applications read at once.
    let config = TcpConfig { consume_on_arrival: true, ..config.clone() };
    if let Some(equal) = configs.iter().rev().find(|known| ***known == config) {
        return Arc::clone(equal);
    }
    let config = Arc::new(config);
    configs.push(Arc::clone(&config));
    config
}

fn udp_ends(seed: Seed, name: &str, config: &FlowConfig, sites: [Site; 2]) -> [Endpoint; 2] {
    let (rate, packet_bytes, pattern) = match &config.transport {
        Transport::ParetoOnOff(burst) => {
            let bits = f64::from(burst.packet_bytes) * 8.0;
            let pattern = Pattern::ParetoOnOff {
                mean_packets: burst.mean_on.as_secs_f64() * burst.rate.as_bps() as f64 / bits,
                mean_off: burst.mean_off.as_secs_f64(),
                shape: burst.shape,
                stream: seed.stream(&format!("flow/{name}/bursts")),
                left: 0,
            };
            (burst.rate, burst.packet_bytes, pattern)
        }
        Transport::Cbr(cbr) => (cbr.rate, cbr.packet_bytes, Pattern::Constant),
        _ => (Rate::ZERO, 0, Pattern::Constant),
    };
    let source = UdpSource {
        site: sites[0],
        pattern,
        rate,
        packet_bytes,
        bytes_left: config.bytes.unwrap_or(u64::MAX),
        due: Instant::MAX,
        sent: 0,
        since: Instant::ZERO,
        sent_since: 0,
    };
    let sink = UdpSink { site: sites[1], packets: 0, bytes: 0, reordered: 0, highest: None };
    [Endpoint::UdpSource(source), Endpoint::UdpSink(sink)]
}
