//! What bounds spare us to look at must not be what would have been chosen.
use super::Question;
use crate::config::{LinkConfig, ProxyConfig};
use crate::ids::LinkId;
use crate::link_table::LinkTable;
use crate::scheduler::PacketView;
use core::net::{IpAddr, Ipv4Addr};
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::{FlowKey, SeqNumber};

const NOWHERE: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
const PACKET: PacketView = PacketView {
    flow: FlowKey { source: NOWHERE, destination: NOWHERE, source_port: 1, destination_port: 2, protocol: 6 },
    seq: SeqNumber(1),
    bytes: 1448,
    window_bytes: None,
    flow_in_flight_bytes: 0,
    deadline: None,
    retransmission: false,
    paced: false,
};

/// Links of all sorts: some unknown, some on standby, some empty, some full.
fn table(random: &mut RandomStream, count: usize) -> LinkTable {
    let (mut links, config) = (LinkTable::default(), ProxyConfig::default());
    for number in 0..count {
        let id = LinkId(number as u8);
        let rate = random.chance(0.9).then(|| Rate::from_kbps(100 + random.below(100_000)));
        links.join(Instant::ZERO, id, LinkConfig { advertised_rate: rate, ..LinkConfig::default() }, &config);
        if random.chance(0.9) {
            let rtt = Duration::from_micros(1000 + random.below(300_000));
            let Some(link) = links.get_mut(id) else { continue };
            link.on_rtt(Instant::ZERO, rtt, 0.25);
            link.model.on_probe(Instant::ZERO, rtt);
        }
        if random.chance(0.1) {
            links.set_usable(id, false, "");
        }
    }
    links.arrange();
    links
}

/// The link that looking at every one of them finds.
fn plain(links: &LinkTable, question: &Question<'_>) -> Option<LinkId> {
    let ranked = links.usable().map(|(id, link)| (question.rank(id, link), id));
    ranked.min_by(|(a, _), (b, _)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))).map(|(_, id)| id)
}

fn packet(random: &mut RandomStream) -> PacketView {
    PacketView {
        bytes: 40 + random.below(1500) as u32,
        flow_in_flight_bytes: random.below(100_000),
        retransmission: random.chance(0.1),
        paced: random.chance(0.2),
        ..PACKET
    }
}

#[test]
fn of_many_links_the_one_is_chosen_that_would_be_if_all_were_looked_at() {
    let mut random = Seed(1).stream("earliest-arrival");
    for count in [1, 8, 9, 64, 200, LinkId::COUNT] {
        let mut links = table(&mut random, count);
        let (mut now, mut before) = (Instant::from_millis(1), None);
        for number in 0..3000_u32 {
            links.backlogged = random.chance(0.5);
            links.share_bytes = random.below(200_000);
            let packet = packet(&mut random);
            let question = Question::new(now, &links, &packet, before.filter(|_| random.chance(0.5)));
            let found =
                links.least(question.before, |bounds| question.bound(bounds), |id, l| question.rank(id, l));
            assert_eq!(found, plain(&links, &question), "packet {number} over {count} links");
            let Some(link) = found else { continue };
            links.send(now, link, packet.bytes, (0, packet.seq));
            before = Some(link);
            now += Duration::from_micros(random.below(300));
            if random.chance(0.6) {
                links.settle(LinkId(random.below(count as u64) as u8), 1448);
            }
            if random.chance(0.01) {
                links.set_usable(LinkId(random.below(count as u64) as u8), random.chance(0.5), "");
            }
        }
    }
}

#[test]
fn a_hundred_equal_links_take_turns() {
    let mut links = LinkTable::default();
    let rate = Some(Rate::from_mbps(1));
    for number in 0..100 {
        let config = LinkConfig { advertised_rate: rate, ..LinkConfig::default() };
        links.join(Instant::ZERO, LinkId(number), config, &ProxyConfig::default());
    }
    for _ in 0..500 {
        let question = Question::new(Instant::ZERO, &links, &PACKET, None);
        let link = links.least(None, |bounds| question.bound(bounds), |id, link| question.rank(id, link));
        links.send(Instant::ZERO, link.unwrap(), PACKET.bytes, (0, PACKET.seq));
    }
    assert!(links.up().all(|(_, link)| link.variables.in_flight_packets == 5));
}
