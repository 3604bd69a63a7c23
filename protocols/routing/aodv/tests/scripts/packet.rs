//! Packets in words: those that come are read, those that leave are written.
use prismux_adhoc::{host, letter};
use prismux_aodv::{AodvHeader, AodvPacket, Rerr, Rrep, Rreq};
use prismux_routing::{DATA_HOP_LIMIT, Header};
use prismux_script::{Packet, Words, number};
use prismux_units::Duration;
use prismux_wire::SeqNumber;
use std::net::Ipv4Addr;

/// Bytes of UDP's header.
const UDP_BYTES: usize = 8;

fn ends(text: &str) -> Result<(Ipv4Addr, Ipv4Addr), String> {
    let (first, second) = text.split_once('>').ok_or(format!("{text:?} is not A>B"))?;
    Ok((host(first)?, host(second)?))
}

fn unreachable(text: &str) -> Result<Vec<(Ipv4Addr, SeqNumber)>, String> {
    let one = |entry: &str| {
        let (name, seq) = entry.split_once('/').ok_or(format!("{entry:?} is not D/6"))?;
        Ok((host(name)?, SeqNumber(number(seq)?)))
    };
    text.split(',').map(one).collect()
}

fn reply(destination: Ipv4Addr, originator: Ipv4Addr) -> Rrep {
    Rrep {
        repair: false,
        ack_required: false,
        prefix_size: 0,
        hop_count: 0,
        destination,
        destination_seq: SeqNumber(0),
        originator,
        lifetime: Duration::from_millis(6000),
    }
}

/// Reads a packet that goes from `from` to `to` over one hop.
pub fn read(words: &mut Words<'_>, from: Ipv4Addr, to: Ipv4Addr) -> Result<AodvPacket<u32>, String> {
    let mut packet = AodvPacket {
        source: from,
        destination: to,
        identification: 0,
        hop_limit: 1,
        header: AodvHeader::Data,
        payload: None,
    };
    match words.word("a kind of packet")? {
        "DATA" => {
            packet.payload = Some(words.number("a packet's number")?);
            packet.hop_limit = DATA_HOP_LIMIT;
            (packet.source, packet.destination) = ends(words.word("the ends")?)?;
        }
        "RREQ" => {
            let id = words.number("an identifier")?;
            let (originator, destination) = ends(words.word("the ends")?)?;
            packet.destination = Ipv4Addr::BROADCAST;
            packet.header = AodvHeader::Rreq(Rreq {
                multicast_bits: 0,
                gratuitous: false,
                destination_only: false,
                hop_count: 0,
                id,
                destination,
                destination_seq: None,
                originator,
                originator_seq: SeqNumber(1),
            });
        }
        "RREP" => {
            let (destination, originator) = ends(words.word("the ends")?)?;
            packet.header = AodvHeader::Rrep(reply(destination, originator));
        }
        "HELLO" => {
            packet.destination = Ipv4Addr::BROADCAST;
            packet.header = AodvHeader::Rrep(reply(from, from));
        }
        "RERR" => {
            let unreachable = unreachable(words.word("destinations")?)?;
            packet.header = AodvHeader::Rerr(Rerr { no_delete: words.skip("keep"), unreachable });
        }
        "RREP-ACK" => packet.header = AodvHeader::RrepAck,
        kind => return Err(format!("unknown kind of packet {kind:?}")),
    }
    while let Ok(field) = words.word("") {
        read_field(words, field, &mut packet)?;
    }
    Ok(packet)
}

fn read_field(words: &mut Words<'_>, field: &str, packet: &mut AodvPacket<u32>) -> Result<(), String> {
    if field == "ttl" {
        packet.hop_limit = words.number("hops")?;
        return Ok(());
    }
    match &mut packet.header {
        AodvHeader::Rreq(request) => match field {
            "hops" => request.hop_count = words.number("hops")?,
            "own" => request.originator_seq = SeqNumber(words.number("a sequence number")?),
            "seq" if words.skip("-") => request.destination_seq = None,
            "seq" => request.destination_seq = Some(SeqNumber(words.number("a sequence number")?)),
            "only" => request.destination_only = true,
            "gratuitous" => request.gratuitous = true,
            _ => return Err(format!("unknown field {field:?}")),
        },
        AodvHeader::Rrep(reply) => match field {
            "hops" => reply.hop_count = words.number("hops")?,
            "seq" => reply.destination_seq = SeqNumber(words.number("a sequence number")?),
            "life" => reply.lifetime = Duration::from_millis(words.number("milliseconds")?),
            "ack" => reply.ack_required = true,
            _ => return Err(format!("unknown field {field:?}")),
        },
        _ => return Err(format!("unknown field {field:?}")),
    }
    Ok(())
}

/// A packet that leaves for `to`, in words.
pub fn write(to: &str, packet: &AodvPacket<u32>) -> Packet {
    match &packet.header {
        AodvHeader::Data => {
            let ends = format!("{}>{}", letter(packet.source), letter(packet.destination));
            Packet::new(format!("{to} DATA {} {ends}", packet.payload.unwrap_or_default()))
                .with("ttl", packet.hop_limit)
        }
        AodvHeader::Rreq(request) => {
            let ends = format!("{}>{}", letter(request.originator), letter(request.destination));
            let seq = request.destination_seq.map_or("-".to_owned(), |seq| seq.0.to_string());
            let mut written = Packet::new(format!("{to} RREQ {} {ends}", request.id))
                .with("hops", request.hop_count)
                .with("own", request.originator_seq.0)
                .with("seq", seq)
                .with_essential("ttl", packet.hop_limit);
            if request.destination_only {
                written = written.with_essential("only", "");
            }
            if request.gratuitous {
                written = written.with_essential("gratuitous", "");
            }
            written
        }
        AodvHeader::Rrep(reply) if packet.destination == Ipv4Addr::BROADCAST => {
            Packet::new(format!("{to} HELLO"))
                .with_essential("seq", reply.destination_seq.0)
                .with("life", reply.lifetime.as_millis())
        }
        AodvHeader::Rrep(reply) => {
            let ends = format!("{}>{}", letter(reply.destination), letter(reply.originator));
            let written = Packet::new(format!("{to} RREP {ends}"))
                .with_essential("hops", reply.hop_count)
                .with_essential("seq", reply.destination_seq.0)
                .with("life", reply.lifetime.as_millis());
            if reply.ack_required { written.with_essential("ack", "") } else { written }
        }
        AodvHeader::Rerr(error) => {
            let entries: Vec<String> = error
                .unreachable
                .iter()
                .map(|(destination, seq)| format!("{}/{}", letter(*destination), seq.0))
                .collect();
            let written = Packet::new(format!("{to} RERR {}", entries.join(",")));
            if error.no_delete { written.with_essential("keep", "") } else { written }
        }
        AodvHeader::RrepAck => Packet::new(format!("{to} RREP-ACK")),
    }
}

/// Holds that a message that leaves can be written as bytes and read again.
pub fn survives_the_wire(header: &AodvHeader) {
    if *header == AodvHeader::Data {
        return;
    }
    let mut bytes = vec![0; header.wire_bytes() - UDP_BYTES];
    assert_eq!(header.emit(&mut bytes), Ok(bytes.len()));
    let read = AodvHeader::parse(&bytes).expect("what is written can be read");
    match (header, &read) {
        // Lifetimes are whole milliseconds on the wire.
        (AodvHeader::Rrep(sent), AodvHeader::Rrep(read)) => {
            assert_eq!(sent.lifetime.as_millis(), read.lifetime.as_millis());
            assert_eq!(Rrep { lifetime: read.lifetime, ..*sent }, *read);
        }
        _ => assert_eq!(read, *header),
    }
}
