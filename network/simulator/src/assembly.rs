//! From a plan to a simulated network. Parts keep their positions: the first node of the plan is the network's first.
pub(crate) mod capability;
mod network;
pub(crate) mod options;
pub(crate) mod policies;

use crate::core::ids::{LinkId, NodeId, PortId};
use crate::flows::record::FlowRecord;
use crate::flows::registry::planned;
use crate::flows::table::Flows;
use crate::flows::transport::{AnyTransport, FlowBuild, SegmentShape};
use crate::network::Target;
use crate::nodes::addresses::Addresses;
use crate::nodes::ground::Ground;
use crate::nodes::routing::Routes;
use crate::simulation::delays::Delays;
use crate::simulation::records::{LinkRecord, Report};
use crate::simulation::series::Sampler;
use crate::simulation::totals::Totals;
use crate::simulation::{Planned, Simulation};
use capability::{SimulationError, bypassed_proxies, check_names, check_supported};
use network::Parts;
use options::SimulationOptions;
use policies::check_policies;
use prismux_endpoint::random::Seed;
use prismux_link::LinkChange;
use prismux_plan::{Action, Directions, FullPacket, FullSegment, IpFamily, Plan, Role, Unsupported};
use prismux_tcp::TcpConfig;
use prismux_units::Instant;
use std::sync::Arc;

impl Simulation {
    /// The network of `plan` with its flows, ready to run; all random streams follow from `seed`.
    ///
    /// # Errors
    /// When the plan makes no sense, or asks for what the simulator does not have.
    pub fn from_plan(
        plan: &Plan,
        seed: Seed,
        mut options: SimulationOptions,
    ) -> Result<Self, SimulationError> {
        plan.check()?;
        check_supported(plan)?;
        check_names(plan, &options)?;
        let bypassed = bypassed_proxies(plan)?;
        let transports = transports(plan, &options)?;
        let media = network::media(plan, seed, &mut options)?;
        let medium_exits = network::medium_exits(plan, &media);
        let addresses = addresses(plan, &transports);
        let places = network::places(plan, &medium_exits, &addresses);
        let mut routes = Routes::shortest_paths(&places);
        let ground = Ground { plan, seed, places: &places, routes: &routes };
        let found = crate::nodes::registry::planned(&ground, &bypassed, options.policies.scheduler.as_ref())?;
        let mut report = report(plan, seed);
        for link in found.community.members.iter().flat_map(|member| &member.links) {
            report.links[link.index()].in_use = false;
        }
        route_by_members(plan, &mut routes);
        addresses.add_routes(&places, &mut routes);
        let parts = Parts { media, medium_exits, routes, nodes: found.nodes };
        let network = network::network(plan, seed, &mut options, &addresses, parts);
        let network = network.map_err(SimulationError::Capture)?;
        let sampler = plan.measure.interval;
        let full = full_packet(plan, &bypassed, &transports);
        (report.payload_bytes, report.packet_bytes) = (full.payload_bytes, full.packet_bytes);
        let mut simulation = Self {
            network,
            flows: Flows::default(),
            records: Vec::new(),
            planned: Vec::new(),
            sampler: sampler.map(|interval| Sampler::new(interval, plan.flows.len(), plan.links.len())),
            delays: Delays::of(plan),
            report,
            totals: Totals::default(),
            community: found.community,
            unfinished: 0,
            checks: options.checks.unwrap_or(cfg!(debug_assertions)),
            past_faults: Vec::new(),
        };
        simulation.set_out(plan, seed, &transports, &addresses, &options);
        for member in found.joins {
            simulation.apply(Action::Join(member));
        }
        simulation.plan_events(plan);
        simulation.network.start_rules();
        simulation.deliver_local();
        Ok(simulation)
    }

    /// Sets the first events and adds the flows.
    fn set_out(
        &mut self,
        plan: &Plan,
        seed: Seed,
        transports: &[AnyTransport],
        addresses: &Addresses,
        options: &SimulationOptions,
    ) {
        self.network.start();
        if let Some(sampler) = &self.sampler {
            self.network.queue.push(Instant::ZERO + sampler.interval(), Target::Sample);
        }
        if self.network.observer.as_ref().is_some_and(|observer| observer.events.is_some()) {
            self.take_places();
        }
        let mut tcp_configs: Vec<Arc<TcpConfig>> = Vec::new();
        for (flow, transport) in plan.flow_ids().zip(transports) {
            let transport = transport.get();
            let mut build = FlowBuild {
                flow,
                plan: &plan[flow],
                seed,
                checks: self.checks,
                congestion: options.policies.congestion_for(&plan[flow]),
                subflow_scheduler: options.policies.subflow_scheduler.as_ref(),
                pipe_scheduler: options.policies.pipe_scheduler.as_ref(),
                request_scheduler: options.policies.request_scheduler.as_ref(),
                links: plan.access_links(&plan[flow]),
                addresses,
                network: &self.network,
                next_places: self.flows.next_places(),
                tcp_configs: &mut tcp_configs,
            };
            let built = transport.build(&mut build);
            let bytes = build.bytes();
            self.flows.push(built);
            let counts = transport.has_end(bytes);
            self.unfinished += usize::from(counts);
            self.records.push(FlowRecord::new(flow, &plan[flow].name, transport.name(), bytes, counts));
        }
        self.name_residents();
        self.choose_return_members();
    }

    /// Sorts planned events by time; those at equal times keep their order, flows' own starts and stops first.
    fn plan_events(&mut self, plan: &Plan) {
        let mut events: Vec<(Instant, Action)> = Vec::new();
        for flow in plan.flow_ids() {
            let (start, stop) = plan.times_of(flow);
            events.push((Instant::ZERO + start, Action::StartFlow(flow)));
            events.extend(stop.map(|stop| (Instant::ZERO + stop, Action::StopFlow(flow))));
        }
        for link in plan.link_ids() {
            let sides =
                [(&plan[link].forward, Directions::Forward), (&plan[link].reverse, Directions::Reverse)];
            for (_, directions) in sides.into_iter().filter(|(direction, _)| !direction.up) {
                let change = LinkChange::DOWN;
                events.push((Instant::ZERO, Action::ChangeLink { link, directions, change }));
            }
        }
        // Times of flows are part of the flows.
        let is_flows = |action: &Action| matches!(action, Action::StartFlow(_) | Action::StopFlow(_));
        let own = plan.events.iter().filter(|event| !is_flows(&event.action));
        events.extend(own.map(|event| (Instant::ZERO + event.at, event.action)));
        events.sort_by_key(|(at, _)| *at);
        for (at, action) in events {
            self.plan(at, Planned::Action(action));
        }
    }
}

/// The transport of every flow.
///
/// # Errors
/// When there is a policy from outside and no flow that takes it.
fn transports(plan: &Plan, options: &SimulationOptions) -> Result<Vec<AnyTransport>, Unsupported> {
    let outside = |flow: &prismux_plan::Flow| options.transports.get(&flow.name).cloned();
    let transports = plan.flows.iter().map(|flow| outside(flow).unwrap_or_else(|| planned(flow)));
    let transports: Vec<AnyTransport> = transports.collect();
    check_policies(plan, &options.policies, &transports)?;
    Ok(transports)
}

/// The addresses that flows need at multi-homed hosts.
fn addresses(plan: &Plan, transports: &[AnyTransport]) -> Addresses {
    let mut addresses = Addresses::new(plan);
    for (flow, transport) in plan.flows.iter().zip(transports) {
        for link in plan.access_links(flow) {
            addresses.add(plan, link, [flow.from, flow.to]);
        }
        for (host, link) in transport.get().further_hosts() {
            addresses.add(plan, link, [host, flow.to]);
        }
    }
    addresses
}

/// Leads both directions of flows through the member that they name.
fn route_by_members(plan: &Plan, routes: &mut Routes) {
    let set = |routes: &mut Routes, hop: &[NodeId], towards: NodeId, link: LinkId| {
        let outward = plan[link].ends[0] == hop[0];
        routes.set(hop[0], towards, if outward { PortId::forward(link) } else { PortId::reverse(link) });
    };
    for (flow, member) in plan.flows.iter().filter_map(|flow| Some((flow, flow.via?))) {
        for (from, to) in [(flow.from, flow.to), (flow.to, flow.from)] {
            let first = plan.shortest_path(from, member).unwrap_or_default();
            let second = plan.shortest_path(member, to).unwrap_or_default();
            for hop in first.windows(2).chain(second.windows(2)) {
                if let Some(link) = plan.link_between(hop[0], hop[1]) {
                    set(routes, hop, to, link);
                }
            }
        }
    }
}

fn report(plan: &Plan, seed: Seed) -> Report {
    Report {
        seed: seed.0,
        warm_up: plan.measure.warm_up,
        links: plan.links.iter().map(|link| LinkRecord::new(link.shared)).collect(),
        competing: plan.competing_flows().map(|flow| (flow.index(), plan[flow].group.clone())).collect(),
        link_names: plan.links.iter().map(|link| link.name.clone()).collect(),
        node_names: plan.nodes.iter().map(|node| node.name.clone()).collect(),
        ..Report::default()
    }
}

/// MSS of a full Ethernet frame over IPv4.
const ETHERNET_MSS: u16 = 1460;

/// A full-size packet on a link that counts as capacity, after the first flow that sends segments (or Ethernet's MTU
/// without one): what capacity is reckoned with.
fn full_packet(plan: &Plan, bypassed: &[NodeId], transports: &[AnyTransport]) -> FullPacket {
    let ethernet = SegmentShape { mss: ETHERNET_MSS, timestamps: false };
    let segment = transports.iter().find_map(|transport| transport.get().segment());
    let SegmentShape { mss, timestamps } = segment.unwrap_or(ethernet);
    let (mut mss_bytes, mut tunnel_bytes) = (u32::from(mss), 0);
    for proxy in plan.proxies().into_iter().filter(|proxy| !bypassed.contains(proxy)) {
        let Role::PrismProxy(settings) = &plan[proxy].role else { continue };
        mss_bytes = mss_bytes.min(settings.config.mss_clamp.map_or(mss_bytes, u32::from));
        if plan.tunnels_where_capacity_counts(proxy) {
            tunnel_bytes = tunnel_bytes.max(settings.tunnel.overhead_bytes(IpFamily::V4));
        }
    }
    FullSegment { mss_bytes, timestamps }.packet(tunnel_bytes)
}
