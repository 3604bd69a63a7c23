//! Targets that parse packet bytes. Beyond "no panic": lengths stay within the input, and what is accepted can be
//! written again and read back as the same value.
use prismux_wire::gre::{GRE_IN_UDP_PORT, GreHeader};
use prismux_wire::rewrite::clamp_mss;
use prismux_wire::{
    Ecn, FlowKey, IpPacket, KeepFactor, LossReport, SackRewrite, SegmentRewrite, SeqNumber, TcpFlags,
    TcpHeader, TcpOptions, TcpPacket, UdpHeader, UdpPacket, WireError, flow_hash, ip,
};

/// An IP header, its flow, and edits in place.
pub fn ip(data: &[u8]) {
    let mut copy = data.to_vec();
    let parsed = match IpPacket::parse(data) {
        Ok(parsed) => parsed,
        Err(_) => {
            // Edits may refuse it or not, but must not panic.
            let _ = (ip::set_ecn(&mut copy, Ecn::Ce), ip::decrement_hop_limit(&mut copy));
            return;
        }
    };
    assert!(parsed.header_bytes <= parsed.total_bytes && parsed.total_bytes <= data.len());
    assert_eq!(parsed.payload(data).len(), parsed.payload_bytes());
    assert_eq!(
        flow_hash(&parsed, data),
        flow_hash(&parsed, &data[..parsed.total_bytes]),
        "padding does not count"
    );
    assert_eq!(FlowKey::of_packet(&parsed, data).reversed().reversed(), FlowKey::of_packet(&parsed, data));

    if parsed.fragment.is_none() {
        // A later fragment's "protocol" may be an extension header, which an empty packet lacks.
        round_trip_ip(&parsed);
    }

    ip::set_ecn(&mut copy, Ecn::Ce).expect("it has a header");
    let forwarded = ip::decrement_hop_limit(&mut copy).expect("it has a header").is_ok();
    let edited = IpPacket::parse(&copy).expect("edits keep it well-formed");
    let hop_limit = parsed.header.hop_limit - u8::from(forwarded);
    assert_eq!(edited.header, prismux_wire::IpHeader { ecn: Ecn::Ce, hop_limit, ..parsed.header });
}

fn round_trip_ip(parsed: &IpPacket) {
    let mut out = [0; 40];
    let length = parsed.header.emit(0, &mut out).expect("40 bytes hold any plain header");
    assert_eq!(IpPacket::parse(&out[..length]).expect("what is written can be read").header, parsed.header);
}

/// A TCP segment behind its IP header.
pub fn tcp(data: &[u8]) {
    let _ = TcpHeader::parse(data);
    let Ok(packet) = TcpPacket::parse(data) else { return };
    assert!(packet.payload_offset <= packet.ip.total_bytes);
    assert_eq!(packet.payload(data).len(), packet.payload_bytes() as usize);
    let _ = packet.verify_checksum(data);
    round_trip(&packet.header);
}

/// A bare option list.
pub fn options(data: &[u8]) {
    if let Ok(options) = TcpOptions::parse(&data[..data.len().min(40)]) {
        round_trip(&TcpHeader { options, ..TcpHeader::default() });
    }
}

/// Options may be packed tighter than we write them; then emission says so instead of overrunning.
fn round_trip(header: &TcpHeader) {
    let mut out = [0; 60];
    match header.emit(&mut out) {
        Ok(length) => {
            assert_eq!(length, header.wire_bytes());
            assert_eq!(TcpHeader::parse(&out[..length]), Ok((*header, length)));
        }
        Err(error) => assert!(error == WireError::OptionsTooLong && !header.options.fits(), "{error}"),
    }
}

/// A UDP datagram behind its IP header.
pub fn udp(data: &[u8]) {
    let _ = UdpHeader::parse(data);
    if let Ok(packet) = UdpPacket::parse(data) {
        assert_eq!(packet.payload(data).len(), packet.payload_bytes);
        let (source, destination) = (packet.ip.header.source, packet.ip.header.destination);
        let segment = &data[packet.ip.header_bytes..packet.payload_offset + packet.payload_bytes];
        let _ = UdpHeader::verify_checksum(segment, source, destination, false);
    }
}

/// A GRE header and what it carries.
pub fn gre(data: &[u8]) {
    let Ok((header, length)) = GreHeader::parse(data) else { return };
    assert_eq!(length, header.wire_bytes());
    let mut copy = data.to_vec();
    assert_eq!(header.emit(&mut copy), Ok(length));
    assert_eq!(GreHeader::parse(&copy), Ok((header, length)));
    let inner = &data[length..];
    ip(inner);
    tcp(inner);
}

/// GRE in UDP in IP, as a tunnel's end reads it.
pub fn gre_in_udp(data: &[u8]) {
    let Ok(packet) = UdpPacket::parse(data) else { return };
    if packet.header.destination_port == GRE_IN_UDP_PORT {
        gre(packet.payload(data));
    }
}

/// Bytes of [`rewrite`]'s input that say what to change.
pub(super) const REWRITE_RECIPE_BYTES: usize = 32;

/// A recipe of 32 bytes, then the packet to rewrite.
pub fn rewrite(data: &[u8]) {
    let Some((recipe, packet)) = data.split_first_chunk::<REWRITE_RECIPE_BYTES>() else { return };
    let rewrite = recipe_to_rewrite(recipe);
    let mut buffer = packet.to_vec();
    buffer.resize(packet.len() + usize::from(recipe[31] % 16), 0);
    let before = buffer.clone();
    let Ok(length) = rewrite.apply(&mut buffer, packet.len()) else {
        assert_eq!(buffer, before, "a refused packet stays as it was");
        return;
    };
    let old = TcpPacket::parse(packet).expect("only well-formed segments are rewritten");
    let new = TcpPacket::parse(&buffer[..length]).expect("a rewritten segment is well-formed");
    assert_eq!(old.payload(packet), new.payload(&buffer), "the payload is not touched");
    // One's complement zero has two forms: a checksum of ffff may have been written by nobody who computed it.
    let valid = old.verify_checksum(packet).is_ok();
    assert_eq!(new.verify_checksum(&buffer).is_ok(), valid, "damage is neither added nor hidden");
    let mut expected = old.header;
    rewrite.apply_to_header(&mut expected);
    assert_eq!(
        (new.header.seq, new.header.ack, new.header.window, new.header.flags, new.header.options.timestamps),
        (expected.seq, expected.ack, expected.window, expected.flags, expected.options.timestamps),
    );
    let _ = clamp_mss(&mut buffer[..length], rewrite.window.unwrap_or(1000));
}

fn recipe_to_rewrite(recipe: &[u8; REWRITE_RECIPE_BYTES]) -> SegmentRewrite {
    let word = |at: usize| u32::from_be_bytes([recipe[at], recipe[at + 1], recipe[at + 2], recipe[at + 3]]);
    let given = |bit: u8| recipe[0] & 1 << bit != 0;
    let report = LossReport {
        lost: SeqNumber(word(16)),
        link: recipe[20],
        flags: recipe[21],
        keep: KeepFactor(word(22) as u16),
    };
    SegmentRewrite {
        seq: given(5).then(|| SeqNumber(word(24))),
        ack: given(0).then(|| SeqNumber(word(4))),
        window: given(1).then(|| word(8) as u16),
        tsval: given(2).then(|| word(10)),
        tsecr: given(3).then(|| word(12)),
        set_flags: TcpFlags(recipe[1]),
        clear_flags: TcpFlags(recipe[2]),
        sack: match recipe[3] % 8 {
            0..4 => SackRewrite::Keep,
            4 => SackRewrite::Remove,
            blocks => SackRewrite::Truncate(blocks - 5),
        },
        report: given(4).then_some(report),
    }
}
