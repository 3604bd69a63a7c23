//! The cell as an endpoint: under every way to share the channel each packet arrives once and where it was going, or is
//! still inside, whatever comes when, from whom, and wherever hosts move.
use prismux_cellular::slots::{Access, CellConfig, CellEndpoint, Change, Destination, Flow, Range};
use prismux_cellular::{DualModeSettings, PowerModel};
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant, Rate};
use prismux_wireless::{Area, Mobility, Movement, Position, RandomWaypoint, WaypointStart};
use proptest::prelude::*;
use std::collections::BTreeMap;

const HOSTS: usize = 12;
const SIDE_M: f64 = 600.0;
const PACKET_BYTES: u32 = 1000;

/// What stands beside the base station.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Surroundings {
    stations: usize,
    access_points: usize,
    max_speed_m_per_s: f64,
    range: Range,
}

/// Every access, with stations or access points where these have a part in it.
fn accesses() -> Vec<(Access, usize, usize)> {
    let settings = DualModeSettings { monitor: Duration::from_secs(1), ..DualModeSettings::default() };
    let dual_mode = Access::DualMode { settings, reference: Rate::from_kbps(300) };
    let assisted = Access::Assisted { period_slots: 20 };
    vec![
        (Access::Polled { overhead: 0.05 }, 0, 0),
        (assisted, 0, 0),
        (assisted, 2, 0),
        (Access::Contention, 0, 0),
        (Access::Contention, 2, 0),
        (dual_mode, 0, 0),
        (dual_mode, 2, 0),
        (dual_mode, 0, 2),
        (Access::Interworking, 0, 2),
    ]
}

fn cell(access: Access, around: Surroundings, seed: Seed) -> CellEndpoint<u32> {
    let config = CellConfig {
        stations: around.stations,
        access_points: around.access_points,
        moves: around.max_speed_m_per_s > 0.0,
        range: around.range,
        base_range_m: SIDE_M,
        access_point_range_m: 150.0,
        update: Duration::from_millis(500),
        ..CellConfig::new(HOSTS)
    };
    let area = Area { width_m: SIDE_M, height_m: SIDE_M };
    let fixed = [(300.0, 300.0), (100.0, 500.0), (500.0, 100.0)];
    let movement = |place: usize| {
        let mobility = if place >= HOSTS {
            let (x_m, y_m) = fixed[place - HOSTS];
            Mobility::Static(Position { x_m, y_m })
        } else if around.max_speed_m_per_s > 0.0 {
            Mobility::RandomWaypoint(RandomWaypoint {
                area,
                min_speed_m_per_s: around.max_speed_m_per_s / 10.0,
                max_speed_m_per_s: around.max_speed_m_per_s,
                pause: Duration::ZERO,
                start: WaypointStart::Uniform,
            })
        } else {
            Mobility::Anywhere(area)
        };
        Movement::new(mobility, seed.stream(&format!("test/{place}"))).expect("a movement")
    };
    let movements = (0..config.places()).map(movement).collect();
    CellEndpoint::new(&config, access, movements, seed)
}

/// A cell with all that has gone in, and where it is to come out.
struct Ledger {
    cell: CellEndpoint<u32>,
    flows: BTreeMap<Flow, usize>,
    destinations: Vec<Destination>,
    arrived: Vec<bool>,
    /// Over which place each host is reached.
    entrances: Vec<usize>,
}

impl Ledger {
    fn new(cell: CellEndpoint<u32>) -> Self {
        let entrances = vec![HOSTS; HOSTS];
        Self { cell, flows: BTreeMap::new(), destinations: Vec::new(), arrived: Vec::new(), entrances }
    }

    fn flow(&mut self, flow: Flow) -> usize {
        let cell = &mut self.cell;
        *self.flows.entry(flow).or_insert_with(|| cell.open(flow))
    }

    /// A packet from one host to another; from outside without a source, to the outside without a destination.
    fn send(&mut self, source: Option<usize>, to: Option<usize>) {
        let destination = to.map_or(Destination::Outside, Destination::Host);
        let source = match (source, to) {
            (Some(source), _) => source,
            (None, Some(host)) => self.entrances[host],
            (None, None) => return,
        };
        if destination == Destination::Host(source) {
            return;
        }
        let flow = self.flow(Flow { source, destination });
        self.cell.send(flow, PACKET_BYTES, self.destinations.len() as u32);
        self.destinations.push(destination);
        self.arrived.push(false);
    }

    /// A slot passes; what enters elsewhere from now on goes there.
    fn pass(&mut self) {
        let now = self.cell.poll_timeout();
        self.cell.handle_timeout(now);
        while let Some(Change { host, from, to }) = self.cell.poll_change() {
            assert_eq!(std::mem::replace(&mut self.entrances[host], to), from);
            let destination = Destination::Host(host);
            let old = self.flow(Flow { source: from, destination });
            let new = self.flow(Flow { source: to, destination });
            while let Some(payload) = self.cell.withdraw(old) {
                self.cell.send(new, PACKET_BYTES, payload);
            }
        }
        assert_eq!(self.cell.poll_arrival(now), None, "nothing arrives before its slot has passed");
        while let Some(arrival) = self.cell.poll_arrival(self.cell.poll_timeout()) {
            let packet = arrival.payload as usize;
            assert!(!std::mem::replace(&mut self.arrived[packet], true), "packet {packet} arrives twice");
            match self.destinations[packet] {
                Destination::Host(host) if arrival.place < HOSTS => assert_eq!(arrival.place, host),
                // An access point hands on by wire what a host in its range sends to another host.
                Destination::Host(host) => {
                    let flow = self
                        .flow(Flow { source: self.entrances[host], destination: Destination::Host(host) });
                    self.arrived[packet] = false;
                    self.cell.send(flow, PACKET_BYTES, arrival.payload);
                }
                Destination::Outside => assert!(arrival.place >= HOSTS, "it has left the cell"),
            }
        }
        let under_way = self.arrived.iter().filter(|arrived| !**arrived).count();
        assert_eq!(self.cell.packets_inside(), under_way, "what has not arrived is inside");
    }
}

proptest! {
    #![proptest_config(prismux_properties::cases(24))]

    #[test]
    fn every_packet_arrives_once_where_it_was_going_or_is_inside(
        seed in 1_u64..1000,
        max_speed_m_per_s in prop_oneof![Just(0.0), 1.0..60.0_f64],
        range in prop_oneof![Just(Range::Least), (80.0..300.0_f64).prop_map(Range::Fixed)],
        packets in prop::collection::vec((0_u32..300, 0..=HOSTS, 0..=HOSTS), 1..200),
    ) {
        for (access, stations, access_points) in accesses() {
            let around = Surroundings { stations, access_points, max_speed_m_per_s, range };
            let mut ledger = Ledger::new(cell(access, around, Seed(seed)));
            for slot in 0..600 {
                for &(_, source, to) in packets.iter().filter(|(at, ..)| *at == slot) {
                    let host = |host: usize| (host < HOSTS).then_some(host);
                    ledger.send(host(source), host(to));
                }
                ledger.pass();
            }
            let counts = ledger.cell.counts();
            let sums = |count: fn(&prismux_cellular::slots::HostCounts) -> u64| {
                counts.places.iter().map(count).sum::<u64>()
            };
            prop_assert_eq!(sums(|place| place.lost), counts.lost);
            prop_assert_eq!(sums(|place| place.refused), counts.refused);
            prop_assert_eq!(sums(|place| place.direct), counts.direct);
            prop_assert!(sums(|place| place.sent + place.relayed) >= counts.hops);
        }
    }

    /// Where everybody stays and is connected, nothing stays inside for long.
    #[test]
    fn a_cell_at_rest_carries_all_that_it_was_given(
        seed in 1_u64..1000,
        packets in prop::collection::vec((0..=HOSTS, 0..=HOSTS), 1..60),
    ) {
        for (access, stations, access_points) in accesses() {
            let around =
                Surroundings { stations, access_points, max_speed_m_per_s: 0.0, range: Range::Least };
            let mut ledger = Ledger::new(cell(access, around, Seed(seed)));
            ledger.pass();
            for &(source, to) in &packets {
                let host = |host: usize| (host < HOSTS).then_some(host);
                ledger.send(host(source), host(to));
            }
            for _ in 0..4000 {
                ledger.pass();
            }
            prop_assert_eq!(ledger.cell.packets_inside(), 0, "{:?}, {:?}", access, around);
        }
    }
}

#[test]
fn packets_from_outside_take_a_slot_in_a_polled_cell_and_a_slot_for_each_hop_among_peers() {
    let line = |access: Access| {
        // Two hosts in a row beside the base station, 100 m from one to the next.
        let places = [(200.0, 0.0), (100.0, 0.0), (0.0, 0.0)];
        let movement = |(x_m, y_m)| {
            let stays = Mobility::Static(Position { x_m, y_m });
            Movement::new(stays, Seed(1).stream("test")).expect("a place")
        };
        let config = CellConfig { range: Range::Least, base_range_m: 200.0, ..CellConfig::new(2) };
        let mut cell = CellEndpoint::new(&config, access, places.map(movement).into(), Seed(1));
        let flow = cell.open(Flow { source: 2, destination: Destination::Host(0) });
        cell.send(flow, 40, "down");
        let mut arrival = None;
        while arrival.is_none() {
            cell.handle_timeout(cell.poll_timeout());
            arrival = cell.poll_arrival(cell.poll_timeout());
        }
        let arrival = arrival.expect("it arrives");
        assert_eq!((arrival.place, arrival.payload), (0, "down"));
        (cell.poll_timeout(), cell.counts().drawn_w_slots(0), cell.counts().drawn_w_slots(1))
    };
    let slots = |count: u64| Instant::ZERO + Duration::from_millis(4) * count;
    let (send_w, receive_w) = (PowerModel::NS2.send_w(100.0), PowerModel::NS2.receive_w);
    let (at, far_w, near_w) = line(Access::Polled { overhead: 0.0 });
    assert_eq!(at, slots(1));
    assert_eq!((far_w, near_w), (receive_w, receive_w), "both hear the base station");
    for access in [Access::Contention, Access::Assisted { period_slots: 10 }] {
        let (at, far_w, near_w) = line(access);
        assert_eq!(at, slots(2), "{access:?}");
        assert!((far_w - receive_w).abs() < 1e-9, "{access:?}: {far_w}");
        assert!((near_w - receive_w - send_w).abs() < 1e-6, "{access:?}: {near_w}");
    }
}
