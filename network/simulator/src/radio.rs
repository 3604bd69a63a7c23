//! Radio: an air of `prismux_wireless` as a shared medium, and hosts that find their way over it.
//!
//! * `medium`: the air as a [`Medium`](crate::Medium); `radios`: which of its radios belong to whom.
//! * `adhoc`: a host with a routing protocol, as a [`Node`](crate::Node); `header`: what the protocol puts around
//!   packets. `direct`: a host without one.
//! * `cells`: base stations, and hosts that hand over between them.
mod adhoc;
pub(crate) mod cells;
mod direct;
mod header;
pub(crate) mod medium;
mod radios;

use crate::core::ids::NodeId;
use crate::core::packet::{Transit, ipv4_address};
use crate::nodes::node::Node;
use adhoc::AdhocHost;
use direct::DirectHost;
use prismux_aodv::Aodv;
use prismux_dsdv::Dsdv;
use prismux_dsr::Dsr;
use prismux_endpoint::random::Seed;
use prismux_plan::{MediumModel, Plan, Routing};
use prismux_units::Instant;

/// The hosts of all radio media of a plan.
pub(crate) fn hosts(plan: &Plan, seed: Seed) -> Vec<(NodeId, Box<dyn Node>)> {
    let mut hosts: Vec<(NodeId, Box<dyn Node>)> = Vec::new();
    for medium in plan.medium_ids() {
        let MediumModel::Radio(radio) = &plan[medium].model else { continue };
        for &node in &plan[medium].attached {
            if let Some(cells) = &radio.cells {
                hosts.push((node, self::cells::node(plan, medium, (radio, cells), node)));
                continue;
            }
            let random = || seed.stream(&format!("routing/{}", plan[node].name));
            let host: Box<dyn Node> = match radio.routing {
                Routing::Direct => Box::new(DirectHost::new(medium)),
                Routing::Dsr(config) => {
                    let routing: Dsr<Transit> = Dsr::new(ipv4_address(node), config, random());
                    Box::new(AdhocHost::new(medium, routing, radio.compares_hops))
                }
                Routing::Dsdv(config) => {
                    let start = Instant::ZERO;
                    let routing: Dsdv<Transit> = Dsdv::new(start, ipv4_address(node), config, random());
                    Box::new(AdhocHost::new(medium, routing, radio.compares_hops))
                }
                Routing::Aodv(config) => {
                    let routing: Aodv<Transit> = Aodv::new(ipv4_address(node), config, random());
                    Box::new(AdhocHost::new(medium, routing, radio.compares_hops))
                }
            };
            hosts.push((node, host));
        }
    }
    hosts
}
