//! From a scenario to a plan of network namespaces.

mod pipes;

use super::Unsupported;
use super::tcp::tcp_config;
use crate::model::{Action, Flow, Role, Scenario, Sides, TcpSettings, Traffic};
use crate::registry::{Congestion, Transport, Tunnel};
use crate::{hash, paths, registry};
use prismux_lab::plan::{
    self, EventPlan, FlowPlan, KernelTcp, LabPlan, LinkPlan, MemberPlan, NodePlan, OwnSender, ProxyPlan,
};
use prismux_tcp::TcpProfile;
use prismux_units::{Duration, Instant};

/// The plan of `scenario`, or what in it the lab cannot do.
pub fn to_lab(scenario: &Scenario, seed: u64) -> Result<LabPlan, Unsupported> {
    no_handoffs(scenario)?;
    let mut lab = LabPlan::new(&scenario.name, seed, scenario.duration);
    lab.scenario_hash = hash(scenario);
    lab.warm_up = scenario.measure.warm_up;
    lab.series_interval = scenario.measure.interval;
    lab.nodes = (0..scenario.nodes.len()).map(|index| node(scenario, index)).collect();
    for link in &scenario.links {
        let [a, b] = link.ends.map(|end| scenario.nodes[end].name.clone());
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
    for index in 0..scenario.flows.len() {
        lab.flows.push(flow(scenario, index)?);
    }
    lab.events.extend(scenario.events.iter().filter_map(|event| {
        let action = action(scenario, &event.action)?;
        Some(EventPlan { at: Instant::ZERO + event.at, action })
    }));
    Ok(lab)
}

/// The lab's hosts stay where they are, and the kernels at their ends do not speak TCP-HO.
fn no_handoffs(scenario: &Scenario) -> Result<(), Unsupported> {
    let mover = scenario.events.iter().find_map(|event| match event.action {
        Action::Handoff { host, .. } => Some(format!("the handoff of \"{}\"", scenario.nodes[host].name)),
        _ => None,
    });
    let speaker = scenario.flows.iter().find(|flow| flow.transport == Transport::TcpHo);
    match mover.or(speaker.map(|flow| format!("flow \"{}\": TCP-HO", flow.name))) {
        Some(what) => Err(Unsupported {
            what: format!("{what} exists in the simulator only"),
            remedy: "use --on sim".to_string(),
        }),
        None => Ok(()),
    }
}

fn node(scenario: &Scenario, index: usize) -> NodePlan {
    let node = &scenario.nodes[index];
    let role = match &node.role {
        Role::Host => plan::Role::Host,
        Role::Router => plan::Role::Router,
        Role::PrismProxy(settings) => plan::Role::Proxy(Box::new(ProxyPlan {
            config: settings.config.clone(),
            tunnel: match settings.tunnel {
                Tunnel::Gre => plan::Tunnel::Gre,
                Tunnel::GreInUdp => plan::Tunnel::GreInUdp,
            },
            members: Some(
                scenario.members_of(index).iter().map(|&m| scenario.nodes[m].name.clone()).collect(),
            ),
        })),
        Role::Member(settings) => plan::Role::Member(MemberPlan {
            present: settings.present,
            advertised_rate: scenario.advertised_rate(index),
        }),
    };
    NodePlan { name: node.name.clone(), role }
}

fn flow(scenario: &Scenario, index: usize) -> Result<FlowPlan, Unsupported> {
    let flow = &scenario.flows[index];
    let node = |index: usize| scenario.nodes[index].name.clone();
    let transport = match flow.transport {
        Transport::Tcp => plan::Transport::Tcp,
        Transport::Mptcp => plan::Transport::Mptcp,
        Transport::Udp => plan::Transport::Udp,
        Transport::Rcp | Transport::R2cp => plan::Transport::Fetch,
        Transport::TcpEln
        | Transport::RcpEln
        | Transport::Ptcp
        | Transport::StripingUnaware
        | Transport::StripingSmart => {
            let name = registry::name_of(registry::TRANSPORTS, &flow.transport);
            return Err(Unsupported {
                what: format!("flow \"{}\": the lab's hosts do not speak \"{name}\"", flow.name),
                remedy: "use --on sim, or another transport".to_string(),
            });
        }
        // The kernels do not speak TCP-PRISM: its sender is our own TCP.
        Transport::TcpPrism | Transport::TcpHo => plan::Transport::Tcp,
    };
    let packet_bytes = |packet: prismux_units::ByteCount| packet.as_u64() as u32;
    let traffic = match flow.traffic {
        Traffic::Bulk { bytes } => plan::Traffic::Bulk { bytes },
        Traffic::RequestResponse { request, response, think } => {
            plan::Traffic::RequestResponse { request, response, think, exchanges: None }
        }
        Traffic::Cbr { rate, packet } => plan::Traffic::Cbr { rate, packet_bytes: packet_bytes(packet) },
        Traffic::ParetoOnOff { rate, packet, on, off, shape } => {
            plan::Traffic::ParetoOnOff { rate, packet_bytes: packet_bytes(packet), on, off, shape }
        }
    };
    let mut tcp = kernel_tcp(flow)?;
    let mut own_sender = None;
    if flow.transport == Transport::TcpPrism {
        let own = tcp_config(flow)?;
        // The receiver answers as the sender's profile expects, not as kernels imitate it.
        (tcp.sack, tcp.dsack, tcp.timestamps) = (Some(own.sack), Some(own.dsack), Some(own.timestamps));
        own_sender = Some(Box::new(OwnSender { tcp: own, prism: true }));
    }
    let (start, stop) = paths::times(scenario, index);
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
            Congestion::Stp => {
                return Err(Unsupported {
                    what: format!("flow \"{}\": kernels have no STP", flow.name),
                    remedy: "use --on sim, or congestion = \"cubic\" or \"newreno\"".to_string(),
                });
            }
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

fn put<T>(setting: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *setting = value;
    }
}

fn action(scenario: &Scenario, action: &Action) -> Option<plan::Action> {
    let node = |index: usize| scenario.nodes[index].name.clone();
    Some(match action {
        Action::Join(member) => plan::Action::Join(node(*member)),
        Action::Leave(member) => plan::Action::Leave(node(*member)),
        Action::Kill(process) => plan::Action::Kill(node(*process)),
        Action::Restart(process) => plan::Action::Restart(node(*process)),
        // Times of flows are part of the flows.
        Action::StartFlow(_) | Action::StopFlow(_) => return None,
        // Refused before.
        Action::Handoff { .. } => return None,
        Action::ChangeLink { link, sides, change } => plan::Action::ChangeLink {
            link: scenario.links[*link].name.clone(),
            forward: (*sides != Sides::Reverse).then_some(*change),
            reverse: (*sides != Sides::Forward).then_some(*change),
        },
    })
}
