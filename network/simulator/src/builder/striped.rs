//! Ends of flows that have several pipes.
use super::NetworkBuilder;
use super::interfaces::Interfaces;
use crate::checker::StreamCheck;
use crate::endpoint::{ENDLESS, Endpoint, PtcpEndpoint, PtcpSetup, Site, StripedRole};
use crate::flow::{FlowConfig, PtcpFlow};
use crate::ids::NodeId;
use crate::packet::address;
use prismux_ptcp::PtcpConfig;
use prismux_units::Instant;
use std::net::IpAddr;

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
