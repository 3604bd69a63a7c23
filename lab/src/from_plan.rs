//! From a plan to what the lab builds.

mod pipes;

use crate::plan::{
    self, EventPlan, FlowPlan, KernelTcp, LabPlan, LinkPlan, MemberPlan, NodePlan, OwnSender, ProxyPlan,
};
use prismux_plan::{
    Action, Congestion, Direction, Feature, Flow, FlowId, Lack, NodeId, Plan, Role, TcpSettings, Traffic,
    Transport, Tunnel, Unsupported,
};
use prismux_tcp::TcpProfile;
use prismux_units::{Duration, Instant};

/// What plans may ask for and the lab does not have.
const LACKS: &[Lack] = &[
    Lack { feature: Feature::Handoff, what: "{} exists in the simulator only", remedy: "use --on sim" },
    Lack {
        feature: Feature::Transport("tcp-ho"),
        what: "{}: TCP-HO exists in the simulator only",
        remedy: "use --on sim",
    },
    not_spoken("tcp-eln", "{}: the lab's hosts do not speak \"tcp-eln\""),
    not_spoken("rcp-eln", "{}: the lab's hosts do not speak \"rcp-eln\""),
    not_spoken("ptcp", "{}: the lab's hosts do not speak \"ptcp\""),
    not_spoken("striping-unaware", "{}: the lab's hosts do not speak \"striping-unaware\""),
    not_spoken("striping-smart", "{}: the lab's hosts do not speak \"striping-smart\""),
    Lack {
        feature: Feature::Congestion(Congestion::Stp),
        what: "{}: kernels have no STP",
        remedy: "use --on sim, or congestion = \"cubic\" or \"newreno\"",
    },
    Lack {
        feature: Feature::Tunnel(Tunnel::Free),
        what: "{}: a tunnel without headers exists in the simulator only",
        remedy: "use --on sim, or another tunnel",
    },
];

const fn not_spoken(name: &'static str, what: &'static str) -> Lack {
    Lack { feature: Feature::Transport(name), what, remedy: "use --on sim, or another transport" }
}

/// The orders for the lab that follow from `plan`, or what in it the lab cannot do.
pub fn to_lab(scenario: &Plan, seed: u64, hash: String) -> Result<LabPlan, Unsupported> {
    scenario.refuse(LACKS)?;
    let mut lab = LabPlan::new(&scenario.name, seed, scenario.duration);
    lab.scenario_hash = hash;
    lab.warm_up = scenario.measure.warm_up.unwrap_or(Duration::ZERO);
    lab.series_interval = scenario.measure.interval;
    lab.nodes = scenario.node_ids().map(|id| node(scenario, id)).collect();
    for link in &scenario.links {
        let [a, b] = link.ends.map(|end| scenario[end].name.clone());
        lab.links.push(LinkPlan {
            name: link.name.clone(),
            a,
            b,
            forward: link.forward.link.clone(),
            reverse: link.reverse.link.clone(),
            up: (link.forward.up, link.reverse.up),
            shared: link.shared,
        });
    }
    for id in scenario.flow_ids() {
        lab.flows.push(flow(scenario, id)?);
    }
    lab.events.extend(scenario.events.iter().filter_map(|event| {
        let action = action(scenario, &event.action)?;
        Some(EventPlan { at: Instant::ZERO + event.at, action })
    }));
    Ok(lab)
}

fn node(scenario: &Plan, id: NodeId) -> NodePlan {
    let node = &scenario[id];
    let role = match &node.role {
        Role::Host => plan::Role::Host,
        Role::Router => plan::Role::Router,
        Role::PrismProxy(settings) => plan::Role::Proxy(Box::new(ProxyPlan {
            config: settings.config.clone(),
            tunnel: match settings.tunnel {
                // A free one is refused before.
                Tunnel::Gre | Tunnel::Free => plan::Tunnel::Gre,
                Tunnel::GreInUdp => plan::Tunnel::GreInUdp,
            },
            members: Some(scenario.members_of(id).iter().map(|&m| scenario[m].name.clone()).collect()),
        })),
        Role::Member(settings) => plan::Role::Member(MemberPlan {
            present: settings.present,
            advertised_rate: scenario.advertised_rate(id),
        }),
    };
    NodePlan { name: node.name.clone(), role }
}

fn flow(scenario: &Plan, id: FlowId) -> Result<FlowPlan, Unsupported> {
    let flow = &scenario[id];
    let node = |id: NodeId| scenario[id].name.clone();
    let transport = match flow.transport {
        Transport::Tcp => plan::Transport::Tcp,
        Transport::Mptcp => plan::Transport::Mptcp,
        Transport::Udp => plan::Transport::Udp,
        Transport::Rcp | Transport::R2cp(_) => plan::Transport::Fetch,
        // The kernels do not speak TCP-PRISM: its sender is our own TCP.
        Transport::TcpPrism => plan::Transport::Tcp,
        // Refused before.
        _ => plan::Transport::Tcp,
    };
    let packet_bytes = |packet: prismux_units::ByteCount| packet.as_u64() as u32;
    let traffic = match flow.traffic {
        Traffic::Bulk { bytes } => plan::Traffic::Bulk { bytes },
        Traffic::RequestResponse { request, response, think, exchanges } => {
            plan::Traffic::RequestResponse { request, response, think, exchanges }
        }
        Traffic::Cbr { rate, packet } => plan::Traffic::Cbr { rate, packet_bytes: packet_bytes(packet) },
        Traffic::ParetoOnOff { rate, packet, on, off, shape } => {
            plan::Traffic::ParetoOnOff { rate, packet_bytes: packet_bytes(packet), on, off, shape }
        }
    };
    let mut tcp = kernel_tcp(flow)?;
    let mut own_sender = None;
    if flow.transport == Transport::TcpPrism {
        let own = own_tcp(flow)?;
        // The receiver answers as the sender's profile expects, not as kernels imitate it.
        (tcp.sack, tcp.dsack, tcp.timestamps) = (Some(own.sack), Some(own.dsack), Some(own.timestamps));
        own_sender = Some(Box::new(OwnSender { tcp: own, prism: true }));
    }
    let (start, stop) = scenario.times_of(id);
    Ok(FlowPlan {
        name: flow.name.clone(),
        from: node(flow.from),
        to: node(flow.to),
        transport,
        traffic,
        via: flow.via.map(node),
        tcp,
        own_sender,
        fetch: pipes::fetch(scenario, flow, start)?,
        start: Instant::ZERO + start,
        stop: stop.map(|stop| Instant::ZERO + stop),
    })
}

/// Profile and single switches, as far as a kernel has them.
fn kernel_tcp(flow: &Flow) -> Result<KernelTcp, Unsupported> {
    let settings: &TcpSettings = &flow.tcp;
    let mut tcp = match settings.profile {
        TcpProfile::Modern => KernelTcp::modern("cubic"),
        TcpProfile::Linux24 | TcpProfile::Ns2_2002 => KernelTcp::linux_24(),
    };
    if settings.profile == TcpProfile::Ns2_2002 {
        (tcp.mss_bytes, tcp.quick_ack) = (Some(1000), true);
    }
    if let Some(congestion) = settings.congestion {
        let name = match congestion {
            Congestion::Cubic => "cubic",
            Congestion::NewReno => "reno",
            Congestion::Bbr => "bbr",
            // Refused before.
            Congestion::Stp => return Ok(tcp),
        };
        tcp.congestion = Some(name.to_string());
    }
    put(&mut tcp.mss_bytes, settings.mss);
    put(&mut tcp.window, settings.window);
    put(&mut tcp.initial_window_segments, settings.initial_window);
    put(&mut tcp.sack, settings.sack);
    if settings.sack == Some(false) {
        // Both build on SACK.
        (tcp.dsack, tcp.rack) = (Some(false), Some(false));
    }
    put(&mut tcp.timestamps, settings.timestamps);
    put(&mut tcp.min_rto, settings.min_rto);
    put(&mut tcp.dup_threshold, settings.dup_threshold);
    put(&mut tcp.rack, settings.rack);
    put(&mut tcp.tlp, settings.tlp);
    put(&mut tcp.nagle, settings.nagle);
    put(&mut tcp.ecn, settings.ecn);
    if let Some(undo) = settings.undo {
        (tcp.dsack, tcp.frto) = (Some(undo), Some(undo));
    }
    tcp.quick_ack |= settings.delayed_ack == Some(Duration::ZERO);
    Ok(tcp)
}

/// The switches of a sender that is our own.
fn own_tcp(flow: &Flow) -> Result<prismux_tcp::TcpConfig, Unsupported> {
    flow.tcp.config().map_err(|kernels| Unsupported {
        what: format!("flow \"{}\": {kernels} and not our own TCP's", flow.name),
        remedy: "use transport = \"tcp\", or congestion = \"cubic\" or \"newreno\"".to_string(),
    })
}

fn put<T>(setting: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *setting = value;
    }
}

fn action(scenario: &Plan, action: &Action) -> Option<plan::Action> {
    let node = |id: NodeId| scenario[id].name.clone();
    Some(match action {
        Action::Join(member) => plan::Action::Join(node(*member)),
        Action::Leave(member) => plan::Action::Leave(node(*member)),
        Action::Kill(process) => plan::Action::Kill(node(*process)),
        Action::Restart(process) => plan::Action::Restart(node(*process)),
        // Times of flows are part of the flows.
        Action::StartFlow(_) | Action::StopFlow(_) => return None,
        // Refused before.
        Action::Handoff { .. } => return None,
        Action::ChangeLink { link, directions, change } => plan::Action::ChangeLink {
            link: scenario[*link].name.clone(),
            forward: directions.include(Direction::Forward).then_some(*change),
            reverse: directions.include(Direction::Reverse).then_some(*change),
        },
    })
}
