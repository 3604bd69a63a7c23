//! Spatial reuse beside what the thesis reports in figure 38(a).
#![allow(clippy::disallowed_macros)] // A test that prints what it has measured.
use prismux_cellular::reuse::{Schedule, pragmatic};
use prismux_cellular::{Cell, ConflictRule, Reach, Route, Routes};
use prismux_endpoint::random::{RandomStream, Seed};

const HOSTS: usize = 100;
const SIDE_M: f64 = 1500.0;
const RANGE_M: f64 = 250.0;

/// One flow from each host, to the base station or to a random peer.
fn routes(reach: &Reach, base: usize, to_base: bool, random: &mut RandomStream) -> Vec<Route> {
    let to_the_base = Routes::to(reach, &[base], random);
    let mut route = |host: usize| {
        if to_base {
            return to_the_base.from(host).expect("the cell is connected");
        }
        let peer = (host + 1 + random.below(HOSTS as u64 - 1) as usize) % HOSTS;
        Routes::to(reach, &[peer], random).from(host).expect("the cell is connected")
    };
    (0..HOSTS).map(&mut route).collect()
}

/// Mean spatial reuse, hops and packets in a slot over 30 topologies.
fn means(to_base: bool, rule: ConflictRule) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for seed in 1..=30 {
        let mut random = Seed(seed).stream("reuse");
        let cell = Cell::draw_connected(HOSTS, SIDE_M, RANGE_M, &mut random).expect("a connected cell");
        let reach = Reach::new(&cell.places, RANGE_M);
        let routes = routes(&reach, cell.base(), to_base, &mut random);
        let schedule: Schedule = pragmatic(&reach, &routes, rule, &mut random);
        let hops = routes.iter().map(|route| route.hops().len()).sum::<usize>() as f64 / HOSTS as f64;
        for (sum, value) in sums.iter_mut().zip([schedule.reuse(), hops, schedule.packets_per_slot()]) {
            *sum += value / 30.0;
        }
    }
    eprintln!("to the base station {to_base}, {rule:?}: reuse, hops, packets per slot {sums:.3?}");
    sums
}

fn within(value: f64, reported: f64, share: f64) -> bool {
    (value / reported - 1.0).abs() <= share
}

#[test]
fn between_random_peers_reuse_and_hops_are_within_5_percent_of_those_reported() {
    let [reuse, hops, _] = means(false, ConflictRule::ReceiverSide);
    assert!(within(reuse, 11.01, 0.05) && within(hops, 4.90, 0.05), "{reuse} {hops}");
}

#[test]
fn to_the_base_station_reuse_and_hops_are_within_5_percent_of_those_reported() {
    let [reuse, hops, packets] = means(true, ConflictRule::ReceiverSide);
    assert!(within(reuse, 3.52, 0.05) && within(hops, 3.57, 0.05), "{reuse} {hops}");
    // The cellular model's own rate.
    assert!(within(packets, 1.0, 0.05), "{packets}");
}

#[test]
fn a_rule_for_both_ends_is_far_from_what_is_reported() {
    let [local, _, _] = means(false, ConflictRule::BothEnds);
    let [to_base, _, _] = means(true, ConflictRule::BothEnds);
    assert!(local < 0.85 * 11.01 && to_base < 0.85 * 3.52, "{local} {to_base}");
}
