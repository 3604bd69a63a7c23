//! Cells in virtual time: closed forms, conservation, repeatability, and the orderings that make the models differ.
use prismux_cellular::simulation::{
    Access, Destination, Flow, Outcome, Setup, SetupError, Traffic, simulate,
};
use prismux_cellular::{Cell, DualModeSettings, PowerModel};
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Rate};
use prismux_wireless::{Area, Position, RandomWaypoint, WaypointStart};

const ASSISTED: Access = Access::Assisted { period_slots: 100 };
const POLLED: Access = Access::Polled { overhead: 0.0 };

fn dual_mode(reference: Rate) -> Access {
    Access::DualMode { settings: DualModeSettings::default(), reference }
}

/// 50 hosts on a square kilometre, a flow from each for 20 s.
fn setup(to_base: bool, traffic: Traffic, seed: u64) -> Setup {
    let mut random = Seed(seed).stream("test");
    let cell = Cell::draw_connected(50, 1000.0, 250.0, &mut random).expect("a connected cell");
    let flow = |source: usize| {
        let peer = Destination::Host((source + 7) % 50);
        Flow { source, destination: if to_base { Destination::Outside } else { peer } }
    };
    Setup { duration: Duration::from_secs(20), ..Setup::new(cell, (0..50).map(flow).collect(), traffic) }
}

fn run(setup: &Setup, access: Access) -> Outcome {
    simulate(setup, access, Seed(5)).expect("a setup that makes sense")
}

#[test]
fn a_polled_cell_carries_a_packet_in_each_slot_out_of_the_cell_and_in_every_other_one_within() {
    let out = run(&setup(true, Traffic::Backlogged, 1), POLLED);
    let within = run(&setup(false, Traffic::Backlogged, 1), POLLED);
    assert!((out.total_bps() - 2e6).abs() < 1.0, "{}", out.total_bps());
    assert!((within.total_bps() - 1e6).abs() < 1e3, "{}", within.total_bps());
    assert!(out.variation() < 0.01 && within.variation() < 0.01);
    let polled = run(&setup(true, Traffic::Backlogged, 1), Access::Polled { overhead: 0.05 });
    assert!((polled.total_bps() - 1.9e6).abs() < 1e3, "{}", polled.total_bps());
}

#[test]
fn a_light_load_arrives_whole_under_every_access() {
    let load = Rate::from_kbps(4);
    for access in [POLLED, ASSISTED, Access::Contention, dual_mode(load), Access::Interworking] {
        let outcome = run(&setup(true, Traffic::Constant(load), 2), access);
        let share = outcome.total_bps() / 200e3;
        assert!((0.9..=1.02).contains(&share), "{access:?}: {share}");
        assert!(outcome.mean_delay_s() < 1.0, "{access:?}: {} s", outcome.mean_delay_s());
    }
}

#[test]
fn bursts_and_pauses_have_the_mean_rate_of_their_shares() {
    let traffic = Traffic::web(Rate::from_kbps(24));
    let long = Setup { duration: Duration::from_secs(2000), ..setup(true, traffic, 2) };
    let per_flow = run(&long, POLLED).total_bps() / 50.0;
    // A third of the time bursts; the tails are so heavy that the mean of 50 flows is uneven.
    assert!((6e3..=10e3).contains(&per_flow), "{per_flow}");
}

#[test]
fn the_same_seed_gives_the_same_arrivals_and_another_seed_others() {
    for access in [POLLED, ASSISTED, Access::Contention, dual_mode(Rate::from_kbps(20))] {
        let mobile =
            Setup { movement: Some(waypoint(10.0)), ..setup(true, Traffic::web(Rate::from_kbps(48)), 3) };
        let once = simulate(&mobile, access, Seed(1)).expect("a run");
        assert_eq!(once, simulate(&mobile, access, Seed(1)).expect("a run"));
        assert_ne!(once.arrivals, simulate(&mobile, access, Seed(2)).expect("a run").arrivals);
    }
}

fn waypoint(max_speed_m_per_s: f64) -> RandomWaypoint {
    RandomWaypoint {
        area: Area { width_m: 1000.0, height_m: 1000.0 },
        min_speed_m_per_s: max_speed_m_per_s / 100.0,
        max_speed_m_per_s,
        pause: Duration::from_nanos(0),
        start: WaypointStart::Uniform,
    }
}

#[test]
fn hops_arrivals_and_losses_agree_while_hosts_move() {
    for access in [ASSISTED, Access::Contention] {
        let mobile = Setup { movement: Some(waypoint(20.0)), ..setup(true, Traffic::Backlogged, 4) };
        let outcome = run(&mobile, access);
        assert!(outcome.lost > 0, "{access:?}: hosts move away");
        assert!(outcome.hops >= outcome.arrivals.len() as u64);
        assert_eq!(outcome.arrivals.len() as u64, outcome.delivered.iter().sum::<u64>());
        assert!(outcome.arrivals.is_sorted_by_key(|(slot, _)| *slot));
    }
    let polled =
        run(&Setup { movement: Some(waypoint(20.0)), ..setup(true, Traffic::Backlogged, 4) }, POLLED);
    assert!((polled.total_bps() - 2e6).abs() < 1.0, "the cell does not care who moves");
}

#[test]
fn to_the_base_station_a_schedule_carries_more_than_contention_and_shares_more_evenly() {
    for seed in 1..=3 {
        let setup = setup(true, Traffic::Constant(Rate::from_kbps(32)), seed);
        let (assisted, contention) = (run(&setup, ASSISTED), run(&setup, Access::Contention));
        assert!(assisted.total_bps() > 1.2 * contention.total_bps(), "seed {seed}");
        assert!(assisted.variation() < contention.variation(), "seed {seed}");
        assert_eq!(assisted.wasted, 0, "every slot of the schedule finds its packet");
    }
}

#[test]
fn flows_that_starve_among_peers_are_served_in_cellular_mode() {
    for seed in 1..=3 {
        let setup = Setup {
            duration: Duration::from_secs(100),
            ..setup(true, Traffic::Constant(Rate::from_kbps(48)), seed)
        };
        let (peers, dual) = (run(&setup, Access::Contention), run(&setup, dual_mode(Rate::from_kbps(40))));
        let least = |outcome: &Outcome| (0..50).map(|f| outcome.flow_bps(f)).fold(f64::INFINITY, f64::min);
        assert!(least(&dual) > 3.0 * least(&peers), "seed {seed}: {} {}", least(&dual), least(&peers));
        assert!(dual.variation() < 0.6 * peers.variation(), "seed {seed}");
    }
}

#[test]
fn a_partitioned_host_is_served_in_cellular_mode_alone() {
    let mut lonely = setup(true, Traffic::Constant(Rate::from_kbps(8)), 1);
    lonely.cell.places[0] = Position { x_m: 3000.0, y_m: 3000.0 };
    assert_eq!(run(&lonely, Access::Contention).delivered[0], 0);
    assert_eq!(run(&lonely, ASSISTED).delivered[0], 0);
    let dual = run(&lonely, dual_mode(Rate::from_kbps(8)));
    // From the partition timer's 2 s on.
    assert!(dual.flow_bps(0) > 0.8 * 8e3, "{}", dual.flow_bps(0));
    assert!(dual.arrivals.iter().find(|(_, flow)| *flow == 0).is_some_and(|(slot, _)| *slot >= 500));
}

#[test]
fn stations_take_load_off_the_base_station() {
    let mut setup = setup(true, Traffic::Constant(Rate::from_kbps(64)), 1);
    let alone = run(&setup, ASSISTED).total_bps();
    for place in [200.0, 800.0] {
        setup.stations.push(Position { x_m: place, y_m: 200.0 });
        setup.stations.push(Position { x_m: place, y_m: 800.0 });
    }
    let together = run(&setup, ASSISTED).total_bps();
    assert!(together > 1.4 * alone, "{together} {alone}");
}

#[test]
fn without_access_points_the_channel_is_used_as_much_as_is_offered() {
    let mut setup = setup(true, Traffic::Constant(Rate::from_kbps(32)), 1);
    let alone = run(&setup, Access::Interworking).channel_use_at_base();
    assert!((alone - 0.8).abs() < 0.01, "50 x 32 kbit/s of 2 Mbit/s: {alone}");
    setup.access_points = vec![Position { x_m: 500.0, y_m: 500.0 }];
    let inside = setup
        .flows
        .iter()
        .filter(|flow| setup.cell.places[flow.source].distance_m(setup.access_points[0]) <= 250.0);
    let outside = 0.8 * (1.0 - inside.count() as f64 / 50.0);
    let one_hop = run(&setup, Access::Interworking);
    assert!((one_hop.channel_use_at_base() - outside).abs() < 0.01);
    assert!((one_hop.total_bps() / 1.6e6 - 1.0).abs() < 0.02);
}

#[test]
fn power_counts_senders_and_all_who_hear_them() {
    let outcome = run(&setup(true, Traffic::Backlogged, 1), POLLED);
    let model = PowerModel::NS2;
    // One host of 50 sends all the time, the 49 others hear it.
    let expected = (model.send_w(700.0) + 49.0 * model.receive_w) / 50.0;
    assert!((outcome.power_w(&model, 250.0, 700.0) - expected).abs() < 1e-9);
    let joules = (model.send_w(700.0) + 49.0 * model.receive_w) * 0.004;
    assert!((outcome.joules_per_packet(&model, 250.0, 700.0) - joules).abs() < 1e-9);
}

#[test]
fn setups_that_make_no_sense_are_refused_by_name() {
    let refused = |change: fn(&mut Setup)| {
        let mut setup = setup(true, Traffic::Backlogged, 1);
        change(&mut setup);
        simulate(&setup, POLLED, Seed(1)).expect_err("must be refused")
    };
    assert_eq!(refused(|s| s.duration = Duration::from_nanos(0)), SetupError::Time);
    assert_eq!(refused(|s| s.flows[3].source = 50), SetupError::Flow(3));
    assert_eq!(refused(|s| s.flows[4].destination = Destination::Host(4)), SetupError::Flow(4));
    assert_eq!(refused(|s| s.traffic = Traffic::Constant(Rate::from_bps(0))), SetupError::Traffic);
    assert!(matches!(refused(|s| s.movement = Some(waypoint(-1.0))), SetupError::Movement(_)));
}
