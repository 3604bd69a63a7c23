//! AODV in networks of hosts that move, over links that lose, delay and reorder.
use prismux_adhoc::{Graph, Settings};
use prismux_aodv::{Aodv, AodvConfig, AodvHeader, AodvPacket, Rerr, Rrep, Rreq};
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::Seed;
use prismux_routing::{Input, RoutingEndpoint};
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;
use std::net::Ipv4Addr;

fn graph(seed: u64, settings: Settings, config: AodvConfig) -> Graph<Aodv<u32>> {
    Graph::new(seed, settings, |address, random| Aodv::new(address, config, random))
}

fn profiles() -> [AodvConfig; 4] {
    let hello = AodvConfig { hello: true, ..AodvConfig::rfc3561() };
    let acks = AodvConfig { ack_replies: true, destination_only: true, ..AodvConfig::rfc3561() };
    [AodvConfig::rfc3561(), hello, acks, AodvConfig::ns2()]
}

/// Sends a packet every 100 ms between changing pairs, for `seconds`; there are never loops.
fn converse(graph: &mut Graph<Aodv<u32>>, seconds: u64) {
    let hosts = graph.hosts.len();
    for packet in 0..seconds * 10 {
        let from = packet as usize % 4;
        graph.send(from, hosts - 1 - from, packet as u32);
        let end = graph.now() + Duration::from_millis(100);
        while graph.now() < end {
            let step = graph.now() + Duration::from_millis(20);
            graph.run_until(step);
            let now = graph.now();
            graph.assert_no_loops(|host, target| host.next_hop(now, target));
        }
    }
}

#[test]
fn there_are_no_loops_and_no_packet_vanishes_whatever_the_network_does() {
    for seed in 0..12 {
        for config in profiles() {
            let settings = Settings {
                speed: 0.15,
                loss: 0.15,
                lost_acks: 0.05,
                max_delay: Duration::from_millis(60),
                promiscuous: false,
                ..Settings::default()
            };
            let mut graph = graph(seed, settings, config);
            converse(&mut graph, 20);
            graph.assert_nothing_vanished();
            let end = graph.now() + Duration::from_secs(60);
            graph.run_until(end);
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
            let mut graph = graph(seed, Settings { promiscuous: false, ..Settings::default() }, config);
            converse(&mut graph, 5);
            let end = graph.now() + Duration::from_secs(60);
            graph.run_until(end);
            let last = graph.hosts.len() - 1;
            for &packet in &graph.account.sent {
                let (from, to) = (packet as usize % 4, last - packet as usize % 4);
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
            let end = graph.now() + Duration::from_secs(1);
            graph.run_until(end);
        }
        assert_eq!(graph.account.delivered.len(), 20);
        assert_eq!(graph.account.hops, (160, 20));
    }
}

#[test]
fn runs_repeat_from_their_seed() {
    let run = || {
        let settings = Settings { speed: 0.1, loss: 0.1, ..Settings::default() };
        let mut graph = graph(5, settings, AodvConfig::rfc3561());
        converse(&mut graph, 10);
        let statistics: Vec<_> = graph.hosts.iter().map(|host| *host.statistics()).collect();
        (graph.account, statistics)
    };
    assert_eq!(run(), run());
}

#[test]
fn floods_of_forged_messages_fill_bounded_tables() {
    let config = AodvConfig { ack_replies: true, ..AodvConfig::rfc3561() };
    let mut random = Seed(9).stream("forger");
    let own = Ipv4Addr::new(10, 0, 0, 1);
    let mut aodv = Aodv::<u32>::new(own, config, Seed(9).stream("host"));
    let mut now = Instant::ZERO;
    for number in 0..20_000u32 {
        now += Duration::from_micros(100);
        let mut forged = || Ipv4Addr::from_bits(0x0b00_0000 | random.next_u64() as u32 & 0xffff);
        let (originator, destination, from) = (forged(), forged(), forged());
        let (seq, lifetime) = (SeqNumber(number), Duration::from_secs(1_000_000));
        let header = match number % 4 {
            0 => AodvHeader::Rreq(Rreq {
                multicast_bits: 0,
                gratuitous: true,
                destination_only: false,
                hop_count: number as u8,
                id: number,
                destination: if number % 8 == 0 { own } else { destination },
                destination_seq: Some(seq),
                originator,
                originator_seq: seq,
            }),
            1 | 2 => AodvHeader::Rrep(Rrep {
                repair: false,
                ack_required: true,
                prefix_size: 0,
                hop_count: 0,
                destination: if number % 4 == 1 { from } else { destination },
                destination_seq: seq,
                originator,
                lifetime,
            }),
            _ => AodvHeader::Rerr(Rerr { no_delete: false, unreachable: vec![(destination, seq)] }),
        };
        let to = if number % 4 == 2 { own } else { Ipv4Addr::BROADCAST };
        let packet = AodvPacket {
            source: from,
            destination: to,
            identification: 0,
            hop_limit: 5,
            header,
            payload: None,
        };
        aodv.handle_input(now, Input::Received { from, packet });
        prismux_endpoint::expire(&mut aodv, now);
        while aodv.poll_transmit(now).is_some() {}
        while aodv.poll_event().is_some() {}
    }
    assert!(aodv.table_entries() <= 4000, "{}", aodv.table_entries());
}
