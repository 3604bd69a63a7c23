//! Whose state of the links a proxy keeps (`link_state`): what a flow begins with, what it leaves behind, and that
//! flows with their own are as flows with a proxy each.
mod own_proxies;

use crate::support::{Bench, ack, at, data, flow_number};
use prismux_prism::link_table::LinkTable;
use prismux_prism::scheduler::{Adas, Choice, PacketView, Scheduler};
use prismux_prism::{LinkConfig, LinkId, LinkStateKept, ProxyConfig};
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::{FlowKey, SeqNumber, TcpFlags, TcpHeader};
use std::sync::{Arc, Mutex};

const FIRST: u32 = 1000;
const PACKET: u32 = 1000;
const KINDS: [LinkStateKept; 2] = [LinkStateKept::Flow, LinkStateKept::Community];

/// What ADAS knew of a link when it was asked.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Seen {
    packets: u32,
    hrtt: Duration,
    weight: f64,
}

/// ADAS, which tells what it was shown.
#[derive(Debug)]
struct Watched(Arc<Mutex<Vec<Seen>>>);

impl Scheduler for Watched {
    fn choose(&mut self, now: Instant, links: &LinkTable, packet: &PacketView) -> Choice {
        let seen = links.usable().map(|(_, link)| Seen {
            packets: link.variables.in_flight_packets,
            hrtt: link.hrtt(now),
            weight: link.variables.weight,
        });
        *self.0.lock().unwrap() = seen.collect();
        Adas.choose(now, links, packet)
    }
}

/// A published proxy with links of 1 and 2 Mbit/s and several downloads.
struct World {
    bench: Bench,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl World {
    fn new(link_state: LinkStateKept) -> Self {
        Self::with(ProxyConfig { link_state, rtt_ageing: false, ..ProxyConfig::paper() })
    }

    fn with(config: ProxyConfig) -> Self {
        let (mut bench, seen) = (Bench::new(config, &[1000, 2000]), Arc::default());
        bench.proxy.set_scheduler(Box::new(Watched(Arc::clone(&seen))));
        Self { bench, seen }
    }

    /// Packet number `packet` of a flow goes out; what ADAS saw before, link by link, and what it chose.
    fn send(&mut self, flow: FlowKey, millis: u64, packet: u32) -> (Vec<Seen>, LinkId) {
        let link = self.bench.send_of(flow, at(millis), FIRST + packet * PACKET, PACKET).unwrap();
        (self.seen.lock().unwrap().clone(), link)
    }

    /// The receiver of a flow has all below packet number `packet`.
    fn has(&mut self, flow: FlowKey, millis: u64, packet: u32) {
        let header = ack(FIRST + packet * PACKET, &[]);
        self.bench.proxy.handle_reverse(at(millis), flow, &header, 0, 0);
        self.bench.drain();
    }

    /// What ADAS sees for the next packet of a flow, which goes out.
    fn view(&mut self, flow: FlowKey, millis: u64, packet: u32) -> Vec<Seen> {
        self.send(flow, millis, packet).0
    }

    /// A download that begins at 0 and has sent a packet over each link; both took 80 ms.
    fn measured(link_state: LinkStateKept) -> Self {
        let mut world = Self::new(link_state);
        world.bench.handshake_of(flow_number(1), at(0), FIRST, 7);
        let links: Vec<LinkId> = (0..3).map(|packet| world.send(flow_number(1), 20, packet).1).collect();
        // The handshake has measured the first link, 10 ms; the other may be nearer still.
        assert_eq!(links, [LinkId(1), LinkId(1), LinkId(0)], "the least hRTT of those with NIP 0");
        world.has(flow_number(1), 100, 3);
        world
    }
}

const UNKNOWN: Duration = Duration::ZERO;
const HANDSHAKE: Duration = Duration::from_millis(10);
/// The packets of the first download.
const TOOK: Duration = Duration::from_millis(80);

#[test]
fn a_second_flow_begins_with_what_the_first_has_learned_where_the_community_keeps_it() {
    for kept in KINDS {
        let mut world = World::measured(kept);
        world.bench.handshake_of(flow_number(2), at(100), FIRST, 7);
        let hrtt: Vec<Duration> = world.view(flow_number(2), 120, 0).iter().map(|seen| seen.hrtt).collect();
        // The handshake took 10 ms over the first link, and tells nothing of the other.
        match kept {
            LinkStateKept::Flow => assert_eq!(hrtt, [HANDSHAKE, UNKNOWN]),
            LinkStateKept::Community => assert!(hrtt[0] > HANDSHAKE && hrtt[1] == TOOK, "{hrtt:?}"),
        }
    }
}

#[test]
fn what_a_flow_has_under_way_moves_another_only_where_the_community_counts_it() {
    for kept in KINDS {
        let mut world = World::measured(kept);
        world.bench.handshake_of(flow_number(2), at(100), FIRST, 7);
        world.send(flow_number(1), 120, 3);
        let own = world.view(flow_number(1), 120, 4);
        let others = world.view(flow_number(2), 120, 0);
        let packets = |seen: &[Seen]| seen.iter().map(|seen| seen.packets).sum::<u32>();
        assert_eq!(packets(&own), 1, "{kept:?}");
        assert_eq!(packets(&others), if kept == LinkStateKept::Flow { 0 } else { 2 }, "{kept:?}");
        // People are told of all of them, whoever counts.
        let told = world.bench.proxy.link_status();
        assert_eq!(told.iter().map(|link| link.in_flight_packets).sum::<u32>(), 3, "{kept:?}");
        assert_eq!(told.iter().map(|link| link.in_flight_bytes).sum::<u64>(), 3000, "{kept:?}");
    }
}

#[test]
fn a_loss_halves_the_weight_for_the_flow_that_had_it_or_for_all() {
    for kept in KINDS {
        let mut world = World::measured(kept);
        world.bench.handshake_of(flow_number(2), at(100), FIRST, 7);
        let links: Vec<LinkId> = (3..7).map(|packet| world.send(flow_number(1), 120, packet).1).collect();
        let lost = links.iter().position(|&link| link == LinkId(1)).unwrap() as u32 + 3;
        // All but one packet of the wide link arrive, and so another that went over it later.
        let from = FIRST + (lost + 1) * PACKET;
        let header = ack(FIRST + lost * PACKET, &[(from, FIRST + 7 * PACKET)]);
        world.bench.proxy.handle_reverse(at(200), flow_number(1), &header, 0, 0);
        world.bench.drain();
        assert_eq!(world.bench.proxy.counters().losses_detected, 1, "{kept:?}");
        assert_eq!(world.view(flow_number(1), 210, 7)[1].weight, 1.0, "{kept:?}");
        let other = world.view(flow_number(2), 210, 0)[1].weight;
        assert_eq!(other, if kept == LinkStateKept::Flow { 2.0 } else { 1.0 }, "{kept:?}");
        // In a status the mean of both.
        let told = world.bench.proxy.link_status()[1].weight;
        assert_eq!(told, if kept == LinkStateKept::Flow { 1.5 } else { 1.0 }, "{kept:?}");
    }
}

#[test]
fn the_state_of_a_link_outlives_the_flow_in_the_community_alone() {
    for kept in KINDS {
        let mut world = World::measured(kept);
        let both_fins = [data(FIRST + 3 * PACKET), ack(FIRST + 3 * PACKET, &[])];
        let [fin, answer] =
            both_fins.map(|header| TcpHeader { flags: TcpFlags::FIN | TcpFlags::ACK, ..header });
        world.bench.proxy.handle_data(at(110), flow_number(1), &fin, 0, 0);
        let answer = TcpHeader { seq: SeqNumber(1), ack: answer.ack + 1, ..answer };
        world.bench.proxy.handle_reverse(at(120), flow_number(1), &answer, 0, 0);
        world.bench.run_timers(at(60_000));
        assert_eq!(world.bench.proxy.flow_count(), 0, "it has ended");
        let told = world.bench.proxy.link_status()[1].rtt;
        world.bench.handshake_of(flow_number(2), at(60_000), FIRST, 7);
        let begins_with = world.view(flow_number(2), 60_020, 0)[1].hrtt;
        match kept {
            LinkStateKept::Flow => assert_eq!((told, begins_with), (None, UNKNOWN)),
            LinkStateKept::Community => assert_eq!(told, Some(begins_with)),
        }
        assert_eq!(begins_with > UNKNOWN, kept == LinkStateKept::Community);
    }
}

#[test]
fn a_connection_that_follows_another_between_the_same_ports_knows_nothing_of_it() {
    let mut world = World::measured(LinkStateKept::Flow);
    world.send(flow_number(1), 110, 3);
    let reset = TcpHeader { flags: TcpFlags::RST, ..data(FIRST + 4 * PACKET) };
    world.bench.proxy.handle_data(at(115), flow_number(1), &reset, 0, 0);
    world.bench.handshake_of(flow_number(1), at(120), FIRST, 7);
    assert_eq!(world.bench.proxy.flow_count(), 1);
    let seen = world.view(flow_number(1), 140, 0);
    assert_eq!(seen.iter().map(|seen| seen.packets).sum::<u32>(), 0);
    assert_eq!(seen[1].hrtt, UNKNOWN, "measured by the connection before");
}

#[test]
fn a_member_that_comes_back_is_unknown_to_every_flow_and_a_new_rate_is_known_to_all() {
    let mut world = World::measured(LinkStateKept::Flow);
    let wide = |kbps| LinkConfig { advertised_rate: Some(Rate::from_kbps(kbps)), ..LinkConfig::default() };
    world.bench.proxy.leave(at(200), LinkId(1));
    world.bench.proxy.join(at(300), LinkId(1), wide(4000));
    let seen = world.view(flow_number(1), 310, 3);
    assert_eq!((seen[1].hrtt, seen[1].weight), (UNKNOWN, 4.0));
    assert!(seen[0].hrtt > UNKNOWN, "the other link is as it was");
    // A third link with half the rate of the slowest doubles the weights; a flow that was there before sees it too.
    world.bench.proxy.join(at(400), LinkId(2), wide(500));
    let weights: Vec<f64> = world.view(flow_number(1), 410, 4).iter().map(|seen| seen.weight).collect();
    assert_eq!(weights, [2.0, 8.0, 1.0]);
}

#[test]
fn where_rates_are_learned_links_are_of_the_community() {
    let config = ProxyConfig { link_state: LinkStateKept::Flow, ..ProxyConfig::default() };
    assert!(config.link_state_contradicts());
    let mut world = World::with(config);
    world.bench.handshake_of(flow_number(1), at(0), FIRST, 7);
    world.send(flow_number(1), 20, 0);
    world.has(flow_number(1), 100, 1);
    world.bench.handshake_of(flow_number(2), at(100), FIRST, 7);
    assert!(world.view(flow_number(2), 120, 0)[0].hrtt > HANDSHAKE, "what the first flow has learned");
}
