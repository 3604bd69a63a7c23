//! AODV's messages in bytes (RFC 3561 section 5).
use prismux_aodv::message::wire::MessageError;
use prismux_aodv::{AodvHeader, Rerr, Rrep, Rreq};
use prismux_routing::Header;
use prismux_units::Duration;
use prismux_wire::SeqNumber;
use proptest::prelude::*;
use std::net::Ipv4Addr;

/// Bytes of UDP's header.
const UDP_BYTES: usize = 8;

const fn host(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, number)
}

fn bytes(message: &AodvHeader) -> Vec<u8> {
    let mut out = vec![0xff; message.wire_bytes() - UDP_BYTES];
    assert_eq!(message.emit(&mut out), Ok(out.len()));
    out
}

fn request() -> Rreq {
    Rreq {
        multicast_bits: 0,
        gratuitous: true,
        destination_only: false,
        hop_count: 3,
        id: 0x0102_0304,
        destination: host(4),
        destination_seq: Some(SeqNumber(5)),
        originator: host(1),
        originator_seq: SeqNumber(6),
    }
}

#[test]
fn a_route_request() {
    let expected = [
        1, 0x20, 0, 3, // type, flag G, reserved, hop count
        1, 2, 3, 4, // identifier
        10, 0, 0, 4, 0, 0, 0, 5, // destination and its number
        10, 0, 0, 1, 0, 0, 0, 6, // originator and its number
    ];
    assert_eq!(bytes(&AodvHeader::Rreq(request())), expected);
    let unknown = Rreq {
        destination_seq: None,
        gratuitous: false,
        destination_only: true,
        multicast_bits: 0x80,
        ..request()
    };
    let written = bytes(&AodvHeader::Rreq(unknown));
    assert_eq!((written[1], &written[12..16]), (0x98, [0; 4].as_slice()), "flags J, D and U");
}

#[test]
fn a_route_reply() {
    let reply = Rrep {
        repair: true,
        ack_required: true,
        prefix_size: 24,
        hop_count: 2,
        destination: host(4),
        destination_seq: SeqNumber(5),
        originator: host(1),
        lifetime: Duration::from_millis(6000),
    };
    let expected = [2, 0xc0, 24, 2, 10, 0, 0, 4, 0, 0, 0, 5, 10, 0, 0, 1, 0, 0, 0x17, 0x70];
    assert_eq!(bytes(&AodvHeader::Rrep(reply)), expected);
}

#[test]
fn a_route_error() {
    let unreachable = vec![(host(4), SeqNumber(6)), (host(5), SeqNumber(9))];
    let error = AodvHeader::Rerr(Rerr { no_delete: true, unreachable });
    let expected = [3, 0x80, 0, 2, 10, 0, 0, 4, 0, 0, 0, 6, 10, 0, 0, 5, 0, 0, 0, 9];
    assert_eq!(bytes(&error), expected);
}

#[test]
fn the_acknowledgement_of_a_reply() {
    assert_eq!(bytes(&AodvHeader::RrepAck), [4, 0]);
}

#[test]
fn data_has_no_header() {
    assert_eq!(AodvHeader::Data.wire_bytes(), 0);
    assert_eq!(AodvHeader::Data.emit(&mut []), Ok(0));
}

#[test]
fn extensions_are_passed_over() {
    let mut with_extension = bytes(&AodvHeader::Rreq(request()));
    with_extension.extend([1, 4, 0, 0, 3, 232]);
    assert_eq!(AodvHeader::parse(&with_extension), Ok(AodvHeader::Rreq(request())));
}

#[test]
fn what_cannot_be_is_refused() {
    for (bytes, error) in [
        (&[][..], MessageError::Truncated),
        (&[1; 23], MessageError::Truncated),
        (&[2; 19], MessageError::Truncated),
        (&[3, 0, 0, 0], MessageError::NoDestination),
        (&[3, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0], MessageError::Truncated),
        (&[4], MessageError::Truncated),
        (&[5, 0], MessageError::UnknownType(5)),
    ] {
        assert_eq!(AodvHeader::parse(bytes), Err(error), "{bytes:?}");
    }
    let none = AodvHeader::Rerr(Rerr { no_delete: false, unreachable: Vec::new() });
    assert_eq!(none.emit(&mut [0; 8]), Err(MessageError::NoDestination));
    let many = AodvHeader::Rerr(Rerr { no_delete: false, unreachable: vec![(host(1), SeqNumber(1)); 256] });
    assert_eq!(many.emit(&mut [0; 4096]), Err(MessageError::NoRoom));
    assert_eq!(AodvHeader::RrepAck.emit(&mut [0]), Err(MessageError::NoRoom));
}

fn any_host() -> impl Strategy<Value = Ipv4Addr> {
    any::<u32>().prop_map(Ipv4Addr::from_bits)
}

fn any_seq() -> impl Strategy<Value = SeqNumber> {
    any::<u32>().prop_map(SeqNumber)
}

fn any_message() -> impl Strategy<Value = AodvHeader> {
    let rreq =
        (any::<(u8, bool, bool, u8, u32)>(), any_host(), prop::option::of(any_seq()), any_host(), any_seq())
            .prop_map(|(bits, destination, destination_seq, originator, originator_seq)| {
                AodvHeader::Rreq(Rreq {
                    multicast_bits: bits.0 & 0xc0,
                    gratuitous: bits.1,
                    destination_only: bits.2,
                    hop_count: bits.3,
                    id: bits.4,
                    destination,
                    destination_seq,
                    originator,
                    originator_seq,
                })
            });
    let rrep = (any::<(bool, bool, u8, u8, u32)>(), any_host(), any_seq(), any_host()).prop_map(
        |(bits, destination, destination_seq, originator)| {
            AodvHeader::Rrep(Rrep {
                repair: bits.0,
                ack_required: bits.1,
                prefix_size: bits.2 & 0x1f,
                hop_count: bits.3,
                destination,
                destination_seq,
                originator,
                lifetime: Duration::from_millis(u64::from(bits.4)),
            })
        },
    );
    let rerr = (any::<bool>(), prop::collection::vec((any_host(), any_seq()), 1..20))
        .prop_map(|(no_delete, unreachable)| AodvHeader::Rerr(Rerr { no_delete, unreachable }));
    prop_oneof![rreq, rrep, rerr, Just(AodvHeader::RrepAck)]
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(message in any_message()) {
        prop_assert_eq!(AodvHeader::parse(&bytes(&message)), Ok(message));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = AodvHeader::parse(&bytes);
    }
}
