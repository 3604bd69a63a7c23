//! What is emitted parses back to the same value, and arbitrary bytes never panic.
mod packets;

use packets::{emit, ip_header, payload, tcp_header};
use prismux_wire::gre::GreHeader;
use prismux_wire::rewrite::clamp_mss;
use prismux_wire::{
    IpPacket, KeepFactor, LossReport, SackRewrite, SegmentRewrite, SeqNumber, TcpHeader, TcpOptions,
    TcpPacket, UdpHeader, UdpPacket, emit_udp_packet, flow_hash, flow_key, ip,
};
use proptest::prelude::*;

proptest! {
    #[test]
    fn an_emitted_tcp_header_parses_back_to_itself(header in tcp_header()) {
        let mut bytes = [0xee; 60];
        let length = header.emit(&mut bytes).unwrap();
        prop_assert_eq!(length, header.wire_bytes());
        prop_assert_eq!(TcpHeader::parse(&bytes[..length]), Ok((header, length)));
        prop_assert!(header.emit(&mut bytes[..length - 1]).is_err(), "a short buffer is refused");
    }

    #[test]
    fn an_emitted_packet_parses_back_with_valid_checksums(
        ip in ip_header(), tcp in tcp_header(), payload in payload(), padding in 0usize..10,
    ) {
        let mut packet = emit(&ip, &tcp, &payload);
        let length = packet.len();
        packet.resize(length + padding, 0xee);
        let parsed = TcpPacket::parse(&packet).unwrap();
        prop_assert_eq!(parsed.ip.header, ip);
        prop_assert_eq!(parsed.header, tcp);
        prop_assert_eq!(parsed.payload(&packet), &payload[..]);
        prop_assert_eq!(parsed.ip.total_bytes, length);
        prop_assert_eq!(parsed.verify_checksum(&packet), Ok(()));
        let key = flow_key(&packet).unwrap();
        prop_assert_eq!(key, parsed.flow());
        prop_assert_eq!((key.source_port, key.destination_port), (tcp.source_port, tcp.destination_port));
        prop_assert!(TcpPacket::parse(&packet[..length - 1]).is_err(), "a cut packet is refused");
    }

    #[test]
    fn one_damaged_byte_of_a_segment_never_passes_the_checksum(
        ip in ip_header(), tcp in tcp_header(), payload in payload(), at in any::<prop::sample::Index>(), flip in 1u8..,
    ) {
        let mut packet = emit(&ip, &tcp, &payload);
        let start = ip.wire_bytes();
        let at = start + at.index(packet.len() - start);
        packet[at] ^= flip;
        // The damage may make the header unreadable; what still parses fails the checksum.
        if let Ok(parsed) = TcpPacket::parse(&packet) {
            prop_assert!(parsed.verify_checksum(&packet).is_err());
        }
    }

    #[test]
    fn an_emitted_udp_packet_parses_back(ip in ip_header(), ports in any::<(u16, u16)>(), payload in payload()) {
        let udp = UdpHeader { source_port: ports.0, destination_port: ports.1 };
        let mut packet = vec![0; 2048];
        let length = emit_udp_packet(&ip, &udp, &payload, &mut packet).unwrap();
        let parsed = UdpPacket::parse(&packet[..length]).unwrap();
        prop_assert_eq!(parsed.header, udp);
        prop_assert_eq!(parsed.payload(&packet), &payload[..]);
        let segment = &packet[ip.wire_bytes()..length];
        prop_assert_eq!(UdpHeader::verify_checksum(segment, ip.source, ip.destination, false), Ok(()));
    }

    #[test]
    fn an_emitted_gre_header_parses_back(
        protocol in any::<u16>(), checksum in any::<bool>(),
        key in any::<Option<u32>>(), sequence in any::<Option<u32>>(), payload in payload(),
    ) {
        let header = GreHeader { protocol, checksum, key, sequence };
        let mut bytes = vec![0xee; header.wire_bytes()];
        bytes.extend_from_slice(&payload);
        prop_assert_eq!(header.emit(&mut bytes), Ok(header.wire_bytes()));
        prop_assert_eq!(GreHeader::parse(&bytes), Ok((header, header.wire_bytes())));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        parse_everything(&bytes);
    }

    #[test]
    fn a_mutated_packet_never_panics(
        ip in ip_header(), tcp in tcp_header(), payload in payload(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        keep in any::<prop::sample::Index>(),
    ) {
        let mut packet = emit(&ip, &tcp, &payload);
        for (at, value) in edits {
            let at = at.index(packet.len());
            packet[at] = value;
        }
        parse_everything(&packet);
        packet.truncate(keep.index(packet.len()));
        parse_everything(&packet);
    }
}

/// Every parser and rewriter; results are judged elsewhere.
fn parse_everything(bytes: &[u8]) {
    if let Ok(parsed) = IpPacket::parse(bytes) {
        assert!(parsed.header_bytes <= parsed.total_bytes && parsed.total_bytes <= bytes.len());
        flow_hash(&parsed, bytes);
    }
    let _ = (TcpPacket::parse(bytes), UdpPacket::parse(bytes), flow_key(bytes));
    let _ =
        (TcpHeader::parse(bytes), TcpOptions::parse(bytes), UdpHeader::parse(bytes), GreHeader::parse(bytes));
    let mut copy = bytes.to_vec();
    copy.extend_from_slice(&[0; 12]);
    let report = Some(LossReport { lost: SeqNumber(1), link: 2, flags: 0, keep: KeepFactor(3) });
    let rewrite = SegmentRewrite {
        seq: Some(SeqNumber(0xFFFF_FFF0)),
        ack: Some(SeqNumber(7)),
        tsval: Some(1),
        sack: SackRewrite::Truncate(1),
        report,
        ..SegmentRewrite::default()
    };
    let before = copy.clone();
    if rewrite.apply(&mut copy, bytes.len()).is_err() {
        assert_eq!(copy, before, "a refused packet stays as it was");
    }
    let _ = clamp_mss(&mut copy, 1000);
    let _ = (ip::set_ecn(&mut copy, prismux_wire::Ecn::Ce), ip::decrement_hop_limit(&mut copy));
}
