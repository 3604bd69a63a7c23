//! What a seed gave, it gives: every way to share the channel, with hosts that stay and that move.
use prismux_cellular::simulation::{Access, Destination, Flow, Setup, Traffic, simulate};
use prismux_cellular::{Cell, DualModeSettings, PowerModel};
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Rate};
use prismux_wireless::{Area, Position, RandomWaypoint, WaypointStart};

/// FNV-1a over the words of what came of a run.
fn fingerprint(words: impl IntoIterator<Item = u64>) -> u64 {
    let byte = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    words.into_iter().flat_map(u64::to_le_bytes).fold(0xcbf2_9ce4_8422_2325, byte)
}

/// 40 hosts on a square kilometre, half of whose flows leave the cell.
fn setup(traffic: Traffic, speed_m_per_s: f64, surroundings: &str) -> Setup {
    let mut random = Seed(11).stream("unchanged");
    let cell = Cell::draw_connected(40, 1000.0, 250.0, &mut random).expect("a connected cell");
    let flow = |source: usize| {
        let peer = Destination::Host((source + 7) % 40);
        // Packets that stay in the cell have no business at access points.
        let leaves = surroundings == "access points" || source.is_multiple_of(2);
        Flow { source, destination: if leaves { Destination::Outside } else { peer } }
    };
    let places = [(250.0, 250.0), (700.0, 800.0)].map(|(x_m, y_m)| Position { x_m, y_m });
    let at = |wanted: &str| if surroundings == wanted { places.to_vec() } else { Vec::new() };
    let waypoint = RandomWaypoint {
        area: Area { width_m: 1000.0, height_m: 1000.0 },
        min_speed_m_per_s: speed_m_per_s / 100.0,
        max_speed_m_per_s: speed_m_per_s,
        pause: Duration::ZERO,
        start: WaypointStart::Uniform,
    };
    Setup {
        duration: Duration::from_secs(30),
        movement: (speed_m_per_s > 0.0).then_some(waypoint),
        stations: at("stations"),
        access_points: at("access points"),
        ..Setup::new(cell, (0..40).map(flow).collect(), traffic)
    }
}

#[test]
fn the_same_seed_gives_what_it_always_gave() {
    let web = Traffic::web(Rate::from_kbps(96));
    let constant = Traffic::Constant(Rate::from_kbps(32));
    let reference = Rate::from_kbps(30);
    let dual_mode = Access::DualMode { settings: DualModeSettings::default(), reference };
    let assisted = Access::Assisted { period_slots: 100 };
    let polled = Access::Polled { overhead: 0.05 };
    let expected = [
        (polled, web, 0.0, "nothing", 9_360_091_089_992_446_248),
        (polled, Traffic::Backlogged, 20.0, "nothing", 7_888_735_233_056_112_109),
        (assisted, Traffic::Backlogged, 0.0, "nothing", 12_251_182_788_140_121_537),
        (assisted, constant, 20.0, "stations", 17_407_096_206_027_414_974),
        (Access::Contention, web, 0.0, "stations", 12_364_664_762_392_414_914),
        (Access::Contention, Traffic::Backlogged, 20.0, "nothing", 6_149_456_898_035_456_037),
        (dual_mode, constant, 0.0, "nothing", 13_584_269_301_113_455_773),
        (dual_mode, constant, 20.0, "stations", 7_759_093_098_639_573_882),
        (dual_mode, web, 20.0, "access points", 18_160_159_406_136_921_481),
        (Access::Interworking, constant, 20.0, "access points", 14_264_014_449_571_301_736),
    ];
    let mut found = Vec::new();
    for (access, traffic, speed, surroundings, _) in expected {
        let outcome = simulate(&setup(traffic, speed, surroundings), access, Seed(3)).expect("a run");
        let counts = [
            outcome.hops,
            outcome.direct,
            outcome.heard,
            outcome.lost,
            outcome.refused,
            outcome.wasted,
            outcome.busy_at_base,
            outcome.power_w(&PowerModel::NS2, 250.0, 700.0).to_bits(),
            outcome.mean_delay_s().to_bits(),
        ];
        let arrivals = outcome.arrivals.iter().flat_map(|&(slot, flow)| [slot, flow as u64]);
        found.push(fingerprint(arrivals.chain(counts)));
    }
    assert_eq!(found, expected.map(|(.., fingerprint)| fingerprint));
}
