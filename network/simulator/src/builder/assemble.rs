//! From the builder's lists to a simulation.
use super::capacity::full_packet;
use super::interfaces::Interfaces;
use super::{BuildError, FlowPlan, LinkPlan, MediumPlan, NetworkBuilder, check};
use crate::core::event_queue::EventQueue;
use crate::core::ids::{FlowId, LinkIndex, NodeId, PortId};
use crate::core::observer::{Capture, LastSeen, Names, Observer};
use crate::core::packet::PacketPool;
use crate::core::series::Sampler;
use crate::flows::{FlowBuild, FlowRecord, Flows};
use crate::media::{End, MediumExit, MediumIndex, Port, SharedMedium};
use crate::network::{Network, Target};
use crate::nodes::routing::{Place, Routes};
use crate::nodes::{Forwarding, Node, RuleNode, prism};
use crate::simulation::{LinkRecord, NetworkEvent, Plan, Report, Simulation};
use prismux_link::Link;
use prismux_plan::FullPacket;
use prismux_tcp::TcpConfig;
use prismux_units::Instant;
use std::collections::VecDeque;
use std::sync::Arc;

pub(super) fn assemble(mut builder: NetworkBuilder) -> Result<Simulation, BuildError> {
    check::check(&builder)?;
    let interfaces = Interfaces::of(&builder);
    let medium_exits = medium_exits(&builder);
    let mut places = places(&builder, &medium_exits);
    interfaces.add_places(&mut places);
    let mut routes = Routes::shortest_paths(&places);
    let found = prism::found(&builder, &places, &routes)?;
    let mut report = report(&builder);
    for link in found.community.members.iter().flat_map(|member| &member.links) {
        let record = &mut report.links[link.index()];
        record.shared = builder.links[link.index()].shared.unwrap_or(true);
        record.in_use = false;
    }
    for &(at, destination, link) in &builder.routes {
        let LinkPlan { ends, .. } = &builder.links[link.index()];
        routes.set(at, destination, if ends[0] == at { link.forward() } else { link.reverse() });
    }
    interfaces.add_routes(&places, &mut routes);
    let mut network = network(&mut builder, &interfaces, routes, medium_exits, found.nodes)?;
    network.start();
    let sampler =
        builder.sample_every.map(|interval| Sampler::new(interval, builder.flows.len(), builder.links.len()));
    if let Some(sampler) = &sampler {
        network.queue.push(Instant::ZERO + sampler.interval(), Target::Sample);
    }
    let mut simulation = Simulation {
        network,
        flows: Flows::default(),
        records: Vec::new(),
        planned: Vec::new(),
        sampler,
        report,
        community: found.community,
        unfinished: 0,
        checks: builder.checks,
    };
    let mut configs = Vec::new();
    for plan in &builder.flows {
        simulation.add_flow(&builder, &interfaces, plan, &mut configs);
    }
    simulation.name_residents();
    let FullPacket { payload_bytes, packet_bytes } = full_packet(&builder);
    (simulation.report.payload_bytes, simulation.report.packet_bytes) = (payload_bytes, packet_bytes);
    simulation.choose_return_members();
    for plan in &builder.flows {
        check_paths(&builder, &simulation, &places, &interfaces, plan)?;
    }
    for node in found.joins {
        simulation.apply(NetworkEvent::Join(node));
    }
    simulation.plan_events(&builder);
    Ok(simulation)
}

/// The network, at rest.
fn network(
    builder: &mut NetworkBuilder,
    interfaces: &Interfaces,
    routes: Routes,
    medium_exits: Vec<MediumExit>,
    found: Vec<(NodeId, Box<dyn Node>)>,
) -> Result<Network, BuildError> {
    let rules = rules(builder, found);
    let mut forwarding = vec![Forwarding::Table; builder.nodes.len() + interfaces.hosts().count()];
    for (place, RuleNode { node, .. }) in rules.iter().enumerate() {
        forwarding[node.index()] = Forwarding::Rule(place as u32);
    }
    let observer = observer(builder)?;
    let ports = ports(builder);
    let end = |node: NodeId| End::new(node, forwarding[node.index()] == Forwarding::Table);
    let media = builder.media.drain(..).map(|plan| SharedMedium::new(plan.medium));
    Ok(Network {
        now: Instant::ZERO,
        queue: EventQueue::new(),
        pool: PacketPool::default(),
        armed: vec![Instant::MAX; ports.len()],
        ports,
        ends: builder.links.iter().flat_map(|link| [link.ends[1], link.ends[0]]).map(end).collect(),
        media: media.collect(),
        medium_exits,
        forwarding,
        rules,
        routes,
        interfaces: interfaces.hosts().collect(),
        counters: Default::default(),
        local: VecDeque::new(),
        observer,
    })
}

/// Every node with a rule of its own, in the order of nodes.
fn rules(builder: &mut NetworkBuilder, found: Vec<(NodeId, Box<dyn Node>)>) -> Vec<RuleNode> {
    let own = builder.nodes.iter_mut().enumerate();
    let own = own.filter_map(|(index, plan)| Some((NodeId(index as u32), plan.rule.take()?)));
    let mut rules: Vec<RuleNode> =
        own.chain(found).map(|(node, rule)| RuleNode { node, rule: Some(rule) }).collect();
    rules.sort_by_key(|rule| rule.node);
    rules
}

fn places(builder: &NetworkBuilder, medium_exits: &[MediumExit]) -> Vec<Place> {
    let mut places: Vec<Place> =
        builder.nodes.iter().map(|node| Place { exits: vec![], forwards: node.forwards }).collect();
    for (index, link) in builder.links.iter().enumerate() {
        let (index, [a, b]) = (LinkIndex(index as u32), link.ends);
        places[a.index()].exits.push((index.forward(), b));
        places[b.index()].exits.push((index.reverse(), a));
    }
    for (index, exit) in medium_exits.iter().enumerate() {
        let port = PortId((2 * builder.links.len() + index) as u32);
        places[exit.from.index()].exits.push((port, exit.to));
    }
    places
}

/// From every node on a medium to every other.
fn medium_exits(builder: &NetworkBuilder) -> Vec<MediumExit> {
    let mut exits = Vec::new();
    for (index, MediumPlan { attached, .. }) in builder.media.iter().enumerate() {
        let medium = MediumIndex(index as u32);
        for &from in attached {
            let others = attached.iter().copied().filter(|&to| to != from);
            exits.extend(others.map(|to| MediumExit { medium, from, to }));
        }
    }
    exits
}

/// Links made of late that a new one is compared with.
const LATELY: usize = 8;

fn ports(builder: &NetworkBuilder) -> Vec<Port> {
    let mut ports: Vec<Port> = Vec::with_capacity(2 * builder.links.len());
    for plan in &builder.links {
        for (direction, config) in [("forward", &plan.forward), ("reverse", &plan.reverse)] {
            let mut link = Link::new(config, builder.seed, &format!("{}/{direction}", plan.name));
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
        flows: builder.flows.iter().map(|plan| plan.name.clone()).collect(),
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

/// Every flow's packets must find a path in both directions. (Behind a member it ends at the proxy's side: tunnels
/// follow their own routes.)
fn check_paths(
    builder: &NetworkBuilder,
    simulation: &Simulation,
    places: &[Place],
    interfaces: &Interfaces,
    FlowPlan { name, config: flow, .. }: &FlowPlan,
) -> Result<(), BuildError> {
    for (from, to) in interfaces.paths_of(builder, flow) {
        if simulation.network.routes.path(places, from, to).is_none() {
            let text = |node: NodeId| builder.nodes[node.index()].name.clone();
            let (from, to) = (text(flow.from), text(flow.to));
            return Err(BuildError::NoRoute { flow: name.clone(), from, to });
        }
    }
    Ok(())
}

impl Simulation {
    fn add_flow(
        &mut self,
        builder: &NetworkBuilder,
        interfaces: &Interfaces,
        plan: &FlowPlan,
        tcp_configs: &mut Vec<Arc<TcpConfig>>,
    ) {
        let FlowPlan { name, config, congestion } = plan;
        let transport = config.transport.get();
        let flow = FlowId(self.flows.len() as u32);
        let built = transport.build(&mut FlowBuild {
            name,
            flow,
            config,
            congestion: congestion.as_ref(),
            builder,
            interfaces,
            network: &self.network,
            next_places: self.flows.next_places(),
            tcp_configs,
        });
        self.flows.push(built);
        let counts = transport.has_end(config.bytes);
        self.unfinished += usize::from(counts);
        self.records.push(FlowRecord::new(flow, name, transport.name(), config.bytes, counts));
    }

    /// Sorts planned events by time; those at equal times keep their order, flows' own starts and stops first.
    fn plan_events(&mut self, builder: &NetworkBuilder) {
        let mut events: Vec<(Instant, NetworkEvent)> = Vec::new();
        for (index, FlowPlan { config, .. }) in builder.flows.iter().enumerate() {
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
