//! Packets as RFCs describe them, byte by byte.
use prismux_wire::gre::{Encapsulation, GRE_IN_UDP_PORT, GreHeader, PLAIN_GRE_BYTES, ether_type};
use prismux_wire::{
    Ecn, FlowKey, Fragment, IpFamily, IpHeader, IpPacket, KeepFactor, Layer, SackBlock, SeqNumber, TcpFlags,
    TcpOptions, TcpPacket, Timestamps, UdpHeader, WireError, checksum::checksum, emit_udp_packet, flow_hash,
    flow_key, ip::protocol,
};
use std::net::IpAddr;

/// A SYN laid out as Linux does on its loopback device: MSS 65495, SACK permitted, timestamps, scale 7.
const LINUX_SYN: [u8; 60] = [
    0x45, 0x00, 0x00, 0x3c, 0x8f, 0x1c, 0x40, 0x00, 0x40, 0x06, 0xad, 0x9d, 0x7f, 0x00, 0x00, 0x01, 0x7f,
    0x00, 0x00, 0x01, 0xd4, 0x31, 0x1f, 0x90, 0x5d, 0x4e, 0x10, 0x2b, 0x00, 0x00, 0x00, 0x00, 0xa0, 0x02,
    0xff, 0xd7, 0xfe, 0x30, 0x00, 0x00, 0x02, 0x04, 0xff, 0xd7, 0x04, 0x02, 0x08, 0x0a, 0x0a, 0x9b, 0x2c,
    0x1d, 0x00, 0x00, 0x00, 0x00, 0x01, 0x03, 0x03, 0x07,
];

#[test]
fn a_linux_syn_is_read_field_by_field_and_written_with_the_same_options() {
    let packet = TcpPacket::parse(&LINUX_SYN).unwrap();
    assert_eq!(packet.flow().to_string(), "127.0.0.1:54321 > 127.0.0.1:8080");
    assert_eq!((packet.header.flags, packet.header.window), (TcpFlags::SYN, 65_495));
    let options = packet.header.options;
    assert_eq!((options.mss, options.window_scale, options.sack_permitted), (Some(65_495), Some(7), true));
    assert_eq!(options.timestamps, Some(Timestamps { value: 0x0a9b_2c1d, echo: 0 }));
    let mut out = [0; 60];
    let length = packet.header.emit(&mut out).unwrap();
    assert_eq!(out[20..length], LINUX_SYN[40..], "options in the same order with the same padding");
}

fn v6(next_header: u8, payload: &[u8]) -> Vec<u8> {
    let ip = IpHeader::new(
        [0xfd00, 0, 0, 0, 0, 0, 0, 1].into(),
        [0xfd00, 0, 0, 0, 0, 0, 0, 2].into(),
        next_header,
    );
    let mut packet = vec![0; 40];
    ip.emit(payload.len(), &mut packet).unwrap();
    packet.extend_from_slice(payload);
    packet
}

/// An 8-byte extension header of the generic form, pointing to `next`.
const fn extension(next: u8) -> [u8; 8] {
    [next, 0, 1, 4, 0, 0, 0, 0]
}

#[test]
fn extension_headers_are_walked_to_the_transport() {
    // Hop-by-hop, routing, an atomic fragment (RFC 6946), destination options, authentication (12 bytes), then UDP.
    let mut payload = Vec::new();
    payload.extend_from_slice(&extension(43));
    payload.extend_from_slice(&extension(44));
    payload.extend_from_slice(&[60, 0, 0, 0, 0, 0, 0, 9]);
    payload.extend_from_slice(&extension(51));
    payload.extend_from_slice(&[17, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
    payload.extend_from_slice(&[0x12, 0x34, 0x00, 0x35, 0, 8, 0, 0]);
    let packet = v6(0, &payload);
    let ip = IpPacket::parse(&packet).unwrap();
    assert_eq!((ip.header.protocol, ip.header_bytes, ip.fragment), (protocol::UDP, 40 + 44, None));
    let key = flow_key(&packet).unwrap();
    assert_eq!((key.source_port, key.destination_port), (0x1234, 53));
    assert_eq!(key.to_string(), "[fd00::1]:4660 > [fd00::2]:53");
}

#[test]
fn a_chain_without_end_is_refused() {
    let endless: Vec<u8> = extension(60).repeat(100);
    assert_eq!(IpPacket::parse(&v6(60, &endless)), Err(WireError::TooManyExtensionHeaders));
    let cut = v6(60, &extension(60)[..1]);
    assert_eq!(IpPacket::parse(&cut), Err(WireError::Truncated(Layer::Ipv6)));
    let too_long = [17, 9, 0, 0, 0, 0, 0, 0];
    assert_eq!(IpPacket::parse(&v6(60, &too_long)), Err(WireError::Truncated(Layer::Ipv6)));
}

#[test]
fn fragments_of_a_datagram_share_a_flow_without_ports() {
    let ports = [0x12, 0x34, 0x00, 0x35, 0, 100, 0, 0];
    let first = v6(44, &[&[17, 0, 0, 1, 0, 0, 0, 9], &ports[..]].concat());
    let later = v6(44, &[17, 0, 0, 8, 0, 0, 0, 9, 1, 2, 3, 4]);
    let (a, b) = (IpPacket::parse(&first).unwrap(), IpPacket::parse(&later).unwrap());
    assert_eq!(a.fragment, Some(Fragment { offset_bytes: 0, more: true, identification: 9 }));
    assert_eq!(b.fragment, Some(Fragment { offset_bytes: 8, more: false, identification: 9 }));
    assert_eq!(FlowKey::of_packet(&a, &first), FlowKey::of_packet(&b, &later));
    assert_eq!(flow_hash(&a, &first), flow_hash(&b, &later));
    assert_eq!(FlowKey::of_packet(&a, &first).source_port, 0);

    let mut v4 = LINUX_SYN;
    v4[6] = 0x20; // More fragments.
    v4[10..12].fill(0);
    let sum = checksum(&v4[..20]);
    v4[10..12].copy_from_slice(&sum.to_be_bytes());
    assert_eq!(TcpPacket::parse(&v4), Err(WireError::Fragment));
    assert_eq!(flow_key(&v4).unwrap().destination_port, 0);
}

#[test]
fn flow_hashes_tell_apart_what_ports_cannot() {
    let esp = |index: u32| {
        let packet = v6(protocol::ESP, &[&index.to_be_bytes()[..], &[0; 8]].concat());
        flow_hash(&IpPacket::parse(&packet).unwrap(), &packet)
    };
    assert_ne!(esp(1), esp(2));
    assert_eq!(esp(1), esp(1));
    let key = FlowKey {
        source: [10, 0, 0, 1].into(),
        destination: [10, 0, 0, 2].into(),
        source_port: 1,
        destination_port: 2,
        protocol: 6,
    };
    assert_eq!(key.hash64(), key.hash64());
    assert_ne!(key.hash64(), key.reversed().hash64());
    // Pinned: the same number on every machine and in every version, or results would shift.
    assert_eq!(key.hash64(), PINNED_HASH);
}
const PINNED_HASH: u64 = 12_222_134_027_187_847_703;

#[test]
fn broken_ipv4_headers_say_what_is_wrong() {
    let parse = |edit: &dyn Fn(&mut Vec<u8>)| {
        let mut packet = LINUX_SYN.to_vec();
        edit(&mut packet);
        IpPacket::parse(&packet).unwrap_err()
    };
    assert_eq!(parse(&|p| p[0] = 0x55), WireError::Version(Layer::Ipv4, 5));
    assert_eq!(parse(&|p| p[0] = 0x44), WireError::Length(Layer::Ipv4));
    assert_eq!(parse(&|p| p[3] = 10), WireError::Length(Layer::Ipv4));
    assert_eq!(parse(&|p| p[2] = 1), WireError::Truncated(Layer::Ipv4));
    assert_eq!(parse(&|p| p[8] = 63), WireError::Checksum(Layer::Ipv4));
    assert_eq!(parse(&|p| p.truncate(19)), WireError::Truncated(Layer::Ipv4));
    assert_eq!(parse(&|p| p.clear()), WireError::Truncated(Layer::Ipv4));
}

#[test]
fn tcp_options_with_impossible_lengths_are_refused_and_unknown_ones_skipped() {
    let cases: &[(&[u8], u8)] = &[
        (&[8, 0], 8),                                   // Length zero would never end.
        (&[8, 1], 8),                                   // Shorter than its own header.
        (&[2], 2),                                      // No length byte.
        (&[2, 4, 5], 2),                                // Past the end.
        (&[2, 3, 5], 2),                                // MSS takes 4 bytes.
        (&[3, 4, 1, 1], 3),                             // Window scale takes 3.
        (&[4, 3, 0], 4),                                // SACK-permitted takes 2.
        (&[5, 2], 5),                                   // SACK without a block.
        (&[5, 9, 0, 0, 0, 0, 0, 0, 0], 5),              // Less than a block.
        (&[8, 4, 0, 0], 8),                             // Timestamps take 10.
        (&[253, 8, 0x50, 0x52, 1, 0, 0, 0], 253),       // A loss report takes 12.
        (&[253, 6, 0x48, 0x4f, 1, 0], 253),             // A handoff notice takes 8.
        (&[253, 4, 0x44, 0x4f], 253),                   // A delivery order takes 8.
        (&[1, 1, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0, 5], 5), // Behind good timestamps.
    ];
    for (bytes, kind) in cases {
        assert_eq!(TcpOptions::parse(bytes), Err(WireError::MalformedOption(*kind)), "{bytes:?}");
    }
    let skipped = [254, 6, 1, 2, 3, 4, 1, 253, 4, 0x5a, 0x5a, 30, 2, 2, 4, 5, 0xb4, 0, 2, 4, 9, 9];
    let options = TcpOptions::parse(&skipped).unwrap();
    assert_eq!(
        options,
        TcpOptions { mss: Some(1460), ..TcpOptions::default() },
        "nothing counts behind the end mark"
    );
}

#[test]
fn dsack_and_sack_blocks_keep_their_order() {
    let mut bytes = vec![1, 1, 5, 18];
    for word in [100u32, 200, 1000, 2000] {
        bytes.extend_from_slice(&word.to_be_bytes());
    }
    let blocks = TcpOptions::parse(&bytes).unwrap().sack;
    let block = |start, end| SackBlock { start: SeqNumber(start), end: SeqNumber(end) };
    assert_eq!(blocks.as_slice(), [block(100, 200), block(1000, 2000)]);
}

#[test]
fn gre_headers_follow_rfc_2784_and_2890() {
    let inner = LINUX_SYN;
    let plain = GreHeader::plain(ether_type::IPV4);
    let mut bytes = [0; 64];
    bytes[4..].copy_from_slice(&inner);
    assert_eq!(plain.emit(&mut bytes), Ok(4));
    assert_eq!(bytes[..4], [0, 0, 0x08, 0x00], "24 bytes of overhead over IPv4: 20 and these 4");
    assert_eq!(
        GreHeader::parse(&[0x30, 0, 0x86, 0xdd, 0, 0, 0, 7, 0, 0, 0, 9]).unwrap(),
        (GreHeader { protocol: ether_type::IPV6, checksum: false, key: Some(7), sequence: Some(9) }, 12)
    );
    let error = |bytes: &[u8]| GreHeader::parse(bytes).unwrap_err();
    assert_eq!(error(&[0, 1, 8, 0]), WireError::Version(Layer::Gre, 1), "version 1 is PPTP's");
    for obsolete in [0x40, 0x08, 0x04] {
        assert_eq!(error(&[obsolete, 0, 8, 0, 0, 0, 0, 0]), WireError::ObsoleteFlags(Layer::Gre));
    }
    assert_eq!(error(&[0x30, 0, 8, 0, 0, 0, 0, 7, 0, 0, 0]), WireError::Truncated(Layer::Gre));
    assert_eq!(error(&[0, 0, 8]), WireError::Truncated(Layer::Gre));
    assert_eq!(error(&[0x80, 0, 8, 0, 0xff, 0xff, 0, 0, 1, 2]), WireError::Checksum(Layer::Gre));
    // Reserved bits 6 to 12 are ignored on receipt (RFC 2784 section 2.3).
    assert!(GreHeader::parse(&[0x03, 0xf8, 8, 0]).is_ok());
}

/// What comes in front of an inner packet, as it is written, is what the encapsulation says it costs.
#[test]
fn tunnels_cost_what_their_headers_take() {
    let gre = GreHeader::plain(ether_type::IPV4);
    let v6 = |last| IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, last]);
    let ends = [
        (IpFamily::V4, [IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2])]),
        (IpFamily::V6, [v6(1), v6(2)]),
    ];
    for (family, [from, to]) in ends {
        let mut packet = [0; 128];
        let mut payload = [0; PLAIN_GRE_BYTES];
        gre.emit(&mut payload).unwrap();
        let ports = UdpHeader { source_port: 49_152, destination_port: GRE_IN_UDP_PORT };
        let ip = IpHeader::new(from, to, protocol::UDP);
        let length = emit_udp_packet(&ip, &ports, &payload, &mut packet).unwrap();
        assert_eq!(Encapsulation::GreInUdp.overhead_bytes(family), length);
        assert_eq!(Encapsulation::Gre.overhead_bytes(family), length - UdpHeader::WIRE_BYTES);
    }
    let all =
        [Encapsulation::Gre, Encapsulation::GreInUdp].map(|e| IpFamily::ALL.map(|f| e.overhead_bytes(f)));
    assert_eq!(all, [[24, 44], [32, 52]]);
}

#[test]
fn udp_checksum_zero_means_none_in_ipv4_only() {
    let (a4, b4) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
    let (a6, b6) = ([1, 0, 0, 0, 0, 0, 0, 1u16].into(), [1, 0, 0, 0, 0, 0, 0, 2u16].into());
    let segment = [0, 1, 0, 2, 0, 8, 0, 0];
    assert!(UdpHeader::verify_checksum(&segment, a4, b4, false).is_ok());
    assert!(UdpHeader::verify_checksum(&segment, a6, b6, false).is_err());
    assert!(UdpHeader::verify_checksum(&segment, a6, b6, true).is_ok());
    // A datagram whose sum comes out as zero carries ffff: search one, there is one per 2^16.
    let udp = UdpHeader { source_port: 1, destination_port: 2 };
    let mut packet = [0; 30];
    let found = (0..=u16::MAX).any(|word| {
        emit_udp_packet(&IpHeader::new(a4, b4, 17), &udp, &word.to_be_bytes(), &mut packet).unwrap();
        assert_ne!(packet[26..28], [0, 0]);
        packet[26..28] == [0xff, 0xff]
    });
    assert!(found);
    assert!(UdpHeader::verify_checksum(&packet[20..], a4, b4, false).is_ok());
}

#[test]
fn a_tunnel_exit_combines_congestion_marks_as_rfc_6040_says() {
    use Ecn::{Ce, Ect0, Ect1, NotEct};
    // Rows: inner; columns: outer NotEct, Ect0, Ect1, Ce (figure 4).
    let table = [
        (NotEct, [Some(NotEct), Some(NotEct), Some(NotEct), None]),
        (Ect0, [Some(Ect0), Some(Ect0), Some(Ect1), Some(Ce)]),
        (Ect1, [Some(Ect1), Some(Ect1), Some(Ect1), Some(Ce)]),
        (Ce, [Some(Ce), Some(Ce), Some(Ce), Some(Ce)]),
    ];
    for (inner, row) in table {
        for (outer, expected) in [NotEct, Ect0, Ect1, Ce].into_iter().zip(row) {
            assert_eq!(Ecn::decapsulate(inner, outer), expected, "inner {inner:?}, outer {outer:?}");
        }
    }
}

#[test]
fn a_handoff_notice_is_eight_bytes_of_an_rfc_6994_experiment() {
    let mut options = TcpOptions::default();
    assert!(options.insert_handoff(prismux_wire::HandoffNotice { bandwidth_kbps: 384 }));
    let mut out = [0; 40];
    assert_eq!(options.emit(&mut out), Ok(8));
    assert_eq!(out[..8], [253, 8, 0x48, 0x4f, 0, 0, 1, 0x80]);
    assert_eq!(TcpOptions::parse(&out[..8]), Ok(options));
}

/// PRISM section VI: after a loss on a link of rate B_i the window becomes `1 - B_i / (2 sum B)` of itself.
#[test]
fn a_keep_factor_gives_up_half_of_the_links_share() {
    let of_two_links = KeepFactor::less_half_of(600_000, 2_400_000).unwrap();
    assert_eq!(of_two_links, KeepFactor(57_344), "seven eighths");
    assert_eq!(of_two_links.of(80_000), 70_000);
    assert_eq!(KeepFactor::less_half_of(1, 1), Some(KeepFactor::HALF), "the only link");
    assert_eq!(
        KeepFactor::less_half_of(9, 1),
        Some(KeepFactor::HALF),
        "a link that has left has no more than all"
    );
    assert_eq!(KeepFactor::less_half_of(1, u64::MAX), Some(KeepFactor(u16::MAX)), "never the whole window");
    assert_eq!((KeepFactor::less_half_of(0, 5), KeepFactor::less_half_of(5, 0)), (None, None));
    for (part, whole) in (1..=60).flat_map(|part| (part..=120).map(move |whole| (part, whole))) {
        let kept = f64::from(KeepFactor::less_half_of(part, whole).unwrap().0) / 65_536.0;
        let exact = 1.0 - part as f64 / (2.0 * whole as f64);
        assert!((kept - exact).abs() <= 0.5 / 65_536.0, "{part} of {whole}: {kept}, {exact}");
    }
    assert_eq!(KeepFactor(u16::MAX).of(u64::MAX), u64::MAX - (1 << 48));
}

#[test]
fn a_delivery_order_is_eight_bytes_of_an_rfc_6994_experiment() {
    let order = |adsn, tpsn, out_of_order| prismux_wire::DeliveryOrder { adsn, tpsn, out_of_order };
    let cases: [(_, [u8; 4]); 4] = [
        (order(None, None, false), [0, 0, 0, 0]),
        (order(Some(7), None, false), [1, 7, 0, 0]),
        (order(Some(255), Some(0x1234), false), [3, 255, 0x12, 0x34]),
        (order(Some(0), None, true), [5, 0, 0, 0]),
    ];
    for (order, bytes) in cases {
        let mut options = TcpOptions::default();
        assert!(options.insert_delivery_order(order));
        let mut out = [0; 40];
        assert_eq!(options.emit(&mut out), Ok(8));
        assert_eq!(out[..4], [253, 8, 0x44, 0x4f]);
        assert_eq!(out[4..8], bytes);
        assert_eq!(TcpOptions::parse(&out[..8]), Ok(options));
    }
    // Undefined flags, and numbers that no flag declares valid, say nothing.
    let foreign = TcpOptions::parse(&[253, 8, 0x44, 0x4f, 0xf8, 9, 9, 9]).unwrap();
    assert_eq!(foreign.delivery_order, Some(order(None, None, false)));
}

#[test]
fn a_delivery_order_beside_timestamps_leaves_two_sack_blocks() {
    let mut options = TcpOptions {
        timestamps: Some(prismux_wire::Timestamps { value: 1, echo: 2 }),
        ..TcpOptions::default()
    };
    for start in 1..=3 {
        let (start, end) = (SeqNumber(start * 10), SeqNumber(start * 10 + 5));
        options.sack.push(prismux_wire::SackBlock { start, end });
    }
    assert!(options.insert_delivery_order(prismux_wire::DeliveryOrder::default()));
    assert!(options.fits());
    let starts: Vec<u32> = options.sack.as_slice().iter().map(|block| block.start.0).collect();
    assert_eq!(starts, [10, 20], "the newest blocks stay");
}
