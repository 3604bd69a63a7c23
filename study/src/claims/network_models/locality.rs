//! Figures 36 and 44: from flows between hosts to flows that all leave the cell; 100 hosts, 250 m.

use super::nets::{Net, OnAir, nets, traffic};
use super::{clearly_more, list, means, ordering, row, total_mbps, variation};
use crate::claims::plan::{Job, Outcomes, Scope, ratios};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::claims::{ClaimsError, Experiment};
use prismux_cellular::PowerModel;

pub(super) const F36: Experiment = Experiment {
    id: "36",
    title: "0 to 100 % non-local flows without end, 100 hosts, 250 m",
    claims: &["NM-012", "NM-013", "NM-014", "NM-015", "AS-001", "AS-002", "AS-003", "AS-004", "AS-005"],
    lab: false,
    jobs,
    judge,
};

const PERCENT: [u32; 5] = [0, 25, 50, 75, 100];

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for percent in PERCENT {
        let air = OnAir { non_local: f64::from(percent) / 100.0, ..OnAir::new(scope, None) };
        for net in nets(scope.seeds, Net::connected) {
            jobs.push(net.job(&percent.to_string(), &air)?);
        }
    }
    Ok(jobs)
}

/// What was measured at each share of non-local flows.
#[derive(Default)]
struct Measured {
    cellular: Vec<Vec<f64>>,
    assisted: Vec<Vec<f64>>,
    peers: Vec<Vec<f64>>,
    assisted_variation: Vec<Vec<f64>>,
    peers_variation: Vec<Vec<f64>>,
    cellular_w: Vec<Vec<f64>>,
    peers_w: Vec<Vec<f64>>,
}

impl Measured {
    fn add(&mut self, percent: u32, outcomes: &Outcomes<'_>) {
        let (key, share) = (percent.to_string(), f64::from(percent) / 100.0);
        let peers = outcomes.values(&key, total_mbps);
        let networks = nets(peers.len() as u64, Net::connected);
        let all = traffic(None);
        let cellular: Vec<_> = networks.iter().map(|net| net.cellular(share, all)).collect();
        let assisted: Vec<_> = networks.iter().map(|net| net.assisted(share, all)).collect();
        let watts = |net: &Net, outcome: &prismux_cellular::simulation::Outcome| {
            outcome.power_w(&PowerModel::NS2, net.range_m, net.cell.base_range_m())
        };
        self.cellular.push(cellular.iter().map(|outcome| outcome.total_bps() / 1e6).collect());
        self.assisted.push(assisted.iter().map(|outcome| outcome.total_bps() / 1e6).collect());
        self.assisted_variation.push(assisted.iter().map(|outcome| outcome.variation()).collect());
        self.cellular_w.push(networks.iter().zip(&cellular).map(|(net, out)| watts(net, out)).collect());
        let contention = networks.iter().map(|net| watts(net, &net.contention(share, all)));
        self.peers_w.push(contention.collect());
        self.peers.push(peers);
        self.peers_variation.push(outcomes.values(&key, variation));
    }
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let mut measured = Measured::default();
    for percent in PERCENT {
        measured.add(percent, outcomes);
    }
    let columns = ["cellular", "peers", "assisted"];
    let mut throughput = Series::new("non-local flows, %", "throughput, Mbit/s", &columns);
    let mut power = Series::new("non-local flows, %", "power of a host, W", &columns[..2]);
    let mut uneven = Series::new("non-local flows, %", "coefficient of variation", &columns[1..]);
    for (index, percent) in PERCENT.iter().enumerate() {
        let m = &measured;
        row(&mut throughput, percent, [&m.cellular[index], &m.peers[index], &m.assisted[index]]);
        row(&mut power, percent, [&m.cellular_w[index], &m.peers_w[index]]);
        row(&mut uneven, percent, [&m.peers_variation[index], &m.assisted_variation[index]]);
    }
    let mut findings = plain(&measured);
    findings.extend(assisted(&measured));
    (findings, vec![throughput, power, uneven])
}

fn plain(m: &Measured) -> Vec<Finding> {
    let last = PERCENT.len() - 1;
    let words = |values: &[Vec<f64>]| list(&means(values));
    let lower = m.peers_w.iter().zip(&m.cellular_w).all(|(peers, cellular)| clearly_more(cellular, peers));
    vec![
        Finding::values("NM-012", ratios(&m.cellular[last], &m.cellular[0])),
        Finding::shape(
            "NM-013",
            clearly_more(&m.peers[0], &m.peers[last]),
            format!("{} Mbit/s at 0, 25, 50, 75, 100 %", words(&m.peers)),
        )
        .because("802.11 with RTS and CTS, DSR, TCP"),
        Finding::shape(
            "NM-014",
            clearly_more(&m.cellular[last], &m.peers[last]),
            format!("peers {} Mbit/s, cellular {}", words(&m.peers[last..]), words(&m.cellular[last..])),
        ),
        Finding::shape(
            "NM-015",
            lower,
            format!("W at 0 to 100 %: peers {}, cellular {}", words(&m.peers_w), words(&m.cellular_w)),
        )
        .because("slot by slot, contention without collisions"),
    ]
}

fn assisted(m: &Measured) -> Vec<Finding> {
    let last = PERCENT.len() - 1;
    let words = |values: &[Vec<f64>]| list(&means(values));
    let above = m.assisted.iter().zip(&m.peers).all(|(assisted, peers)| clearly_more(assisted, peers));
    let all_means = (means(&m.assisted), means(&m.cellular));
    let (assisted, cellular) = (all_means.0[last], all_means.1[last]);
    let falls = clearly_more(&m.assisted_variation[0], &m.assisted_variation[last]);
    let rises = clearly_more(&m.peers_variation[last], &m.peers_variation[0]);
    let even = m.peers_variation.iter().zip(&m.assisted_variation);
    let datagrams = "the schedule carries datagrams: no acknowledgements of TCP come back";
    let variations = format!(
        "assisted {}, 802.11 {} at 0 to 100 %",
        words(&m.assisted_variation),
        words(&m.peers_variation)
    );
    vec![
        Finding::shape(
            "AS-001",
            above,
            format!("Mbit/s: assisted {}, 802.11 {}", words(&m.assisted), words(&m.peers)),
        )
        .because(datagrams),
        Finding::shape(
            "AS-002",
            (assisted / cellular - 1.0).abs() < 0.1,
            format!(
                "assisted {} Mbit/s, cellular {}",
                words(&m.assisted[last..]),
                words(&m.cellular[last..])
            ),
        )
        .because(datagrams),
        ordering(
            "AS-003",
            m.assisted.windows(2).all(|pair| clearly_more(&pair[0], &pair[1])),
            format!("{} Mbit/s at 0, 25, 50, 75, 100 %", words(&m.assisted)),
            datagrams,
        ),
        ordering(
            "AS-004",
            falls && rises,
            variations.clone(),
            "sources without end: refilling gives what is left to flows of few hops, at every locality",
        ),
        ordering(
            "AS-005",
            even.clone().all(|(peers, assisted)| clearly_more(peers, assisted)),
            variations,
            "sources without end",
        ),
    ]
}
