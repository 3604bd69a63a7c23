//! Which routing protocol the hosts of an air run.
use super::direct::Direct;
use prismux_aodv::Aodv;
use prismux_dsdv::Dsdv;
use prismux_dsr::Dsr;
use prismux_endpoint::random::Seed;
use prismux_plan::Routing;
use prismux_routing::RoutingEndpoint;
use prismux_units::Instant;
use std::net::Ipv4Addr;

/// What is done with hosts, whichever protocol they run.
pub(super) trait Routed<P> {
    type Outcome;

    /// Does it. `protocol` makes the routing protocol of the host with an address and a name.
    fn with<R: RoutingEndpoint<P>>(self, protocol: impl Fn(Ipv4Addr, &str) -> R) -> Self::Outcome;
}

/// Does `work` with hosts that route so.
pub(super) fn with_routing<P: 'static, W: Routed<P>>(routing: Routing, seed: Seed, work: W) -> W::Outcome {
    // The names of the simulator's streams.
    let random = |name: &str| seed.stream(&format!("routing/{name}"));
    match routing {
        Routing::Direct => work.with(|own, _| Direct::new(own)),
        Routing::Dsr(config) => work.with(|own, name| Dsr::new(own, config, random(name))),
        Routing::Aodv(config) => work.with(|own, name| Aodv::new(own, config, random(name))),
        Routing::Dsdv(config) => work.with(|own, name| Dsdv::new(Instant::ZERO, own, config, random(name))),
    }
}
