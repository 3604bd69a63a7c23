//! Hosts with several radios, each on a channel of its own.
use prismux_aodv::AodvConfig;
use prismux_dsdv::DsdvConfig;
use prismux_dsr::DsrConfig;
use prismux_endpoint::random::Seed;
use prismux_plan::{
    Action, Flow, FurtherRadio, MediumModel, NodeId, Plan, Power, Radio, Routing, TcpSettings, Traffic,
    Transport,
};
use prismux_simulator::{MediumId, RadioMedium, Simulation, SimulationOptions};
use prismux_tcp::TcpProfile;
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wireless::{
    Area, Coordination, EnergyConfig, HostId, MacConfig, Mobility, PollingConfig, Position, RadioConfig,
    RandomWaypoint, Role, SlotConfig, WaypointStart,
};

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
        channels[1..].iter().map(|&channel| FurtherRadio::new(host, channel)).collect()
    };
    let radio = Radio {
        radio: RadioConfig::wavelan(),
        mac: MacConfig::ns2(),
        channel_settings: Vec::new(),
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

fn air(plan: &mut Plan) -> &mut Radio {
    let MediumModel::Radio(radio) = &mut plan.media[0].model else { unreachable!() };
    radio
}

/// A base and two stations in its cell on channel 1, the second of which has a radio on channel 6 too, and a host out
/// of the cell's reach on channel 6. The cell has polling, or slots.
fn cell(routing: Routing, polls: bool) -> (Plan, Vec<NodeId>) {
    let (mut plan, hosts) = network(row(4, 200.0), routing, &[&[1], &[1], &[1, 6], &[6]]);
    let radio = air(&mut plan);
    radio.mobility[1] = Mobility::Static(Position { x_m: 0.0, y_m: 100.0 });
    radio.mobility[2] = Mobility::Static(Position { x_m: 200.0, y_m: 0.0 });
    radio.mobility[3] = Mobility::Static(Position { x_m: 400.0, y_m: 0.0 });
    radio.compares_hops = false;
    if polls {
        let (period, max_duration) = (Duration::from_millis(50), Duration::from_millis(40));
        let coordination = Coordination::Polling(PollingConfig { period, max_duration });
        radio.mac = MacConfig { coordination, ..MacConfig::dsss() };
        radio.roles = [Role::AccessPoint(vec![HostId(1), HostId(2)])].into();
        radio.roles.resize(4, Role::Station);
    } else {
        let slots = SlotConfig { slots: 3, slot: Duration::from_millis(6), guard: Duration::from_micros(10) };
        radio.mac = MacConfig { coordination: Coordination::Slots(slots), ..MacConfig::dsss() };
        radio.roles = [vec![0], vec![1], vec![2]].map(Role::SlotOwner).into();
        radio.roles.push(Role::Station);
    }
    (plan, hosts)
}

#[test]
fn a_host_with_a_second_radio_relays_into_a_cell_with_polling_or_slots() {
    for routing in PROTOCOLS {
        for polls in [true, false] {
            let (mut plan, hosts) = cell(routing, polls);
            let start = Duration::from_secs(8);
            let up = plan.flow(tcp(hosts[3], hosts[0]).start_at(start));
            let near = Flow { name: "near".into(), ..tcp(hosts[1], hosts[0]).start_at(start) };
            let near = plan.flow(near);
            let simulation = run(&plan);
            let bytes = [up, near].map(|flow| simulation.delivered_bytes(flow));
            assert!(bytes.iter().all(|bytes| *bytes > 200_000), "{routing:?}, polls: {polls}: {bytes:?}");
            let end = Instant::from_secs(SECONDS);
            let air = simulation.medium_as::<RadioMedium>(MediumId::new(0)).unwrap();
            let [base, relay, far] = [0, 2, 3].map(|host| air.stats(end, hosts[host]));
            assert_eq!(base.beacons_sent > 0, polls);
            assert!(relay.packets_received > 400, "{relay:?}");
            // Beyond the cell packets are acknowledged one by one, in either case.
            assert!(far.acks_sent > 100 && relay.acks_sent > 100, "{far:?} {relay:?}");
        }
    }
}

#[test]
fn a_relay_between_cell_and_channel_lives_on_one_battery_to_the_last_joule() {
    for polls in [true, false] {
        let (mut plan, hosts) = cell(PROTOCOLS[1], polls);
        let energy = EnergyConfig { idle_w: 0.05, ..EnergyConfig::ns2() };
        // Two idle radios draw 1 J in ten seconds.
        let batteries_j = vec![None, None, Some(1.2), None];
        air(&mut plan).power = Some(Power { energy, batteries_j });
        let flow = plan.flow(tcp(hosts[3], hosts[0]).start_at(Duration::from_secs(4)));
        plan.measure.interval = Some(Duration::from_secs(1));
        let mut simulation = run(&plan);
        assert!(simulation.delivered_bytes(flow) > 100_000, "while it lasted");
        let result = simulation.result();
        let relay = &result.nodes["h2"];
        assert_eq!((relay["battery_left_uj"], relay["energy_drawn_uj"].div_ceil(2)), (0, 600_000));
        let rates = &result.series.unwrap().flows["to 0"].goodput_bps;
        assert!(rates[12..].iter().all(|bps| *bps == 0.0), "nobody else relays: {rates:?}");
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
