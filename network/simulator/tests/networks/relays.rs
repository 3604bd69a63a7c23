//! Hosts that relay beside cells: who hears no base station goes over a host that does.
use prismux_aodv::AodvConfig;
use prismux_dsdv::DsdvConfig;
use prismux_dsr::DsrConfig;
use prismux_endpoint::random::Seed;
use prismux_link::LinkConfig;
use prismux_plan::{
    Cells, Flow, FlowId, FurtherRadio, MediumModel, NodeId, Plan, Power, Radio, Routing, Traffic, Transport,
};
use prismux_simulator::{MediumId, RadioMedium, Simulation, SimulationOptions};
use prismux_trace::SharedBytes;
use prismux_trace::event::{Event, EventSink};
use prismux_trace::pcapng;
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wire::{IpPacket, TcpPacket};
use prismux_wireless::{AssociationConfig, EnergyConfig, MacConfig, Mobility, Position, RadioConfig};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

pub const PROTOCOLS: [Routing; 3] =
    [Routing::Dsr(DsrConfig::rfc4728()), Routing::Aodv(AodvConfig::rfc3561()), Routing::Dsdv(QUICK_DSDV)];
/// Finds its routes within seconds.
const QUICK_DSDV: DsdvConfig = DsdvConfig {
    update_interval: Duration::from_secs(2),
    first_settling_time: Duration::from_millis(500),
    ..DsdvConfig::ns2()
};
const SHARP: AssociationConfig = AssociationConfig { filter_coefficient: 0, ..AssociationConfig::lte() };

/// server -- core -- (base stations at 0 m and 2000 m, which reach 250 m), and hosts along the road between, with a
/// second radio each.
pub struct Road {
    pub plan: Plan,
    pub server: NodeId,
    pub hosts: Vec<NodeId>,
}

pub fn parked(x_m: f64) -> Mobility {
    Mobility::Static(Position { x_m, y_m: 0.0 })
}

pub fn drive(stops: &[(u64, f64)]) -> Mobility {
    let at = |(s, x_m): &(u64, f64)| (Instant::from_secs(*s), Position { x_m: *x_m, y_m: 0.0 });
    Mobility::through(&stops.iter().map(at).collect::<Vec<_>>()).unwrap()
}

impl Road {
    pub fn new(routing: Routing, hosts: Vec<Mobility>) -> Self {
        let mut plan = Plan::new("road", Duration::from_secs(300));
        let (server, core) = (plan.host("server"), plan.router("core"));
        let bases = [plan.router("b0"), plan.router("b1")];
        let wire = |delay_ms| LinkConfig::new(Rate::from_mbps(100), Duration::from_millis(delay_ms));
        plan.symmetric_link("backbone", [server, core], wire(10));
        for (index, base) in bases.into_iter().enumerate() {
            plan.symmetric_link(&format!("wire-{index}"), [core, base], wire(2));
        }
        let count = hosts.len();
        let on_air: Vec<NodeId> = (0..count).map(|index| plan.host(&format!("h{index}"))).collect();
        let mobility = [0.0, 2000.0].map(parked).into_iter().chain(hosts).collect();
        let radio = Radio {
            channels: [1, 6].into_iter().chain(vec![1; count]).collect(),
            further_radios: (2..2 + count).map(|host| FurtherRadio::new(host, 11)).collect(),
            cells: Some(Cells {
                base_stations: bases.to_vec(),
                association: SHARP,
                forwards: false,
                fallback: Vec::new(),
                relays_below_db: None,
            }),
            ..Radio::new(RadioConfig::wavelan(), MacConfig::dsss(), mobility, routing)
        };
        let attached: Vec<NodeId> = bases.iter().chain(&on_air).copied().collect();
        plan.medium("air", &attached, MediumModel::Radio(Box::new(radio)));
        Self { plan, server, hosts: on_air }
    }

    pub fn radio(&mut self) -> &mut Radio {
        let MediumModel::Radio(radio) = &mut self.plan.media[0].model else { unreachable!() };
        radio
    }

    /// Fifty datagrams a second from the tenth second on.
    fn datagrams(&mut self, from: NodeId, to: NodeId) -> FlowId {
        let traffic = Traffic::Cbr { rate: Rate::from_kbps(200), packet: ByteCount::new(500) };
        let name = format!("flow-{}", self.plan.flows.len());
        let flow = Flow::new(&name, from, to, Transport::Udp).traffic(traffic);
        self.plan.flow(flow.start_at(Duration::from_secs(10)))
    }

    pub fn download(&mut self, to: NodeId, bytes: u64) -> FlowId {
        let name = format!("download-{}", self.plan.flows.len());
        self.plan.flow(Flow::new(&name, self.server, to, Transport::Tcp).bytes(ByteCount::new(bytes)))
    }

    /// Runs for so long, with all checks on.
    pub fn run(&self, seed: u64, seconds: u64) -> Simulation {
        self.run_told(seed, seconds, None)
    }

    pub fn run_told(&self, seed: u64, seconds: u64, events: Option<Box<dyn EventSink + Send>>) -> Simulation {
        let options = SimulationOptions { events, ..SimulationOptions::checked() };
        let mut simulation = Simulation::from_plan(&self.plan, Seed(seed), options).unwrap();
        simulation.run_until(Instant::from_secs(seconds));
        assert_eq!(simulation.faults(), Vec::<String>::new());
        simulation
    }
}

pub fn counter(simulation: &mut Simulation, node: &str, name: &str) -> u64 {
    simulation.result().nodes[node].get(name).copied().unwrap_or(0)
}

/// When who took which gateway: "h2: h0 to h1" and the second.
#[derive(Clone, Default)]
pub struct Listener(pub Arc<Mutex<Vec<(u64, String)>>>);

impl EventSink for Listener {
    fn event(&mut self, now: Instant, event: &Event<'_>) {
        if let Event::GatewayChanged { node, from, to } = event {
            let name = |gateway: &Option<_>| gateway.as_ref().map_or("none".to_string(), ToString::to_string);
            let line = format!("{node}: {} to {}", name(from), name(to));
            self.0.lock().unwrap().push((now.as_nanos() / 1_000_000_000, line));
        }
    }
}

/// Sent and lost.
fn packets(simulation: &mut Simulation, flow: &str) -> (u64, u64) {
    let result = simulation.result();
    let packets = result.flows[flow].packets.as_ref().unwrap();
    (packets.sent, packets.lost)
}

#[test]
fn a_host_two_hops_out_of_the_cell_sends_and_receives_over_those_between() {
    for routing in PROTOCOLS {
        let mut road = Road::new(routing, [200.0, 400.0, 600.0].map(parked).to_vec());
        let (server, far) = (road.server, road.hosts[2]);
        road.datagrams(far, server);
        road.datagrams(server, far);
        road.datagrams(road.hosts[1], far);
        let mut simulation = road.run(1, 40);
        for flow in ["flow-0", "flow-1", "flow-2"] {
            let (sent, lost) = packets(&mut simulation, flow);
            assert!(sent >= 1400 && lost <= 15, "{routing:?}: {lost} of {sent} of {flow}");
        }
        // Each goes over the first host, which alone hears a base station; the third flow both there and back.
        let relayed = counter(&mut simulation, "h0", "packets_relayed");
        assert!((5800..6100).contains(&relayed), "{routing:?}: {relayed}");
        assert_eq!(counter(&mut simulation, "h2", "gateways_taken"), 1);
        // Both the far one's two flows, and the third's first half by the second.
        assert_eq!(counter(&mut simulation, "h0", "packets_sent_to_gateways"), 0);
    }
}

#[test]
fn without_second_radios_who_is_out_of_the_cell_is_cut_off() {
    let mut road = Road::new(Routing::Direct, [200.0, 400.0].map(parked).to_vec());
    road.radio().further_radios.clear();
    let (server, far) = (road.server, road.hosts[1]);
    let flow = road.datagrams(server, far);
    let mut simulation = road.run(1, 20);
    assert_eq!((simulation.delivered_bytes(flow), packets(&mut simulation, "flow-0").0), (0, 501));
}

#[test]
fn routing_messages_and_relayed_packets_stay_off_the_channel_of_the_cell() {
    for routing in PROTOCOLS {
        let mut road = Road::new(routing, [200.0, 400.0].map(parked).to_vec());
        let (server, far) = (road.server, road.hosts[1]);
        road.datagrams(far, server);
        let mut simulation = road.run(1, 40);
        let end = Instant::from_secs(40);
        let base = road.plan.node_named("b0").unwrap();
        let sent = simulation.medium_as::<RadioMedium>(MediumId::new(0)).unwrap().stats(end, base);
        // The base station hears one data frame for each packet that arrives, and nothing else.
        let (offered, lost) = packets(&mut simulation, "flow-0");
        assert!((offered - lost - 1..=offered - lost).contains(&sent.packets_received), "{routing:?}");
        assert_eq!(sent.frames_received, sent.packets_received + sent.duplicates, "{routing:?}: {sent:?}");
    }
}

#[test]
fn who_loses_its_gateway_takes_another_one() {
    for routing in PROTOCOLS {
        // The first drives off at the 30th second, past the second, and leaves the cell on the other side.
        let leaves = drive(&[(0, 220.0), (30, 220.0), (60, -700.0)]);
        let mut road = Road::new(routing, vec![leaves, parked(200.0), parked(420.0)]);
        let (server, far) = (road.server, road.hosts[2]);
        road.datagrams(far, server);
        road.datagrams(server, far);
        let listener = Listener::default();
        let mut simulation = road.run_told(1, 100, Some(Box::new(listener.clone())));
        assert_eq!(counter(&mut simulation, "h2", "gateways_taken"), 2, "{routing:?}");
        let changes = listener.0.lock().unwrap().clone();
        let changes_of = |host: &str| changes.iter().filter(|(_, line)| line.starts_with(host)).count();
        assert_eq!(changes[0], (0, "h2: none to h0".to_string()), "{routing:?}: {changes:?}");
        assert!(
            changes[1].1 == "h2: h0 to h1" && (36..42).contains(&changes[1].0),
            "{routing:?}: {changes:?}"
        );
        assert_eq!(changes_of("h2"), 2, "{routing:?}: {changes:?}");
        for flow in ["flow-0", "flow-1"] {
            let (sent, lost) = packets(&mut simulation, flow);
            assert!(sent >= 4400 && lost < sent / 10, "{routing:?}: {lost} of {sent} of {flow}");
        }
        assert!(counter(&mut simulation, "h1", "packets_relayed") > 3000, "{routing:?}");
    }
}

#[test]
fn a_download_goes_on_from_a_cell_over_relays_to_the_next_cell() {
    for routing in PROTOCOLS {
        let between = (1..10).map(|k| parked(200.0 * f64::from(k)));
        let car = drive(&[(0, 0.0), (10, 0.0), (110, 2000.0)]);
        let mut road = Road::new(routing, between.chain([car]).collect());
        let car = road.hosts[9];
        let flow = road.download(car, 20_000_000);
        road.plan.measure.interval = Some(Duration::from_secs(5));
        let mut simulation = road.run(1, 120);
        let result = simulation.result();
        let rates = &result.series.as_ref().unwrap().flows["download-0"].goodput_bps;
        let between: f64 = rates[6..18].iter().sum::<f64>() / 12.0;
        assert!(between > 20_000.0, "{routing:?}: {rates:?}");
        assert!(simulation.delivered_bytes(flow) > 5_000_000, "{routing:?}: {rates:?}");
        let car = &result.nodes["h9"];
        assert!(car["gateways_taken"] >= 2 && car["coverage_losses"] == 1, "{routing:?}: {car:?}");
    }
}

#[test]
fn relays_pay_from_the_battery_that_their_radios_share() {
    let mut road = Road::new(PROTOCOLS[0], [200.0, 400.0].map(parked).to_vec());
    let energy = EnergyConfig { idle_w: 0.01, ..EnergyConfig::ns2() };
    let batteries_j = vec![None, None, Some(2.0), Some(50.0)];
    road.radio().power = Some(Power { energy, batteries_j });
    let (server, far) = (road.server, road.hosts[1]);
    let flow = road.datagrams(server, far);
    let mut simulation = road.run(1, 200);
    assert!(simulation.delivered_bytes(flow) > 50_000, "while the relay lived");
    let balance = |simulation: &mut Simulation, host: &str| {
        ["energy_drawn_uj", "battery_left_uj"].map(|name| counter(simulation, host, name))
    };
    assert_eq!(balance(&mut simulation, "h0")[1], 0);
    for (host, capacity_uj) in [("h0", 2_000_000), ("h1", 50_000_000)] {
        let [drawn, left] = balance(&mut simulation, host);
        assert!((drawn + left).abs_diff(capacity_uj) <= 2, "{host}: {drawn} and {left}");
    }
    let (sent, lost) = packets(&mut simulation, "flow-0");
    assert!(lost > sent / 2, "{lost} of {sent}");
}

#[test]
fn captures_show_what_is_relayed_in_tunnels() {
    for routing in PROTOCOLS {
        let mut road = Road::new(routing, [200.0, 400.0].map(parked).to_vec());
        let far = road.hosts[1];
        road.download(far, 20_000);
        let bytes = SharedBytes::default();
        let options =
            SimulationOptions { capture: Some(Box::new(bytes.clone())), ..SimulationOptions::checked() };
        let mut simulation = Simulation::from_plan(&road.plan, Seed(1), options).unwrap();
        simulation.run_until(Instant::from_secs(60));
        simulation.finish().unwrap();
        let bytes = bytes.take();
        let capture = pcapng::read(&bytes).unwrap();
        let air = capture.interfaces.iter().position(|interface| interface.name == "air").unwrap();
        let mut tunnelled = 0;
        for packet in capture.packets.iter().filter(|packet| packet.interface == air) {
            let radiotap = usize::from(u16::from_le_bytes([packet.bytes[2], packet.bytes[3]]));
            let Some(outer) = packet.bytes[radiotap..].get(32..) else { continue };
            let Ok(ip) = IpPacket::parse(outer) else { continue };
            // Of protocols that put nothing between, the packet stands right behind the outer header.
            if ip.header.protocol == 4 {
                let inner = ip.payload(outer);
                assert_eq!(ip.total_bytes, outer.len());
                assert!(TcpPacket::parse(inner).is_ok(), "a segment as its receiver sees it");
                tunnelled += 1;
            }
        }
        let has_header = matches!(routing, Routing::Dsr(_));
        assert!(has_header || tunnelled > 28, "{routing:?}: {tunnelled}");
    }
}

proptest! {
    #![proptest_config(prismux_properties::cases(12))]

    /// Whoever moves where, every byte arrives once and in order, every packet is accounted for, and nothing hangs once
    /// the host is back in a cell.
    #[test]
    fn transfers_live_through_random_roads(
        stops in prop::collection::vec((1..30_u64, -300.0..2300.0_f64), 1..5),
        relays in prop::collection::vec((0.0..2000.0_f64, 0.0..2000.0_f64), 0..8),
        (protocol, gap_ms, forwards, seed) in (0..3_usize, 0..1000_u64, any::<bool>(), 0..1000_u64),
        relays_below_db in prop::option::of(0.0..30.0_f64),
    ) {
        let (mut at, mut places) = (0, vec![(0, 100.0)]);
        for (seconds, x_m) in stops {
            at += seconds;
            places.push((at, x_m));
        }
        places.push((at + 10, 100.0));
        let relays = relays.into_iter().map(|(from, to)| drive(&[(0, from), (60, to)]));
        let mut road = Road::new(PROTOCOLS[protocol], relays.chain([drive(&places)]).collect());
        let cells = road.radio().cells.as_mut().unwrap();
        (cells.association.gap, cells.forwards) = (Duration::from_millis(gap_ms), forwards);
        cells.relays_below_db = relays_below_db;
        let (server, car) = (road.server, *road.hosts.last().unwrap());
        road.download(car, 300_000);
        let upload = Flow::new("upload", car, server, Transport::Tcp).bytes(ByteCount::new(300_000));
        road.plan.flow(upload);
        let others = road.hosts[0];
        if others != car {
            let neighbour = road.datagrams(others, car);
            road.plan[neighbour].stop = Some(Duration::from_secs(60));
        }
        let play = || {
            let mut simulation = road.run(seed, 300);
            let bytes: Vec<u64> = (0..2).map(|flow| simulation.delivered_bytes(FlowId(flow))).collect();
            (format!("{:?}", simulation.result()), bytes)
        };
        let (result, bytes) = play();
        prop_assert_eq!(&bytes, &vec![300_000; 2], "{}", result);
        prop_assert_eq!(play(), (result, bytes));
    }
}
