//! UDP datagrams of a flow as one packet.
use super::super::header::{Segmentation, VirtioHeader};
use super::super::join::Joiner;
use super::{cut, fill_checksum, join, network};
use prismux_wire::ip::protocol;

/// A datagram from `port` that may not be fragmented, with this number.
fn datagram(is_ipv6: bool, port: u16, number: u16, payload: &[u8]) -> Vec<u8> {
    let length = 8 + payload.len();
    let mut packet = network(is_ipv6, protocol::UDP, number, length);
    if !is_ipv6 {
        packet[6] = 0x40;
        fill_header_checksum(&mut packet);
    }
    let at = packet.len();
    packet.extend_from_slice(&port.to_be_bytes());
    packet.extend_from_slice(&443_u16.to_be_bytes());
    packet.extend_from_slice(&(length as u16).to_be_bytes());
    packet.extend_from_slice(&[0, 0]);
    packet.extend_from_slice(payload);
    fill_checksum(&mut packet, at, 6);
    packet
}

fn fill_header_checksum(packet: &mut [u8]) {
    packet[10..12].fill(0);
    let sum = prismux_wire::checksum::checksum(&packet[..20]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
}

fn flow(is_ipv6: bool, lengths: &[usize]) -> Vec<Vec<u8>> {
    (0_u16..)
        .zip(lengths)
        .map(|(number, &length)| datagram(is_ipv6, 5000, number, &vec![number as u8; length]))
        .collect()
}

#[test]
fn datagrams_that_are_joined_are_cut_into_the_same() {
    for is_ipv6 in [false, true] {
        for lengths in [&[1400; 40][..], &[1400, 1400, 99], &[1, 1]] {
            let packets = flow(is_ipv6, lengths);
            let written = join(&packets);
            assert_eq!(written.len(), 1, "{lengths:?}");
            let (header, joined) = &written[0];
            assert_eq!(
                (header.segmentation, usize::from(header.segment_bytes)),
                (Segmentation::Udp, lengths[0])
            );
            assert_eq!(cut(*header, joined), packets, "{lengths:?}");
        }
    }
}

#[test]
fn datagrams_that_differ_in_more_than_what_they_carry_stay_apart() {
    let first = || datagram(false, 5000, 0, &[1; 100]);
    let second = || datagram(false, 5000, 1, &[2; 100]);
    assert_eq!(join(&[first(), second()]).len(), 1);
    // Traffic class, fragments allowed (and then a number out of turn), time to live.
    for (place, value) in [(1, 3), (6, 0), (8, 9)] {
        let mut other = second();
        other[place] = value;
        fill_header_checksum(&mut other);
        let written = join(&[first(), other]);
        assert_eq!(written.len(), 2, "byte {place} = {value}");
        assert_eq!(written[0], (VirtioHeader::PLAIN, first()), "in their order");
    }
    for other in [datagram(false, 5001, 1, &[2; 100]), datagram(false, 5000, 1, &[2; 101])] {
        assert_eq!(join(&[first(), other]).len(), 2);
    }
    // A shorter one is the last.
    assert_eq!(join(&[first(), datagram(false, 5000, 1, &[2; 9]), second()]).len(), 2);
    assert_eq!(join(&flow(true, &[20; 130])).len(), 3, "64 at most");
}

#[test]
fn a_datagram_with_a_wrong_checksum_or_none_keeps_it_and_its_place() {
    for changed in [|packet: &mut Vec<u8>| packet[60] ^= 1, |packet: &mut Vec<u8>| packet[26..28].fill(0)] {
        let mut packets = flow(false, &[100; 3]);
        changed(&mut packets[1]);
        let written = join(&packets);
        let expected: Vec<_> = packets.iter().map(|packet| (VirtioHeader::PLAIN, packet.clone())).collect();
        assert_eq!(written, expected);
    }
}

#[test]
fn a_fragment_passes_no_datagram_that_waits() {
    let mut fragment = datagram(false, 5000, 9, &[3; 100]);
    // Not the first, more follow.
    fragment[6..8].copy_from_slice(&[0x20, 9]);
    fill_header_checksum(&mut fragment);
    let waiting = datagram(false, 5000, 0, &[1; 100]);
    let written = join(&[waiting.clone(), fragment.clone()]);
    assert_eq!([&written[0].1, &written[1].1], [&waiting, &fragment]);
}

#[test]
fn datagrams_are_left_alone_for_a_kernel_that_cannot_cut_them() {
    let (mut joiner, mut written) = (Joiner::new(false), Vec::new());
    let packets = flow(false, &[100; 3]);
    for packet in &packets {
        joiner.offer(packet, |header, bytes, _| written.push((header, bytes.to_vec())));
    }
    assert_eq!(
        written,
        packets.iter().map(|packet| (VirtioHeader::PLAIN, packet.clone())).collect::<Vec<_>>()
    );
}
