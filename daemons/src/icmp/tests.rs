use super::too_big;
use prismux_linux::packet::PacketPool;
use prismux_wire::checksum::{Sum, pseudo_header};
use prismux_wire::{IpHeader, IpPacket, UdpHeader, emit_udp_packet};

fn datagram(source: &str, destination: &str, payload_bytes: usize) -> Vec<u8> {
    let mut out = vec![0; payload_bytes + 48];
    let ip = IpHeader::new(source.parse().unwrap(), destination.parse().unwrap(), 17);
    let udp = UdpHeader { source_port: 443, destination_port: 50_000 };
    let length = emit_udp_packet(&ip, &udp, &vec![7; payload_bytes], &mut out).unwrap();
    out.truncate(length);
    out
}

#[test]
fn an_ipv4_sender_learns_the_mtu() {
    let packet = datagram("198.51.100.1", "10.0.0.2", 1400);
    let answer = too_big(&PacketPool::new(1500), &packet, 1376).unwrap();
    let ip = IpPacket::parse(&answer).unwrap();
    assert_eq!(ip.header.destination, "198.51.100.1".parse::<std::net::IpAddr>().unwrap());
    assert_eq!(ip.total_bytes, 576, "RFC 1812: not longer than this");
    let message = ip.payload(&answer);
    assert_eq!(message[..2], [3, 4]);
    assert_eq!(message[4..8], [0, 0, 0x05, 0x60]);
    assert_eq!(message[8..], packet[..548]);
    assert!(Sum::ZERO.add_bytes(message).is_valid());
}

#[test]
fn an_ipv6_sender_learns_the_mtu() {
    let packet = datagram("2001:db8::1", "fd00::2", 1400);
    let answer = too_big(&PacketPool::new(1500), &packet, 1300).unwrap();
    let ip = IpPacket::parse(&answer).unwrap();
    let message = ip.payload(&answer);
    assert_eq!((message[0], message[1], ip.total_bytes), (2, 0, 1280));
    assert_eq!(message[4..8], 1300u32.to_be_bytes());
    let sum = pseudo_header(ip.header.source, ip.header.destination, 58, message.len()).add_bytes(message);
    assert!(sum.is_valid());
}

#[test]
fn errors_and_fragmentable_packets_get_no_answer() {
    let pool = PacketPool::new(1500);
    let packet = datagram("198.51.100.1", "10.0.0.2", 1400);
    let answer = too_big(&pool, &packet, 1376).unwrap();
    assert!(too_big(&pool, &answer, 500).is_none(), "never an error about an error");
    let mut fragmentable = IpHeader::new([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), 17);
    fragmentable.dont_fragment = false;
    let mut out = [0; 28];
    emit_udp_packet(&fragmentable, &UdpHeader::default(), &[], &mut out).unwrap();
    assert!(too_big(&pool, &out, 20).is_none());
    assert!(too_big(&pool, &[0x45, 0, 0], 20).is_none());
}
