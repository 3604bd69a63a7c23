//! Packets in words: those that come are read, those that leave are written.
use prismux_adhoc::{host, letter, read_hosts, write_hosts};
use prismux_dsr::header::NO_NEXT_HEADER;
use prismux_dsr::{
    Ack, AckRequest, DsrHeader, DsrOption, DsrPacket, ErrorKind, FlowHeader, RouteError, RouteReply,
    RouteRequest, SourceRoute,
};
use prismux_routing::{DATA_HOP_LIMIT, Header};
use prismux_script::{Packet, Words};
use std::net::Ipv4Addr;

/// The hosts of `A>B`.
pub fn ends(text: &str) -> Result<(Ipv4Addr, Ipv4Addr), String> {
    pair(text, '>')
}

fn pair(text: &str, between: char) -> Result<(Ipv4Addr, Ipv4Addr), String> {
    let (first, second) = text.split_once(between).ok_or(format!("{text:?} is not A{between}B"))?;
    Ok((host(first)?, host(second)?))
}

fn error(text: &str, destination: Ipv4Addr) -> Result<DsrOption, String> {
    let (source, node) = pair(text, '/')?;
    let kind = ErrorKind::NodeUnreachable(node);
    Ok(DsrOption::RouteError(RouteError { salvage: 0, source, destination, kind }))
}

/// Reads a packet.
pub fn read(words: &mut Words<'_>) -> Result<DsrPacket<u32>, String> {
    let mut packet = DsrPacket {
        source: Ipv4Addr::UNSPECIFIED,
        destination: Ipv4Addr::BROADCAST,
        identification: 0,
        hop_limit: DATA_HOP_LIMIT,
        header: DsrHeader::default(),
        payload: None,
    };
    let kind = words.word("a kind of packet")?;
    let number = match kind {
        "DATA" | "REQUEST" | "ACK" => words.number("a number")?,
        _ => 0,
    };
    packet.identification = number as u16;
    let (source, destination) = ends(words.word("the ends")?)?;
    (packet.source, packet.destination) = (source, destination);
    match kind {
        "DATA" => packet.payload = Some(number),
        "REQUEST" => {
            packet.destination = Ipv4Addr::BROADCAST;
            let (identification, addresses) = (number as u16, Vec::new());
            let request = RouteRequest { identification, target: destination, addresses };
            packet.header.options.push(DsrOption::RouteRequest(request));
        }
        "ACK" => {
            let ack = Ack { identification: number as u16, source, destination };
            packet.header.options.push(DsrOption::Ack(ack));
        }
        "REPLY" | "ERROR" => {}
        _ => return Err(format!("unknown kind of packet {kind:?}")),
    }
    read_fields(words, &mut packet)?;
    Ok(packet)
}

fn read_fields(words: &mut Words<'_>, packet: &mut DsrPacket<u32>) -> Result<(), String> {
    let mut route = None::<SourceRoute>;
    while let Ok(field) = words.word("") {
        match field {
            "on" => {
                let addresses = read_hosts(words.word("addresses")?)?;
                route = Some(SourceRoute { addresses, ..SourceRoute::default() });
            }
            "left" => route.get_or_insert_default().segments_left = words.number("segments left")?,
            "salvage" => route.get_or_insert_default().salvage = words.number("a count")?,
            "via" => {
                let hosts = read_hosts(words.word("hosts")?)?;
                let Some(DsrOption::RouteRequest(request)) = packet.header.options.first_mut() else {
                    return Err("`via` is for requests".to_owned());
                };
                request.addresses = hosts;
            }
            "route" => {
                let addresses = read_hosts(words.word("hosts")?)?;
                let reply = RouteReply { last_hop_external: words.skip("external"), addresses };
                packet.header.options.push(DsrOption::RouteReply(reply));
            }
            "unknown" => {
                let destination = host(words.word("a destination")?)?;
                let kind = match words.skip("default") {
                    true => ErrorKind::DefaultFlowUnknown { destination },
                    false => ErrorKind::UnknownFlow { destination, flow: words.number("a flow")? },
                };
                let (source, destination) = (packet.source, packet.destination);
                let error = RouteError { salvage: 0, source, destination, kind };
                packet.header.options.push(DsrOption::RouteError(error));
            }
            "down" => {
                let option = error(words.word("a link")?, packet.destination)?;
                packet.header.options.push(option);
            }
            "nested" => {
                let option = error(words.word("a link")?, host(words.word("whom it is for")?)?)?;
                packet.header.options.push(option);
            }
            "flow" if words.skip("default") => packet.header.flow = FlowHeader::Default,
            "flow" => {
                let number = words.number("a number")?;
                packet.header.flow = FlowHeader::Numbered { hops: 1, number };
            }
            "id" => packet.identification = words.number("an identification")?,
            "ttl" => packet.hop_limit = words.number("hops")?,
            "ack" => {
                let identification = words.number("a number")?;
                packet.header.options.push(DsrOption::AckRequest(AckRequest { identification }));
            }
            "option" => {
                let (kind, data) = (words.number("a type")?, vec![0, 0]);
                packet.header.options.push(DsrOption::Unknown { kind, data });
            }
            _ => return Err(format!("unknown field {field:?}")),
        }
    }
    if let Some(route) = route {
        packet.header.options.insert(0, DsrOption::SourceRoute(route));
    }
    Ok(())
}

/// A packet that leaves for `to`, in words.
pub fn write(to: &str, packet: &DsrPacket<u32>) -> Packet {
    let target = packet.header.route_request().map_or(packet.destination, |request| request.target);
    let ends = format!("{}>{}", letter(packet.source), letter(target));
    let header = &packet.header;
    let mut written = if let Some(payload) = packet.payload {
        Packet::new(format!("{to} DATA {payload} {ends}"))
    } else if let Some(request) = header.route_request() {
        Packet::new(format!("{to} REQUEST {} {ends}", request.identification))
            .with_essential("via", write_hosts(&request.addresses))
            .with_essential("ttl", packet.hop_limit)
    } else if let Some(reply) = header.route_reply() {
        let external = if reply.last_hop_external { " external" } else { "" };
        Packet::new(format!("{to} REPLY {ends}"))
            .with_essential("route", format!("{}{external}", write_hosts(&reply.addresses)))
    } else if header.route_errors().next().is_some() {
        Packet::new(format!("{to} ERROR {ends}"))
    } else {
        let ack = header.options.iter().find_map(|option| match option {
            DsrOption::Ack(ack) => Some(ack.identification),
            _ => None,
        });
        Packet::new(format!("{to} ACK {} {ends}", ack.unwrap_or_default()))
    };
    for (index, error) in header.route_errors().enumerate() {
        let source = letter(error.source);
        written = match error.kind {
            ErrorKind::NodeUnreachable(node) if index == 0 => {
                written.with_essential("down", format!("{source}/{}", letter(node)))
            }
            ErrorKind::NodeUnreachable(node) => {
                let whom = letter(error.destination);
                written.with_essential("nested", format!("{source}/{} {whom}", letter(node)))
            }
            ErrorKind::OptionNotSupported(kind) => written.with_essential("unsupported", kind),
            ErrorKind::UnknownFlow { destination, flow } => {
                written.with_essential("unknown", format!("{} {flow}", letter(destination)))
            }
            ErrorKind::DefaultFlowUnknown { destination } => {
                written.with_essential("unknown", format!("{} default", letter(destination)))
            }
            ErrorKind::Other { kind, .. } => written.with_essential("other", kind),
        };
    }
    if let Some(route) = header.source_route() {
        written = written
            .with_essential("on", write_hosts(&route.addresses))
            .with_essential("left", route.segments_left);
        if route.salvage > 0 {
            written = written.with_essential("salvage", route.salvage);
        }
    }
    match header.flow {
        FlowHeader::None => {}
        FlowHeader::Default => written = written.with_essential("flow", "default"),
        FlowHeader::Numbered { number, .. } => written = written.with_essential("flow", number),
    }
    if packet.payload.is_some() {
        written = written.with("ttl", packet.hop_limit);
    }
    for option in &header.options {
        if let DsrOption::Unknown { kind, data } = option {
            let is_marked = data.first().is_some_and(|first| first & 0x80 != 0);
            let mark = if is_marked { " marked" } else { "" };
            written = written.with_essential("option", format!("{kind}{mark}"));
        }
    }
    written
}

/// Holds that a header that leaves can be written as bytes and read again.
pub fn survives_the_wire(header: &DsrHeader) {
    let mut bytes = vec![0; header.wire_bytes()];
    if header.flow == FlowHeader::Default {
        assert_eq!(bytes, []);
        return;
    }
    let written = header.emit(NO_NEXT_HEADER, &mut bytes).expect("what leaves can be written");
    let parsed = DsrHeader::parse(&bytes).expect("what is written can be read");
    assert_eq!((&parsed.header, parsed.header_bytes), (header, written));
}
