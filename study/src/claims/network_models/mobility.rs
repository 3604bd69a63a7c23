//! Figures 40 and 41: hosts that move, with DSR and DSDV.

use super::nets::{HOSTS, Net, OnAir, nets, traffic, waypoint};
use super::{clearly_more, list, means, ordering, row, total_mbps};
use crate::claims::plan::{Job, Outcomes, Scope};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::claims::{ClaimsError, Experiment};
use prismux_cellular::simulation::{Access, Setup};

pub(super) const F40: Experiment = Experiment {
    id: "40",
    title: "100 flows of 16 kbit/s to the base station, hosts that move",
    claims: &["NM-030", "NM-031", "NM-032", "NM-033", "NM-034"],
    lab: false,
    jobs,
    judge,
};

const SPEEDS: [u32; 4] = [1, 5, 10, 20];
const ROUTING: [&str; 2] = ["dsr-ns2", "dsdv-ns2"];
const KBPS: Option<u64> = Some(16);

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let mut jobs = Vec::new();
    for net in nets(scope.seeds, Net::connected) {
        for speed in SPEEDS {
            for routing in ROUTING {
                let air = OnAir { routing, max_speed_m_per_s: f64::from(speed), ..OnAir::new(scope, KBPS) };
                jobs.push(net.job(&format!("{routing}/{speed}"), &air)?);
            }
        }
    }
    Ok(jobs)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let columns = ["cellular", "peers, DSR", "peers, DSDV"];
    let mut table = Series::new("highest speed, m/s", "throughput of a flow, kbit/s", &columns);
    let (mut cellular, mut peers) = (Vec::new(), [Vec::new(), Vec::new()]);
    for speed in SPEEDS {
        let of = |routing: &str| {
            let key = format!("{routing}/{speed}");
            outcomes.values(&key, |result| total_mbps(result).map(|mbps| mbps * 1e3 / HOSTS as f64))
        };
        let [dsr, dsdv] = ROUTING.map(of);
        let polled = |net: &Net| {
            let setup = Setup { movement: Some(waypoint(f64::from(speed))), ..net.setup(1.0, traffic(KBPS)) };
            net.run(&setup, Access::Polled { overhead: 0.05 }).total_bps() / 1e3 / HOSTS as f64
        };
        let cell: Vec<f64> = nets(dsr.len() as u64, Net::connected).iter().map(polled).collect();
        row(&mut table, speed, [&cell, &dsr, &dsdv]);
        cellular.push(cell);
        peers[0].push(dsr);
        peers[1].push(dsdv);
    }
    let words = |values: &[Vec<f64>]| list(&means(values));
    let flat = {
        let cell = means(&cellular);
        cell.iter().all(|kbps| (kbps / cell[0] - 1.0).abs() < 0.02)
    };
    let falls = |claim, name: &str, peers: &[Vec<f64>]| {
        let found = flat && clearly_more(&peers[0], &peers[SPEEDS.len() - 1]);
        let figures =
            format!("{name} {}, cellular {} kbit/s at 1, 5, 10, 20 m/s", words(peers), words(&cellular));
        ordering(
            claim,
            found,
            figures,
            "802.11 with RTS and CTS, TCP; hosts on random waypoints gather around the base station",
        )
    };
    let sample = "a sample trace of one flow in one network, neither of which is stated";
    let findings = vec![
        falls("NM-030", "DSR", &peers[0]),
        falls("NM-031", "DSDV", &peers[1]),
        Finding::not_testable("NM-032", sample),
        Finding::not_testable("NM-033", sample),
        Finding::not_testable("NM-034", sample),
    ];
    (findings, vec![table])
}
