//! The ends of RCP and R²CP flows.
use super::interfaces::Interfaces;
use crate::checker::StreamCheck;
use crate::endpoint::{
    ENDLESS, Endpoint, R2cpEndpoint, RcpEnd, RcpEndpoint, RcpPort, RcpSetup, Site, WayState,
};
use crate::flow::{R2cpFlow, RcpFlow};
use crate::ids::EndpointId;
use crate::simulation::Simulation;
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_r2cp::R2cpConfig;
use prismux_rcp::RcpConfig;
use prismux_units::Instant;
use prismux_wire::SeqNumber;
use std::sync::Arc;

/// Simulated applications read at once.
fn reading_at_once(config: &RcpConfig) -> RcpConfig {
    RcpConfig { consume_on_arrival: true, ..config.clone() }
}

fn end(numbers: &mut RandomStream, site: Site, config: &RcpConfig, bytes: Option<u64>) -> RcpEndpoint {
    let config = Arc::new(reading_at_once(config));
    let (initial, token) = (SeqNumber(numbers.next_u64() as u32), numbers.next_u64());
    let bytes = bytes.unwrap_or(ENDLESS);
    let setup = Box::new(RcpSetup { config, bytes, initial, token, hears_damage: false });
    let (armed, next_mark) = (Instant::MAX, u64::MAX);
    RcpEndpoint { site, armed, next_mark, end: RcpEnd::Idle, setup, check: None }
}

/// A sender that waits and a receiver that will open.
pub(super) fn rcp_ends(
    seed: Seed,
    name: &str,
    rcp: &RcpFlow,
    bytes: Option<u64>,
    sites: [Site; 2],
    checks: bool,
) -> [Endpoint; 2] {
    let mut numbers = seed.stream(&format!("flow/{name}/initial-sequence"));
    let sender = end(&mut numbers, sites[0], &rcp.sender, bytes);
    let mut receiver = end(&mut numbers, sites[1], &rcp.receiver, bytes);
    receiver.setup.hears_damage = rcp.hears_damage;
    receiver.check = checks.then(Box::<StreamCheck>::default);
    [Endpoint::Rcp(sender), Endpoint::Rcp(receiver)]
}

/// A place for the flow's source, which stays empty (every way has its own), and the receiver, still without ways.
pub(super) fn r2cp_ends(
    seed: Seed,
    name: &str,
    r2cp: &R2cpFlow,
    bytes: Option<u64>,
    sites: [Site; 2],
    checks: bool,
) -> [Endpoint; 2] {
    let mut numbers = seed.stream(&format!("flow/{name}/source"));
    let config = R2cpConfig { rcp: reading_at_once(&r2cp.config.rcp), ..r2cp.config.clone() };
    let receiver = R2cpEndpoint {
        site: sites[1],
        armed: Instant::MAX,
        next_mark: u64::MAX,
        config,
        connection: None,
        ways: Vec::new(),
        check: checks.then(Box::<StreamCheck>::default),
    };
    let source = end(&mut numbers, sites[0], &r2cp.sender, bytes);
    [Endpoint::Rcp(source), Endpoint::R2cp(Box::new(receiver))]
}

impl Simulation {
    /// A server and a port for each way.
    pub(super) fn add_ways(
        &mut self,
        seed: Seed,
        name: &str,
        r2cp: &R2cpFlow,
        bytes: Option<u64>,
        (sites, interfaces): ([Site; 2], &Interfaces),
    ) {
        let mut numbers = seed.stream(&format!("flow/{name}/initial-sequence"));
        let main = sites[1].own;
        let mut ways = Vec::new();
        for (index, way) in r2cp.ways.iter().enumerate() {
            let first = self.endpoints.len() as u32;
            let (server, port) = (EndpointId(first), EndpointId(first + 1));
            let exit_at = |node| {
                let link = way.link?;
                let leads = |port: crate::ids::PortId| self.fabric.ends[port.index()].node;
                // A direction of the link that does not end here begins here.
                let touches = leads(link.forward()) == node || leads(link.reverse()) == node;
                touches.then(|| if leads(link.forward()) == node { link.reverse() } else { link.forward() })
            };
            // Packets come back by the link that they left by.
            let address = |host| way.link.map_or(host, |link| interfaces.address(host, link));
            let base = Site { fixed_exit: None, ..sites[1] };
            let server_site = Site {
                own: server,
                node: way.server,
                peer: port,
                peer_node: address(base.node),
                fixed_exit: exit_at(way.server),
                ..base
            };
            let port_site = Site {
                own: port,
                peer: server,
                peer_node: address(way.server),
                fixed_exit: exit_at(base.node),
                ..base
            };
            let sender = end(&mut numbers, server_site, &r2cp.sender, bytes);
            let initial = SeqNumber(numbers.next_u64() as u32);
            self.endpoints.push(Endpoint::Rcp(sender));
            self.endpoints.push(Endpoint::RcpPort(RcpPort { site: port_site, main, way: index }));
            let (opens, closes, drops) = (way.opens, way.closes, way.drops);
            let (name, cost) = (way.name.clone(), way.cost);
            ways.push(WayState { name, port, initial, cost, opens, closes, drops, pipe: None });
        }
        if let Endpoint::R2cp(receiver) = &mut self.endpoints[main.index()] {
            receiver.ways = ways;
        }
    }
}
