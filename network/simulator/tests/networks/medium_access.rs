//! Who may send when on an air: slots, polling, rates that follow losses, aggregation, under datagrams and TCP.
use prismux_endpoint::random::Seed;
use prismux_plan::{Flow, FlowId, MediumModel, NodeId, Plan, Radio, Routing, Traffic, Transport};
use prismux_simulator::{Simulation, SimulationOptions};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wireless::{
    Aggregation, ArfConfig, Coordination, Fading, HostId, MacConfig, Mobility, PollingConfig, Position,
    RadioConfig, RateControl, Role, SlotConfig,
};

const SECONDS: u64 = 5;
/// IP and UDP headers.
const HEADER_BYTES: u64 = 28;

/// Hosts at distances from the first, all neighbours.
fn network(mac: MacConfig, distances_m: &[f64], roles: Vec<Role>, fading: Fading) -> (Plan, Vec<NodeId>) {
    let mut plan = Plan::new("air", Duration::from_secs(SECONDS));
    let hosts: Vec<NodeId> = (0..distances_m.len()).map(|index| plan.host(&format!("h{index}"))).collect();
    let place = |x_m: &f64| Mobility::Static(Position { x_m: *x_m, y_m: 0.0 });
    let radio = Radio {
        roles,
        ..Radio::new(
            RadioConfig { fading, ..RadioConfig::wavelan() },
            mac,
            distances_m.iter().map(place).collect(),
            Routing::Direct,
        )
    };
    plan.medium("air", &hosts, MediumModel::Radio(Box::new(radio)));
    (plan, hosts)
}

/// Datagrams of 1000 bytes, headers included, faster than any air here.
fn datagrams(plan: &mut Plan, from: NodeId, to: NodeId) -> FlowId {
    let traffic = Traffic::Cbr { rate: Rate::from_mbps(30), packet: ByteCount::new(1000) };
    let name = format!("from-{}", plan[from].name);
    plan.flow(Flow::new(&name, from, to, Transport::Udp).traffic(traffic))
}

fn run(plan: &Plan) -> Simulation {
    let mut simulation = Simulation::from_plan(plan, Seed(1), SimulationOptions::checked()).unwrap();
    simulation.run_until(Instant::from_secs(SECONDS));
    assert_eq!(simulation.faults(), Vec::<String>::new());
    simulation
}

fn packets(simulation: &Simulation, flow: FlowId) -> u64 {
    simulation.delivered_bytes(flow) / (1000 - HEADER_BYTES)
}

#[test]
fn slots_carry_as_many_datagrams_as_fit_for_each_owner() {
    // 11 Mbit/s: 192 us and 754 us for 1036 bytes. Ten fit into 10 ms less 10 us, 1 us apart.
    let slots = SlotConfig { slots: 3, slot: Duration::from_millis(10), guard: Duration::from_micros(10) };
    let mac = MacConfig { coordination: Coordination::Slots(slots), ..MacConfig::dsss() };
    let roles = [vec![], vec![0], vec![1, 2]].map(Role::SlotOwner).to_vec();
    let (mut plan, hosts) = network(mac, &[0.0, 50.0, 100.0], roles, Fading::None);
    let one = datagrams(&mut plan, hosts[1], hosts[0]);
    let two = datagrams(&mut plan, hosts[2], hosts[0]);
    let simulation = run(&plan);
    // 166 whole frames of 30 ms and two thirds of another. Flows begin empty-handed: the first frame may be short.
    let [one, two] = [one, two].map(|flow| packets(&simulation, flow));
    assert!((10 * 166..=10 * 167).contains(&one), "{one}");
    assert!((20 * 166..=20 * 167).contains(&two), "{two}");
}

#[test]
fn polled_stations_share_the_air_alike_and_more_comes_through_than_by_contention() {
    let delivered = |coordination: Coordination| {
        let mac = MacConfig { coordination, ..MacConfig::dsss() };
        let roles = match coordination {
            Coordination::Polling(_) => {
                let list = (1..=8).map(HostId).collect();
                core::iter::once(Role::AccessPoint(list)).chain(vec![Role::Station; 8]).collect()
            }
            _ => Vec::new(),
        };
        let distances_m: Vec<f64> = (0..9).map(|k| 10.0 * f64::from(k)).collect();
        let (mut plan, hosts) = network(mac, &distances_m, roles, Fading::None);
        let flows: Vec<FlowId> = (1..9).map(|k| datagrams(&mut plan, hosts[k], hosts[0])).collect();
        let simulation = run(&plan);
        flows.into_iter().map(|flow| packets(&simulation, flow)).collect::<Vec<u64>>()
    };
    let polling =
        PollingConfig { period: Duration::from_millis(100), max_duration: Duration::from_millis(90) };
    let (polled, contended) =
        (delivered(Coordination::Polling(polling)), delivered(Coordination::Distributed));
    let extremes = |shares: &[u64]| (*shares.iter().min().unwrap(), *shares.iter().max().unwrap());
    let (least, most) = extremes(&polled);
    assert!(least * 100 > most * 90, "{polled:?}");
    let (polled, contended) = (polled.iter().sum::<u64>(), contended.iter().sum::<u64>());
    assert!(polled as f64 > 1.1 * contended as f64, "{polled} polled, {contended} by contention");
}

#[test]
fn a_far_host_is_reached_at_a_slow_rate_and_not_at_a_fast_one() {
    let delivered = |rate_control| {
        // 11 Mbit/s reaches 125 m, 2 Mbit/s 210 m.
        let mac = MacConfig { rate_control, ..MacConfig::dsss() };
        let (mut plan, hosts) = network(mac, &[0.0, 190.0], Vec::new(), Fading::None);
        let flow = datagrams(&mut plan, hosts[0], hosts[1]);
        packets(&run(&plan), flow)
    };
    let arf = delivered(RateControl::Arf(ArfConfig::kamerman_monteban()));
    // 1.53 Mbit/s is the closed form of the tests of the air, for 1000 bytes.
    let expected = 1.53e6 * SECONDS as f64 / 8000.0;
    assert!((arf as f64 / expected - 1.0).abs() < 0.03, "{arf} of {expected}");
    // Where all rates reach equally far, the fastest is used.
    assert!(delivered(RateControl::Fixed) > 2 * arf);
}

#[test]
fn tcp_gets_more_over_aggregates_though_packets_of_them_are_lost() {
    let delivered = |aggregation| {
        let mac = MacConfig {
            data_rate: Rate::from_mbps(150),
            aggregation,
            queue_packets: 100,
            ..MacConfig::erp_ofdm()
        };
        // At 110 m one packet of 27 fades away.
        let (mut plan, hosts) = network(mac, &[0.0, 110.0], Vec::new(), Fading::Rayleigh);
        let flow = plan.flow(Flow::new("tcp", hosts[0], hosts[1], Transport::Tcp));
        let simulation = run(&plan);
        simulation.delivered_bytes(flow)
    };
    let (alone, together) = (delivered(None), delivered(Some(Aggregation::ht())));
    assert!(alone > 5_000_000, "{alone}");
    assert!(together > 2 * alone, "{together} bytes, {alone} without aggregation");
}
