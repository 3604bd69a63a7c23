//! Figure 33: throughput and power against the number of hosts, random pairs, least range.

use super::nets::{Net, OnAir, nets, traffic};
use super::reuse::reuse;
use super::{clearly_more, list, means, ordering, row, total_mbps};
use crate::claims::plan::{Job, Outcomes, Scope};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::claims::{ClaimsError, Experiment};
use prismux_cellular::{Placement, PowerModel};

pub(super) const F33: Experiment = Experiment {
    id: "33",
    title: "50 to 200 hosts, files without end between random pairs, least range",
    claims: &["NM-002", "NM-003", "NM-004", "NM-005", "NM-006", "NM-007"],
    lab: false,
    jobs,
    judge,
};

/// The packet simulator stops at half of the thesis's 400 hosts.
const SIZES: [usize; 3] = [50, 100, 200];

fn net(hosts: usize) -> impl Fn(u64) -> Net {
    move |seed| Net::least(hosts, Placement::Uniform, seed)
}

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let air = OnAir { non_local: 0.0, seconds: 30, ..OnAir::new(scope, None) };
    let mut jobs = Vec::new();
    for hosts in SIZES {
        for net in nets(scope.seeds, net(hosts)) {
            jobs.push(net.job(&hosts.to_string(), &air)?);
        }
    }
    Ok(jobs)
}

/// One size.
struct Point {
    cellular_mbps: Vec<f64>,
    peers_mbps: Vec<f64>,
    reuse: Vec<f64>,
    cellular_w: Vec<f64>,
    peers_w: Vec<f64>,
    cellular_joules: Vec<f64>,
    peers_joules: Vec<f64>,
}

fn point(hosts: usize, outcomes: &Outcomes<'_>) -> Point {
    let peers_mbps = outcomes.values(&hosts.to_string(), total_mbps);
    let seeds = peers_mbps.len() as u64;
    let model = &PowerModel::NS2;
    let mut point = Point {
        cellular_mbps: Vec::new(),
        peers_mbps,
        reuse: reuse(hosts, seeds, 1.0),
        cellular_w: Vec::new(),
        peers_w: Vec::new(),
        cellular_joules: Vec::new(),
        peers_joules: Vec::new(),
    };
    for net in nets(seeds, net(hosts)) {
        let (cellular, peers) = (net.cellular(0.0, traffic(None)), net.contention(0.0, traffic(None)));
        let base_m = net.cell.base_range_m();
        point.cellular_mbps.push(cellular.total_bps() / 1e6);
        point.cellular_w.push(cellular.power_w(model, net.range_m, base_m));
        point.peers_w.push(peers.power_w(model, net.range_m, base_m));
        point.cellular_joules.push(cellular.joules_per_packet(model, net.range_m, base_m));
        point.peers_joules.push(peers.joules_per_packet(model, net.range_m, base_m));
    }
    point
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let points = SIZES.map(|hosts| point(hosts, outcomes));
    let mut throughput = Series::new("hosts", "throughput, Mbit/s", &["cellular", "peers", "reuse"]);
    let mut power = Series::new("hosts", "power of a host, W", &["cellular", "peers"]);
    for (hosts, point) in SIZES.iter().zip(&points) {
        row(&mut throughput, hosts, [&point.cellular_mbps, &point.peers_mbps, &point.reuse]);
        row(&mut power, hosts, [&point.cellular_w, &point.peers_w]);
    }
    (findings(&points), vec![throughput, power])
}

fn findings(points: &[Point; 3]) -> Vec<Finding> {
    let [small, middle, large] = points;
    let of = |get: fn(&Point) -> &Vec<f64>| {
        means(&points.iter().map(|point| get(point).clone()).collect::<Vec<_>>())
    };
    let (cellular, peers, reuse) = (of(|p| &p.cellular_mbps), of(|p| &p.peers_mbps), of(|p| &p.reuse));
    let flat = |values: &[f64]| {
        let (low, high) = values.iter().fold((f64::MAX, 0.0_f64), |(l, h), v| (l.min(*v), h.max(*v)));
        high < 1.05 * low
    };
    let above = points.iter().all(|point| clearly_more(&point.peers_mbps, &point.cellular_mbps));
    let grows = clearly_more(&large.peers_mbps, &small.peers_mbps);
    let (watts, joules) = (of(|p| &p.cellular_w), of(|p| &p.cellular_joules));
    let mbps = format!("{} Mbit/s at 50, 100, 200 hosts", list(&peers));
    vec![
        Finding::values("NM-002", middle.cellular_mbps.clone()).because("with 5 % of the time for polling"),
        Finding::shape("NM-003", flat(&cellular), format!("{} Mbit/s", list(&cellular))),
        ordering(
            "NM-004",
            above && grows,
            format!("peers {mbps}, cellular {}", list(&cellular)),
            "802.11 with RTS and CTS, DSR, TCP; up to 200 hosts, files without end for 30 s",
        ),
        Finding::shape(
            "NM-005",
            peers[2] / peers[0] < reuse[2] / reuse[0],
            format!("{mbps}, spatial reuse {}", list(&reuse)),
        ),
        Finding::shape(
            "NM-006",
            flat(&watts),
            format!("{} W; energy for a packet {} J", list(&watts), list(&joules)),
        )
        .because(
            "one host sends at a time: of a power of tens of watts each of twice as many hosts has half; \
             energy for a packet, of which all hear every transmission, grows with them",
        ),
        ordering(
            "NM-007",
            clearly_more(&small.peers_w, &middle.peers_w) && clearly_more(&middle.peers_w, &large.peers_w),
            format!(
                "{} W; energy for a packet {} J",
                list(&of(|p| &p.peers_w)),
                list(&of(|p| &p.peers_joules))
            ),
            "slot by slot, contention without collisions",
        ),
    ]
}
