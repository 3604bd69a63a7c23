//! What `prismux status` shows of a proxy.
use super::Proxy;
use super::community::Community;
use super::fleet::Fleet;
use super::members::{Member, Traffic};
use super::meters::Meters;
use super::rights::{NO_RIGHTS, has_none};
use crate::accounts::Booked;
use crate::carrier::busiest::Busy;
use crate::carrier::{Core, datagrams};
use crate::counters::DropCounters;
use crate::events::Shown;
use crate::fleet::RegistryReport;
use crate::{statements, workers};
use prismux_prism::status::FlowStatus;
use prismux_prism::{LinkId, LinkStatus, ProxyCounters};
use prismux_sharing::Terms;
use prismux_units::{Duration, Instant};
use prismux_wire::FlowKey;
use serde::Serialize;
use std::collections::VecDeque;
use std::path::Path;

/// Of a link that lives and is not used.
const STANDS_BY: &str = "one of a better tier lives";

/// Nobody reads more, and writing them takes time away from packets.
const MAX_FLOWS: usize = 1000;

/// The status page of a proxy. Rates in bit/s, times in seconds; `null` where nothing is known yet.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    role: &'static str,
    version: &'static str,
    /// Its process.
    pid: u32,
    uptime_s: f64,
    device: &'a str,
    mtu_bytes: usize,
    scheduler: &'static str,
    rpc: &'static str,
    links: Vec<Link<'a>>,
    /// Links whose members write receipts.
    receipts: Vec<Measured<'a>>,
    /// At most [`MAX_FLOWS`] of them.
    flows: Vec<Flow>,
    busiest: Vec<Busy>,
    flow_count: usize,
    flow_memory_bytes: usize,
    counters: Counters,
    /// What is not TCP, by home.
    datagrams: Vec<Datagrams<'a>>,
    drops: &'a DropCounters,
    /// Threads that seal, send and open, if there are any.
    workers: Option<workers::Report>,
    accounts_file: Option<&'a Path>,
    statements_file: Option<&'a Path>,
    /// What a gateway of a fleet knows of the registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    registry: Option<RegistryReport>,
    /// Homes and members whose rights have been taken away.
    revoked: Vec<&'a str>,
    events: &'a VecDeque<Shown>,
}

#[derive(Debug, Serialize)]
struct Datagrams<'a> {
    home: &'a str,
    #[serde(flatten)]
    report: datagrams::Report,
}

#[derive(Debug, Serialize)]
struct Link<'a> {
    link: u8,
    name: &'a str,
    /// Whose uplink it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    home: Option<&'a str>,
    peer: String,
    up: bool,
    tier: &'static str,
    /// Why it is not to be used for now.
    rests: Option<&'static str>,
    /// The largest packet that its line takes on the way down, where that is less than the largest there may be.
    path_mtu_bytes: Option<usize>,
    last_heard_s: f64,
    advertised_rate_bps: Option<u64>,
    #[serde(flatten)]
    booked: Booked,
    /// What its member and this proxy have signed, where both have keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    statements: Option<statements::Report>,
    #[serde(flatten)]
    traffic: Traffic,
    #[serde(flatten)]
    learned: Option<Learned>,
}

/// What receipts say about a link.
#[derive(Debug, Serialize)]
pub(crate) struct Measured<'a> {
    link: u8,
    name: &'a str,
    delivered_packets: u64,
    lost_packets: u64,
    spurious_losses: u64,
    /// Repair packets that were sent.
    repairs: u64,
    /// Packets that the link lost and repairs gave back.
    recovered_packets: u64,
    loss: f64,
    delivery_rate_bps: Option<u64>,
    capacity_bps: Option<u64>,
    rtt_s: Option<f64>,
    queueing_delay_s: Option<f64>,
    jitter_p95_s: Option<f64>,
    reordering_s: f64,
}

/// What the core says about a flow.
#[derive(Debug, Serialize)]
pub(crate) struct Flow {
    /// Sender and receiver.
    flow: String,
    state: &'static str,
    held_acks: usize,
    recorded_packets: usize,
    resequencing_bytes: u32,
    holes: usize,
}

/// What the core says about a link.
#[derive(Debug, Serialize)]
pub(crate) struct Learned {
    state: &'static str,
    reason: &'static str,
    rate_bps: Option<u64>,
    hrtt_s: Option<f64>,
    min_rtt_s: Option<f64>,
    loss: f64,
    share: f64,
    in_flight_packets: u32,
    weight: f64,
}

#[derive(Debug, Serialize)]
pub(crate) struct Counters {
    data_packets: u64,
    retransmissions: u64,
    opaque_packets: u64,
    reverse_packets: u64,
    acks_held: u64,
    acks_corrected: u64,
    losses_detected: u64,
    losses_by_time: u64,
    no_data_holes: u64,
    false_losses: u64,
    reports_sent: u64,
    loss_episodes: u64,
    dsacks: u64,
    implausible_acks: u64,
    implausible_data: u64,
    midstream_flows: u64,
    local_repairs: u64,
    probe_copies: u64,
    reinjected_packets: u64,
    waited_packets: u64,
    spurious_retransmissions: u64,
}

pub(super) fn report(daemon: &Proxy, now: Instant) -> Report<'_> {
    let cores = || daemon.communities.iter().map(|community| &community.striping.core);
    Report {
        role: "proxy",
        version: env!("CARGO_PKG_VERSION"),
        pid: std::process::id(),
        uptime_s: now.as_secs_f64(),
        device: daemon.outlet.tun.name(),
        mtu_bytes: daemon.inner_mtu_bytes,
        scheduler: daemon.config.prism.scheduler.name(),
        rpc: daemon.config.prism.rpc.name(),
        links: daemon.communities.iter().flat_map(|c| links(c, daemon, now)).collect(),
        receipts: daemon.communities.iter().flat_map(|community| receipts(community, now)).collect(),
        flows: flows(cores()),
        busiest: Busy::of_all(daemon.communities.iter().map(|community| community.striping.busiest(now))),
        flow_count: cores().map(Core::flow_count).sum(),
        flow_memory_bytes: cores().map(Core::flow_memory_bytes).sum(),
        counters: counters(cores()),
        datagrams: daemon.communities.iter().filter_map(datagrams_of).collect(),
        drops: &daemon.outlet.drops,
        workers: daemon.workers.report(),
        accounts_file: daemon.accounts.file(),
        statements_file: daemon.borrowing.file(),
        registry: daemon.fleet.as_ref().map(Fleet::report),
        revoked: daemon.revoked.owners(),
        events: daemon.outlet.events.shown(),
    }
}

fn links<'a>(community: &'a Community, daemon: &Proxy, now: Instant) -> Vec<Link<'a>> {
    let learned = community.striping.core.link_status();
    let home = community.links.home.as_deref();
    let of = |member: &Member| learned.iter().find(|status| status.id == member.link);
    let booked = |member: &Member| daemon.accounts.booked(&member.name, &Terms::default());
    let members = community.links.members.iter();
    let stands_by =
        |member: &Member| member.up && !member.joined && !community.links.homes.is_silent(member.link);
    let rests = |member: &Member| {
        let has_none = has_none(&daemon.revoked, home, &member.name);
        has_none.then_some(NO_RIGHTS).or(stands_by(member).then_some(STANDS_BY))
    };
    let one = |member: &'a Member| Link {
        rests: rests(member),
        path_mtu_bytes: community.links.homes.path_mtu_bytes(member.link),
        statements: daemon.borrowing.report(member.peer),
        ..link(member, home, booked(member), of(member), now)
    };
    members.map(one).collect()
}

fn datagrams_of(community: &Community) -> Option<Datagrams<'_>> {
    let (home, report) = (community.links.home.as_deref()?, community.striping.datagrams()?);
    Some(Datagrams { home, report })
}

fn receipts(community: &Community, now: Instant) -> Vec<Measured<'_>> {
    let members = community.links.members.iter();
    let meters = &community.links.meters;
    members.filter_map(|member| measured(meters, member.link, &member.name, now)).collect()
}

/// The flows of some cores: not all, where there are many.
pub(crate) fn flows<'a>(cores: impl Iterator<Item = &'a Core>) -> Vec<Flow> {
    let flow = |(key, status): (FlowKey, FlowStatus)| Flow {
        flow: key.to_string(),
        state: status.state.name(),
        held_acks: status.held_acks,
        recorded_packets: status.recorded_packets,
        resequencing_bytes: status.resequencing_bytes,
        holes: status.holes,
    };
    let of = |core: &'a Core| {
        core.flow_keys().filter_map(|key| core.flow_status(&key).map(|status| (key, status)))
    };
    cores.flat_map(of).take(MAX_FLOWS).map(flow).collect()
}

fn link<'a>(
    member: &'a Member,
    home: Option<&'a str>,
    booked: Booked,
    status: Option<&LinkStatus>,
    now: Instant,
) -> Link<'a> {
    Link {
        link: member.link.0,
        name: &member.name,
        home,
        peer: member.peer.to_string(),
        up: member.up,
        tier: member.tier.name(),
        rests: None,
        path_mtu_bytes: None,
        last_heard_s: (now - member.last_heard).as_secs_f64(),
        advertised_rate_bps: member.rate.map(prismux_units::Rate::as_bps),
        booked,
        statements: None,
        traffic: member.traffic,
        learned: status.map(learned),
    }
}

/// What the core says about a link.
pub(crate) fn learned(status: &LinkStatus) -> Learned {
    Learned {
        state: status.state.name(),
        reason: status.reason,
        rate_bps: status.rate.map(prismux_units::Rate::as_bps),
        hrtt_s: status.rtt.map(Duration::as_secs_f64),
        min_rtt_s: status.min_rtt.map(Duration::as_secs_f64),
        loss: status.loss,
        share: status.share,
        in_flight_packets: status.in_flight_packets,
        weight: status.weight,
    }
}

/// What receipts say about the link of `name`.
pub(crate) fn measured<'a>(
    meters: &Meters,
    link: LinkId,
    name: &'a str,
    now: Instant,
) -> Option<Measured<'a>> {
    let (estimate, counters) = meters.estimate(now, link)?;
    Some(Measured {
        link: link.0,
        name,
        delivered_packets: counters.delivered_packets,
        lost_packets: counters.lost_packets,
        spurious_losses: counters.spurious_losses,
        repairs: meters.repairs(link),
        recovered_packets: counters.recovered_packets,
        loss: estimate.loss,
        delivery_rate_bps: estimate.delivery_rate.map(prismux_units::Rate::as_bps),
        capacity_bps: estimate.capacity.map(prismux_units::Rate::as_bps),
        rtt_s: estimate.rtt.map(Duration::as_secs_f64),
        queueing_delay_s: estimate.queueing_delay.map(Duration::as_secs_f64),
        jitter_p95_s: estimate.jitter_p95.map(Duration::as_secs_f64),
        reordering_s: estimate.reordering_time.as_secs_f64(),
    })
}

/// What some cores have counted together.
pub(crate) fn counters<'a>(cores: impl Iterator<Item = &'a Core> + Clone) -> Counters {
    let sum = |of: fn(&ProxyCounters) -> u64| cores.clone().map(|core| of(core.counters())).sum();
    Counters {
        data_packets: sum(|core| core.data_packets),
        retransmissions: sum(|core| core.retransmissions),
        opaque_packets: sum(|core| core.opaque_packets),
        reverse_packets: sum(|core| core.reverse_packets),
        acks_held: sum(|core| core.acks_held),
        acks_corrected: sum(|core| core.acks_corrected),
        losses_detected: sum(|core| core.losses_detected),
        losses_by_time: sum(|core| core.losses_by_time),
        no_data_holes: sum(|core| core.no_data_holes),
        false_losses: sum(|core| core.false_losses),
        reports_sent: sum(|core| core.reports_sent),
        loss_episodes: sum(|core| core.loss_episodes),
        dsacks: sum(|core| core.dsacks),
        implausible_acks: sum(|core| core.implausible_acks),
        implausible_data: sum(|core| core.implausible_data),
        midstream_flows: sum(|core| core.midstream_flows),
        local_repairs: sum(|core| core.local_repairs),
        probe_copies: sum(|core| core.probe_copies),
        reinjected_packets: sum(|core| core.reinjected_packets),
        waited_packets: sum(|core| core.waited_packets),
        spurious_retransmissions: sum(|core| core.spurious_retransmissions),
    }
}
