//! DSR in networks of hosts that move, over links that lose, delay and reorder.
use prismux_adhoc::{Graph, Settings};
use prismux_dsr::{CacheKind, Dsr, DsrConfig, DsrHeader, DsrOption, DsrPacket, FlowHeader, RouteRequest};
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::Seed;
use prismux_routing::{Frame, Input, RoutingEndpoint};
use prismux_units::{Duration, Instant};
use std::net::Ipv4Addr;

fn graph(seed: u64, settings: Settings, config: DsrConfig) -> Graph<Dsr<u32>> {
    let mut graph = Graph::new(seed, settings, |address, random| Dsr::new(address, config, random));
    graph.watch_frames(no_host_twice);
    graph
}

fn profiles() -> [DsrConfig; 6] {
    let path = DsrConfig { cache: DsrConfig::ns2().cache, ..DsrConfig::rfc4728() };
    let (ns2, strict) = (DsrConfig::ns2(), DsrConfig::ns2_strict());
    [DsrConfig::rfc4728(), path, ns2, strict, DsrConfig::cache_off(), DsrConfig::cache_off_flood()]
}

/// Holds of every frame that its source route and the routes that it tells name no host twice.
fn no_host_twice(frame: &Frame<DsrHeader, u32>) {
    let packet = &frame.packet;
    let mut routes: Vec<Vec<Ipv4Addr>> = Vec::new();
    for option in &packet.header.options {
        match option {
            DsrOption::SourceRoute(route) => {
                let mut hosts = route.addresses.clone();
                hosts.push(packet.destination);
                routes.push(hosts);
            }
            DsrOption::RouteReply(reply) => {
                let mut hosts = reply.addresses.clone();
                hosts.push(packet.destination);
                routes.push(hosts);
            }
            DsrOption::RouteRequest(request) => {
                let mut hosts = request.addresses.clone();
                hosts.push(packet.source);
                routes.push(hosts);
            }
            _ => {}
        }
    }
    for route in routes {
        let mut hosts = route.clone();
        hosts.sort_unstable();
        hosts.dedup();
        assert_eq!(hosts.len(), route.len(), "a host twice in {route:?}");
    }
}

/// Sends a packet every 100 ms between changing pairs, for `seconds`.
fn converse(graph: &mut Graph<Dsr<u32>>, seconds: u64) {
    let hosts = graph.hosts.len();
    for packet in 0..seconds * 10 {
        let from = packet as usize % 3;
        graph.send(from, hosts - 1 - from, packet as u32);
        let end = graph.now() + Duration::from_millis(100);
        graph.run_until(end);
    }
}

#[test]
fn every_packet_is_delivered_dropped_or_still_there_whatever_the_network_does() {
    for seed in 0..8 {
        for config in profiles() {
            let settings = Settings {
                speed: 0.1,
                loss: 0.1,
                lost_acks: 0.05,
                max_delay: Duration::from_millis(40),
                promiscuous: seed % 2 == 0,
                ..Settings::default()
            };
            let mut graph = graph(seed, settings, config);
            converse(&mut graph, 20);
            graph.assert_nothing_vanished();
            let end = graph.now() + Duration::from_secs(600);
            graph.run_until(end);
            graph.assert_nothing_vanished();
            let account = &graph.account;
            let ended = account.delivered.union(&account.dropped).count();
            assert_eq!(ended, account.sent.len(), "seed {seed}: nothing waits for ever");
        }
    }
}

#[test]
fn in_a_still_network_without_losses_everything_arrives_that_can() {
    for seed in 0..8 {
        for config in profiles() {
            let mut graph = graph(seed, Settings::default(), config);
            converse(&mut graph, 5);
            let end = graph.now() + Duration::from_secs(60);
            graph.run_until(end);
            let last = graph.hosts.len() - 1;
            for &packet in &graph.account.sent {
                let (from, to) = (packet as usize % 3, last - packet as usize % 3);
                assert_eq!(
                    graph.account.delivered.contains(&packet),
                    graph.connects(from, to),
                    "seed {seed}, packet {packet}"
                );
            }
        }
    }
}

#[test]
fn a_chain_is_crossed_in_as_many_hops_as_it_has() {
    for config in profiles() {
        let mut graph = graph(1, Settings { hosts: 9, range: 0.11, ..Settings::default() }, config);
        graph.place(|host| (host as f64 * 0.1, 0.5));
        for packet in 0..20 {
            graph.send(0, 8, packet);
            let end = graph.now() + Duration::from_millis(500);
            graph.run_until(end);
        }
        assert_eq!(graph.account.delivered.len(), 20);
        assert_eq!(graph.account.hops, (160, 20));
    }
}

#[test]
fn a_break_costs_no_packet_where_there_is_another_way() {
    // A diamond: 0 - {1, 2} - 3; the route over whichever of 1 and 2 is used breaks.
    let settings = Settings { hosts: 4, range: 0.3, ..Settings::default() };
    let mut graph = graph(3, settings, DsrConfig::rfc4728());
    graph.place(|host| [(0.2, 0.5), (0.4, 0.6), (0.4, 0.4), (0.6, 0.5)][host]);
    for packet in 0..30 {
        if packet == 10 {
            graph.move_host(1, (0.4, 1.0));
        }
        if packet == 20 {
            graph.move_host(1, (0.4, 0.6));
            graph.move_host(2, (0.4, 0.0));
        }
        graph.send(0, 3, packet);
        let end = graph.now() + Duration::from_millis(200);
        graph.run_until(end);
    }
    assert_eq!(graph.account.delivered.len(), 30);
}

#[test]
fn runs_repeat_from_their_seed() {
    let run = || {
        let settings = Settings { speed: 0.1, loss: 0.1, ..Settings::default() };
        let mut graph = graph(5, settings, DsrConfig::ns2());
        converse(&mut graph, 10);
        let statistics: Vec<_> = graph.hosts.iter().map(|host| *host.statistics()).collect();
        (graph.account, statistics)
    };
    assert_eq!(run(), run());
}

#[test]
fn floods_of_forged_packets_fill_bounded_tables() {
    let links = CacheKind::Link { max_links: 256 };
    let [paths, links] =
        [DsrConfig::ns2().cache, links].map(|cache| DsrConfig { cache, ..DsrConfig::rfc4728() });
    for config in [paths, links, DsrConfig::ns2_strict()] {
        let mut random = Seed(9).stream("forger");
        let own = Ipv4Addr::new(10, 0, 0, 1);
        let mut dsr = Dsr::<u32>::new(own, config, Seed(9).stream("host"));
        let mut now = Instant::ZERO;
        for number in 0..20_000u32 {
            now += Duration::from_micros(100);
            let mut forged = || Ipv4Addr::from_bits(0x0b00_0000 | random.next_u64() as u32 & 0xffff);
            let (source, target, between, from) = (forged(), forged(), forged(), forged());
            let request =
                RouteRequest { identification: number as u16, target, addresses: vec![between, from] };
            let packet = DsrPacket {
                source,
                destination: Ipv4Addr::BROADCAST,
                identification: number as u16,
                hop_limit: 3,
                header: DsrHeader::with(vec![DsrOption::RouteRequest(request)]),
                payload: None,
            };
            dsr.handle_input(now, Input::Received { from, packet });
            let flow = FlowHeader::Numbered { hops: 1, number: number as u16 };
            let route = prismux_dsr::SourceRoute {
                segments_left: 1,
                addresses: vec![own],
                ..prismux_dsr::SourceRoute::default()
            };
            let packet = DsrPacket {
                source: from,
                destination: target,
                identification: number as u16,
                hop_limit: 3,
                header: DsrHeader { flow, options: vec![DsrOption::SourceRoute(route)] },
                payload: Some(number),
            };
            dsr.handle_input(now, Input::Overheard { from: source, to: between, packet: &packet });
            dsr.handle_input(now, Input::Received { from, packet });
            prismux_endpoint::expire(&mut dsr, now);
            while dsr.poll_transmit(now).is_some() {}
            while dsr.poll_event().is_some() {}
        }
        assert!(dsr.table_entries() <= 1500, "{}", dsr.table_entries());
        assert!(dsr.buffered_packets() <= 64);
    }
}
