//! Segments of several flows, many of them malformed or forged: whatever comes, what is written is what was offered, in
//! the order of each flow.
use super::super::header::{Segmentation, VirtioHeader};
use super::{cut, fill_checksum, join, segment};
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_wire::IpPacket;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Flows: whether IPv6, and the port.
const FLOWS: [(bool, u16); 4] = [(false, 5000), (false, 5001), (true, 5000), (true, 5001)];

/// What orders a packet: where it goes from and to, and the first bytes behind its IP header, if there is one.
type Key = Option<(IpAddr, IpAddr, u8, Vec<u8>)>;

fn key(packet: &[u8]) -> Key {
    let ip = IpPacket::parse(packet).ok()?;
    let ports = ip.payload(packet).iter().take(4).copied().collect();
    Some((ip.header.source, ip.header.destination, ip.header.protocol, ports))
}

/// A packet without what cutting may write otherwise: an IPv4 packet that is never fragmented (RFC 6864) has no number,
/// and 0 as a checksum is ffff too (RFC 1624).
fn without_number(mut packet: Vec<u8>) -> Vec<u8> {
    let Ok(ip) = IpPacket::parse(&packet) else { return packet };
    if ip.header.dont_fragment && !ip.header.source.is_ipv6() {
        packet[4..6].fill(0);
        packet[10..12].fill(0);
    }
    if let Some(checksum) = packet.get_mut(ip.header_bytes + 16..ip.header_bytes + 18)
        && *checksum == [0, 0]
    {
        checksum.fill(0xff);
    }
    packet
}

fn by_flow(packets: impl IntoIterator<Item = Vec<u8>>) -> BTreeMap<Key, Vec<Vec<u8>>> {
    let mut flows = BTreeMap::<Key, Vec<Vec<u8>>>::new();
    for packet in packets {
        flows.entry(key(&packet)).or_default().push(without_number(packet));
    }
    flows
}

fn fill_checksums(packet: &mut [u8], is_ipv6: bool) {
    let at = if is_ipv6 { 40 } else { 20 };
    if !is_ipv6 && packet.len() >= at {
        packet[10..12].fill(0);
        let sum = prismux_wire::checksum::checksum(&packet[..at]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    }
    if packet.len() >= at + 20 {
        fill_checksum(packet, at, 16);
    }
}

/// Changes one thing: in a header, its options, its lengths, the payload, or the packet's own length.
fn mutate(packet: &mut Vec<u8>, is_ipv6: bool, random: &mut RandomStream) {
    let at = if is_ipv6 { 40 } else { 20 };
    let any = |random: &mut RandomStream, below: usize| random.below(below as u64) as usize;
    match random.below(7) {
        0 => packet[any(random, at)] ^= 1 << random.below(8),
        1 => packet[at + any(random, 20)] ^= 1 << random.below(8),
        // Options that are longer than there is room for, of no length, or others.
        2 => packet[at + 20 + any(random, 12)] = [0, 1, 2, 3, 5, 8, 40, 255][any(random, 8)],
        3 => packet[at + 12] = (random.below(16) as u8) << 4,
        4 => {
            let place = any(random, packet.len());
            packet[place] ^= 0x10;
        }
        5 => {
            let length = any(random, packet.len());
            packet.truncate(length);
        }
        _ => packet.extend_from_slice(&[0; 9][..any(random, 9)]),
    }
    // Half of them check out.
    if random.chance(0.5) {
        fill_checksums(packet, is_ipv6);
    }
}

/// Segments of all flows in turn; some are mutated, come twice, or out of their place.
fn packets(random: &mut RandomStream) -> Vec<Vec<u8>> {
    let (mut sequences, mut numbers) = ([u32::MAX - 900; FLOWS.len()], [0_u16; FLOWS.len()]);
    let mut all = Vec::new();
    for _ in 0..40 {
        let flow = random.below(FLOWS.len() as u64) as usize;
        let (is_ipv6, port) = FLOWS[flow];
        let length = [100, 100, 100, 40, 0][random.below(5) as usize];
        let payload: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        let push = random.chance(0.05);
        let mut packet = segment(is_ipv6, port, sequences[flow], numbers[flow], push, &payload);
        if !is_ipv6 && flow == 1 {
            packet[6] = 0x40;
            fill_checksums(&mut packet, is_ipv6);
        }
        numbers[flow] = numbers[flow].wrapping_add(1);
        sequences[flow] = sequences[flow].wrapping_add(length as u32);
        if random.chance(0.2) {
            mutate(&mut packet, is_ipv6, random);
        }
        if random.chance(0.05) {
            all.push(packet.clone());
        }
        all.push(packet);
    }
    all
}

#[test]
fn whatever_comes_is_written_as_it_came_and_in_the_order_of_its_flow() {
    let (mut joined, mut malformed) = (0, 0);
    for seed in 0..4000 {
        let offered = packets(&mut Seed(seed).stream("mutated"));
        let mut written = Vec::new();
        for (header, bytes) in join(&offered) {
            match header.segmentation {
                Segmentation::None => {
                    assert_eq!(header, VirtioHeader::PLAIN);
                    written.push(bytes);
                }
                _ => {
                    joined += 1;
                    written.extend(cut(header, &bytes));
                }
            }
        }
        malformed += offered.iter().filter(|packet| prismux_wire::TcpPacket::parse(packet).is_err()).count();
        assert!(by_flow(written) == by_flow(offered), "seed {seed}");
    }
    // It would prove nothing if nothing were joined or malformed.
    assert!(joined > 10_000 && malformed > 5000, "{joined} joined, {malformed} malformed");
}

/// A segment with options that are none comes behind those of its flow, which wait for more.
#[test]
fn a_malformed_segment_does_not_pass_those_of_its_flow() {
    for is_ipv6 in [false, true] {
        let at = if is_ipv6 { 40 } else { 20 };
        let first = segment(is_ipv6, 5000, 1000, 1, false, &[1; 100]);
        let mut malformed = segment(is_ipv6, 5000, 1100, 2, false, &[2; 100]);
        malformed[at + 23] = 40;
        fill_checksums(&mut malformed, is_ipv6);
        let last = segment(is_ipv6, 5000, 1200, 3, false, &[3; 100]);
        let offered = [first, malformed, last];
        let written: Vec<_> = join(&offered).into_iter().map(|(_, bytes)| bytes).collect();
        assert_eq!(written, offered);
    }
}
