//! Radio: an air of `prismux_wireless` as a shared medium, and hosts that find their way over it.
//!
//! * `medium`: the air as a [`Medium`](crate::Medium); `radios`: which of its radios belong to whom.
//! * `adhoc`: a host with a routing protocol, as a [`Node`](crate::Node); `header`: what the protocol puts around
//!   packets. `direct`: a host without one.
//! * `cells`: base stations, and hosts that hand over between them and relay for one another.
mod adhoc;
pub(crate) mod cells;
mod direct;
mod header;
pub(crate) mod medium;
mod radios;

use crate::core::ids::{MediumId, NodeId};
use crate::core::packet::{Transit, ipv4_address};
use crate::nodes::node::Node;
use adhoc::{AdhocHost, Relay};
use direct::DirectHost;
use prismux_aodv::Aodv;
use prismux_dsdv::Dsdv;
use prismux_dsr::Dsr;
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_plan::{MediumModel, Plan, Radio, Routing};
use prismux_routing::RoutingEndpoint;
use prismux_units::Instant;
use std::fmt;

/// The hosts of all radio media of a plan.
pub(crate) fn hosts(plan: &Plan, seed: Seed) -> Vec<(NodeId, Box<dyn Node>)> {
    let mut hosts: Vec<(NodeId, Box<dyn Node>)> = Vec::new();
    for medium in plan.medium_ids() {
        let MediumModel::Radio(radio) = &plan[medium].model else { continue };
        for (place, &node) in plan[medium].attached.iter().enumerate() {
            let random = seed.stream(&format!("routing/{}", plan[node].name));
            let host: Box<dyn Node> = match &radio.cells {
                Some(cells) => {
                    let is_station = !cells.base_stations.contains(&node);
                    let has_second = radio.further_radios.iter().any(|further| further.host == place);
                    let relay =
                        (is_station && has_second).then(|| adhoc(medium, radio, node, random)).flatten();
                    self::cells::node(plan, medium, (radio, cells), node, relay)
                }
                None => match adhoc(medium, radio, node, random) {
                    Some(host) => host,
                    None => Box::new(DirectHost::new(medium)),
                },
            };
            hosts.push((node, host));
        }
    }
    hosts
}

/// A host that finds its way by a routing protocol; a relay where there are cells. `None` where nobody routes.
fn adhoc(medium: MediumId, radio: &Radio, node: NodeId, random: RandomStream) -> Option<Box<dyn Relay>> {
    fn host<R>(medium: MediumId, radio: &Radio, routing: R) -> Box<dyn Relay>
    where
        R: RoutingEndpoint<Transit> + fmt::Debug + Send + 'static,
        R::Header: fmt::Debug + Send + 'static,
    {
        match radio.cells {
            None => Box::new(AdhocHost::new(medium, routing, radio.compares_hops)),
            Some(_) => Box::new(AdhocHost::new(medium, routing, false).relaying()),
        }
    }
    let (address, start) = (ipv4_address(node), Instant::ZERO);
    match radio.routing {
        Routing::Direct => None,
        Routing::Dsr(config) => Some(host(medium, radio, Dsr::new(address, config, random))),
        Routing::Dsdv(config) => Some(host(medium, radio, Dsdv::new(start, address, config, random))),
        Routing::Aodv(config) => Some(host(medium, radio, Aodv::new(address, config, random))),
    }
}
