//! Cells in slots: flows of all kinds through every network model.
use prismux_cellular::slots::{Access, CellConfig, Range};
use prismux_cellular::{DualModeSettings, PowerModel};
use prismux_endpoint::random::Seed;
use prismux_link::LinkConfig;
use prismux_plan::{
    Flow, FlowId, MediumModel, NodeId, Plan, RcpSettings, SlottedCell, TcpSettings, Traffic, Transport,
};
use prismux_simulator::{Simulation, SimulationOptions};
use prismux_trace::event::{Event, EventSink};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wireless::{Area, Mobility, Position, RandomWaypoint, WaypointStart};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

const POLLED: Access = Access::Polled { overhead: 0.0 };
const ASSISTED: Access = Access::Assisted { period_slots: 25 };

/// server -- core -- base station, hybrid stations and access points at `gates`; hosts in the cell.
struct Net {
    plan: Plan,
    server: NodeId,
    base: NodeId,
    hosts: Vec<NodeId>,
}

fn at(x_m: f64, y_m: f64) -> Mobility {
    Mobility::Static(Position { x_m, y_m })
}

fn dual_mode(reference_kbps: u64) -> Access {
    let settings = DualModeSettings { monitor: Duration::from_secs(1), ..DualModeSettings::default() };
    Access::DualMode { settings, reference: Rate::from_kbps(reference_kbps) }
}

impl Net {
    /// Stations where `access` has relaying peers and no use for access points, else access points.
    fn new(access: Access, hosts: Vec<Mobility>, gates: &[(f64, f64)], points: bool) -> Self {
        let mut plan = Plan::new("cell", Duration::from_secs(60));
        let (server, core) = (plan.host("server"), plan.router("core"));
        let base = plan.router("base");
        let wire = LinkConfig::new(Rate::from_mbps(100), Duration::from_millis(5));
        plan.symmetric_link("backbone", [server, core], wire.clone());
        plan.symmetric_link("wire", [core, base], wire.clone());
        let nodes: Vec<NodeId> = (0..hosts.len()).map(|index| plan.host(&format!("h{index}"))).collect();
        let mut attached: Vec<NodeId> = nodes.iter().copied().chain([base]).collect();
        let mut mobility = hosts;
        mobility.push(at(500.0, 500.0));
        for (index, &(x_m, y_m)) in gates.iter().enumerate() {
            let gate = plan.router(&format!("g{index}"));
            plan.symmetric_link(&format!("wire-{index}"), [core, gate], wire.clone());
            attached.push(gate);
            mobility.push(at(x_m, y_m));
        }
        let config = CellConfig {
            stations: if points { 0 } else { gates.len() },
            access_points: if points { gates.len() } else { 0 },
            range: Range::Least,
            base_range_m: 707.0,
            update: Duration::from_millis(500),
            ..CellConfig::new(nodes.len())
        };
        let cell = SlottedCell { access, config, mobility, queue_packets: 50, counts_energy: true };
        plan.medium("cell", &attached, MediumModel::Cell(Box::new(cell)));
        Self { plan, server, base, hosts: nodes }
    }

    fn cell(&mut self) -> &mut SlottedCell {
        let MediumModel::Cell(cell) = &mut self.plan.media[0].model else { unreachable!() };
        cell
    }

    /// Whole packets of a slot's length at a rate of packets of 1000 B.
    fn datagrams(&mut self, from: NodeId, to: NodeId, kbps: u64) -> FlowId {
        let traffic = Traffic::Cbr { rate: Rate::from_kbps(kbps), packet: ByteCount::new(1000) };
        let name = format!("flow-{}", self.plan.flows.len());
        self.plan.flow(Flow::new(&name, from, to, Transport::Udp).traffic(traffic))
    }

    /// TCP with packets of at most a slot.
    fn transfer(&mut self, from: NodeId, to: NodeId, transport: Transport, bytes: u64) -> FlowId {
        let name = format!("flow-{}", self.plan.flows.len());
        let tcp = TcpSettings { mss: Some(900), ..TcpSettings::default() };
        let flow = Flow::new(&name, from, to, transport).bytes(ByteCount::new(bytes));
        self.plan.flow(Flow { tcp, ..flow })
    }

    fn run(&self, seed: u64, seconds: u64) -> Simulation {
        let mut simulation =
            Simulation::from_plan(&self.plan, Seed(seed), SimulationOptions::checked()).expect("a plan");
        simulation.run_until(Instant::from_secs(seconds));
        assert_eq!(simulation.faults(), Vec::<String>::new());
        simulation
    }
}

fn around(count: usize) -> Vec<Mobility> {
    let area = Area { width_m: 1000.0, height_m: 1000.0 };
    vec![Mobility::Anywhere(area); count]
}

fn total(simulation: &mut Simulation, flows: usize) -> u64 {
    (0..flows).map(|flow| simulation.delivered_bytes(FlowId(flow as u32))).sum()
}

#[test]
fn a_polled_cell_carries_a_packet_in_each_slot_in_or_out_and_in_every_other_one_within() {
    // 20 s are 5000 slots; a packet has 972 B behind its headers.
    let measured = |from: fn(&Net) -> NodeId, to: fn(&Net) -> NodeId, overhead: f64| {
        let mut net = Net::new(Access::Polled { overhead }, around(4), &[], false);
        let (from, to) = (from(&net), to(&net));
        let flow = net.datagrams(from, to, 3000);
        net.run(1, 20).delivered_bytes(flow) / 972
    };
    assert!((4995..=5000).contains(&measured(|net| net.hosts[0], |net| net.server, 0.0)));
    assert!((4990..=5000).contains(&measured(|net| net.server, |net| net.hosts[0], 0.0)));
    assert!((2495..=2500).contains(&measured(|net| net.hosts[0], |net| net.hosts[1], 0.0)));
    assert!((4740..=4750).contains(&measured(|net| net.hosts[0], |net| net.server, 0.05)));
}

#[test]
fn a_short_packet_takes_a_slot_and_a_long_one_is_lost_and_counted() {
    let mut net = Net::new(POLLED, around(2), &[], false);
    for (packet, kbps) in [(100, 1000), (1100, 80)] {
        let traffic = Traffic::Cbr { rate: Rate::from_kbps(kbps), packet: ByteCount::new(packet) };
        let flow = Flow::new(&format!("of-{packet}"), net.hosts[0], net.server, Transport::Udp);
        net.plan.flow(flow.traffic(traffic));
    }
    assert!(net.plan.check().is_err(), "the plan says that they do not fit");
    let long = net.plan.flows.pop().expect("two flows");
    let short = net.run(1, 10).delivered_bytes(FlowId(0)) / 72;
    assert!((2495..=2500).contains(&short), "{short}");
    // Of a transport whose packets the check does not know.
    let rcp = Transport::Rcp(RcpSettings::DEFAULT);
    let tcp = TcpSettings { mss: Some(960), ..TcpSettings::default() };
    net.plan.flows[0] = Flow { tcp, ..Flow::new("rcp", long.from, long.to, rcp) };
    let mut simulation = net.run(1, 10);
    let result = simulation.result();
    let lost = result.nodes["h0"].get("packets_too_long").copied().unwrap_or(0);
    assert!(lost > 0 || simulation.delivered_bytes(FlowId(0)) > 0, "{result:?}");
}

#[test]
fn peers_with_a_schedule_carry_more_within_the_cell_than_the_base_station_and_contention_less_to_it() {
    let sum = |access: Access, local: bool| {
        let mut net = Net::new(access, around(40), &[], false);
        net.cell().config.range = Range::Fixed(300.0);
        for index in 0..40 {
            let to = if local { net.hosts[(index + 17) % 40] } else { net.server };
            let from = net.hosts[index];
            net.datagrams(from, to, 100);
        }
        total(&mut net.run(3, 20), 40)
    };
    let (polled, assisted, contention) =
        (sum(POLLED, true), sum(ASSISTED, true), sum(Access::Contention, true));
    assert!(assisted > 2 * polled, "local flows: {assisted} {polled}");
    assert!(assisted > contention && contention > polled, "{assisted} {contention} {polled}");
    let (polled, assisted, contention, dual) =
        (sum(POLLED, false), sum(ASSISTED, false), sum(Access::Contention, false), sum(dual_mode(50), false));
    assert!(contention < assisted && assisted < polled * 101 / 100, "{contention} {assisted} {polled}");
    assert!(dual > contention, "{dual} {contention}");
}

#[test]
fn stations_with_wires_take_load_off_the_base_station_in_both_directions() {
    let gates = [(250.0, 250.0), (750.0, 250.0), (250.0, 750.0), (750.0, 750.0)];
    let sum = |gates: &[(f64, f64)], up: bool| {
        let mut net = Net::new(ASSISTED, around(40), gates, false);
        net.cell().config.range = Range::Fixed(300.0);
        for index in 0..40 {
            let (host, server) = (net.hosts[index], net.server);
            let [from, to] = if up { [host, server] } else { [server, host] };
            net.datagrams(from, to, 100);
        }
        total(&mut net.run(3, 20), 40)
    };
    for up in [true, false] {
        let (alone, together) = (sum(&[], up), sum(&gates, up));
        assert!(together * 10 > alone * 14, "{up}: {together} {alone}");
    }
}

#[test]
fn a_host_that_no_peer_hears_is_served_directly_in_dual_mode_and_not_at_all_without() {
    let delivered = |access: Access| {
        let hosts = vec![at(450.0, 500.0), at(900.0, 900.0)];
        let mut net = Net::new(access, hosts, &[], false);
        net.cell().config.range = Range::Fixed(100.0);
        // Where hosts are known to be apart the check says so.
        net.cell().mobility[1] = Mobility::through(&[
            (Instant::ZERO, Position { x_m: 900.0, y_m: 900.0 }),
            (Instant::from_secs(100), Position { x_m: 901.0, y_m: 900.0 }),
        ])
        .expect("a walk");
        let (server, host) = (net.server, net.hosts[1]);
        let down = net.transfer(server, host, Transport::Tcp, 200_000);
        let mut simulation = net.run(1, 40);
        let sent = simulation.result().nodes["h1"]["slots_direct"];
        (simulation.delivered_bytes(down), sent)
    };
    assert_eq!(delivered(Access::Contention).0, 0);
    assert_eq!(delivered(ASSISTED).0, 0);
    let (bytes, direct) = delivered(dual_mode(100));
    assert_eq!(bytes, 200_000);
    assert!(direct > 50, "its ACKs: {direct}");
}

#[test]
fn a_download_goes_on_where_a_host_walks_out_of_the_range_of_access_points_and_back() {
    let walk = |seconds, x_m| (Instant::from_secs(seconds), Position { x_m, y_m: 100.0 });
    for access in [Access::Interworking, dual_mode(300)] {
        let walker = Mobility::through(&[walk(0, 100.0), walk(10, 900.0), walk(20, 100.0)]).expect("a walk");
        let hosts = vec![walker, at(300.0, 100.0), at(500.0, 100.0), at(700.0, 100.0)];
        let mut net = Net::new(access, hosts, &[(100.0, 100.0)], true);
        net.cell().config.range = Range::Fixed(250.0);
        net.cell().config.access_point_rate = Rate::from_mbps(3);
        let (server, host) = (net.server, net.hosts[0]);
        let down = net.transfer(server, host, Transport::Tcp, 3_000_000);
        let up = net.transfer(host, server, Transport::Tcp, 300_000);
        let mut simulation = net.run(1, 60);
        assert_eq!(simulation.delivered_bytes(down), 3_000_000, "{access:?}");
        assert_eq!(simulation.delivered_bytes(up), 300_000, "{access:?}");
        let nodes = simulation.result().nodes;
        let forwarded = |gate: &str| nodes[gate].get("packets_to_other_gates").copied().unwrap_or(0);
        if access == Access::Interworking {
            assert!(forwarded("g0") + forwarded("base") > 0, "what waits at one gate goes to the other");
            assert!(nodes["base"]["slots_direct"] > 0, "the base station serves it in between");
        } else {
            assert!(nodes["h1"]["slots_relayed"] > 0, "peers in range relay for it in between");
        }
    }
}

#[test]
fn hosts_of_a_line_draw_for_what_they_send_and_hear() {
    let mut net = Net::new(Access::Contention, vec![at(400.0, 500.0), at(300.0, 500.0)], &[], false);
    let (far, base) = (net.hosts[1], net.base);
    let flow = net.datagrams(far, base, 100);
    let mut simulation = net.run(1, 10);
    let packets = simulation.delivered_bytes(flow) / 972;
    let nodes = simulation.result().nodes;
    assert!((124..=125).contains(&packets), "{packets}");
    assert!(nodes["h1"]["slots_sent"] - packets <= 1 && nodes["h1"]["slots_relayed"] == 0);
    assert!(nodes["h0"]["slots_relayed"] - packets <= 1 && nodes["h0"]["slots_sent"] == 0);
    // 100 m, as far as the next one: each hears what the other sends.
    let slot_s = 0.004;
    let joules = slot_s * packets as f64 * (PowerModel::NS2.send_w(100.0) + PowerModel::NS2.receive_w);
    for host in ["h0", "h1"] {
        let drawn_j = nodes[host]["energy_drawn_uj"] as f64 / 1e6;
        assert!((drawn_j / joules - 1.0).abs() < 0.02, "{host}: {drawn_j} {joules}");
    }
}

/// Frames that were told of, and those that were lost.
#[derive(Clone, Default)]
struct Frames(Arc<Mutex<[u64; 2]>>);

impl EventSink for Frames {
    fn event(&mut self, _: Instant, event: &Event<'_>) {
        let mut frames = self.0.lock().unwrap();
        match event {
            Event::FrameSent { airtime_ns, to: Some(_), .. } => {
                assert_eq!(*airtime_ns, 4_000_000);
                frames[0] += 1;
            }
            Event::FrameLost { .. } => frames[1] += 1,
            _ => {}
        }
    }
}

#[test]
fn an_event_log_has_every_packet_that_is_sent_in_a_slot_and_changes_nothing() {
    let area = Area { width_m: 1000.0, height_m: 1000.0 };
    let waypoint = RandomWaypoint {
        area,
        min_speed_m_per_s: 10.0,
        max_speed_m_per_s: 30.0,
        pause: Duration::ZERO,
        start: WaypointStart::Steady,
    };
    for access in [POLLED, ASSISTED, Access::Contention, dual_mode(100)] {
        let mut net = Net::new(access, vec![Mobility::RandomWaypoint(waypoint); 12], &[], false);
        for index in 0..12 {
            let (from, to) = (net.hosts[index], net.hosts[(index + 5) % 12]);
            net.datagrams(from, to, 60);
        }
        let frames = Frames::default();
        let options =
            SimulationOptions { events: Some(Box::new(frames.clone())), ..SimulationOptions::checked() };
        let mut simulation = Simulation::from_plan(&net.plan, Seed(1), options).expect("a plan");
        simulation.run_until(Instant::from_secs(20));
        let result = simulation.result();
        let sum = |names: &[&str]| {
            let of = |name: &&str| {
                result.nodes.iter().filter_map(move |(_, counts)| counts.get(*name)).sum::<u64>()
            };
            names.iter().map(of).sum::<u64>()
        };
        let [sent, lost] = *frames.0.lock().unwrap();
        assert_eq!(sent, sum(&["slots_sent", "slots_relayed", "slots_direct"]), "{access:?}");
        assert!(sent > 1000 && lost <= sum(&["packets_lost_to_moves"]), "{access:?}: {sent} {lost}");
        assert_eq!(lost > 0, access != POLLED, "{access:?}: who moves away misses what a peer sends");
        assert_eq!(format!("{:?}", net.run(1, 20).result()), format!("{result:?}"), "{access:?}");
    }
}

proptest! {
    #![proptest_config(prismux_properties::cases(6))]

    /// Under every access, whatever moves and whoever talks to whom: every byte arrives once and in order, every packet
    /// is accounted for, and the same seed gives the same run.
    #[test]
    fn transfers_live_through_random_cells(
        seed in 0..1000_u64,
        max_speed_m_per_s in prop_oneof![Just(0.0), 1.0..30.0_f64],
        ends in prop::collection::vec((0..=8_usize, 0..=8_usize), 1..8),
        gates in prop::collection::vec((100.0..900.0_f64, 100.0..900.0_f64), 1..3),
    ) {
        let area = Area { width_m: 1000.0, height_m: 1000.0 };
        let waypoint = RandomWaypoint {
            area,
            min_speed_m_per_s: max_speed_m_per_s / 10.0,
            max_speed_m_per_s,
            pause: Duration::ZERO,
            start: WaypointStart::Steady,
        };
        let host = if max_speed_m_per_s > 0.0 { Mobility::RandomWaypoint(waypoint) } else { Mobility::Anywhere(area) };
        for (access, stations, points) in [
            (Access::Polled { overhead: 0.1 }, false, false),
            (ASSISTED, false, false),
            (ASSISTED, true, false),
            (Access::Contention, true, false),
            (dual_mode(150), false, false),
            (dual_mode(150), true, false),
            (dual_mode(150), false, true),
            (Access::Interworking, false, true),
        ] {
            let gates = if stations || points { &gates[..] } else { &[] };
            let mut net = Net::new(access, vec![host.clone(); 8], gates, points);
            for &(from, to) in ends.iter().filter(|(from, to)| from != to) {
                let end = |place: usize| net.hosts.get(place).copied().unwrap_or(net.server);
                let (from, to) = (end(from), end(to));
                net.transfer(from, to, Transport::Tcp, 40_000);
            }
            let flows = net.plan.flows.len();
            let play = || {
                let mut simulation = net.run(seed, 60);
                (total(&mut simulation, flows), format!("{:?}", simulation.result()))
            };
            let (bytes, result) = play();
            prop_assert_eq!(bytes, 40_000 * flows as u64, "{:?}: {}", access, result);
            prop_assert_eq!(play(), (bytes, result));
        }
    }
}
