//! Ends of flows that have several pipes.
use super::NetworkBuilder;
use super::interfaces::Interfaces;
use crate::checker::StreamCheck;
use crate::endpoint::{
    ENDLESS, Endpoint, PtcpEndpoint, PtcpSetup, Site, StripedRole, StripingEndpoint, StripingSetup,
};
use crate::flow::{FlowConfig, PtcpFlow, StripingFlow};
use crate::ids::{LinkIndex, NodeId};
use crate::packet::address;
use prismux_ptcp::PtcpConfig;
use prismux_tcp::TcpConfig;
use prismux_units::Instant;
use std::net::IpAddr;
use std::sync::Arc;

/// The addresses of `host` on the links of a flow, in order of pipes.
fn addresses(
    builder: &NetworkBuilder,
    interfaces: &Interfaces,
    flow: &FlowConfig,
    host: NodeId,
) -> Vec<IpAddr> {
    let links = builder.access_links(flow);
    links.iter().map(|&link| address(interfaces.address(host, link))).collect()
}

/// Both ends of a pTCP connection.
pub(super) fn ptcp_ends(
    builder: &NetworkBuilder,
    interfaces: &Interfaces,
    name: &str,
    flow: &FlowConfig,
    ptcp: &PtcpFlow,
    sites: [Site; 2],
    checks: bool,
) -> [Endpoint; 2] {
    let [near, far] = [flow.from, flow.to].map(|host| addresses(builder, interfaces, flow, host));
    let number = sites[0].flow.0;
    let ports = (20_000 + (number % 40_000) as u16, 5001 + (number / 40_000) as u16);
    // Simulated applications read at once.
    let pipes = ptcp.config.pipes.min(near.len() as u8).max(1);
    let config = PtcpConfig { pipes, consume_on_arrival: true, ..ptcp.config.clone() };
    let end = |site: Site, locals: &[IpAddr], remote: IpAddr, side: &str, role: StripedRole| {
        let setup = PtcpSetup {
            config: config.clone(),
            locals: locals.to_vec(),
            remote,
            ports,
            random: builder.seed.stream(&format!("flow/{name}/{side}")),
        };
        Endpoint::Ptcp(Box::new(PtcpEndpoint {
            site,
            armed: Instant::MAX,
            next_mark: u64::MAX,
            connection: None,
            role,
            setup,
            check: checks.then(Box::<StreamCheck>::default),
        }))
    };
    let first = |list: &[IpAddr]| list.first().copied().unwrap_or(IpAddr::V4([10, 0, 0, 0].into()));
    let source = StripedRole::Source { bytes: flow.bytes.unwrap_or(ENDLESS) };
    [
        end(sites[0], &near, first(&far), "client", source),
        end(sites[1], &far, first(&near), "server", StripedRole::Sink),
    ]
}

/// Both ends of an application's striped transfer: a connection for every link, the same ports but for the last digits.
pub(super) fn striping_ends(
    builder: &NetworkBuilder,
    interfaces: &Interfaces,
    flow: &FlowConfig,
    striping: &StripingFlow,
    sites: [Site; 2],
) -> [Endpoint; 2] {
    let links = builder.access_links(flow);
    let on =
        |host: NodeId| -> Vec<NodeId> { links.iter().map(|&link| interfaces.address(host, link)).collect() };
    let number = sites[0].flow.0;
    let (near, far) = ((20_000 + (number % 4_000) * 8) as u16, (6001 + number / 4_000) as u16);
    let tcp: Vec<Arc<TcpConfig>> = links
        .iter()
        .map(|link| {
            let other = striping.other_tcp.iter().find(|(which, _)| which == link);
            let config = other.map_or(&striping.tcp, |(_, config)| config);
            // Windows close when the application does not read.
            let config = TcpConfig { consume_on_arrival: false, nagle: false, ..config.clone() };
            Arc::new(config)
        })
        .collect();
    // Rates are measured where data enters the links.
    let outward = |link: &LinkIndex| match builder.links[link.index()].ends[0] == flow.to {
        true => link.reverse(),
        false if builder.links[link.index()].ends[1] == flow.from => link.reverse(),
        false => link.forward(),
    };
    let end = |site: Site, own: Vec<NodeId>, other: Vec<NodeId>, opens: bool| {
        let setup = StripingSetup {
            tcp: tcp.clone(),
            policy: striping.policy,
            resequencing_buffer: striping.resequencing_buffer.as_u64(),
            estimate_every: striping.estimate_every,
            loss_notification: striping.loss_notification,
            sockets: own.into_iter().zip(other).collect(),
            rates_of: links.iter().map(outward).collect(),
            first_port: near,
            far_port: far,
            numbers: builder.seed.stream(&format!("flow/{number}/{opens}/initial-sequence")),
        };
        let role = match opens {
            true => StripedRole::Source { bytes: flow.bytes.unwrap_or(ENDLESS) },
            false => StripedRole::Sink,
        };
        Endpoint::Striping(Box::new(StripingEndpoint::new(site, role, setup)))
    };
    let (from, to) = (on(flow.from), on(flow.to));
    [end(sites[0], from.clone(), to.clone(), true), end(sites[1], to, from, false)]
}
