//! Figures 31 and 38(a): how many transmissions a slot holds.

use super::nets::{HOSTS, Net, RANGE_M, SIDE_M, nets};
use super::{clearly_more, list, means, ordering, row};
use crate::claims::plan::Scope;
use crate::claims::report::Series;
use crate::claims::verdict::Finding;
use prismux_cellular::reuse::{independent, pragmatic};
use prismux_cellular::{ConflictRule, Placement, Reach, Route, Routes};
use prismux_endpoint::random::Seed;

/// Hosts of figure 31.
pub(super) const SIZES: [usize; 4] = [50, 100, 200, 400];
const SHARES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

pub(super) fn judge(scope: &Scope) -> (Vec<Finding>, Vec<Series>) {
    let (simultaneous, table) = simultaneous(scope);
    let (mut findings, pragmatic) = pragmatic_reuse(scope);
    findings.insert(0, simultaneous);
    (findings, vec![table, pragmatic])
}

/// Spatial reuse of random neighbours in the networks of a size with the least range times a factor.
pub(super) fn reuse(hosts: usize, seeds: u64, factor: f64) -> Vec<f64> {
    let of = |net: &Net| {
        let range_m = (net.range_m * factor).min(SIDE_M * std::f64::consts::SQRT_2);
        let reach = Reach::new(&net.cell.places, range_m);
        independent(&reach, ConflictRule::ReceiverSide, &mut Seed(hosts as u64).stream("slot")) as f64
    };
    nets(seeds, |seed| Net::least(hosts, Placement::Uniform, seed)).iter().map(of).collect()
}

fn simultaneous(scope: &Scope) -> (Finding, Series) {
    const FACTORS: [f64; 3] = [1.0, 1.5, 100.0];
    let columns = ["least range", "half as much again", "whole cell"];
    let mut table = Series::new("hosts", "transmissions at the same time", &columns);
    table.experiment = "31 spatial reuse against range and hosts".to_string();
    let mut by_size = Vec::new();
    let mut found = true;
    for hosts in SIZES {
        let values = FACTORS.map(|factor| reuse(hosts, scope.seeds, factor));
        row(&mut table, hosts, [&values[0], &values[1], &values[2]]);
        found &= clearly_more(&values[0], &values[1]) && clearly_more(&values[1], &values[2]);
        found &= values[2].iter().all(|&transmissions| transmissions == 1.0);
        by_size.push(values[0].clone());
    }
    found &= by_size.windows(2).all(|pair| clearly_more(&pair[1], &pair[0]));
    let figures = format!("{} at the least range, 1 at the largest", list(&means(&by_size)));
    (ordering("NM-001", found, figures, ""), table)
}

fn pragmatic_reuse(scope: &Scope) -> (Vec<Finding>, Series) {
    let columns = ["spatial reuse", "hops", "packets in a slot"];
    let mut table = Series::new("non-local flows, %", "of whole journeys, in a slot", &columns);
    table.experiment = "38 spatial reuse of whole journeys against locality".to_string();
    let all = nets(scope.seeds, Net::connected);
    let mut by_share = Vec::new();
    for share in SHARES {
        let values: Vec<[f64; 3]> = all.iter().enumerate().map(|(seed, net)| of(net, share, seed)).collect();
        let column = |index: usize| values.iter().map(|value| value[index]).collect::<Vec<f64>>();
        let columns = [column(0), column(1), column(2)];
        row(&mut table, share * 100.0, [&columns[0], &columns[1], &columns[2]]);
        by_share.push(columns);
    }
    let [Some(local), Some(outside)] = [by_share.first().cloned(), by_share.last().cloned()] else {
        return (Vec::new(), table);
    };
    let greedy = "greedy schedules, receiver-side rule at 250 m";
    let findings = vec![
        Finding::values("NM-018", local[0].clone()).because(greedy),
        Finding::values("NM-019", outside[0].clone()).because(greedy),
        Finding::values("NM-020", local[1].clone()),
        Finding::values("NM-021", outside[1].clone()),
        Finding::values("NM-022", outside[2].clone()).because(greedy),
    ];
    (findings, table)
}

/// Spatial reuse, mean hops, packets in a slot of one network.
fn of(net: &Net, share: f64, seed: usize) -> [f64; 3] {
    let mut random = Seed(seed as u64).stream("journeys");
    let reach = Reach::new(&net.cell.places, RANGE_M);
    let setup = net.setup(share, super::nets::traffic(None));
    let route = |flow: &prismux_cellular::simulation::Flow| {
        let sink = match flow.destination {
            prismux_cellular::simulation::Destination::Host(host) => host,
            prismux_cellular::simulation::Destination::Outside => net.cell.base(),
        };
        Routes::to(&reach, &[sink], &mut random).from(flow.source).unwrap_or_default()
    };
    let routes: Vec<Route> = setup.flows.iter().map(route).collect();
    let schedule =
        pragmatic(&reach, &routes, ConflictRule::ReceiverSide, &mut Seed(seed as u64).stream("fit"));
    let hops = routes.iter().map(|route| route.hops().len()).sum::<usize>() as f64 / HOSTS as f64;
    [schedule.reuse(), hops, schedule.packets_per_slot()]
}
