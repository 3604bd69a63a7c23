//! The three cases of Figure 3 (section IV-B) and the baselines.
use super::{Choice, PacketView};
use crate::config::{LinkConfig, ProxyConfig, SchedulerKind, WeightUnit};
use crate::ids::LinkId;
use crate::link_table::LinkTable;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr};
use core::str::FromStr;
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::{FlowKey, SeqNumber};

const ONE: LinkId = LinkId(0);
const TWO: LinkId = LinkId(1);
const NOWHERE: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
const NEW: PacketView = PacketView {
    flow: FlowKey { source: NOWHERE, destination: NOWHERE, source_port: 1, destination_port: 2, protocol: 6 },
    seq: SeqNumber(1),
    bytes: 1400,
    window_bytes: None,
    flow_in_flight_bytes: 0,
    deadline: None,
    retransmission: false,
    paced: false,
};
const AGAIN: PacketView = PacketView { retransmission: true, ..NEW };

fn table_with(config: &ProxyConfig, links: &[(u64, u64)]) -> LinkTable {
    let mut table = LinkTable::default();
    for (index, &(kbps, rtt_ms)) in links.iter().enumerate() {
        let id = LinkId(index as u8);
        let rate = Some(Rate::from_kbps(kbps));
        table.join(
            Instant::ZERO,
            id,
            LinkConfig { name: String::new(), advertised_rate: rate, round_trip: None },
            config,
        );
        table.get_mut(id).unwrap().on_rtt(Instant::ZERO, Duration::from_millis(rtt_ms), 0.25);
    }
    table
}

/// Links as (rate in kbit/s, hRTT in ms).
fn table(links: &[(u64, u64)]) -> LinkTable {
    table_with(&ProxyConfig::paper(), links)
}

fn choose(kind: SchedulerKind, table: &LinkTable, packet: PacketView) -> LinkId {
    link(kind.build(Seed(1)).choose(Instant::ZERO, table, &packet))
}

fn link(choice: Choice) -> LinkId {
    match choice {
        Choice::Over(link) => link,
        other => panic!("no link: {other:?}"),
    }
}

fn put(table: &mut LinkTable, link: LinkId, packets: u32) {
    for _ in 0..packets {
        table.send(Instant::ZERO, link, 1400, (0, NEW.seq)).unwrap();
    }
}

#[test]
fn case_a_a_departed_packet_makes_room_before_the_round_is_over() {
    // Weights 1 : 2, link 2 the quicker; p1 and p2 are on link 2.
    let mut links = table(&[(500, 100), (1000, 60)]);
    put(&mut links, TWO, 2);
    assert_eq!(choose(SchedulerKind::Adas, &links, NEW), ONE, "NIP 0 against 1");
    // The ACK of p2: NIP is floor(0/1) and floor(1/2), a tie that hRTT decides.
    links.settle(TWO, 1400);
    assert_eq!(choose(SchedulerKind::Adas, &links, NEW), TWO);
    // Without the floor, link 1 would take it while p1 is still counted.
    assert_eq!(choose(SchedulerKind::NipOnly, &links, NEW), ONE);
}

#[test]
fn case_b_equal_nip_and_a_grown_hrtt_move_the_packet() {
    let mut links = table(&[(500, 100), (1000, 60)]);
    put(&mut links, ONE, 1);
    put(&mut links, TWO, 3);
    assert_eq!(choose(SchedulerKind::Adas, &links, NEW), TWO, "NIP 1 on both, link 2 is quicker");
    for _ in 0..8 {
        links.get_mut(TWO).unwrap().on_rtt(Instant::ZERO, Duration::from_millis(300), 0.25);
    }
    assert_eq!(choose(SchedulerKind::Adas, &links, NEW), ONE);
    assert_eq!(
        choose(SchedulerKind::SmoothWeightedRoundRobin, &links, NEW),
        TWO,
        "weights alone do not see it"
    );
}

#[test]
fn case_c_nip_outweighs_hrtt_and_a_loss_halves_the_weight() {
    let mut links = table(&[(500, 400), (1000, 60)]);
    put(&mut links, TWO, 2);
    // p6: hRTT of link 1 is high, but its NIP is lower.
    assert_eq!(choose(SchedulerKind::Adas, &links, NEW), ONE);
    put(&mut links, ONE, 1);
    put(&mut links, TWO, 1);
    // Before p11: NIP 1 on both, link 2 would take it, but a packet is lost there.
    assert_eq!(choose(SchedulerKind::Adas, &links, NEW), TWO);
    links.get_mut(TWO).unwrap().halve_weight(Instant::from_millis(1), 1.0);
    assert_eq!(choose(SchedulerKind::Adas, &links, NEW), ONE, "NIP 1 against floor(3/1)");
}

#[test]
fn rule_1_a_retransmission_takes_the_least_hrtt() {
    let mut links = table(&[(500, 100), (1000, 60)]);
    put(&mut links, TWO, 50);
    assert_eq!(choose(SchedulerKind::Adas, &links, AGAIN), TWO);
}

#[test]
fn weights_recover_by_one_over_w_and_never_beyond_the_original() {
    let mut links = table(&[(500, 100), (4000, 60)]);
    let link = links.get_mut(TWO).unwrap();
    assert!((link.variables.weight - 8.0).abs() < 1e-9);
    assert!(link.halve_weight(Instant::from_millis(1), 1.0));
    assert!(!link.halve_weight(Instant::from_millis(2), 1.0), "once per round trip");
    assert!((link.variables.weight - 4.0).abs() < 1e-9);
    link.grow_weight();
    assert!((link.variables.weight - 4.25).abs() < 1e-9);
    for _ in 0..100 {
        link.grow_weight();
    }
    assert!((link.variables.weight - 8.0).abs() < 1e-9);
    // A second loss during recovery does not lower the remembered weight.
    link.halve_weight(Instant::from_millis(100), 1.0);
    link.halve_weight(Instant::from_millis(200), 1.0);
    assert!((link.variables.weight - 2.0).abs() < 1e-9);
    assert!((link.variables.full_weight - 8.0).abs() < 1e-9);
}

#[test]
fn the_literal_weight_unit_is_the_greatest_common_divisor() {
    let config = ProxyConfig { weight_unit: WeightUnit::Gcd, ..ProxyConfig::paper() };
    let links = table_with(&config, &[(620, 1), (720, 1), (720, 1), (860, 1)]);
    let weights: Vec<_> = links.up().map(|(_, link)| link.variables.weight as u32).collect();
    assert_eq!(weights, [31, 36, 36, 43]);
    let links = table(&[(600, 1), (900, 1), (1200, 1)]);
    let weights: Vec<_> = links.up().map(|(_, link)| link.variables.weight).collect();
    assert_eq!(weights, [1.0, 1.5, 2.0]);
}

#[test]
fn round_robins_serve_links_in_turn_and_by_weight() {
    let links = table(&[(500, 1), (1000, 1), (500, 1)]);
    let run = |kind: SchedulerKind, count: usize| -> Vec<u8> {
        let mut scheduler = kind.build(Seed(1));
        (0..count).map(|_| link(scheduler.choose(Instant::ZERO, &links, &NEW)).0).collect()
    };
    assert_eq!(run(SchedulerKind::RoundRobin, 7), [0, 1, 2, 0, 1, 2, 0]);
    assert_eq!(run(SchedulerKind::WeightedRoundRobin, 9), [0, 1, 1, 2, 0, 1, 1, 2, 0], "quanta in a row");
    let weighted = run(SchedulerKind::SmoothWeightedRoundRobin, 400);
    assert_eq!(weighted.iter().filter(|&&link| link == 1).count(), 200);
    assert!(weighted.chunks(4).all(|round| round.iter().filter(|&&link| link == 1).count() == 2));
    let random = run(SchedulerKind::Random, 3000);
    for link in 0..3 {
        let count = random.iter().filter(|&&l| l == link).count();
        assert!((900..1100).contains(&count), "link {link}: {count} of 3000");
    }
    assert_eq!(random, run(SchedulerKind::Random, 3000), "same seed, same choices");
    let random = run(SchedulerKind::WeightedRandom, 4000);
    for (link, expected) in [(0, 1000), (1, 2000), (2, 1000)] {
        let count = random.iter().filter(|&&l| l == link).count();
        assert!(count.abs_diff(expected) < 120, "link {link}: {count} of 4000");
    }
}

#[test]
fn names_select_schedulers() {
    for kind in SchedulerKind::ALL {
        assert_eq!(SchedulerKind::from_str(kind.name()), Ok(kind));
    }
    assert!(SchedulerKind::from_str("fastest").is_err());
}

#[test]
fn without_links_there_is_no_choice() {
    let links = LinkTable::default();
    for kind in SchedulerKind::ALL {
        assert_eq!(kind.build(Seed(1)).choose(Instant::ZERO, &links, &NEW), Choice::NoLink);
    }
}

#[test]
fn a_slow_looking_idle_link_is_tried_again() {
    let links = table(&[(500, 100)]);
    let link = links.get(ONE).unwrap();
    assert_eq!(link.hrtt(Instant::from_millis(400)), Duration::from_millis(100));
    assert_eq!(link.hrtt(Instant::from_millis(500)), Duration::from_millis(50));
    assert_eq!(link.hrtt(Instant::from_millis(700)), Duration::from_nanos(12_500_000));
}

#[test]
fn a_quantum_is_the_whole_packets_of_a_weight_and_ends_with_its_link() {
    // 620, 720, 720 and 860 kbit/s: 1, 1.16, 1.16 and 1.39 of the slowest, a packet each.
    let mut links = table(&[(620, 1), (720, 1), (720, 1), (860, 1)]);
    let mut scheduler = SchedulerKind::WeightedRoundRobin.build(Seed(1));
    let mut next = |links: &LinkTable| link(scheduler.choose(Instant::ZERO, links, &NEW)).0;
    assert_eq!([0; 5].map(|_| next(&links)), [0, 1, 2, 3, 0]);
    let mut unequal = table(&[(1000, 1), (3700, 1)]);
    assert_eq!([0; 3].map(|_| next(&unequal)), [1, 1, 1]);
    assert_eq!([0; 2].map(|_| next(&unequal)), [0, 1]);
    unequal.leave(Instant::ZERO, TWO, &ProxyConfig::paper());
    assert_eq!(next(&unequal), 0, "what was left of the quantum went with its link");
    links.set_usable(ONE, false, "standby");
    assert_eq!(next(&links), 1);
}

#[test]
fn the_hrtt_of_an_idle_link_stays_where_it_may_not_age() {
    let links = table_with(&ProxyConfig { rtt_ageing: false, ..ProxyConfig::paper() }, &[(500, 100)]);
    assert_eq!(links.get(ONE).unwrap().hrtt(Instant::from_secs(9)), Duration::from_millis(100));
}

/// How many packets that follow one another each of two equal links takes before it is the other's turn.
fn runs(kbps: u64) -> Vec<usize> {
    let mut links = table_with(&ProxyConfig::default(), &[(kbps, 20), (kbps, 20)]);
    let mut scheduler = SchedulerKind::EarliestArrival.build(Seed(1));
    let mut taken: Vec<(LinkId, usize)> = Vec::new();
    let mut packet = NEW;
    for _ in 0..60 {
        let link = link(scheduler.choose(Instant::ZERO, &links, &packet));
        links.send(Instant::ZERO, link, packet.bytes, (0, packet.seq)).unwrap();
        packet.seq += packet.bytes;
        match taken.last_mut() {
            Some((last, count)) if *last == link => *count += 1,
            _ => taken.push((link, 1)),
        }
    }
    // The last may have been cut short.
    taken.pop();
    taken.into_iter().map(|(_, count)| count).collect()
}

#[test]
fn what_follows_stays_on_a_quick_link_for_a_moment() {
    // 37 us for a packet: the first cap, of ten packets, is filled sooner than the other link is 500 us ahead.
    let quick = runs(300_000);
    assert_eq!(quick[..2], [10, 10], "{quick:?}");
    // 93 us for a packet.
    let quick = runs(120_000);
    assert!((5..=7).contains(&quick[0]) && quick[1] > 7, "{quick:?}");
    // A packet of 10 Mbit/s takes longer than that.
    let slow = runs(10_000);
    assert!(slow.iter().all(|&count| count == 1), "{slow:?}");
}

#[test]
fn what_does_not_follow_takes_the_link_that_is_first() {
    let mut links = table_with(&ProxyConfig::default(), &[(300_000, 20), (300_000, 20)]);
    let mut scheduler = SchedulerKind::EarliestArrival.build(Seed(1));
    let first = link(scheduler.choose(Instant::ZERO, &links, &NEW));
    links.send(Instant::ZERO, first, NEW.bytes, (0, NEW.seq)).unwrap();
    let stranger = PacketView { seq: NEW.seq + 10 * NEW.bytes, ..NEW };
    assert_ne!(link(scheduler.choose(Instant::ZERO, &links, &stranger)), first);
}
