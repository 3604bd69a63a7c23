//! What real networks do to a proxy: restarts, departures, liars, odd packets.
use crate::support::{Bench, ack, at, data, flow, flow_number};
use core::net::{IpAddr, Ipv6Addr};
use prismux_prism::{LinkConfig, LinkId, LinkState, Proxy, ProxyConfig, ReverseState, RpcMode, Verdict};
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::{FlowKey, SeqNumber, TcpFlags, TcpHeader};

fn state(bench: &Bench) -> ReverseState {
    bench.proxy.flow_status(&flow()).unwrap().state
}

#[test]
fn a_flow_picked_up_in_mid_stream_passes_its_first_ack_and_goes_on() {
    for config in [ProxyConfig::paper(), ProxyConfig::default()] {
        let mut bench = Bench::new(config, &[1000, 1000]);
        // A restarted proxy first sees data far into the connection; what lies below was sent by its former life.
        bench.send(at(1), 50_000, 1000);
        bench.send(at(1), 51_000, 1000);
        let said = bench.ack(at(30), &ack(45_000, &[]), 1);
        assert_eq!(said.numbers(), [45_000], "the sender hears of old data at once");
        let said = bench.ack(at(31), &ack(48_000, &[]), 2);
        assert_eq!(said.numbers(), [48_000]);
        // The hole below the first packet seen was never scheduled here: duplicates must get through. (The default
        // proxy paces its ACKs.)
        let mut numbers = bench.ack(at(32), &ack(48_000, &[(50_000, 51_000)]), 3).numbers();
        numbers.extend(bench.run_timers(at(90)).numbers());
        assert_eq!(numbers, [48_000]);
        assert_eq!(state(&bench), ReverseState::Loss);
        bench.send(at(100), 48_000, 1000);
        bench.send(at(100), 49_000, 1000);
        let mut numbers = bench.ack(at(120), &ack(52_000, &[]), 4).numbers();
        numbers.extend(bench.run_timers(at(400)).numbers());
        assert_eq!(numbers, [52_000]);
        assert_eq!(state(&bench), ReverseState::Normal);
    }
}

#[test]
fn a_hole_that_never_passed_the_proxy_reaches_the_sender_without_a_report() {
    let mut bench = Bench::new(ProxyConfig::paper(), &[1000, 1000]);
    bench.handshake(at(0), 1000, 0);
    bench.send(at(11), 1000, 1000);
    // 2000 is lost on the wire before the proxy.
    bench.send(at(11), 3000, 1000);
    bench.ack(at(30), &ack(2000, &[]), 1);
    let said = bench.ack(at(31), &ack(2000, &[(3000, 4000)]), 2);
    assert_eq!(said.numbers(), [2000]);
    assert!(said.released[0].rewrite.report.is_none());
    assert_eq!(bench.proxy.counters().no_data_holes, 1);
    assert_eq!(bench.proxy.counters().losses_detected, 0);
}

#[test]
fn impossible_acks_change_nothing() {
    let mut bench = Bench::new(ProxyConfig::paper(), &[1000, 1000]);
    bench.handshake(at(0), 1000, 0);
    for seq in [1000, 2000, 3000] {
        bench.send(at(11), seq, 1000);
    }
    // Beyond what was sent; SACK beyond what was sent; an empty and a reversed block.
    bench.ack(at(20), &ack(900_000, &[]), 1);
    bench.ack(at(21), &ack(1000, &[(500_000, 600_000), (2500, 2500), (3000, 2000)]), 2);
    assert_eq!(bench.proxy.counters().implausible_acks, 4);
    let in_flight: u32 = bench.proxy.links().iter().map(|(_, link)| link.variables.in_flight_packets).sum();
    assert_eq!(in_flight, 3);
    assert_eq!(bench.ack(at(40), &ack(4000, &[]), 3).numbers(), [4000]);
}

#[test]
fn a_departed_members_packets_are_given_up_after_two_round_trips_without_blame() {
    let mut bench = Bench::new(ProxyConfig::paper(), &[1000, 2000]);
    bench.handshake(at(0), 1000, 0);
    let first = bench.send(at(11), 1000, 1000).unwrap();
    bench.send(at(11), 2000, 1000);
    bench.ack(at(60), &ack(3000, &[]), 1);
    let second = bench.send(at(61), 3000, 1000).unwrap();
    bench.send(at(61), 4000, 1000);
    bench.proxy.leave(at(62), second);
    let weights: Vec<f64> = bench.proxy.links().up().map(|(_, link)| link.variables.weight).collect();
    bench.run_timers(at(5000));
    assert_eq!(bench.proxy.links().get(second).unwrap().variables.in_flight_packets, 0);
    assert!(bench.proxy.counters().losses_by_time >= 1);
    assert_eq!(weights, bench.proxy.links().up().map(|(_, link)| link.variables.weight).collect::<Vec<_>>());
    let status = bench.proxy.link_status();
    assert_eq!(status[usize::from(second.0)].state, LinkState::Down);
    // It comes back and takes traffic again.
    bench.proxy.join(at(6000), second, LinkConfig::default());
    assert_eq!(bench.proxy.links().up_count(), 2);
    let _ = first;
}

#[test]
fn without_links_packets_are_dropped_and_counted() {
    let mut bench = Bench::new(ProxyConfig::default(), &[]);
    assert_eq!(bench.send(at(1), 1000, 1000), None);
    bench.proxy.handle_opaque(7, 1);
    bench.drain();
    assert_eq!(bench.proxy.counters().dropped_no_link, 2);
}

#[test]
fn partial_rpc_holds_until_the_senders_timer_and_off_touches_nothing() {
    let mut bench =
        Bench::new(ProxyConfig { rpc: RpcMode::Resequence, ..ProxyConfig::paper() }, &[1000, 1000]);
    bench.handshake(at(0), 1000, 0);
    for seq in [1000, 2000, 3000] {
        bench.send(at(11), seq, 1000);
    }
    // 1000 is lost; both later packets arrive, one of them over the same link.
    assert!(bench.ack(at(40), &ack(1000, &[(2000, 3000)]), 1).released.is_empty());
    assert!(bench.ack(at(41), &ack(1000, &[(2000, 4000)]), 2).released.is_empty());
    assert!(bench.run_timers(at(100_000)).released.is_empty(), "no time rule in this variant");
    bench.send(at(100_001), 1000, 1000);
    assert_eq!(bench.ack(at(100_050), &ack(4000, &[]), 3).numbers(), [2000, 3000, 4000]);

    let mut bench = Bench::new(ProxyConfig { rpc: RpcMode::Off, ..ProxyConfig::paper() }, &[1000, 1000]);
    bench.handshake(at(0), 1000, 0);
    for seq in [1000, 2000, 3000] {
        bench.send(at(11), seq, 1000);
    }
    assert_eq!(bench.ack(at(40), &ack(1000, &[(2000, 3000)]), 1).numbers(), [1000]);
    assert_eq!(bench.ack(at(41), &ack(1000, &[(2000, 4000)]), 2).numbers(), [1000]);
}

#[test]
fn a_lost_tail_is_found_by_time_and_reported() {
    let mut bench = Bench::new(ProxyConfig::paper(), &[1000, 1000]);
    bench.handshake(at(0), 1000, 0);
    // Nothing follows the lost packet on its own link.
    let lost = bench.send(at(11), 1000, 1000).unwrap();
    assert_ne!(bench.send(at(12), 2000, 1000), Some(lost));
    assert!(bench.ack(at(40), &ack(1000, &[(2000, 3000)]), 1).released.is_empty());
    let said = bench.run_timers(at(20_000));
    assert_eq!(said.numbers(), [1000], "the held ACK goes out as it came");
    assert_eq!(said.released[0].rewrite.report.map(|report| report.lost.0), Some(1000));
}

#[test]
fn the_default_proxy_repairs_a_loss_itself_and_the_sender_sees_none() {
    let mut bench = Bench::new(ProxyConfig { standby: false, ..ProxyConfig::default() }, &[1000, 1000]);
    bench.handshake(at(0), 1000, 7);
    let mut sent = Vec::new();
    for i in 0..6 {
        let seq = 1000 + 1000 * i;
        sent.push((bench.send(at(11), seq, 1000).unwrap(), seq));
    }
    let (link, lost) = sent[0];
    let later = sent.iter().skip(1).find(|(other, _)| *other == link).unwrap().1;
    let said = bench.ack(at(40), &ack(1000, &[(later, later + 1000)]), 1);
    assert!(said.released.is_empty(), "held, not shown");
    assert_eq!(said.forwarded.iter().map(|f| f.0).collect::<Vec<_>>(), [u64::from(lost)]);
    assert_eq!(state(&bench), ReverseState::Normal);
    assert_eq!((bench.proxy.counters().local_repairs, bench.proxy.counters().loss_episodes), (1, 0));
    let mut numbers = bench.ack(at(60), &ack(7000, &[]), 2).numbers();
    numbers.extend(bench.run_timers(at(3000)).numbers());
    assert_eq!(numbers.last(), Some(&7000));
    assert!(numbers.is_sorted());
}

#[test]
fn opaque_flows_keep_their_link_and_only_those_of_a_departed_one_move() {
    let mut bench = Bench::new(ProxyConfig::paper(), &[1000, 2000, 3000]);
    let links = |bench: &mut Bench| -> Vec<LinkId> {
        (0..600_u64)
            .map(|hash| {
                bench.proxy.handle_opaque(hash.wrapping_mul(0x9E37_79B9_7F4A_7C15), hash);
                bench.drain().forwarded[0].1
            })
            .collect()
    };
    let before = links(&mut bench);
    for (link, share) in [(0, 100), (1, 200), (2, 300)] {
        let count = before.iter().filter(|l| l.0 == link).count();
        assert!(count.abs_diff(share) < 60, "link {link} got {count} of 600");
    }
    assert_eq!(before, links(&mut bench));
    bench.proxy.leave(at(2), LinkId(1));
    let after = links(&mut bench);
    assert!(before.iter().zip(&after).all(|(b, a)| b.0 == 1 || a == b));
}

/// What a receiver sends goes on at once, while ACKs that it sent before wait: with the sequence number that they came
/// with the sender would discard them (RFC 9293 section 3.10.7.4).
#[test]
fn an_ack_that_waited_while_its_receiver_sent_data_goes_out_with_the_newest_sequence_number() {
    let configs = [ProxyConfig::paper(), ProxyConfig::default()];
    for (config, forged) in configs.into_iter().flat_map(|config| [(config.clone(), false), (config, true)]) {
        let mut bench = Bench::new(config, &[1000, 1000]);
        bench.handshake(at(0), 1000, 0);
        for seq in [1000, 2000] {
            bench.send(at(11), seq, 1000);
        }
        let next = |header: TcpHeader, seq: u32| TcpHeader { seq: SeqNumber(seq), ..header };
        let hole = bench.ack(at(40), &next(ack(1000, &[(2000, 3000)]), 1), 1);
        assert_eq!(hole.numbers(), []);
        let request = TcpHeader { flags: TcpFlags::ACK | TcpFlags::PSH, ..next(ack(1000, &[]), 1) };
        bench.proxy.handle_reverse(at(41), flow(), &request, 100, 2);
        let said = bench.drain();
        assert_eq!(
            said.released.iter().map(|ack| (ack.tag, ack.rewrite.seq)).collect::<Vec<_>>(),
            [(2, None)]
        );
        // Somebody else's, near enough to be believed: no ACK follows it out of the sender's window.
        if forged {
            bench.proxy.handle_reverse(at(41), flow(), &next(ack(1000, &[]), 1 << 20), 100, 9);
            bench.drain();
        }
        let mut filled = bench.ack(at(42), &next(ack(3000, &[]), 101), 3).released;
        filled.extend(bench.run_timers(at(150)).released);
        let waited = filled.iter().find(|released| released.tag == 1).unwrap();
        let mut header = next(ack(1000, &[]), 1);
        waited.rewrite.apply(&mut header);
        let seq = SeqNumber(if forged { 1 } else { 101 });
        assert_eq!((header.ack, header.seq), (SeqNumber(3000), seq));
        // A keep-alive asks by its old number for an answer.
        let keep_alive = next(ack(3000, &[]), 100);
        for released in bench.ack(at(9000), &keep_alive, 4).released {
            let mut header = keep_alive;
            released.rewrite.apply(&mut header);
            assert_eq!(header.seq, SeqNumber(100));
        }
    }
}

/// A call or a query is as slow as its link.
#[test]
fn opaque_flows_take_near_links_unless_these_are_thin() {
    let shares = |links: &[(u64, u64)]| -> Vec<usize> {
        let mut bench = Bench::new(ProxyConfig::default(), &[]);
        for (number, &(mbps, round_trip_ms)) in links.iter().enumerate() {
            let config = LinkConfig {
                advertised_rate: Some(Rate::from_mbps(mbps)),
                round_trip: Some(Duration::from_millis(round_trip_ms)),
                ..LinkConfig::default()
            };
            bench.proxy.join(at(1), LinkId(number as u8), config);
        }
        let mut shares = vec![0; links.len()];
        for hash in 0..600_u64 {
            bench.proxy.handle_opaque(hash.wrapping_mul(0x9E37_79B9_7F4A_7C15), hash);
            shares[usize::from(bench.drain().forwarded[0].1.0)] += 1;
        }
        shares
    };
    let far = shares(&[(50, 40), (20, 90), (8, 300)]);
    assert!(far[0] > 360 && far[1] > 120 && far[2] == 0, "{far:?}");
    let thin = shares(&[(1, 10), (50, 60), (20, 300)]);
    assert!(thin[0] < 40 && thin[1] > 560 && thin[2] == 0, "{thin:?}");
    let alike = shares(&[(20, 300), (20, 310)]);
    assert!(alike.iter().all(|count| *count > 240), "{alike:?}");
}

#[test]
fn opaque_flows_do_not_move_while_a_round_trip_wavers() {
    let mut bench = Bench::new(ProxyConfig::default(), &[]);
    let mut used = |links: [(u64, u64); 2]| -> bool {
        for (number, (mbps, round_trip_ms)) in links.into_iter().enumerate() {
            let round_trip = Some(Duration::from_millis(round_trip_ms));
            let advertised_rate = Some(Rate::from_mbps(mbps));
            let config = LinkConfig { advertised_rate, round_trip, ..LinkConfig::default() };
            bench.proxy.join(at(1), LinkId(number as u8), config);
        }
        (0..100_u64).any(|hash| {
            bench.proxy.handle_opaque(hash.wrapping_mul(0x9E37_79B9_7F4A_7C15), hash);
            bench.drain().forwarded[0].1.0 == 1
        })
    };
    // Twice the shortest and 30 ms are 110 ms.
    let second = [100, 130, 150, 200, 130, 100];
    assert_eq!(second.map(|ms| used([(50, 40), (20, ms)])), [true, true, true, false, false, true]);
}

#[test]
fn closed_and_idle_flows_are_forgotten() {
    let mut bench = Bench::new(ProxyConfig::paper(), &[1000]);
    bench.handshake(at(0), 1000, 0);
    let fin = TcpHeader { flags: TcpFlags::ACK | TcpFlags::FIN, ..data(1000) };
    bench.proxy.handle_data(at(20), flow(), &fin, 0, 1);
    let reply = TcpHeader { flags: TcpFlags::ACK | TcpFlags::FIN, ..ack(1001, &[]) };
    bench.proxy.handle_reverse(at(60), flow(), &reply, 0, 2);
    assert_eq!(bench.drain().numbers(), [1001], "the FIN's acknowledgement passes");
    bench.run_timers(at(10_000));
    assert_eq!(bench.proxy.flow_count(), 0);
    bench.send(at(20_000), 5000, 1000);
    let idle = bench.proxy.config().flow_idle + Duration::from_secs(60);
    bench.run_timers(at(20_000) + idle);
    assert_eq!(bench.proxy.flow_count(), 0);
    assert_eq!(bench.proxy.links().get(LinkId(0)).unwrap().variables.in_flight_packets, 0);
}

#[test]
fn a_payload_segment_is_never_held_and_never_acknowledges_too_much() {
    let mut bench = Bench::new(ProxyConfig::paper(), &[1000, 1000]);
    bench.handshake(at(0), 1000, 0);
    for seq in [1000, 2000, 3000] {
        bench.send(at(11), seq, 1000);
    }
    bench.ack(at(40), &ack(1000, &[(2000, 3000)]), 1);
    bench.proxy.handle_reverse(at(41), flow(), &ack(1000, &[(2000, 3000)]), 500, 2);
    let said = bench.drain();
    assert_eq!(said.numbers(), [1000]);
    assert_eq!(said.released[0].tag, 2);
}

#[test]
fn the_table_of_flows_is_bounded_and_ipv6_works() {
    let config = ProxyConfig { max_flows: 3, ..ProxyConfig::paper() };
    let mut proxy: Proxy<u32> = Proxy::new(config);
    proxy.join(Instant::ZERO, LinkId(0), LinkConfig::default());
    let address = |n: u128| IpAddr::V6(Ipv6Addr::from_bits(0x2001_0db8 << 96 | n));
    for port in 0..10_u16 {
        let key = FlowKey {
            source: address(1),
            destination: address(2),
            source_port: 443,
            destination_port: port,
            protocol: 6,
        };
        proxy.handle_data(at(1), key, &data(1), 1000, u32::from(port));
        assert!(matches!(proxy.poll_verdict(), Some(Verdict::Forward { .. })), "carried all the same");
    }
    assert_eq!(proxy.flow_count(), 3);
}

/// The promise of section V-C: 3 KB per flow, 60 MB for 20,000 flows of 5 Mbit/s and 120 ms (50 packets in flight).
#[test]
fn twenty_thousand_flows_fit_sixty_megabytes() {
    let mut proxy: Proxy<u64> = Proxy::new(ProxyConfig::paper());
    for id in 0..3 {
        proxy.join(Instant::ZERO, LinkId(id), LinkConfig::default());
    }
    for port in 0..20_000_u16 {
        let key = flow_number(port);
        for i in 0..50 {
            proxy.handle_data(at(10), key, &data(1000 + 1448 * i), 1448, 0);
        }
        while proxy.poll_verdict().is_some() {}
    }
    let per_flow = proxy.flow_memory_bytes() / 20_000;
    assert_eq!(proxy.flow_count(), 20_000);
    assert!(per_flow <= 3000, "{per_flow} bytes per flow");
}

#[test]
fn a_long_connection_does_not_grow_the_timer_heap() {
    let mut bench = Bench::new(ProxyConfig::paper(), &[1000, 1000]);
    bench.handshake(at(0), 1000, 0);
    let mut sizes = Vec::new();
    for round in 0..4000_u32 {
        let now = 100 + 100 * u64::from(round);
        let seq = 1000 + 2000 * round;
        bench.send(at(now), seq, 1000);
        bench.send(at(now), seq + 1000, 1000);
        bench.ack(at(now + 30), &ack(seq, &[(seq + 1000, seq + 2000)]), 1);
        bench.ack(at(now + 40), &ack(seq + 2000, &[]), 2);
        bench.run_timers(at(now + 99));
        sizes.push(bench.proxy.flow_memory_bytes());
    }
    assert!(sizes[3999] <= sizes[500], "{} bytes grew to {}", sizes[500], sizes[3999]);
}

#[test]
fn sequence_numbers_near_the_wrap_make_no_difference() {
    for first in [1000, u32::MAX - 2500] {
        let mut bench = Bench::new(ProxyConfig::paper(), &[1000, 1000]);
        bench.handshake(at(0), first, 0);
        let seq = |i: u32| (SeqNumber(first) + 1000 * i).0;
        for i in 0..4 {
            bench.send(at(11), seq(i), 1000);
        }
        assert!(bench.ack(at(40), &ack(seq(0), &[(seq(1), seq(2))]), 1).released.is_empty());
        assert_eq!(bench.ack(at(41), &ack(seq(2), &[]), 2).numbers(), [seq(1), seq(2)]);
    }
}
