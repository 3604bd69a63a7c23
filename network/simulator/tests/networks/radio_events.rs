//! What an event log tells of a radio medium.
use prismux_dsr::DsrConfig;
use prismux_endpoint::random::Seed;
use prismux_plan::{Flow, MediumModel, NodeId, Plan, Power, Radio, Routing, Traffic, Transport};
use prismux_simulator::{MediumId, RadioMedium, Simulation, SimulationOptions};
use prismux_trace::event::{DropReason, Event, EventSink, Packet};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wireless::{EnergyConfig, MacConfig, RadioConfig, parse_csv};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// By host and kind: frames with and without a flow. By host: where it was when.
#[derive(Debug, Clone, Default)]
struct Told {
    frames: BTreeMap<(String, String), [u64; 2]>,
    places: BTreeMap<String, Vec<(Instant, f64, f64)>>,
    /// By host.
    states: BTreeMap<String, Vec<State>>,
    /// By number of the packet.
    ways: BTreeMap<u64, Way>,
    lost: u64,
}

/// What was told of one packet.
#[derive(Debug, Clone, Default)]
struct Way {
    originated: Vec<String>,
    queued: Vec<String>,
    /// Sender and receiver of each frame.
    frames: Vec<(String, String)>,
    lost: Vec<(String, String)>,
    arrived: Vec<String>,
    dropped: Vec<DropReason>,
}

/// When, packets that wait, energy drawn and left in microjoules.
type State = (Instant, u64, [Option<u64>; 2]);

#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Told>>);

impl EventSink for Listener {
    fn event(&mut self, now: Instant, event: &Event<'_>) {
        let mut told = self.0.lock().unwrap();
        match event {
            Event::FrameSent { medium, from, to, kind, flow, number, .. } => {
                assert_eq!(medium, "air");
                assert!(number.is_some() || flow.is_none(), "packets of flows have numbers");
                assert!(number.is_none() || flow.is_some() || kind == "rts", "{kind}");
                if let (Some(number), Some(to), "data") = (number, to, &**kind) {
                    told.ways.entry(*number).or_default().frames.push((from.to_string(), to.to_string()));
                }
                let counts = told.frames.entry((from.to_string(), kind.to_string())).or_default();
                counts[usize::from(flow.is_none())] += 1;
            }
            Event::HostMoved { node, x_m, y_m } => {
                told.places.entry(node.to_string()).or_default().push((now, *x_m, *y_m));
            }
            Event::HostState { node, waiting_packets, drawn_uj, battery_uj } => {
                let state = (now, *waiting_packets, [*drawn_uj, *battery_uj]);
                told.states.entry(node.to_string()).or_default().push(state);
            }
            Event::PacketOriginated { node, packet } => {
                let number = packet.number.unwrap();
                told.ways.entry(number).or_default().originated.push(node.to_string());
            }
            Event::PacketQueued { node, number } => {
                told.ways.entry(*number).or_default().queued.push(node.to_string());
            }
            Event::FrameLost { from, to, number, .. } => {
                told.lost += 1;
                told.ways.entry(*number).or_default().lost.push((from.to_string(), to.to_string()));
            }
            Event::PacketArrived { node, number } => {
                told.ways.entry(*number).or_default().arrived.push(node.to_string());
            }
            Event::PacketDropped { packet: Packet { number: Some(number), .. }, reason, .. } => {
                told.ways.entry(*number).or_default().dropped.push(*reason);
            }
            _ => {}
        }
    }
}

/// Host a stays; b walks away from it at 10 m/s in the seconds 1 to 2, and stands still then.
fn network() -> Plan {
    let mut plan = Plan::new("told", Duration::from_secs(5));
    let hosts: Vec<NodeId> = ["a", "b"].map(|name| plan.host(name)).to_vec();
    let places = "0,0,0,0\n0,1,100,0\n1,1,100,0\n2,1,110,0\n";
    let radio = Radio::new(
        RadioConfig::wavelan(),
        MacConfig::ns2(),
        parse_csv("places", places, 2).unwrap(),
        Routing::Direct,
    );
    plan.medium("air", &hosts, MediumModel::Radio(Box::new(radio)));
    let traffic = Traffic::Cbr { rate: Rate::from_bps(80_000), packet: ByteCount::new(500) };
    plan.flow(Flow::new("calls", hosts[0], hosts[1], Transport::Udp).traffic(traffic));
    plan
}

#[test]
fn every_frame_is_told_and_every_place_of_a_host_on_its_way() {
    let listener = Listener::default();
    let options =
        SimulationOptions { events: Some(Box::new(listener.clone())), ..SimulationOptions::checked() };
    let mut simulation = Simulation::from_plan(&network(), Seed(1), options).unwrap();
    let end = Instant::from_secs(5);
    simulation.run_until(end);
    let told = listener.0.lock().unwrap().clone();
    let air = simulation.medium_as::<RadioMedium>(MediumId::new(0)).unwrap();
    for (node, name) in ["a", "b"].into_iter().enumerate() {
        let of_host = told.frames.iter().filter(|((from, _), _)| from == name);
        let sent: u64 = of_host.flat_map(|(_, counts)| counts).sum();
        assert_eq!(sent, air.stats(end, NodeId::new(node)).frames_sent(), "{name}");
    }
    let count = |from: &str, kind: &str| told.frames[&(from.to_string(), kind.to_string())];
    let [data, without_flow] = count("a", "data");
    assert!(data > 90 && without_flow == 0, "20 packets a second belong to the flow: {data}");
    assert_eq!(count("b", "ack"), [0, data]);
    assert_eq!(told.places["a"], [(Instant::ZERO, 0.0, 0.0)]);
    let walk = [(0, 100.0), (1250, 102.5), (1500, 105.0), (1750, 107.5), (2000, 110.0)];
    let walk = walk.map(|(millis, x_m)| (Instant::from_millis(millis), x_m, 0.0));
    assert_eq!(told.places["b"], walk);
}

#[test]
fn queues_are_told_when_they_change_and_energy_every_second() {
    let mut plan = network();
    let MediumModel::Radio(radio) = &mut plan.media[0].model else { unreachable!() };
    radio.power = Some(Power { energy: EnergyConfig::ns2(), batteries_j: vec![None, Some(50.0)] });
    // More than the air carries: the queue of a fills and stays full.
    plan.flows[0].traffic = Traffic::Cbr { rate: Rate::from_mbps(8), packet: ByteCount::new(1000) };
    let listener = Listener::default();
    let options =
        SimulationOptions { events: Some(Box::new(listener.clone())), ..SimulationOptions::checked() };
    let mut simulation = Simulation::from_plan(&plan, Seed(1), options).unwrap();
    let end = Instant::from_secs(5);
    simulation.run_until(end);
    let states = listener.0.lock().unwrap().states.clone();
    let air = simulation.medium_as::<RadioMedium>(MediumId::new(0)).unwrap();
    let most = states["a"].iter().map(|(_, waiting, _)| *waiting).max();
    assert_eq!(most, Some(51), "fifty in the queue and one on its way");
    for (node, name) in ["a", "b"].into_iter().enumerate() {
        let stats = air.stats(end, NodeId::new(node));
        let (at, _, energy) = states[name].last().unwrap();
        assert_eq!(*at, end);
        assert_eq!(
            *energy,
            [Some(stats.drawn_nj / 1000), stats.battery_nj.map(|left| left / 1000)],
            "{name}"
        );
        let told = states[name].iter().filter(|(_, _, [drawn, _])| drawn.is_some()).count();
        assert_eq!(told, 6, "at the beginning and at the end of each second: {name}");
    }
    assert!(states["b"].iter().all(|(_, waiting, _)| *waiting == 0));
}

/// Three hosts in a row, of which the outer ones do not hear one another, and two flows towards each other: frames of
/// the outer hosts collide at the middle one.
fn row() -> Plan {
    let mut plan = Plan::new("row", Duration::from_secs(4));
    let hosts: Vec<NodeId> = ["a", "b", "c"].map(|name| plan.host(name)).to_vec();
    // Without RTS, hidden hosts collide.
    let radio = Radio::new(
        RadioConfig::wavelan(),
        MacConfig { rts_threshold_bytes: u32::MAX, ..MacConfig::ns2() },
        parse_csv("places", "0,0,0,0\n0,1,240,0\n0,2,480,0\n", 3).unwrap(),
        Routing::Dsr(DsrConfig::ns2()),
    );
    plan.medium("air", &hosts, MediumModel::Radio(Box::new(radio)));
    let traffic = Traffic::Cbr { rate: Rate::from_bps(400_000), packet: ByteCount::new(500) };
    for (name, from, to) in [("there", 0, 2), ("back", 2, 0)] {
        plan.flow(Flow::new(name, hosts[from], hosts[to], Transport::Udp).traffic(traffic.clone()));
    }
    plan
}

#[test]
fn a_packet_keeps_its_number_from_hop_to_hop_and_its_end_is_told() {
    let listener = Listener::default();
    let options =
        SimulationOptions { events: Some(Box::new(listener.clone())), ..SimulationOptions::checked() };
    let mut simulation = Simulation::from_plan(&row(), Seed(1), options).unwrap();
    simulation.run_until(Instant::from_secs(4));
    let told = listener.0.lock().unwrap().clone();
    let (mut arrived, mut dropped, mut under_way) = (0, 0, 0);
    for (number, way) in &told.ways {
        let Way { originated, queued, frames, lost, arrived: ends, dropped: reasons } = way;
        assert_eq!(originated.len(), 1, "packet {number} sets out once: {way:?}");
        let (source, sink) = if originated[0] == "a" { ("a", "c") } else { ("c", "a") };
        assert!(frames.iter().all(|(from, _)| queued.contains(from)), "{way:?}");
        // Whatever came over a hop went over it in a frame that was not lost.
        let made = |from: &str, to: &str| {
            let hop = (from.to_string(), to.to_string());
            let count = |hops: &[(String, String)]| hops.iter().filter(|one| **one == hop).count();
            count(frames) > count(lost)
        };
        if queued.iter().any(|host| host == "b") {
            assert!(made(source, "b"), "packet {number} waits at b: {way:?}");
        }
        match (ends.first(), reasons.first()) {
            (Some(end), _) => {
                assert_eq!(end, sink, "packet {number}");
                assert!(made(source, "b") && made("b", sink), "packet {number} arrives: {way:?}");
                arrived += 1;
            }
            (None, Some(_)) => dropped += 1,
            (None, None) => under_way += 1,
        }
    }
    assert!(arrived > 100 && told.lost > 40, "{arrived} arrived, {} frames were lost", told.lost);
    // What the queues hold, and what waits for a route.
    assert!(under_way < 200, "{arrived} arrived, {dropped} were dropped, {under_way} are under way");
    let sent =
        told.frames.iter().filter(|((_, kind), _)| kind == "data").map(|(_, [flow, _])| flow).sum::<u64>();
    let counted: usize = told.ways.values().map(|way| way.frames.len()).sum();
    assert_eq!(counted as u64, sent, "every frame with a packet of a flow has its number");
}
