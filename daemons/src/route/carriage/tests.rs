use super::{Carried, addresses, emit, number, parse};
use crate::route::protocol::{Beginning, Protocol};
use prismux_aodv::{Aodv, AodvConfig, AodvHeader, Rerr, Rrep, Rreq};
use prismux_dsdv::{Dsdv, DsdvConfig, DsdvHeader};
use prismux_dsr::{
    Ack, AckRequest, Dsr, DsrConfig, DsrHeader, DsrOption, ErrorKind, FlowHeader, RouteError, RouteReply,
    RouteRequest, SourceRoute,
};
use prismux_endpoint::expire;
use prismux_endpoint::random::Seed;
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_routing::{Header, Input, Packet, RoutingEvent};
use prismux_units::{Duration, Instant};
use prismux_wire::ip::protocol;
use prismux_wire::{
    IpHeader, IpPacket, SeqNumber, TcpFlags, TcpHeader, UdpHeader, emit_tcp_packet, emit_udp_packet,
};
use proptest::collection::vec;
use proptest::prelude::*;
use std::fmt::Debug;
use std::net::Ipv4Addr;

const fn host(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 9, 0, number)
}

fn pool() -> PacketPool {
    PacketPool::new(4096)
}

/// A datagram from host 1 to host 4 as a kernel sends it.
fn datagram(to_port: u16, hop_limit: u8) -> PacketBuf {
    let ip = IpHeader { hop_limit, ..IpHeader::new(host(1).into(), host(4).into(), protocol::UDP) };
    let udp = UdpHeader { source_port: 5001, destination_port: to_port };
    let mut bytes = [0; 600];
    let length = emit_udp_packet(&ip, &udp, &[0xab; 500], &mut bytes).unwrap();
    pool().copy_of(&bytes[..length]).unwrap()
}

fn carried(packet: PacketBuf) -> Carried {
    let ip = IpPacket::parse(&packet).unwrap();
    Carried::from_kernel(packet, &ip)
}

/// A packet goes over the radio and back.
fn over<R: Protocol>(packet: &Packet<R::Header, Carried>) -> (Vec<u8>, Packet<R::Header, Carried>) {
    let mut out = vec![0xee; 3];
    emit(packet, &mut out).expect("it fits");
    // Frames have a least length: what is behind the packet is none of it.
    let mut padded = out.clone();
    padded.resize(out.len().max(46), 0);
    (out, parse::<R>(&pool(), pool().copy_of(&padded).unwrap()).expect("it was written"))
}

/// Every header arrives as it was, around a packet and alone, in as many bytes as it is counted for.
fn assert_goes_over<R: Protocol>(headers: Vec<R::Header>, around: bool)
where
    R::Header: PartialEq + Debug,
{
    for header in headers {
        let payload = around.then(|| carried(datagram(9, 64)));
        let (source, destination) = (host(1), host(4));
        let (inner, bytes) = (payload.clone(), header.wire_bytes());
        let packet = Packet {
            source,
            destination,
            identification: 77,
            hop_limit: 61,
            header: header.clone(),
            payload,
        };
        let (out, read) = over::<R>(&packet);
        let carried_bytes = inner.as_ref().map_or(20, |inner| inner.packet().len());
        assert_eq!(out.len(), carried_bytes + bytes, "{header:?}");
        assert_eq!((&read.header, read.source, read.destination), (&header, source, destination));
        assert_eq!(read.hop_limit, 61);
        assert_eq!(read.payload.is_some(), inner.is_some(), "{header:?}");
        if let (Some(read), Some(sent)) = (read.payload, inner) {
            let [read, sent] = [read.packet(), sent.packet()];
            assert_eq!(read[20..], sent[20..], "what is carried");
            assert_eq!(IpPacket::parse(read).unwrap().header.protocol, protocol::UDP);
            assert_eq!((read.len(), read[8]), (sent.len(), 61), "its time to live is that of the way");
        } else {
            assert_eq!(read.identification, 77);
        }
    }
}

fn dsr_options() -> Vec<DsrOption> {
    let kinds = [
        ErrorKind::NodeUnreachable(host(3)),
        ErrorKind::OptionNotSupported(145),
        ErrorKind::UnknownFlow { destination: host(4), flow: 3 },
        ErrorKind::DefaultFlowUnknown { destination: host(4) },
    ];
    let error =
        |kind| DsrOption::RouteError(RouteError { salvage: 2, source: host(2), destination: host(1), kind });
    let addresses = vec![host(2), host(3)];
    let mut options: Vec<DsrOption> = kinds.map(error).into();
    options.extend([
        DsrOption::RouteReply(RouteReply { last_hop_external: false, addresses: addresses.clone() }),
        DsrOption::AckRequest(AckRequest { identification: 9 }),
        DsrOption::Ack(Ack { identification: 9, source: host(2), destination: host(1) }),
        DsrOption::SourceRoute(SourceRoute { segments_left: 1, addresses, ..SourceRoute::default() }),
        DsrOption::Timeout(60),
    ]);
    options
}

#[test]
fn headers_of_dsr_go_over_the_radio() {
    let request = RouteRequest { identification: 5, target: host(4), addresses: vec![host(2)] };
    let mut alone: Vec<DsrHeader> =
        dsr_options().into_iter().map(|option| DsrHeader::with(vec![option])).collect();
    alone.push(DsrHeader::with(vec![DsrOption::RouteRequest(request)]));
    alone.push(DsrHeader::with(dsr_options()));
    let flow = FlowHeader::Numbered { hops: 2, number: 7 };
    let mut around = alone.clone();
    around.push(DsrHeader { flow, options: dsr_options() });
    around.push(DsrHeader { flow, options: Vec::new() });
    around.push(DsrHeader { flow: FlowHeader::Default, options: Vec::new() });
    assert_goes_over::<Dsr<Carried>>(alone, false);
    assert_goes_over::<Dsr<Carried>>(around, true);
}

#[test]
fn messages_of_aodv_go_over_the_radio() {
    let request = Rreq {
        multicast_bits: 0,
        gratuitous: true,
        destination_only: false,
        hop_count: 3,
        id: 8,
        destination: host(4),
        destination_seq: None,
        originator: host(1),
        originator_seq: SeqNumber(6),
    };
    let reply = Rrep {
        repair: false,
        ack_required: true,
        prefix_size: 0,
        hop_count: 2,
        destination: host(4),
        destination_seq: SeqNumber(5),
        originator: host(1),
        lifetime: Duration::from_millis(6000),
    };
    let error = Rerr { no_delete: false, unreachable: vec![(host(4), SeqNumber(6))] };
    let messages = vec![
        AodvHeader::Rreq(request),
        AodvHeader::Rrep(reply),
        AodvHeader::Rerr(error),
        AodvHeader::RrepAck,
    ];
    assert_goes_over::<Aodv<Carried>>(messages, false);
    assert_goes_over::<Aodv<Carried>>(vec![AodvHeader::Data], true);
}

#[test]
fn updates_of_dsdv_go_over_the_radio() {
    let entry =
        |number: u8| prismux_dsdv::Advertised { destination: host(number), metric: 2, seq: SeqNumber(100) };
    let updates = [1, 120].map(|entries| DsdvHeader::Update((0..entries).map(entry).collect()));
    assert_goes_over::<Dsdv<Carried>>(updates.into(), false);
    assert_goes_over::<Dsdv<Carried>>(vec![DsdvHeader::Data], true);
}

#[test]
fn a_source_route_stands_between_ip_and_what_it_carries() {
    let route = SourceRoute { segments_left: 1, addresses: vec![host(2)], ..SourceRoute::default() };
    let header = DsrHeader::with(vec![DsrOption::SourceRoute(route)]);
    let payload = carried(datagram(9, 64));
    let sent = payload.packet().to_vec();
    let (source, destination) = (host(1), host(4));
    let packet =
        Packet { source, destination, identification: 1, hop_limit: 64, header, payload: Some(payload) };
    let (out, read) = over::<Dsr<Carried>>(&packet);
    // RFC 4728 section 6: protocol 48, then the fixed header with the protocol of what follows.
    assert_eq!((out[9], &out[20..32]), (48, &[17, 0, 0, 8, 96, 6, 0, 1, 10, 9, 0, 2][..]));
    assert_eq!(out[32..], sent[20..]);
    assert!(IpPacket::parse(&out).is_ok(), "with a checksum that is right");
    assert_eq!(read.payload.unwrap().packet(), sent, "nothing of it is changed on one hop");
}

#[test]
fn a_packet_makes_as_many_hops_as_its_sender_allows() {
    let sent = |hop_limit: u8, made: u8| {
        let payload = Some(carried(datagram(9, hop_limit)));
        let (source, destination) = (host(1), host(4));
        let hop_limit = prismux_routing::DATA_HOP_LIMIT - made;
        let packet =
            Packet { source, destination, identification: 0, hop_limit, header: AodvHeader::Data, payload };
        over::<Aodv<Carried>>(&packet).1.hop_limit
    };
    assert_eq!((sent(64, 0), sent(64, 3), sent(255, 3), sent(1, 0), sent(30, 40)), (64, 61, 252, 1, 1));
}

#[test]
fn packets_of_this_host_get_numbers_where_these_mean_nothing_else() {
    let mut packet = datagram(9, 64);
    let ip = IpPacket::parse(&packet).unwrap();
    number(&mut packet, &ip, 0x1234);
    assert_eq!(IpPacket::parse(&packet).unwrap().header.identification, 0x1234);
    let may_be_cut = IpHeader { dont_fragment: false, identification: 7, ..ip.header };
    let mut bytes = packet.to_vec();
    may_be_cut.emit(ip.payload_bytes(), &mut bytes).unwrap();
    let mut packet = pool().copy_of(&bytes).unwrap();
    let ip = IpPacket::parse(&packet).unwrap();
    number(&mut packet, &ip, 0x1234);
    assert_eq!(packet[..], bytes, "its fragments would not find together");
}

#[test]
fn what_is_cut_short_or_forged_is_refused() {
    let route = SourceRoute { segments_left: 1, addresses: vec![host(2)], ..SourceRoute::default() };
    let header = DsrHeader::with(vec![DsrOption::SourceRoute(route)]);
    let (source, destination) = (host(1), host(4));
    let payload = Some(carried(datagram(9, 64)));
    let packet = Packet { source, destination, identification: 1, hop_limit: 64, header, payload };
    let (out, _) = over::<Dsr<Carried>>(&packet);
    let refused = |bytes: &[u8]| parse::<Dsr<Carried>>(&pool(), pool().copy_of(bytes).unwrap()).is_err();
    assert!((0..out.len()).all(|length| refused(&out[..length])), "IP tells its length");
    for (at, value) in [(0, 0x65), (11, out[11] ^ 1), (27, 9)] {
        let mut forged = out.clone();
        forged[at] = value;
        assert!(refused(&forged), "byte {at}");
    }
    // A message in UDP with another checksum than its own.
    let (ip, udp) = (
        IpHeader::new(host(2).into(), host(1).into(), 17),
        UdpHeader { source_port: 654, destination_port: 654 },
    );
    let mut bytes = [0; 64];
    let length = emit_udp_packet(&ip, &udp, &[4, 0], &mut bytes).unwrap();
    let read = |bytes: &[u8]| parse::<Aodv<Carried>>(&pool(), pool().copy_of(bytes).unwrap());
    assert_eq!(read(&bytes[..length]).unwrap().header, AodvHeader::RrepAck);
    bytes[27] ^= 1;
    assert!(read(&bytes[..length]).is_err());
}

#[test]
fn acknowledgements_of_tcp_are_told_from_other_packets() {
    let is_bare = |flags: TcpFlags, payload: &[u8]| {
        let ip = IpHeader::new(host(1).into(), host(4).into(), protocol::TCP);
        let header = TcpHeader { flags, ..TcpHeader::default() };
        let mut bytes = [0; 100];
        let length = emit_tcp_packet(&ip, &header, payload, &mut bytes).unwrap();
        carried(pool().copy_of(&bytes[..length]).unwrap()).is_acknowledgement()
    };
    assert!(is_bare(TcpFlags::ACK, b""));
    assert!(!is_bare(TcpFlags::ACK, b"x") && !is_bare(TcpFlags::ACK | TcpFlags::FIN, b""));
    assert!(!is_bare(TcpFlags::SYN, b"") && !carried(datagram(9, 64)).is_acknowledgement());
}

/// A host that takes whatever comes, and sends.
fn endure<R: Protocol>(config: R::Config, packets: &[Vec<u8>]) {
    let random = Seed(7).stream("routing");
    let (at, sequence) = (Instant::ZERO, SeqNumber(0));
    let mut routing = R::begin(Beginning { at, address: host(1), random, sequence }, config);
    let (pool, mut out) = (pool(), Vec::new());
    for (second, bytes) in packets.iter().enumerate() {
        let now = Instant::from_secs(second as u64);
        if let Some(Ok(packet)) = pool.copy_of(bytes).map(|packet| parse::<R>(&pool, packet)) {
            let neighbour = R::transmitter(&packet).unwrap_or(host(2));
            match second % 4 {
                0 | 1 => routing.handle_input(now, Input::Received { from: neighbour, packet }),
                2 => routing
                    .handle_input(now, Input::Overheard { from: neighbour, to: host(3), packet: &packet }),
                _ => routing.handle_input(now, Input::LinkFailure { neighbour, packet }),
            }
        }
        let payload = carried(datagram(9, 64));
        routing.handle_input(now, Input::Send { destination: host(4), payload });
        expire(&mut routing, now);
        while let Some(frame) = routing.poll_transmit(now) {
            // Too long a route may have been forged; whatever is written can be read.
            if emit(&frame.packet, &mut out).is_ok() {
                let copy = pool.copy_of(&out);
                assert!(copy.is_none_or(|copy| parse::<R>(&pool, copy).is_ok()), "{out:02x?}");
            }
        }
        while let Some(event) = routing.poll_event() {
            if let RoutingEvent::Delivered { payload, .. } = event {
                assert!(IpPacket::parse(payload.packet()).is_ok_and(|ip| addresses(&ip).is_some()));
            }
        }
    }
}

/// An IP packet of one of the protocols with anything in it.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let protocols = prop::sample::select(vec![48_u8, 17, 253, 6, 59]);
    let ends = (1..5_u8, prop::sample::select(vec![host(1), host(4), Ipv4Addr::BROADCAST]));
    let content = vec(any::<u8>(), 0..80);
    (protocols, ends, any::<u8>(), content, any::<bool>()).prop_map(
        |(protocol, (source, destination), hop_limit, mut content, is_message)| {
            if is_message && content.len() > 9 {
                // The head of a datagram to AODV, or of a header of DSR with one option of a known type.
                let length = (content.len() as u16).to_be_bytes();
                match protocol {
                    17 => content[..8].copy_from_slice(&[2, 142, 2, 142, length[0], length[1], 0, 0]),
                    48 => {
                        let kind = [1, 2, 3, 32, 96, 128, 160][usize::from(content[4] % 7)];
                        let bytes = content.len() as u8 - 4;
                        content[1..6].copy_from_slice(&[0, 0, bytes, kind, bytes - 2]);
                    }
                    _ => content.truncate(content.len() / 12 * 12),
                }
            }
            let ip =
                IpHeader { hop_limit, ..IpHeader::new(host(source).into(), destination.into(), protocol) };
            let mut packet = vec![0; 20];
            ip.emit(content.len(), &mut packet).unwrap();
            packet.extend(content);
            packet
        },
    )
}

proptest! {
    #![proptest_config(prismux_properties::cases(256))]

    #[test]
    fn no_bytes_bring_a_host_down(packets in vec(hostile(), 1..12)) {
        endure::<Dsr<Carried>>(DsrConfig::rfc4728(), &packets);
        endure::<Dsr<Carried>>(DsrConfig::ns2_strict(), &packets);
        endure::<Aodv<Carried>>(AodvConfig { hello: true, ..AodvConfig::rfc3561() }, &packets);
        endure::<Dsdv<Carried>>(DsdvConfig::dsdv_sq(), &packets);
    }

    #[test]
    fn nor_bytes_that_are_no_packets(packets in vec(vec(any::<u8>(), 0..100), 1..4)) {
        endure::<Dsr<Carried>>(DsrConfig::rfc4728(), &packets);
        endure::<Aodv<Carried>>(AodvConfig::rfc3561(), &packets);
        endure::<Dsdv<Carried>>(DsdvConfig::ns2(), &packets);
    }
}
