//! Figures 37, 39 and 45: all flows to the base station, against their load. Their links: [`links`].

mod links;

use super::nets::{HOSTS, Net, OnAir, nets, traffic};
use super::{clearly_more, list, means, rates, row, total_mbps, variation};
use crate::claims::plan::{Job, Outcomes, Scope};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::claims::{ClaimsError, Experiment};
use crate::number::digits;
use prismux_cellular::simulation::{Outcome, Traffic};
use prismux_units::Rate;

pub(super) const F37: Experiment = Experiment {
    id: "37",
    title: "100 flows to the base station, 8 to 32 kbit/s each, and without end",
    claims: &[
        "NM-016", "NM-017", "NM-023", "NM-024", "NM-025", "NM-026", "NM-027", "NM-028", "NM-029", "AS-006",
        "AS-007",
    ],
    lab: false,
    jobs,
    judge,
};

const KBPS: [u64; 4] = [8, 16, 24, 32];
/// Rates within bursts of the web sources.
const WEB_KBPS: [u64; 3] = [12, 24, 48];

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for net in nets(scope.seeds, Net::connected) {
        for kbps in links::KBPS {
            jobs.push(net.job(&kbps.to_string(), &OnAir::new(scope, Some(kbps)))?);
        }
        jobs.push(net.job("ftp", &OnAir::new(scope, None))?);
    }
    Ok(jobs)
}

/// What was measured at each load.
#[derive(Default)]
struct Measured {
    cellular: Vec<Vec<f64>>,
    peers: Vec<Vec<f64>>,
    assisted: Vec<Vec<f64>>,
    cellular_variation: Vec<Vec<f64>>,
    peers_variation: Vec<Vec<f64>>,
    assisted_variation: Vec<Vec<f64>>,
}

/// Mean throughput of a flow, in kbit/s.
fn per_flow(outcome: &Outcome) -> f64 {
    outcome.total_bps() / 1e3 / HOSTS as f64
}

/// The same of the packet simulator.
fn per_flow_on_air(outcomes: &Outcomes<'_>, key: &str) -> Vec<f64> {
    outcomes.values(key, |result| total_mbps(result).map(|mbps| mbps * 1e3 / HOSTS as f64))
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let columns = ["cellular", "peers", "assisted"];
    let mut throughput = Series::new("load of a flow, kbit/s", "throughput of a flow, kbit/s", &columns);
    let mut uneven = Series::new("load of a flow, kbit/s", "coefficient of variation", &columns);
    let mut m = Measured::default();
    let networks = nets(outcomes.results("8").len() as u64, Net::connected);
    for kbps in KBPS {
        let key = kbps.to_string();
        let cellular: Vec<Outcome> = networks.iter().map(|n| n.cellular(1.0, traffic(Some(kbps)))).collect();
        let assisted: Vec<Outcome> = networks.iter().map(|n| n.assisted(1.0, traffic(Some(kbps)))).collect();
        m.cellular.push(cellular.iter().map(per_flow).collect());
        m.assisted.push(assisted.iter().map(per_flow).collect());
        m.peers.push(per_flow_on_air(outcomes, &key));
        m.cellular_variation.push(cellular.iter().map(Outcome::variation).collect());
        m.assisted_variation.push(assisted.iter().map(Outcome::variation).collect());
        m.peers_variation.push(outcomes.values(&key, variation));
        let last = m.peers.len() - 1;
        row(&mut throughput, kbps, [&m.cellular[last], &m.peers[last], &m.assisted[last]]);
        row(
            &mut uneven,
            kbps,
            [&m.cellular_variation[last], &m.peers_variation[last], &m.assisted_variation[last]],
        );
    }
    let (backlogged, web) = other_sources(&networks, outcomes);
    let mut findings = findings(&m);
    findings.push(backlogged);
    findings.push(single_flows(outcomes));
    let (of_links, link_table) = links::judge(outcomes);
    findings.extend(of_links);
    (findings, vec![throughput, uneven, web, link_table])
}

fn findings(m: &Measured) -> Vec<Finding> {
    let words = |values: &[Vec<f64>]| list(&means(values));
    let everywhere = |above: &[Vec<f64>], below: &[Vec<f64>]| {
        above.iter().zip(below).all(|(above, below)| clearly_more(above, below))
    };
    let at = "at 8, 16, 24, 32 kbit/s";
    let datagrams = "the schedule carries datagrams: no acknowledgements of TCP come back";
    let (even, uneven) = (means(&m.assisted_variation), means(&m.cellular_variation));
    vec![
        Finding::shape(
            "NM-016",
            everywhere(&m.cellular, &m.peers),
            format!("peers {}, cellular {} kbit/s {at}", words(&m.peers), words(&m.cellular)),
        )
        .because("802.11 with RTS and CTS, DSR, TCP; sources write whole packets"),
        Finding::shape(
            "NM-027",
            everywhere(&m.peers_variation, &m.cellular_variation),
            format!("peers {}, cellular {} {at}", words(&m.peers_variation), words(&m.cellular_variation)),
        ),
        Finding::shape(
            "NM-029",
            clearly_more(&m.peers_variation[1], &m.peers_variation[0]),
            format!("coefficient of variation {} {at}", words(&m.peers_variation)),
        ),
        Finding::shape(
            "AS-006",
            everywhere(&m.assisted[1..], &m.peers[1..]),
            format!("assisted {}, 802.11 {} kbit/s {at}", words(&m.assisted), words(&m.peers)),
        )
        .because(datagrams),
        Finding::shape(
            "AS-007",
            everywhere(&m.peers_variation, &m.assisted_variation)
                && even.iter().zip(&uneven).all(|(assisted, cellular)| assisted - cellular < 0.1),
            format!(
                "assisted {}, 802.11 {}, cellular {} {at}",
                words(&m.assisted_variation),
                words(&m.peers_variation),
                words(&m.cellular_variation)
            ),
        )
        .because("beyond what the base station takes in, refilling gives more to flows of few hops"),
    ]
}

/// Figure 37(b): files without end in the packet simulator, web sources slot by slot.
fn other_sources(networks: &[Net], outcomes: &Outcomes<'_>) -> (Finding, Series) {
    let mut table = Series::new("source", "throughput of a flow, kbit/s", &["cellular", "peers"]);
    let of = |traffic: Traffic| -> [Vec<f64>; 2] {
        [
            networks.iter().map(|net| per_flow(&net.cellular(1.0, traffic))).collect(),
            networks.iter().map(|net| per_flow(&net.contention(1.0, traffic))).collect(),
        ]
    };
    let ftp = [of(Traffic::Backlogged)[0].clone(), per_flow_on_air(outcomes, "ftp")];
    row(&mut table, "ftp", [&ftp[0], &ftp[1]]);
    let mut found = clearly_more(&ftp[0], &ftp[1]);
    let mut figures =
        format!("ftp: peers {}, cellular {} kbit/s", list(&means(&ftp[1..])), list(&means(&ftp[..1])));
    for kbps in WEB_KBPS {
        let web = of(Traffic::web(Rate::from_kbps(kbps)));
        row(&mut table, format!("web {kbps}"), [&web[0], &web[1]]);
        // A cell that carries all that is offered cannot be beaten.
        let [cellular, peers] = [&means(&web[..1])[0], &means(&web[1..])[0]];
        found &= *peers <= 1.01 * cellular;
        figures += &format!("; web {kbps} kbit/s: {}, {}", digits(*peers), digits(*cellular));
    }
    let remark = "ftp over 802.11, DSR and TCP; web sources slot by slot, contention without collisions";
    (Finding::shape("NM-017", found, figures).because(remark), table)
}

/// Figure 39(b): flows that lose when all offer more.
fn single_flows(outcomes: &Outcomes<'_>) -> Finding {
    let (light, heavy) = (outcomes.results("8"), outcomes.results("16"));
    let mut losers = Vec::new();
    let mut worst = (0.0, 0.0);
    for (light, heavy) in light.iter().zip(heavy) {
        let pairs: Vec<(f64, f64)> = rates(light).into_iter().zip(rates(heavy)).collect();
        losers.push(pairs.iter().filter(|(before, after)| *after < 0.75 * before).count() as f64);
        for (before, after) in pairs {
            if before - after > worst.0 - worst.1 {
                worst = (before, after);
            }
        }
    }
    let least = losers.iter().copied().fold(f64::INFINITY, f64::min);
    let figures = format!(
        "{} of 100 flows lose a quarter or more; the one that loses most: {} to {} kbit/s",
        list(&means(&[losers])),
        digits(worst.0 / 1e3),
        digits(worst.1 / 1e3)
    );
    Finding::shape("NM-028", least >= 1.0, figures)
        .because("in every network some flows lose; which is the paper's f11 is not stated")
}
