//! What `prismux status` shows of a home.
use super::Home;
use super::uplink::Uplink;
use crate::accounts::{Accounts, Booked};
use crate::carrier::busiest::Busy;
use crate::carrier::datagrams;
use crate::counters::DropCounters;
use crate::events::Shown;
use crate::proxy::members::Traffic;
use crate::proxy::report::{Counters, Flow, Learned, Measured, counters, flows, learned, measured};
use crate::workers;
use prismux_prism::{LinkId, LinkStatus};
use prismux_units::{Duration, Instant};
use serde::Serialize;
use std::collections::VecDeque;
use std::path::Path;

/// The status page of a home. Rates in bit/s, times in seconds; `null` where nothing is known yet. As on the gateway's
/// page `forward` is towards the home; what the core has learned of a link and what receipts say is of the way up.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    role: &'static str,
    version: &'static str,
    /// Its process.
    pid: u32,
    name: &'a str,
    uptime_s: f64,
    gateway: String,
    device: &'a str,
    mtu_bytes: usize,
    links: Vec<Link<'a>>,
    receipts: Vec<Measured<'a>>,
    flows: Vec<Flow>,
    busiest: Vec<Busy>,
    flow_count: usize,
    flow_memory_bytes: usize,
    counters: Counters,
    datagrams: Option<datagrams::Report>,
    drops: &'a DropCounters,
    /// Threads that seal, send and open, if there are any.
    workers: Option<workers::Report>,
    accounts_file: Option<&'a Path>,
    events: &'a VecDeque<Shown>,
}

#[derive(Debug, Serialize)]
struct Link<'a> {
    link: u8,
    name: &'a str,
    /// Registered with the gateway, and answering.
    up: bool,
    registered: bool,
    silent: bool,
    /// Why nothing leaves by it, in the kernel's words.
    refused: Option<&'a str>,
    rtt_s: Option<f64>,
    /// The largest packet that its line takes on the way up, where that is less than the largest there may be.
    path_mtu_bytes: Option<usize>,
    tier: &'static str,
    /// Why it is not to be used for now.
    rests: Option<String>,
    #[serde(flatten)]
    booked: Booked,
    #[serde(flatten)]
    traffic: Traffic,
    #[serde(flatten)]
    learned: Option<Learned>,
}

pub(super) fn report(home: &Home, now: Instant) -> Report<'_> {
    let status = home.striping.core.link_status();
    let numbered = || (0_u8..).zip(&home.outlet.uplinks);
    let status_of = |number| status.iter().find(|s| s.id == LinkId(number));
    let link = |(number, uplink)| link(number, uplink, &home.accounts, status_of(number));
    Report {
        role: "home",
        version: env!("CARGO_PKG_VERSION"),
        pid: std::process::id(),
        name: &home.config.name,
        uptime_s: now.as_secs_f64(),
        gateway: home.config.gateway.endpoint.to_string(),
        device: home.outlet.tun.name(),
        mtu_bytes: home.inner_mtu_bytes,
        links: numbered().map(link).collect(),
        receipts: numbered()
            .filter_map(|(number, uplink)| {
                measured(&home.outlet.meters, LinkId(number), &uplink.config.device, now)
            })
            .collect(),
        flows: flows(std::iter::once(&home.striping.core)),
        busiest: home.striping.busiest(now),
        flow_count: home.striping.core.flow_count(),
        flow_memory_bytes: home.striping.core.flow_memory_bytes(),
        counters: counters(std::iter::once(&home.striping.core)),
        datagrams: home.striping.datagrams(),
        drops: &home.outlet.drops,
        workers: home.workers.report(),
        accounts_file: home.accounts.file(),
        events: home.outlet.events.shown(),
    }
}

fn link<'a>(number: u8, uplink: &'a Uplink, accounts: &Accounts, status: Option<&LinkStatus>) -> Link<'a> {
    Link {
        link: number,
        name: &uplink.config.device,
        up: uplink.works(),
        registered: uplink.is_registered(),
        silent: uplink.liveness.is_silent(),
        refused: uplink.refused.as_deref(),
        rtt_s: uplink.registration.rtt().map(Duration::as_secs_f64),
        path_mtu_bytes: uplink.path.limit(),
        tier: uplink.config.tier.name(),
        rests: uplink.rests(),
        booked: accounts.booked(uplink.account.link(), uplink.share.terms()),
        traffic: uplink.traffic,
        learned: status.map(learned),
    }
}
