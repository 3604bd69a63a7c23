//! What `prismux status` shows of a routing daemon.
use super::Route;
use super::counters::{AllDrops, columns};
use super::protocol::Protocol;
use super::radio::NeighbourReport;
use prismux_units::Instant;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// The status page of a routing daemon.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    role: &'static str,
    version: &'static str,
    uptime_s: f64,
    protocol: &'static str,
    address: Ipv4Addr,
    network: String,
    radio: String,
    /// "running", or "waiting" until the radio works.
    state: &'static str,
    device: &'a str,
    mtu_bytes: usize,
    /// Packets that wait for a route, or for the end of a jitter.
    waiting_packets: usize,
    /// On an interface: who has been heard of.
    #[serde(skip_serializing_if = "Option::is_none")]
    neighbours: Option<Vec<NeighbourReport>>,
    counters: BTreeMap<&'static str, u64>,
    drops: AllDrops<'a>,
}

pub(super) fn report<R: Protocol>(route: &Route<R>, now: Instant) -> Report<'_> {
    let (config, statistics) = (&route.config, route.routing.as_ref().map(R::statistics));
    Report {
        role: "route",
        version: env!("CARGO_PKG_VERSION"),
        uptime_s: now.as_secs_f64(),
        protocol: config.protocol.name,
        address: config.address.own,
        network: config.address.to_string(),
        radio: config.radio.to_string(),
        state: if route.routing.is_some() { "running" } else { "waiting" },
        device: route.tun.name(),
        mtu_bytes: route.mtu_bytes,
        waiting_packets: route.routing.as_ref().map_or(0, R::buffered_packets),
        neighbours: route.radio.neighbours(now),
        counters: columns(route.passed, statistics),
        drops: AllDrops { daemon: &route.drops, routing: statistics },
    }
}
