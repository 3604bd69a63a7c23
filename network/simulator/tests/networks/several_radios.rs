//! Hosts with several radios, each on a channel of its own.
use prismux_aodv::AodvConfig;
use prismux_dsdv::DsdvConfig;
use prismux_dsr::DsrConfig;
use prismux_endpoint::random::Seed;
use prismux_plan::{
    Action, Flow, FurtherRadio, MediumModel, NodeId, Plan, Radio, Routing, TcpSettings, Traffic, Transport,
};
use prismux_simulator::{MediumId, RadioMedium, Simulation, SimulationOptions};
use prismux_tcp::TcpProfile;
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wireless::{Area, MacConfig, Mobility, Position, RadioConfig, RandomWaypoint, WaypointStart};

const SECONDS: u64 = 20;
const PROTOCOLS: [Routing; 3] =
    [Routing::Dsr(DsrConfig::ns2()), Routing::Aodv(AodvConfig::ns2()), Routing::Dsdv(QUICK_DSDV)];
/// Finds its routes within seconds.
const QUICK_DSDV: DsdvConfig = DsdvConfig {
    update_interval: Duration::from_secs(2),
    first_settling_time: Duration::from_millis(500),
    ..DsdvConfig::ns2()
};

/// Hosts with these channels, a radio on each.
fn network(mobility: Vec<Mobility>, routing: Routing, channels: &[&[u8]]) -> (Plan, Vec<NodeId>) {
    let mut plan = Plan::new("radios", Duration::from_secs(SECONDS));
    let hosts: Vec<NodeId> = (0..mobility.len()).map(|index| plan.host(&format!("h{index}"))).collect();
    let further = |(host, channels): (usize, &&[u8])| -> Vec<FurtherRadio> {
        channels[1..].iter().map(|&channel| FurtherRadio { host, channel }).collect()
    };
    let radio = Radio {
        radio: RadioConfig::wavelan(),
        mac: MacConfig::ns2(),
        mobility,
        roles: Vec::new(),
        channels: channels.iter().map(|channels| channels[0]).collect(),
        further_radios: channels.iter().enumerate().flat_map(further).collect(),
        routing,
        compares_hops: true,
        power: None,
        cells: None,
    };
    plan.medium("air", &hosts, MediumModel::Radio(Box::new(radio)));
    (plan, hosts)
}

fn row(count: u32, spacing_m: f64) -> Vec<Mobility> {
    (0..count).map(|k| Mobility::Static(Position { x_m: spacing_m * f64::from(k), y_m: 0.0 })).collect()
}

fn run(plan: &Plan) -> Simulation {
    let mut simulation = Simulation::from_plan(plan, Seed(1), SimulationOptions::checked()).unwrap();
    simulation.run_until(Instant::from_secs(SECONDS));
    assert_eq!(simulation.faults(), Vec::<String>::new());
    simulation
}

fn tcp(from: NodeId, to: NodeId) -> Flow {
    let tcp = TcpSettings {
        mss: Some(1000),
        window: Some(ByteCount::new(32_000)),
        ..TcpSettings::profile(TcpProfile::Ns2_2002)
    };
    Flow::new(&format!("to {}", to.index()), from, to, Transport::Tcp).tcp(tcp)
}

#[test]
fn a_relay_with_a_radio_on_each_side_carries_twice_as_much() {
    for routing in PROTOCOLS {
        let carried = |channels: &[&[u8]]| {
            let (mut plan, hosts) = network(row(3, 200.0), routing, channels);
            let traffic = Traffic::Cbr { rate: Rate::from_mbps(2), packet: ByteCount::new(1028) };
            let flow = Flow::new("cbr", hosts[0], hosts[2], Transport::Udp).traffic(traffic);
            let flow = plan.flow(flow.start_at(Duration::from_secs(8)));
            run(&plan).delivered_bytes(flow)
        };
        let (one, two) = (carried(&[&[1], &[1], &[1]]), carried(&[&[1], &[6, 1], &[6]]));
        assert!(two > one * 18 / 10, "{routing:?}: {one} on one channel, {two} on two");
    }
}

#[test]
fn all_radios_of_a_host_move_together() {
    let area = Area { width_m: 600.0, height_m: 300.0 };
    let model = RandomWaypoint {
        area,
        min_speed_m_per_s: 5.0,
        max_speed_m_per_s: 20.0,
        pause: Duration::ZERO,
        start: WaypointStart::Steady,
    };
    let mobility = vec![Mobility::RandomWaypoint(model); 6];
    let channels: [&[u8]; 6] = [&[1], &[1, 6], &[6, 1], &[6], &[1, 6, 11], &[11]];
    for routing in PROTOCOLS {
        let (mut plan, hosts) = network(mobility.clone(), routing, &channels);
        let flows = [(0, 3), (3, 5), (5, 0), (1, 2)].map(|(from, to)| plan.flow(tcp(hosts[from], hosts[to])));
        let mut simulation = run(&plan);
        let bytes = flows.map(|flow| simulation.delivered_bytes(flow));
        // DSDV, whose routes break with every move, may fail where two channels have to be crossed.
        let least = if matches!(routing, Routing::Dsdv(_)) { &bytes[3..] } else { &bytes };
        assert!(least.iter().all(|bytes| *bytes > 20_000), "{routing:?}: {bytes:?}");
        // A second radio that lay elsewhere would hear other hosts than the first, and hops would be counted wrong.
        let result = simulation.result();
        let above: u64 =
            result.nodes.values().filter_map(|node| node.get("routing_packets_farther_above")).sum();
        let at: u64 =
            result.nodes.values().filter_map(|node| node.get("routing_packets_at_fewest_hops")).sum();
        assert!(above * 4 < at, "{routing:?}: {at} packets at the fewest hops, {above} far above");
        let air = simulation.medium_as::<RadioMedium>(MediumId::new(0)).unwrap();
        let stats = air.stats(Instant::from_secs(SECONDS), hosts[4]);
        assert!(stats.broadcasts_sent > 0 && stats.signals > 0, "{stats:?}");
    }
}

#[test]
fn what_no_channel_leads_to_is_counted_and_said_before() {
    let (mut plan, hosts) = network(row(3, 100.0), Routing::Direct, &[&[1], &[1, 6], &[6]]);
    plan.flow(tcp(hosts[0], hosts[2]));
    let fault = |plan: &Plan| plan.check().unwrap_err().faults[0].found();
    assert_eq!(fault(&plan), "no channels that radios share lead from \"h0\" to \"h2\"", "nobody routes");
    // Who changes channels may meet: nothing is said before, and packets are counted.
    plan.event(Duration::from_secs(19), Action::Tune { host: hosts[2], channel: 11 });
    let result = run(&plan).result();
    assert!(result.nodes["h0"]["packets_without_channel"] > 1, "{:?}", result.nodes);
    assert!(!result.nodes["h1"].contains_key("packets_without_channel"));
    let (mut plan, hosts) = network(row(3, 100.0), PROTOCOLS[0], &[&[1], &[1, 6], &[6]]);
    plan.flow(tcp(hosts[0], hosts[2]));
    assert!(plan.check().is_ok(), "over the host between");
}
