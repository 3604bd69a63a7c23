//! Targets for the ad-hoc routing protocols: their headers as bytes, and hosts under hostile frames.
use prismux_aodv::{Aodv, AodvConfig, AodvHeader, Rerr, Rrep, Rreq};
use prismux_daemons::route::air::{FromAir, ToAir};
use prismux_daemons::route::radio::Priority;
use prismux_dsdv::{Advertised, Dsdv, DsdvConfig, DsdvHeader};
use prismux_dsr::{
    AckRequest, Dsr, DsrConfig, DsrHeader, DsrOption, ErrorKind, FlowHeader, RouteError, RouteReply,
    RouteRequest, SourceRoute,
};
use prismux_endpoint::random::Seed;
use prismux_routing::{Header, Input, NextHop, Packet, RoutingEndpoint};
use prismux_trace::event::DropReason;
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;
use prismux_wire::ethernet::{ArpOperation, ArpPacket, EthernetHeader, MacAddress};
use std::net::Ipv4Addr;

/// Bytes of UDP's header, in front of AODV's messages.
const UDP_BYTES: usize = 8;

/// What can be read can be written and read again as the same value.
pub fn dsr_header(data: &[u8]) {
    let Ok(parsed) = DsrHeader::parse(data) else { return };
    assert!(parsed.header_bytes <= data.len());
    let mut out = vec![0; parsed.header.wire_bytes()];
    let written = parsed.header.emit(parsed.next_header, &mut out).expect("what was read can be written");
    let again = DsrHeader::parse(&out).expect("what was written can be read");
    assert_eq!(
        (again.header, again.next_header, again.header_bytes),
        (parsed.header, parsed.next_header, written)
    );
}

/// What can be read can be written and read again as the same value.
pub fn aodv_message(data: &[u8]) {
    let Ok(message) = AodvHeader::parse(data) else { return };
    let mut out = vec![0; message.wire_bytes() - UDP_BYTES];
    assert!(out.len() <= data.len());
    assert_eq!(message.emit(&mut out), Ok(out.len()));
    assert_eq!(AodvHeader::parse(&out), Ok(message));
}

/// What can be read can be written again as the same bytes.
pub fn dsdv_update(data: &[u8]) {
    let Ok(update) = DsdvHeader::parse(data) else { return };
    let mut out = vec![0; update.wire_bytes()];
    assert_eq!(update.emit(&mut out), Ok(data.len()));
    assert_eq!(out, data);
}

/// What comes to a routing daemon from its radio: messages of an air, Ethernet headers, ARP. What can be read can be
/// written again as the same bytes; behind them may be others.
pub fn route_radio(data: &[u8]) {
    let mut out = Vec::new();
    if let Some(message) = ToAir::parse(data) {
        message.emit(&mut out);
        assert!(data.starts_with(&out));
    }
    if let Some(message) = FromAir::parse(data) {
        message.emit(&mut out);
        assert_eq!(FromAir::parse(&out), Some(message));
    }
    let mut head = [0; ArpPacket::WIRE_BYTES];
    if let Ok(header) = EthernetHeader::parse(data) {
        let length = header.emit(&mut head).expect("it has room");
        assert!(data.starts_with(&head[..length]));
    }
    if let Ok(message) = ArpPacket::parse(data) {
        let length = message.emit(&mut head).expect("it has room");
        assert!(data.starts_with(&head[..length]));
    }
}

/// One of each.
pub fn route_radio_messages() -> Vec<Vec<u8>> {
    let packet = &[7; 30][..];
    let written = |emit: &dyn Fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        emit(&mut out);
        out
    };
    let to = NextHop::Neighbour(host(2));
    let send = ToAir::Send { priority: Priority::Routing, to, counted_bytes: 30, packet };
    let to_air = [
        send,
        ToAir::Taken(packet),
        ToAir::Dropped(DropReason::NoRoute, packet),
        ToAir::Hello(1),
        ToAir::Bye,
    ];
    let from_air = [
        FromAir::Ready { version: 1, keeps_log: true },
        FromAir::Received(host(2), packet),
        FromAir::Overheard(host(2), host(3), packet),
        FromAir::NotDelivered(host(2), packet),
        FromAir::TakenBack(host(2), packet),
    ];
    let mut seeds: Vec<Vec<u8>> = to_air.iter().map(|message| written(&|out| message.emit(out))).collect();
    seeds.extend(from_air.iter().map(|message| written(&|out| message.emit(out))));
    let [sender, target] = [2, 3].map(|last| MacAddress([2, 0, 0, 0, 0, last]));
    let (operation, sender_address, target_address) = (ArpOperation::Request, host(2), host(3));
    let arp = ArpPacket { operation, sender, sender_address, target, target_address };
    let header = EthernetHeader { destination: target, source: sender, ether_type: 0x0806 };
    let mut bytes = vec![0; ArpPacket::WIRE_BYTES];
    arp.emit(&mut bytes).expect("it has room");
    seeds.push(bytes.clone());
    header.emit(&mut bytes).expect("it has room");
    seeds.push(bytes);
    seeds
}

const fn host(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, number)
}

fn dsr_headers() -> Vec<DsrHeader> {
    let route = |segments_left, salvage| {
        let addresses = vec![host(2), host(3)];
        DsrOption::SourceRoute(SourceRoute { segments_left, salvage, addresses, ..SourceRoute::default() })
    };
    let request = RouteRequest { identification: 7, target: host(4), addresses: vec![host(3)] };
    let reply = RouteReply { last_hop_external: false, addresses: vec![host(2), host(4)] };
    let error = RouteError {
        salvage: 0,
        source: host(3),
        destination: host(1),
        kind: ErrorKind::NodeUnreachable(host(4)),
    };
    let lists = [
        vec![DsrOption::RouteRequest(request), DsrOption::RouteError(error.clone())],
        vec![route(2, 0), DsrOption::RouteReply(reply)],
        vec![route(1, 3), DsrOption::RouteError(error)],
        vec![route(0, 0), DsrOption::AckRequest(AckRequest { identification: 9 })],
        vec![route(1, 0), DsrOption::Unknown { kind: 145, data: vec![0, 1] }],
    ];
    let flow = FlowHeader::Numbered { hops: 2, number: 3 };
    let of_flow = DsrHeader { flow, options: vec![route(1, 0), DsrOption::Timeout(60)] };
    lists.into_iter().map(DsrHeader::with).chain([of_flow]).collect()
}

fn aodv_messages() -> Vec<AodvHeader> {
    let request = Rreq {
        multicast_bits: 0,
        gratuitous: true,
        destination_only: false,
        hop_count: 1,
        id: 7,
        destination: host(1),
        destination_seq: Some(SeqNumber(4)),
        originator: host(5),
        originator_seq: SeqNumber(3),
    };
    let reply = Rrep {
        repair: false,
        ack_required: true,
        prefix_size: 0,
        hop_count: 0,
        destination: host(2),
        destination_seq: SeqNumber(8),
        originator: host(1),
        lifetime: Duration::from_secs(3),
    };
    let error =
        Rerr { no_delete: false, unreachable: vec![(host(2), SeqNumber(9)), (host(3), SeqNumber(1))] };
    vec![AodvHeader::Rreq(request), AodvHeader::Rrep(reply), AodvHeader::Rerr(error), AodvHeader::RrepAck]
}

fn dsdv_updates() -> Vec<DsdvHeader> {
    let entry = |number, metric| Advertised { destination: host(number), metric, seq: SeqNumber(6) };
    vec![
        DsdvHeader::Update(vec![entry(2, 0), entry(3, 1), entry(1, 250)]),
        DsdvHeader::Update(vec![entry(4, 7)]),
    ]
}

pub(super) fn dsr_seeds() -> Vec<Vec<u8>> {
    let write = |header: DsrHeader| {
        let mut out = vec![0; header.wire_bytes()];
        header.emit(17, &mut out).expect("it fits");
        out
    };
    dsr_headers().into_iter().map(write).collect()
}

pub(super) fn aodv_seeds() -> Vec<Vec<u8>> {
    let write = |message: AodvHeader| {
        let mut out = vec![0; message.wire_bytes() - UDP_BYTES];
        message.emit(&mut out).expect("it fits");
        out
    };
    aodv_messages().into_iter().map(write).collect()
}

pub(super) fn dsdv_seeds() -> Vec<Vec<u8>> {
    let write = |update: DsdvHeader| {
        let mut out = vec![0; update.wire_bytes()];
        update.emit(&mut out).expect("it fits");
        out
    };
    dsdv_updates().into_iter().map(write).collect()
}

/// Bytes of a frame's description in a program, before its header.
const STEP_BYTES: usize = 8;

/// Frames one after the other, each with a header in bytes.
fn program(headers: &[Vec<u8>]) -> Vec<u8> {
    let mut program = Vec::new();
    for round in 0..12u8 {
        for (index, header) in headers.iter().enumerate() {
            let step = [index as u8 % 4, 16, 2, 5, 1 + round % 5, 9, round % 2, header.len() as u8];
            program.extend(step);
            program.extend(header);
        }
    }
    program
}

pub(super) fn dsr_programs() -> Vec<Vec<u8>> {
    vec![program(&dsr_seeds())]
}

pub(super) fn aodv_programs() -> Vec<Vec<u8>> {
    vec![program(&aodv_seeds())]
}

pub(super) fn dsdv_programs() -> Vec<Vec<u8>> {
    vec![program(&dsdv_seeds())]
}

/// A host with DSR under any frames.
pub fn dsr_host(data: &[u8]) {
    let read = |bytes: &[u8]| DsrHeader::parse(bytes).map(|parsed| parsed.header).ok();
    let written = |header: &DsrHeader| {
        let mut out = vec![0; header.wire_bytes()];
        header.emit(17, &mut out).is_err() || DsrHeader::parse(&out).is_ok_and(|read| read.header == *header)
    };
    let config = DsrConfig { cache: DsrConfig::ns2().cache, ..DsrConfig::rfc4728() };
    for config in [DsrConfig::rfc4728(), config, DsrConfig::ns2(), DsrConfig::cache_off()] {
        play(Dsr::new(host(1), config, Seed(1).stream("fuzz")), data, read, written);
    }
}

/// A host with AODV under any frames.
pub fn aodv_host(data: &[u8]) {
    let read =
        |bytes: &[u8]| if bytes.is_empty() { Some(AodvHeader::Data) } else { AodvHeader::parse(bytes).ok() };
    let written = |header: &AodvHeader| {
        let mut out = vec![0; header.wire_bytes()];
        header.emit(&mut out).is_ok()
    };
    let watchful = AodvConfig { hello: true, ack_replies: true, ..AodvConfig::rfc3561() };
    for config in [AodvConfig::rfc3561(), watchful, AodvConfig::ns2()] {
        play(Aodv::new(host(1), config, Seed(1).stream("fuzz")), data, read, written);
    }
}

/// A host with DSDV under any frames.
pub fn dsdv_host(data: &[u8]) {
    let read =
        |bytes: &[u8]| if bytes.is_empty() { Some(DsdvHeader::Data) } else { DsdvHeader::parse(bytes).ok() };
    let written = |header: &DsdvHeader| {
        let mut out = vec![0; header.wire_bytes()];
        header.emit(&mut out).is_ok()
    };
    for config in [DsdvConfig::sigcomm1994(), DsdvConfig::ns2(), DsdvConfig::dsdv_sq()] {
        let routing = Dsdv::new(Instant::ZERO, host(1), config, Seed(1).stream("fuzz"));
        play(routing, data, read, written);
    }
}

/// Feeds `routing` the frames of a program. Whatever leaves can be written, machines come to an end, and packets with a
/// payload are never more than were put in.
fn play<R: RoutingEndpoint<u8>>(
    mut routing: R,
    mut data: &[u8],
    read: impl Fn(&[u8]) -> Option<R::Header>,
    can_be_written: impl Fn(&R::Header) -> bool,
) {
    let (mut now, mut put_in, mut came_out) = (Instant::ZERO, 0usize, 0usize);
    while let Some((step, rest)) = data.split_at_checked(STEP_BYTES) {
        let (bytes, rest) = rest.split_at(usize::from(step[7]).min(rest.len()));
        data = rest;
        now += Duration::from_micros((1 << (step[1] & 25)) - 1);
        let (from, payload) = (host(step[2]), (step[6] & 1 != 0).then_some(step[6]));
        let header = read(bytes);
        let packet = |header: R::Header| Packet {
            source: host(step[3]),
            destination: if step[4] == 255 { Ipv4Addr::BROADCAST } else { host(step[4]) },
            identification: 0,
            hop_limit: step[5],
            header,
            payload,
        };
        put_in += usize::from(payload.is_some() || step[0] % 6 == 0);
        match (step[0] % 6, header) {
            (0, _) => routing.handle_input(now, Input::Send { destination: host(step[4]), payload: 1 }),
            (1, Some(header)) => routing.handle_input(now, Input::Received { from, packet: packet(header) }),
            (2, Some(header)) => {
                let packet = &packet(header);
                routing.handle_input(now, Input::Overheard { from, to: host(step[4]), packet });
            }
            (3, Some(header)) => {
                routing.handle_input(now, Input::LinkFailure { neighbour: from, packet: packet(header) });
            }
            (4, Some(header)) => {
                routing.handle_input(now, Input::Flushed { neighbour: from, packet: packet(header) });
            }
            _ => routing.handle_timeout(now),
        }
        let mut left = 10_000;
        while let Some(frame) = routing.poll_transmit(now) {
            assert!(can_be_written(&frame.packet.header));
            came_out += usize::from(frame.packet.payload.is_some());
            left -= 1;
            assert!(left > 0, "the machine comes to an end");
        }
        while routing.poll_event().is_some() {}
        assert!(came_out + routing.buffered_packets() <= put_in, "no packet is made up");
    }
}
