mod datagrams;
mod mutated;

use super::cut::Cutter;
use super::header::{HEADER_BYTES, Segmentation, VirtioHeader};
use super::join::Joiner;
use crate::packet::PacketPool;
use prismux_wire::ip::protocol;
use prismux_wire::{FlowKey, IpPacket, TcpPacket, UdpPacket};
use std::net::IpAddr;

/// A TCP segment from `addresses.0` with timestamps, PSH where asked for, and `payload`.
fn segment(is_ipv6: bool, port: u16, sequence: u32, number: u16, push: bool, payload: &[u8]) -> Vec<u8> {
    let mut tcp = vec![0; 32];
    tcp[0..2].copy_from_slice(&port.to_be_bytes());
    tcp[2..4].copy_from_slice(&443_u16.to_be_bytes());
    tcp[4..8].copy_from_slice(&sequence.to_be_bytes());
    tcp[8..12].copy_from_slice(&77_u32.to_be_bytes());
    tcp[12] = 8 << 4;
    tcp[13] = if push { 0x18 } else { 0x10 };
    tcp[14..16].copy_from_slice(&500_u16.to_be_bytes());
    tcp[20..24].copy_from_slice(&[1, 1, 8, 10]);
    tcp[24..28].copy_from_slice(&9_u32.to_be_bytes());
    tcp.extend_from_slice(payload);
    let mut packet = network(is_ipv6, protocol::TCP, number, tcp.len());
    let at = packet.len();
    packet.extend_from_slice(&tcp);
    fill_checksum(&mut packet, at, 16);
    packet
}

/// An IP header in front of `transport_bytes`.
fn network(is_ipv6: bool, protocol: u8, number: u16, transport_bytes: usize) -> Vec<u8> {
    if is_ipv6 {
        let mut header = vec![0; 40];
        header[0] = 0x60;
        header[4..6].copy_from_slice(&(transport_bytes as u16).to_be_bytes());
        (header[6], header[7], header[23], header[39]) = (protocol, 64, 1, 2);
        return header;
    }
    let mut header = vec![0; 20];
    header[0] = 0x45;
    header[2..4].copy_from_slice(&(20 + transport_bytes as u16).to_be_bytes());
    header[4..6].copy_from_slice(&number.to_be_bytes());
    (header[8], header[9]) = (64, protocol);
    header[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    let checksum = prismux_wire::checksum::checksum(&header);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    header
}

fn pseudo_header(packet: &[u8], at: usize) -> prismux_wire::checksum::Sum {
    let ip = if at == 40 { IpAddr::from([0; 16]) } else { IpAddr::from([0; 4]) };
    let addresses = if at == 40 { &packet[8..40] } else { &packet[12..20] };
    let protocol = packet[if at == 40 { 6 } else { 9 }];
    prismux_wire::checksum::pseudo_header(ip, ip, protocol, packet.len() - at).add_bytes(addresses)
}

fn fill_checksum(packet: &mut [u8], at: usize, offset: usize) {
    packet[at + offset..at + offset + 2].fill(0);
    let checksum = pseudo_header(packet, at).add_bytes(&packet[at..]).checksum();
    packet[at + offset..at + offset + 2].copy_from_slice(&checksum.to_be_bytes());
}

/// Everything that the cutter makes of what a device delivers.
fn cut(header: VirtioHeader, packet: &[u8]) -> Vec<Vec<u8>> {
    let mut cutter = Cutter::default();
    let bytes = [&header.emit()[..], packet].concat();
    cutter.room()[..bytes.len()].copy_from_slice(&bytes);
    cutter.begin(bytes.len());
    let pool = PacketPool::new(1500);
    std::iter::from_fn(|| cutter.next(&pool)).map(|packet| packet.to_vec()).collect()
}

/// What the joiner makes of packets, in the order of writing.
fn join(packets: &[Vec<u8>]) -> Vec<(VirtioHeader, Vec<u8>)> {
    let (mut joiner, mut written, mut count) = (Joiner::new(true), Vec::new(), 0);
    for packet in packets {
        joiner.offer(packet, |header, bytes, segments| {
            written.push((header, bytes.to_vec()));
            count += segments;
        });
    }
    joiner.flush(|header, bytes, segments| {
        written.push((header, bytes.to_vec()));
        count += segments;
    });
    assert_eq!(count, packets.len() as u64, "every packet is written, and once");
    written
}

fn stream(is_ipv6: bool, lengths: &[usize]) -> Vec<Vec<u8>> {
    let mut sequence = u32::MAX - 1000;
    (0_u16..)
        .zip(lengths)
        .map(|(number, &length)| {
            let payload: Vec<u8> = (0..length).map(|byte| (byte * 7 + usize::from(number)) as u8).collect();
            let is_last = usize::from(number) + 1 == lengths.len();
            let packet = segment(is_ipv6, 5000, sequence, number.wrapping_add(65_530), is_last, &payload);
            sequence = sequence.wrapping_add(length as u32);
            packet
        })
        .collect()
}

#[test]
fn what_is_joined_is_cut_into_the_same_packets() {
    for is_ipv6 in [false, true] {
        for lengths in [&[1400; 40][..], &[1400, 1400, 99], &[1, 1], &[1400], &[8948; 7]] {
            let packets = stream(is_ipv6, lengths);
            let written = join(&packets);
            assert_eq!(written.len(), 1, "{lengths:?}");
            let (header, joined) = &written[0];
            let kind = if is_ipv6 { Segmentation::Tcp6 } else { Segmentation::Tcp4 };
            let expected = if lengths.len() > 1 { kind } else { Segmentation::None };
            assert_eq!(header.segmentation, expected, "{lengths:?}");
            if lengths[0] < 1500 {
                assert_eq!(cut(*header, joined), packets, "{lengths:?}");
            }
        }
    }
}

#[test]
fn segments_that_differ_in_more_than_their_place_stay_apart() {
    let first = || segment(false, 5000, 1000, 1, false, &[1; 100]);
    let second = || segment(false, 5000, 1100, 2, false, &[2; 100]);
    assert_eq!(join(&[first(), second()]).len(), 1);
    let changed = |place: usize, value: u8| {
        let mut other = second();
        other[place] = value;
        let sum = prismux_wire::checksum::checksum(&[&other[..10], &[0, 0], &other[12..20]].concat());
        other[10..12].copy_from_slice(&sum.to_be_bytes());
        fill_checksum(&mut other, 20, 16);
        other
    };
    // Traffic class, number, time to live, acknowledgement, flags (ECE, FIN, SYN, RST), window, urgent, timestamps.
    let places = [(1, 3), (5, 9), (8, 9), (31, 1), (33, 0x50), (33, 0x11), (33, 0x12), (33, 0x14), (35, 1)];
    for (place, value) in places.into_iter().chain([(39, 1), (44, 1), (27, 1)]) {
        let written = join(&[first(), changed(place, value)]);
        assert_eq!(written.len(), 2, "byte {place} = {value}");
        assert_eq!(written[0].1, first(), "in their order");
        assert!(written.iter().all(|(header, _)| *header == VirtioHeader::PLAIN));
    }
    // Longer than the first, out of order, and the same again.
    for other in
        [segment(false, 5000, 1100, 2, false, &[2; 101]), segment(false, 5000, 1200, 2, false, &[2; 9])]
    {
        assert_eq!(join(&[first(), other]).len(), 2);
    }
    assert_eq!(join(&[first(), first()]).len(), 2);
}

#[test]
fn a_wrong_checksum_is_not_made_right() {
    let packets = stream(false, &[1000; 3]);
    for (index, place) in [(0, 60), (1, 60), (2, 60), (1, 36), (1, 10)] {
        let mut packets = packets.clone();
        packets[index][place] ^= 0x40;
        let written = join(&packets);
        let spoilt = written.iter().find(|(_, bytes)| *bytes == packets[index]);
        assert!(spoilt.is_some_and(|(header, _)| *header == VirtioHeader::PLAIN), "{index} {place}");
    }
}

#[test]
fn flows_are_joined_apart_and_an_acknowledgement_does_not_overtake() {
    let mut packets = Vec::new();
    for index in 0..5_u16 {
        for port in 0..20 {
            let sequence = u32::from(index) * 50;
            packets.push(segment(port % 2 == 0, 5000 + port, sequence, index, false, &[index as u8; 50]));
        }
    }
    let order_of = |packets: &[Vec<u8>]| {
        let mut by_flow = std::collections::BTreeMap::<FlowKey, Vec<u32>>::new();
        for packet in packets {
            let ip = IpPacket::parse(packet).unwrap();
            let tcp = TcpPacket::from_ip(ip, packet).unwrap();
            by_flow.entry(tcp.flow()).or_default().push(tcp.header.seq.0);
        }
        by_flow
    };
    let cut_again: Vec<_> = join(&packets).iter().flat_map(|(header, bytes)| cut(*header, bytes)).collect();
    assert_eq!(order_of(&cut_again), order_of(&packets));

    let data = stream(false, &[500; 2]);
    let empty = segment(false, 5000, 5, 9, false, &[]);
    let written = join(&[data[0].clone(), empty.clone()]);
    assert_eq!([&written[0].1, &written[1].1], [&data[0], &empty]);
}

#[test]
fn datagrams_of_one_piece_get_headers_and_checksums_of_their_own() {
    let mut packet = network(false, protocol::UDP, 7, 8 + 250);
    packet.extend_from_slice(&[0x13, 0x88, 0x01, 0xbb, 0, 0, 0, 0]);
    packet.extend((0..250).map(|byte| byte as u8));
    let header = VirtioHeader {
        checksum: Some((20, 6)),
        segmentation: Segmentation::Udp,
        headers_bytes: 28,
        segment_bytes: 100,
    };
    let cut = cut(header, &packet);
    let mut payload = Vec::new();
    for datagram in &cut {
        let ip = IpPacket::parse(datagram).unwrap();
        assert_eq!(ip.total_bytes, datagram.len());
        assert!(UdpPacket::parse(datagram).is_ok());
        assert!(pseudo_header(datagram, 20).add_bytes(&datagram[20..]).is_valid());
        payload.extend_from_slice(&datagram[28..]);
    }
    assert_eq!(cut.iter().map(Vec::len).collect::<Vec<_>>(), [128, 128, 78]);
    assert_eq!(payload, packet[28..]);
}

#[test]
fn a_checksum_that_the_kernel_left_open_is_completed() {
    let whole = segment(true, 5000, 1, 0, false, &[5; 99]);
    let mut open = whole.clone();
    let pseudo = !pseudo_header(&open, 40).checksum();
    open[56..58].copy_from_slice(&pseudo.to_be_bytes());
    let header = VirtioHeader { checksum: Some((40, 16)), ..VirtioHeader::PLAIN };
    assert_eq!(cut(header, &open), [whole]);
}

#[test]
fn nothing_that_a_device_could_deliver_does_harm() {
    let packet = segment(false, 5000, 1, 0, true, &[5; 3000]);
    let kinds = [Segmentation::None, Segmentation::Tcp4, Segmentation::Tcp6, Segmentation::Udp];
    for kind in kinds {
        for place in [0, 10, 20, 28, 3000, 3051, 3052, 65_535] {
            for segment_bytes in [0, 1, 1000, 1600, 65_535] {
                for checksum in [None, Some((place, 16)), Some((20, place)), Some((20, 65_535))] {
                    let header =
                        VirtioHeader { checksum, segmentation: kind, headers_bytes: place, segment_bytes };
                    for length in [0, 1, 20, 33, 40, 53, packet.len()] {
                        cut(header, &packet[..length]);
                    }
                }
            }
        }
    }
    for length in 0..HEADER_BYTES {
        let mut cutter = Cutter::default();
        cutter.begin(length);
        assert!(!cutter.has_segments());
    }
    for length in 0..packet.len().min(100) {
        join(&[packet[..length].to_vec(), packet.clone()]);
    }
}
