//! From a scenario to a simulated network.

use super::Unsupported;
use super::tcp::tcp_config;
use crate::model::{Action, Flow, LinkIndex, NodeIndex, Pipe, PtcpSettings, Role, Scenario, Sides, Traffic};
use crate::registry::{Transport, Tunnel};
use crate::{paths, registry};
use prismux_endpoint::random::Seed;
use prismux_link::LinkChange;
use prismux_ptcp::PtcpConfig;
use prismux_r2cp::R2cpConfig;
use prismux_rcp::RcpConfig;
use prismux_simulator as simulator;
use prismux_simulator::{NetworkBuilder, NetworkEvent};
use prismux_striping::Policy;
use prismux_tcp::TcpConfig;
use prismux_units::Instant;

/// A network under construction, with the simulator's name for every node, link and flow.
#[derive(Debug)]
pub struct SimulationPlan {
    /// The network; captures and event logs may still be asked for.
    pub builder: NetworkBuilder,
    /// By [`NodeIndex`].
    pub nodes: Vec<simulator::NodeId>,
    /// By [`LinkIndex`].
    pub links: Vec<simulator::LinkIndex>,
    /// By [`crate::model::FlowIndex`].
    pub flows: Vec<simulator::FlowId>,
}

/// The simulated network of `scenario`, or what in it the simulator cannot do.
pub fn to_simulation(scenario: &Scenario, seed: u64) -> Result<SimulationPlan, Unsupported> {
    let bypassed = bypassed_proxies(scenario)?;
    let builder = NetworkBuilder::new(Seed(seed));
    let mut plan = SimulationPlan { builder, nodes: Vec::new(), links: Vec::new(), flows: Vec::new() };
    plan.add_nodes(scenario, &bypassed);
    plan.add_links(scenario);
    plan.add_memberships(scenario, &bypassed);
    for index in 0..scenario.flows.len() {
        plan.add_flow(scenario, index)?;
    }
    for event in &scenario.events {
        plan.add_event(scenario, Instant::ZERO + event.at, &event.action)?;
    }
    plan.builder.steady_after(scenario.measure.warm_up);
    if let Some(interval) = scenario.measure.interval {
        plan.builder.sample_every(interval);
    }
    Ok(plan)
}

/// Proxies that every TCP flow on the way goes past: they become routers. A proxy that some flows use and others
/// go past cannot be simulated.
fn bypassed_proxies(scenario: &Scenario) -> Result<Vec<NodeIndex>, Unsupported> {
    let mut bypassed = Vec::new();
    for flow in scenario.flows.iter().filter(|flow| flow.via.is_some()) {
        let ordinary = Flow { via: None, transport: Transport::Tcp, ..flow.clone() };
        if let Some(proxy) = paths::proxy_of(scenario, &ordinary) {
            bypassed.push(proxy);
        }
    }
    for flow in &scenario.flows {
        if let Some(proxy) = paths::proxy_of(scenario, flow).filter(|proxy| bypassed.contains(proxy)) {
            let name = &scenario.nodes[proxy].name;
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

impl SimulationPlan {
    fn add_nodes(&mut self, scenario: &Scenario, bypassed: &[NodeIndex]) {
        for (index, node) in scenario.nodes.iter().enumerate() {
            let builder = &mut self.builder;
            self.nodes.push(match &node.role {
                Role::Host => builder.host(&node.name),
                Role::Router => builder.router(&node.name),
                Role::Member(_) => builder.member(&node.name),
                Role::PrismProxy(_) if bypassed.contains(&index) => builder.router(&node.name),
                Role::PrismProxy(settings) => {
                    let tunnel = match settings.tunnel {
                        Tunnel::Gre => simulator::Tunnel::Gre,
                        Tunnel::GreInUdp => simulator::Tunnel::GreInUdp,
                    };
                    builder.prism_proxy_with_tunnel(&node.name, settings.config.clone(), tunnel)
                }
            });
        }
    }

    fn add_links(&mut self, scenario: &Scenario) {
        for link in &scenario.links {
            let [a, b] = link.ends.map(|end| self.nodes[end]);
            let (forward, reverse) = (link.forward.link.clone(), link.reverse.link.clone());
            let index = self.builder.link(&link.name, a, b, forward, reverse);
            self.builder.shared(index, link.shared);
            if !link.forward.up {
                self.builder.event(Instant::ZERO, NetworkEvent::ForwardChange(index, LinkChange::DOWN));
            }
            if !link.reverse.up {
                self.builder.event(Instant::ZERO, NetworkEvent::ReverseChange(index, LinkChange::DOWN));
            }
            self.links.push(index);
        }
    }

    fn add_memberships(&mut self, scenario: &Scenario, bypassed: &[NodeIndex]) {
        let mut enrolled = vec![false; scenario.nodes.len()];
        for proxy in scenario.proxies().into_iter().filter(|proxy| !bypassed.contains(proxy)) {
            for member in scenario.members_of(proxy) {
                let Role::Member(settings) = &scenario.nodes[member].role else { continue };
                let rate = scenario.advertised_rate(member);
                self.builder.membership(self.nodes[proxy], self.nodes[member], rate, settings.present);
                enrolled[member] = true;
            }
        }
        // A member that no proxy names stays outside, also where there is but one proxy that it could belong to.
        if let [proxy] = scenario.proxies()[..]
            && !bypassed.contains(&proxy)
        {
            for (member, node) in scenario.nodes.iter().enumerate() {
                if matches!(node.role, Role::Member(_)) && !enrolled[member] {
                    self.builder.membership(self.nodes[proxy], self.nodes[member], None, false);
                }
            }
        }
    }

    fn add_flow(&mut self, scenario: &Scenario, index: usize) -> Result<(), Unsupported> {
        let flow = &scenario.flows[index];
        let (start, stop) = paths::times(scenario, index);
        let transport = self.transport(flow)?;
        let mut config = simulator::FlowConfig::new(self.nodes[flow.from], self.nodes[flow.to], transport)
            .starting(Instant::ZERO + start);
        if let Some(stop) = stop {
            config = config.stopping(Instant::ZERO + stop);
        }
        let links: Vec<_> = flow.links.iter().map(|&link| self.links[link]).collect();
        config = config.over(&links);
        if let Traffic::Bulk { bytes: Some(bytes) } = flow.traffic {
            config = config.carrying(bytes.as_u64());
        }
        self.flows.push(self.builder.flow(&flow.name, config));
        if let Some(member) = flow.via {
            self.route_via(scenario, flow, member);
        }
        Ok(())
    }

    fn transport(&self, flow: &Flow) -> Result<simulator::AnyTransport, Unsupported> {
        match flow.transport {
            Transport::R2cp => self.several_pipes(flow),
            _ => transport(flow, &self.links),
        }
    }

    fn several_pipes(&self, flow: &Flow) -> Result<simulator::AnyTransport, Unsupported> {
        let rcp = RcpConfig::from_tcp(&tcp_config(flow)?);
        let path = |pipe: &Pipe| simulator::R2cpPath {
            name: pipe.name.clone(),
            server: self.nodes[pipe.server],
            link: pipe.link.map(|link| self.links[link]),
            cost: pipe.cost,
            opens: Instant::ZERO + pipe.opens,
            closes: pipe.closes.map(|at| Instant::ZERO + at),
            drops: pipe.drops.map(|at| Instant::ZERO + at),
        };
        let config = R2cpConfig {
            scheduling: flow.r2cp.scheduling,
            target_rate: flow.r2cp.target_rate,
            ..R2cpConfig::new(rcp.clone())
        };
        let paths = flow.r2cp.pipes.iter().map(path).collect();
        Ok(simulator::R2cpFlow { config, sender: rcp, paths, name: "r2cp".into() }.into())
    }

    /// Leads both directions of `flow` through `member`.
    fn route_via(&mut self, scenario: &Scenario, flow: &Flow, member: NodeIndex) {
        for (from, to) in [(flow.from, flow.to), (flow.to, flow.from)] {
            let first = paths::shortest(scenario, from, member).unwrap_or_default();
            let second = paths::shortest(scenario, member, to).unwrap_or_default();
            for hop in first.windows(2).chain(second.windows(2)) {
                if let Some(link) = link_between(scenario, hop[0], hop[1]) {
                    self.builder.route(self.nodes[hop[0]], self.nodes[to], self.links[link]);
                }
            }
        }
    }

    fn add_event(&mut self, scenario: &Scenario, at: Instant, action: &Action) -> Result<(), Unsupported> {
        let event = match action {
            Action::Join(member) => NetworkEvent::Join(self.nodes[*member]),
            Action::Leave(member) => NetworkEvent::Leave(self.nodes[*member]),
            Action::ChangeLink { link, sides, change } => {
                let link = self.links[*link];
                match sides {
                    Sides::Both => NetworkEvent::LinkChange(link, *change),
                    Sides::Forward => NetworkEvent::ForwardChange(link, *change),
                    Sides::Reverse => NetworkEvent::ReverseChange(link, *change),
                }
            }
            Action::Handoff { host, link, bandwidth } => NetworkEvent::Handoff(simulator::Handoff {
                host: self.nodes[*host],
                link: link.map(|link| self.links[link]),
                bandwidth: *bandwidth,
            }),
            // Times of flows are part of the flows.
            Action::StartFlow(_) | Action::StopFlow(_) => return Ok(()),
            Action::Kill(process) | Action::Restart(process) => {
                return Err(Unsupported {
                    what: format!(
                        "the simulator has no process of \"{}\" to kill",
                        scenario.nodes[*process].name
                    ),
                    remedy: "use leave and join, or --on lab".to_string(),
                });
            }
        };
        self.builder.event(at, event);
        Ok(())
    }
}

/// The first link between two nodes.
fn link_between(scenario: &Scenario, a: NodeIndex, b: NodeIndex) -> Option<LinkIndex> {
    scenario.links.iter().position(|link| link.ends == [a, b] || link.ends == [b, a])
}

/// pTCP or an application that stripes.
fn striped(flow: &Flow, links: &[simulator::LinkIndex]) -> Result<simulator::AnyTransport, Unsupported> {
    let tcp = tcp_config(flow)?;
    let policy = match flow.transport {
        Transport::StripingUnaware => Policy::Unaware,
        Transport::StripingSmart => Policy::Smart,
        _ => {
            let PtcpSettings {
                reassignment,
                redundant,
                opportunistic_retransmission,
                resume_order,
                coupled,
                loss_notification,
            } = flow.ptcp;
            let config = PtcpConfig {
                reassignment,
                redundant_striping: redundant,
                opportunistic_retransmission,
                resume_order,
                coupled,
                loss_notification,
                ..PtcpConfig::new(tcp, prismux_ptcp::MAX_PIPES)
            };
            return Ok(simulator::PtcpFlow { config }.into());
        }
    };
    let settings = &flow.striping;
    let wide = TcpConfig {
        receive_buffer: settings.wide_window.unwrap_or(tcp.receive_buffer),
        window_scaling: true,
        ..tcp.clone()
    };
    Ok(simulator::StripingFlow {
        tcp,
        other_tcp: settings.wide_links.iter().map(|&link| (links[link], wide.clone())).collect(),
        policy,
        resequencing_buffer: settings.buffer,
        estimate_every: settings.estimate_every,
        loss_notification: settings.loss_notification,
    }
    .into())
}

fn transport(flow: &Flow, links: &[simulator::LinkIndex]) -> Result<simulator::AnyTransport, Unsupported> {
    let tcp = || tcp_config(flow);
    let rcp = || tcp().map(|tcp| RcpConfig::from_tcp(&tcp));
    Ok(match (&flow.traffic, flow.transport) {
        (_, Transport::Mptcp) => {
            return Err(Unsupported {
                what: format!(
                    "flow \"{}\": Multipath TCP is the kernel's and exists in the lab only",
                    flow.name
                ),
                remedy: "use --on lab, or another transport".to_string(),
            });
        }
        (Traffic::Bulk { .. }, striping) if striping.is_striped() => striped(flow, links)?,
        (Traffic::Bulk { .. }, Transport::TcpPrism) => {
            let extension = simulator::ExtensionFactory::new(|| Box::new(prismux_prism::TcpPrism::new()));
            simulator::TcpFlow::new(tcp()?).with_extension("tcp-prism", extension).into()
        }
        (Traffic::Bulk { .. }, Transport::TcpHo) => {
            let config = prismux_tcp_ho::HandoffConfig::default();
            simulator::TcpFlow::new(tcp()?).with_handoff(config).into()
        }
        (Traffic::Bulk { .. }, Transport::TcpEln) => {
            simulator::TcpFlow::new(tcp()?).with_loss_notification().into()
        }
        (Traffic::Bulk { .. }, Transport::Rcp) => simulator::RcpFlow::new(rcp()?).into(),
        (Traffic::Bulk { .. }, Transport::RcpEln) => {
            simulator::RcpFlow::new(rcp()?).with_loss_notification().into()
        }
        (Traffic::Bulk { .. }, _) => simulator::TcpFlow::new(tcp()?).into(),
        (&Traffic::Cbr { rate, packet }, _) => {
            simulator::Cbr { rate, packet_bytes: packet.as_u64() as u32 }.into()
        }
        (&Traffic::ParetoOnOff { rate, packet, on, off, shape }, _) => {
            let packet_bytes = packet.as_u64() as u32;
            let burst = simulator::ParetoOnOff { rate, packet_bytes, mean_on: on, mean_off: off, shape };
            burst.into()
        }
        (Traffic::RequestResponse { request, response, think }, _) => simulator::RequestResponse {
            tcp: tcp()?,
            request_bytes: request.as_u64(),
            response_bytes: response.as_u64(),
            think: *think,
            exchanges: None,
        }
        .into(),
    })
}

/// True when the run is over before its duration once all transfers are complete: every bulk flow has a size.
pub fn ends_by_itself(scenario: &Scenario) -> bool {
    let bulk = |flow: &&Flow| flow.transport != Transport::Udp;
    let mut flows = scenario.flows.iter().filter(bulk).peekable();
    flows.peek().is_some() && flows.all(|flow| matches!(flow.traffic, Traffic::Bulk { bytes: Some(_) }))
}

/// The name of a flow's transport in results, equal on both backends.
pub fn transport_name(flow: &Flow) -> &'static str {
    match flow.traffic {
        Traffic::Bulk { .. } => registry::name_of(registry::TRANSPORTS, &flow.transport),
        _ => registry::name_of(registry::PATTERNS, &flow.traffic.pattern()),
    }
}
