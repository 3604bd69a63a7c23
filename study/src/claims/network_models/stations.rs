//! Figure 50: hybrid stations, 100 flows of 64 kbit/s.

use super::nets::{HOSTS, Net, OnAir, nets, traffic};
use super::{clearly_more, list, means, ordering, row, total_mbps, variation};
use crate::claims::plan::{Job, Outcomes, Scope};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::claims::{ClaimsError, Experiment};
use prismux_cellular::simulation::Outcome;

pub(super) const F50: Experiment = Experiment {
    id: "50",
    title: "1 to 25 hybrid stations, 100 flows of 64 kbit/s",
    claims: &["HS-001", "HS-002", "HS-003", "HS-004", "HS-005"],
    lab: false,
    jobs,
    judge,
};

const STATIONS: [usize; 5] = [1, 5, 10, 15, 25];
const KBPS: Option<u64> = Some(64);

fn net(stations: usize) -> impl Fn(u64) -> Net {
    move |seed| Net::connected(seed).with_stations(stations)
}

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for stations in STATIONS {
        for net in nets(scope.seeds, net(stations)) {
            jobs.push(net.job(&stations.to_string(), &OnAir::new(scope, KBPS))?);
        }
    }
    Ok(jobs)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let columns = ["cellular", "peers", "assisted"];
    let mut throughput = Series::new("hybrid stations", "throughput of a flow, kbit/s", &columns);
    let mut uneven = Series::new("hybrid stations", "coefficient of variation", &columns);
    let (mut cellular, mut peers, mut assisted) = (vec![], vec![], vec![]);
    let (mut peers_variation, mut assisted_variation) = (vec![], vec![]);
    for stations in STATIONS {
        let key = stations.to_string();
        let air = outcomes.values(&key, |r| total_mbps(r).map(|mbps| mbps * 1e3 / HOSTS as f64));
        let networks = nets(air.len() as u64, net(stations));
        let polled: Vec<Outcome> = networks.iter().map(|net| net.cellular(1.0, traffic(KBPS))).collect();
        let scheduled: Vec<Outcome> = networks.iter().map(|net| net.assisted(1.0, traffic(KBPS))).collect();
        let kbps = |all: &[Outcome]| -> Vec<f64> {
            all.iter().map(|outcome| outcome.total_bps() / 1e3 / HOSTS as f64).collect()
        };
        let variations = |all: &[Outcome]| -> Vec<f64> { all.iter().map(Outcome::variation).collect() };
        let air_variation = outcomes.values(&key, variation);
        row(&mut throughput, stations, [&kbps(&polled), &air, &kbps(&scheduled)]);
        row(&mut uneven, stations, [&variations(&polled), &air_variation, &variations(&scheduled)]);
        cellular.push(kbps(&polled));
        assisted.push(kbps(&scheduled));
        peers.push(air);
        peers_variation.push(air_variation);
        assisted_variation.push(variations(&scheduled));
    }
    let words = |values: &[Vec<f64>]| list(&means(values));
    let above = |values: &[Vec<f64>]| {
        values.iter().zip(&cellular).skip(1).all(|(values, cell)| clearly_more(values, cell))
    };
    let rises = |values: &[Vec<f64>]| clearly_more(&values[STATIONS.len() - 1], &values[0]);
    let at = "with 1, 5, 10, 15, 25 stations";
    let falls = clearly_more(&assisted_variation[0], &assisted_variation[STATIONS.len() - 1]);
    let higher = means(&assisted_variation)[0] > 0.1;
    let findings = vec![
        ordering(
            "HS-001",
            above(&peers) && above(&assisted),
            format!(
                "kbit/s: 802.11 {}, assisted {}, cellular {} {at}",
                words(&peers),
                words(&assisted),
                words(&cellular)
            ),
            "judged from 5 stations on; the schedule carries datagrams, 802.11 TCP",
        ),
        Finding::values("HS-002", assisted[2].clone())
            .because("datagrams: no acknowledgements of TCP come back"),
        Finding::shape(
            "HS-003",
            rises(&peers) && rises(&assisted),
            format!("kbit/s: 802.11 {}, assisted {} {at}", words(&peers), words(&assisted)),
        ),
        Finding::shape(
            "HS-004",
            clearly_more(&peers_variation[0], &peers_variation[STATIONS.len() - 1]),
            format!("{} {at}", words(&peers_variation)),
        )
        .because("802.11 with RTS and CTS, DSR, TCP"),
        Finding::shape("HS-005", falls && higher, format!("{} {at}", words(&assisted_variation))),
    ];
    (findings, vec![throughput, uneven])
}
