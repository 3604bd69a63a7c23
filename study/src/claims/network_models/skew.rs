//! Figure 35: half of the hosts in hot spots, random pairs, least range.

use super::nets::{HOSTS, Net, OnAir, nets, traffic};
use super::{clearly_more, list, means, ordering, row, total_mbps};
use crate::claims::plan::{Job, Outcomes, Scope};
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use crate::claims::{ClaimsError, Experiment};
use prismux_cellular::{Placement, PowerModel};

pub(super) const F35: Experiment = Experiment {
    id: "35",
    title: "50 of 100 hosts in 1 to 16 of 16 squares, files without end between random pairs, least range",
    claims: &["NM-008", "NM-009", "NM-010", "NM-011"],
    lab: false,
    jobs,
    judge,
};

const SQUARES: [usize; 3] = [1, 4, 16];

fn net(squares: usize) -> impl Fn(u64) -> Net {
    move |seed| Net::least(HOSTS, Placement::HotSpots { squares }, seed)
}

fn jobs(scope: &Scope) -> Result<Vec<Job>, ClaimsError> {
    let air = OnAir { non_local: 0.0, seconds: 30, ..OnAir::new(scope, None) };
    let mut jobs = Vec::new();
    for squares in SQUARES {
        for net in nets(scope.seeds, net(squares)) {
            jobs.push(net.job(&squares.to_string(), &air)?);
        }
    }
    Ok(jobs)
}

fn judge(outcomes: &Outcomes<'_>) -> (Vec<Finding>, Vec<Series>) {
    let columns = ["cellular", "peers"];
    let mut throughput = Series::new("squares with hot spots", "throughput, Mbit/s", &columns);
    let mut power = Series::new("squares with hot spots", "power of a host, W", &columns);
    let (mut cellular, mut peers, mut cellular_w, mut peers_w) = (vec![], vec![], vec![], vec![]);
    for squares in SQUARES {
        let air = outcomes.values(&squares.to_string(), total_mbps);
        let (mut mbps, mut watts, mut air_watts) = (Vec::new(), Vec::new(), Vec::new());
        for net in nets(air.len() as u64, net(squares)) {
            let (polled, contention) = (net.cellular(0.0, traffic(None)), net.contention(0.0, traffic(None)));
            let base_m = net.cell.base_range_m();
            mbps.push(polled.total_bps() / 1e6);
            watts.push(polled.power_w(&PowerModel::NS2, net.range_m, base_m));
            air_watts.push(contention.power_w(&PowerModel::NS2, net.range_m, base_m));
        }
        row(&mut throughput, squares, [&mbps, &air]);
        row(&mut power, squares, [&watts, &air_watts]);
        cellular.push(mbps);
        peers.push(air);
        cellular_w.push(watts);
        peers_w.push(air_watts);
    }
    let words = |values: &[Vec<f64>]| list(&means(values));
    let flat = cellular.iter().flatten().all(|mbps| (mbps / cellular[0][0] - 1.0).abs() < 0.02);
    let below = peers_w.iter().zip(&cellular_w).all(|(peers, cellular)| clearly_more(cellular, peers));
    let all = |values: &[Vec<f64>]| format!("{} with 1, 4, 16 squares", words(values));
    let findings = vec![
        ordering(
            "NM-008",
            clearly_more(&peers[0], &cellular[0]),
            format!(
                "one square: peers {} Mbit/s, cellular {}",
                list(&means(&peers)[..1]),
                words(&cellular[..1])
            ),
            "802.11 with RTS and CTS, DSR, TCP; files without end for 30 s",
        ),
        Finding::shape("NM-009", flat, format!("Mbit/s: {}", all(&cellular))),
        ordering(
            "NM-010",
            clearly_more(&peers[2], &peers[0]) && means(&peers)[0] < means(&peers)[1],
            format!("Mbit/s: {}", all(&peers)),
            "802.11 with RTS and CTS, DSR, TCP; files without end for 30 s",
        ),
        ordering(
            "NM-011",
            clearly_more(&peers_w[0], &peers_w[2]) && below,
            format!("W: peers {}; cellular {}", all(&peers_w), words(&cellular_w)),
            "slot by slot, contention without collisions",
        ),
    ];
    (findings, vec![throughput, power])
}
