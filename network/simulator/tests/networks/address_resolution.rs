//! Hosts that ask which radio has the address of a neighbour.
use prismux_aodv::AodvConfig;
use prismux_dsdv::DsdvConfig;
use prismux_dsr::DsrConfig;
use prismux_endpoint::random::Seed;
use prismux_plan::{Flow, MediumModel, NodeId, Plan, Radio, Routing, Traffic, Transport};
use prismux_simulator::{MediumId, RadioMedium, Simulation, SimulationOptions};
use prismux_trace::SharedBytes;
use prismux_trace::event::{DropReason, Event, EventSink};
use prismux_trace::pcapng;
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wireless::{
    AddressResolution, Area, MacConfig, Mobility, Position, RadioConfig, RandomWaypoint, WaypointStart,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

const END: Instant = Instant::from_secs(20);

/// What was told: frames by kind, and drops by reason.
#[derive(Clone, Default)]
struct Counts {
    frames: BTreeMap<String, u64>,
    drops: BTreeMap<DropReason, u64>,
}

#[derive(Clone, Default)]
struct Told(Arc<Mutex<Counts>>);

impl EventSink for Told {
    fn event(&mut self, _: Instant, event: &Event<'_>) {
        let Counts { frames, drops } = &mut *self.0.lock().unwrap();
        match event {
            Event::FrameSent { kind, .. } => *frames.entry(kind.to_string()).or_default() += 1,
            Event::PacketDropped { reason, .. } => *drops.entry(*reason).or_default() += 1,
            _ => {}
        }
    }
}

/// Hosts h0, h1, ... of which the first sends 500 kbit/s of datagrams to the last.
fn network(mobility: Vec<Mobility>, routing: Routing, address_resolution: AddressResolution) -> Plan {
    let mut plan = Plan::new("resolution", Duration::from_secs(20));
    let hosts: Vec<NodeId> = (0..mobility.len()).map(|index| plan.host(&format!("h{index}"))).collect();
    let radio = Radio::new(
        RadioConfig::wavelan(),
        MacConfig { address_resolution, ..MacConfig::ns2() },
        mobility,
        routing,
    );
    plan.medium("air", &hosts, MediumModel::Radio(Box::new(radio)));
    let traffic = Traffic::Cbr { rate: Rate::from_kbps(500), packet: ByteCount::new(500) };
    plan.flow(Flow::new("cbr", hosts[0], hosts[hosts.len() - 1], Transport::Udp).traffic(traffic));
    plan
}

fn still(places_m: &[f64]) -> Vec<Mobility> {
    places_m.iter().map(|&x_m| Mobility::Static(Position { x_m, y_m: 0.0 })).collect()
}

/// Requests, replies and packets lost by it, of all hosts.
fn counted(simulation: &Simulation, hosts: usize) -> [u64; 3] {
    let air = simulation.medium_as::<RadioMedium>(MediumId::new(0)).unwrap();
    let stats = (0..hosts).map(|host| air.stats(END, NodeId::new(host)));
    stats.fold([0; 3], |[asked, answered, lost], one| {
        [asked + one.arp_requests, answered + one.arp_replies, lost + one.packets_unresolved]
    })
}

#[test]
fn every_packet_has_an_end_whoever_routes_and_neighbours_are_asked_for() {
    let model = RandomWaypoint {
        area: Area { width_m: 900.0, height_m: 600.0 },
        min_speed_m_per_s: 5.0,
        max_speed_m_per_s: 30.0,
        pause: Duration::ZERO,
        start: WaypointStart::Steady,
    };
    let protocols = [
        Routing::Direct,
        Routing::Dsr(DsrConfig::ns2()),
        Routing::Aodv(AodvConfig::ns2()),
        Routing::Dsdv(DsdvConfig::ns2()),
    ];
    for routing in protocols {
        for resolution in [AddressResolution::Arp, AddressResolution::Ns2] {
            let mobility = vec![Mobility::RandomWaypoint(model); 15];
            let plan = network(mobility, routing, resolution);
            let mut simulation = Simulation::from_plan(&plan, Seed(1), SimulationOptions::checked()).unwrap();
            simulation.run_until(END);
            assert_eq!(simulation.faults(), Vec::<String>::new(), "{routing:?}, {resolution:?}");
            let [asked, answered, _] = counted(&simulation, 15);
            assert!(asked > 0 && (answered > 0 || routing == Routing::Direct), "{routing:?}, {resolution:?}");
        }
    }
}

#[test]
fn messages_and_what_they_cost_are_told() {
    // Nobody is where the datagrams go: all but those that fail or wait are lost while it is asked for.
    let plan = network(still(&[0.0, 9000.0]), Routing::Direct, AddressResolution::Arp);
    let told = Told::default();
    let options = SimulationOptions { events: Some(Box::new(told.clone())), ..SimulationOptions::checked() };
    let mut simulation = Simulation::from_plan(&plan, Seed(1), options).unwrap();
    simulation.run_until(END);
    let [asked, answered, lost] = counted(&simulation, 2);
    let Counts { frames, drops } = told.0.lock().unwrap().clone();
    assert_eq!((asked, answered, frames["arp"]), (21, 0, 20), "three in three seconds; the last is to begin");
    let failed = drops[&DropReason::Unanswered];
    assert_eq!(failed, 6, "one after each three questions");
    assert_eq!(drops[&DropReason::Unresolved] + failed, lost);
    let result = simulation.result();
    assert_eq!(result.nodes["h0"].get("packets_unresolved"), Some(&lost));
    assert_eq!(result.nodes["h0"].get("arp_requests"), Some(&asked));
}

#[test]
fn a_capture_has_the_messages_as_arp() {
    let plan = network(still(&[0.0, 100.0]), Routing::Direct, AddressResolution::Arp);
    let bytes = SharedBytes::default();
    let options =
        SimulationOptions { capture: Some(Box::new(bytes.clone())), ..SimulationOptions::checked() };
    let mut simulation = Simulation::from_plan(&plan, Seed(1), options).unwrap();
    simulation.run_until(Instant::from_secs(1));
    simulation.finish().unwrap();
    let bytes = bytes.take();
    let frames: Vec<Vec<u8>> =
        pcapng::read(&bytes).unwrap().packets.into_iter().map(|packet| packet.bytes.to_vec()).collect();
    // Behind radiotap and MAC header.
    let body = |frame: &[u8]| frame.get(14 + 24..).unwrap_or_default().to_vec();
    let arp: Vec<Vec<u8>> =
        frames.iter().map(|frame| body(frame)).filter(|body| body.get(6..8) == Some(&[8, 6])).collect();
    let [question, answer] = &arp[..] else { panic!("{} messages", arp.len()) };
    assert_eq!((question.len(), answer.len()), (8 + 28, 8 + 28));
    assert_eq!((question[15], answer[15]), (1, 2), "request and reply");
    assert_eq!((&question[22..26], &question[32..36]), (&[10, 0, 0, 1][..], &[10, 0, 0, 2][..]));
    assert_eq!((&answer[22..26], &answer[32..36]), (&[10, 0, 0, 2][..], &[10, 0, 0, 1][..]));
}
