//! DSDV in networks of hosts that move, over links that lose, delay and reorder.
use prismux_adhoc::{Graph, Settings};
use prismux_dsdv::{Advertised, Dsdv, DsdvConfig, DsdvHeader, DsdvPacket};
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::Seed;
use prismux_routing::{Input, RoutingEndpoint};
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;
use std::net::Ipv4Addr;

fn graph(seed: u64, settings: Settings, config: DsdvConfig) -> Graph<Dsdv<u32>> {
    Graph::new(seed, settings, |address, random| Dsdv::new(Instant::ZERO, address, config, random))
}

fn profiles() -> [DsdvConfig; 4] {
    let told = DsdvConfig { link_layer_feedback: true, ..DsdvConfig::ns2() };
    [DsdvConfig::sigcomm1994(), DsdvConfig::ns2(), DsdvConfig::dsdv_sq(), told]
}

fn converse(graph: &mut Graph<Dsdv<u32>>, packets: u32) {
    let hosts = graph.hosts.len();
    for packet in 0..packets {
        let from = packet as usize % 4;
        graph.send(from, hosts - 1 - from, packet);
        let end = graph.now() + Duration::from_millis(200);
        while graph.now() < end {
            let step = graph.now() + Duration::from_millis(20);
            graph.run_until(step);
            graph.assert_no_loops(|host, target| host.next_hop(target));
        }
    }
}

#[test]
fn there_are_no_loops_and_no_packet_vanishes_whatever_the_network_does() {
    for seed in 0..10 {
        for config in profiles() {
            let settings = Settings {
                speed: 0.1,
                loss: 0.15,
                lost_acks: 0.05,
                max_delay: Duration::from_millis(60),
                promiscuous: false,
                ..Settings::default()
            };
            let mut graph = graph(seed, settings, config);
            converse(&mut graph, 300);
            graph.assert_nothing_vanished();
            assert!(!graph.account.delivered.is_empty());
        }
    }
}

/// Hosts that one host believes in reach, against the truth: nobody too much or too few, and never fewer hops than
/// there are. Whether the hops are right is entered into `right`.
fn compare(graph: &Graph<Dsdv<u32>>, seed: u64, right: &mut [Vec<bool>]) {
    for (from, right) in right.iter_mut().enumerate() {
        for to in (0..graph.hosts.len()).filter(|&to| to != from) {
            let known = graph.hosts[from].metric(graph.hosts[to].address()).map(|hops| hops as usize);
            let distance = graph.distance(from, to);
            let place = format!("seed {seed}, from {from} to {to} at {:?}", graph.now());
            assert_eq!(known.is_some(), distance.is_some(), "{place}");
            assert!(known >= distance, "{place}");
            right[to] |= known == distance;
        }
    }
}

#[test]
fn a_still_network_knows_everybody_and_again_and_again_the_shortest_ways() {
    for seed in 0..6 {
        for config in profiles() {
            let mut graph = graph(seed, Settings { promiscuous: false, ..Settings::default() }, config);
            let hosts = graph.hosts.len();
            let mut right = vec![vec![false; hosts]; hosts];
            // A new number may come over a longer way first.
            for second in 180..240 {
                graph.run_until(Instant::from_secs(second));
                compare(&graph, seed, &mut right);
            }
            for (from, row) in right.iter().enumerate() {
                assert!(
                    row.iter().enumerate().all(|(to, right)| *right || to == from),
                    "seed {seed}, {from}"
                );
            }
        }
    }
}

#[test]
fn a_neighbour_that_falls_silent_is_missed_after_three_updates() {
    // Nobody sends data, so that no MAC layer can tell.
    let settings = Settings { hosts: 3, range: 0.3, ..Settings::default() };
    let mut graph = graph(1, settings, DsdvConfig::ns2());
    graph.place(|host| (0.1 + 0.2 * host as f64, 0.5));
    graph.run_until(Instant::from_secs(60));
    let last = graph.hosts[2].address();
    assert_eq!([0, 1].map(|host| graph.hosts[host].metric(last)), [Some(2), Some(1)]);
    graph.move_host(2, (0.5, 1.0));
    graph.run_until(Instant::from_secs(85));
    assert_eq!(graph.hosts[1].metric(last), Some(1), "two updates at most were missed");
    graph.run_until(Instant::from_secs(107));
    assert_eq!([0, 1].map(|host| graph.hosts[host].metric(last)), [None, None]);
}

#[test]
fn hosts_in_a_line_know_each_other_once_first_routes_have_settled() {
    for seed in 0..20 {
        let settings = Settings { hosts: 4, range: 0.3, ..Settings::default() };
        let mut graph = graph(seed, settings, DsdvConfig::sigcomm1994());
        graph.place(|host| (0.1 + 0.2 * host as f64, 0.5));
        // Twice the first settling time at each of the two between, after up to an interval until its neighbour speaks.
        graph.run_until(Instant::from_secs(2 * 12 + 15 + 2));
        let ends = [0, 3].map(|host| graph.hosts[host].metric(graph.hosts[3 - host].address()));
        assert_eq!(ends, [Some(3), Some(3)], "seed {seed}");
    }
}

#[test]
fn runs_repeat_from_their_seed() {
    let run = || {
        let settings = Settings { speed: 0.1, loss: 0.1, ..Settings::default() };
        let mut graph = graph(5, settings, DsdvConfig::dsdv_sq());
        converse(&mut graph, 100);
        let statistics: Vec<_> = graph.hosts.iter().map(|host| *host.statistics()).collect();
        (graph.account, statistics)
    };
    assert_eq!(run(), run());
}

#[test]
fn floods_of_forged_updates_fill_bounded_tables() {
    let mut random = Seed(9).stream("forger");
    let own = Ipv4Addr::new(10, 0, 0, 1);
    let mut dsdv = Dsdv::<u32>::new(Instant::ZERO, own, DsdvConfig::ns2(), Seed(9).stream("host"));
    let mut now = Instant::ZERO;
    for number in 0..5_000u32 {
        now += Duration::from_micros(100);
        let mut forged = || Ipv4Addr::from_bits(0x0b00_0000 | random.next_u64() as u32 & 0xffff);
        let (destination, from, unknown) = (forged(), forged(), forged());
        let entry = Advertised { destination, metric: number % 251, seq: SeqNumber(number) };
        let header = DsdvHeader::Update(vec![entry]);
        let packet = DsdvPacket {
            source: from,
            destination: Ipv4Addr::BROADCAST,
            identification: 0,
            hop_limit: 1,
            header,
            payload: None,
        };
        dsdv.handle_input(now, Input::Received { from, packet });
        let header = DsdvHeader::Data;
        let packet = DsdvPacket {
            source: from,
            destination: unknown,
            identification: 0,
            hop_limit: 9,
            header,
            payload: Some(number),
        };
        dsdv.handle_input(now, Input::Received { from, packet });
        while dsdv.poll_transmit(now).is_some() {}
        while dsdv.poll_event().is_some() {}
    }
    assert!(dsdv.table_entries() <= 1024, "{}", dsdv.table_entries());
    assert!(dsdv.buffered_packets() <= 256 * 5, "{}", dsdv.buffered_packets());
}
