//! The DSR options header in bytes (RFC 4728 section 6).
use prismux_dsr::header::NO_NEXT_HEADER;
use prismux_dsr::header::wire::HeaderError;
use prismux_dsr::{
    Ack, AckRequest, DsrHeader, DsrOption, ErrorKind, FlowHeader, RouteError, RouteReply, RouteRequest,
    SourceRoute,
};
use prismux_routing::Header;
use proptest::prelude::*;
use std::net::Ipv4Addr;

const UDP: u8 = 17;

const fn host(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, number)
}

fn bytes(options: Vec<DsrOption>, next_header: u8) -> Vec<u8> {
    let header = DsrHeader::with(options);
    let mut out = vec![0xff; header.wire_bytes()];
    assert_eq!(header.emit(next_header, &mut out), Ok(out.len()));
    out
}

#[test]
fn a_route_request() {
    let addresses = vec![host(2), host(3)];
    let request = RouteRequest { identification: 0x0102, target: host(4), addresses };
    let expected = [59, 0, 0, 16, 1, 14, 1, 2, 10, 0, 0, 4, 10, 0, 0, 2, 10, 0, 0, 3];
    assert_eq!(bytes(vec![DsrOption::RouteRequest(request)], NO_NEXT_HEADER), expected);
}

#[test]
fn a_route_reply_behind_a_source_route_is_padded_so_that_its_addresses_are_aligned() {
    let route = SourceRoute { segments_left: 1, addresses: vec![host(2)], ..SourceRoute::default() };
    let reply = RouteReply { last_hop_external: true, addresses: vec![host(2), host(3)] };
    let options = vec![DsrOption::SourceRoute(route), DsrOption::RouteReply(reply)];
    let expected = [
        59, 0, 0, 20, // no next header, 20 bytes of options
        96, 6, 0, 1, 10, 0, 0, 2, // a source route of one host, one segment left
        224, 2, 9, 0x80, 10, 0, 0, 2, 10, 0, 0, 3, // padding, a reply of two hops, the last external
    ];
    assert_eq!(bytes(options, NO_NEXT_HEADER), expected);
}

#[test]
fn a_route_error() {
    let kind = ErrorKind::NodeUnreachable(host(4));
    let error = RouteError { salvage: 5, source: host(3), destination: host(1), kind };
    let expected = [59, 0, 0, 16, 3, 14, 1, 5, 10, 0, 0, 3, 10, 0, 0, 1, 10, 0, 0, 4];
    assert_eq!(bytes(vec![DsrOption::RouteError(error)], NO_NEXT_HEADER), expected);
}

#[test]
fn a_flow_state_header_stands_before_the_options_or_alone() {
    let route = SourceRoute { segments_left: 1, addresses: vec![host(2)], ..SourceRoute::default() };
    let options = vec![DsrOption::SourceRoute(route), DsrOption::Timeout(60)];
    let flow = FlowHeader::Numbered { hops: 1, number: 0x0103 };
    let with_route = [
        48, 0x81, 1, 3, // DSR follows, one hop, the flow
        17, 0, 0, 12, 96, 6, 0, 1, 10, 0, 0, 2, 128, 2, 0, 60, // its route, for a minute
    ];
    for (options, expected) in [(options, &with_route[..]), (vec![], &[17, 0x81, 1, 3])] {
        let header = DsrHeader { flow, options };
        let mut out = vec![0xff; header.wire_bytes()];
        assert_eq!((header.emit(UDP, &mut out), out.as_slice()), (Ok(expected.len()), expected));
        let parsed = DsrHeader::parse(expected).expect("it was written");
        assert_eq!((parsed.header, parsed.next_header, parsed.header_bytes), (header, UDP, expected.len()));
    }
    assert_eq!(DsrHeader { flow: FlowHeader::Default, options: vec![] }.wire_bytes(), 0);
}

#[test]
fn errors_about_flows() {
    for (kind, rest) in [
        (ErrorKind::UnknownFlow { destination: host(4), flow: 3 }, &[0, 3, 0, 0][..]),
        (ErrorKind::DefaultFlowUnknown { destination: host(4) }, &[]),
    ] {
        let (kind_number, data_bytes) = if rest.is_empty() { (130, 14) } else { (129, 16) };
        let error = RouteError { salvage: 0, source: host(3), destination: host(1), kind };
        let start = [59, 0, 0, 16 + rest.len() as u8, 3, data_bytes, kind_number, 0];
        let expected = [&start[..], &[10, 0, 0, 3, 10, 0, 0, 1, 10, 0, 0, 4], rest].concat();
        assert_eq!(bytes(vec![DsrOption::RouteError(error.clone())], NO_NEXT_HEADER), expected);
        let parsed = DsrHeader::parse(&expected).expect("it was written");
        assert_eq!(parsed.header.options, [DsrOption::RouteError(error)]);
    }
}

#[test]
fn an_error_about_an_option_is_padded_to_a_whole_word() {
    let kind = ErrorKind::OptionNotSupported(145);
    let error = RouteError { salvage: 0, source: host(3), destination: host(1), kind };
    let expected = [59, 0, 0, 16, 3, 11, 3, 0, 10, 0, 0, 3, 10, 0, 0, 1, 145, 0, 1, 0];
    assert_eq!(bytes(vec![DsrOption::RouteError(error)], NO_NEXT_HEADER), expected);
}

#[test]
fn acknowledgements_and_their_requests() {
    let request = DsrOption::AckRequest(AckRequest { identification: 0x0304 });
    assert_eq!(bytes(vec![request], UDP), [17, 0, 0, 4, 160, 2, 3, 4]);
    let ack = DsrOption::Ack(Ack { identification: 0x0304, source: host(2), destination: host(1) });
    let expected = [59, 0, 0, 12, 32, 10, 3, 4, 10, 0, 0, 2, 10, 0, 0, 1];
    assert_eq!(bytes(vec![ack], NO_NEXT_HEADER), expected);
}

#[test]
fn the_bits_of_a_source_route() {
    let route = SourceRoute {
        first_hop_external: true,
        last_hop_external: true,
        salvage: 15,
        segments_left: 1,
        addresses: vec![host(2)],
    };
    let expected = [17, 0, 0, 8, 96, 6, 0b1100_0011, 0b1100_0001, 10, 0, 0, 2];
    assert_eq!(bytes(vec![DsrOption::SourceRoute(route)], UDP), expected);
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |bytes: &[u8]| DsrHeader::parse(bytes).expect_err("it cannot be");
    assert_eq!(refused(&[17, 0, 0]), HeaderError::Truncated);
    assert_eq!(refused(&[17, 0, 0, 4, 160, 2, 0]), HeaderError::Truncated);
    assert_eq!(refused(&[17, 0, 0, 3, 160, 2, 0]), HeaderError::Truncated);
    assert_eq!(refused(&[48, 0x80, 0, 0, 17, 0x80, 0, 0]), HeaderError::FlowState);
    assert_eq!(refused(&[17, 0, 0, 3, 160, 1, 0]), HeaderError::MalformedOption(160));
    assert_eq!(
        refused(&[17, 0, 0, 4, 96, 2, 0, 1]),
        HeaderError::MalformedOption(96),
        "no host for a segment"
    );
    assert_eq!(refused(&[17, 0, 0, 3, 2, 1, 0]), HeaderError::MalformedOption(2), "a reply without a route");
    let long = vec![host(1); 63];
    let request =
        DsrOption::RouteRequest(RouteRequest { identification: 1, target: host(2), addresses: long });
    let mut out = [0; 512];
    assert_eq!(DsrHeader::with(vec![request]).emit(UDP, &mut out), Err(HeaderError::NoRoom));
    assert_eq!(DsrHeader::default().emit(UDP, &mut out[..3]), Err(HeaderError::NoRoom));
}

fn any_host() -> impl Strategy<Value = Ipv4Addr> {
    any::<u32>().prop_map(Ipv4Addr::from_bits)
}

fn any_option() -> impl Strategy<Value = DsrOption> {
    let hosts = |range| prop::collection::vec(any_host(), range);
    let unknown = (4u8..32, prop::collection::vec(any::<u8>(), 0..9));
    let kind = prop_oneof![
        any_host().prop_map(ErrorKind::NodeUnreachable),
        any::<u8>().prop_map(ErrorKind::OptionNotSupported),
        (4u8.., prop::collection::vec(any::<u8>(), 0..9))
            .prop_map(|(kind, data)| ErrorKind::Other { kind, data }),
    ];
    prop_oneof![
        (any::<u16>(), any_host(), hosts(0..20)).prop_map(|(identification, target, addresses)| {
            DsrOption::RouteRequest(RouteRequest { identification, target, addresses })
        }),
        (any::<bool>(), hosts(1..20)).prop_map(|(last_hop_external, addresses)| {
            DsrOption::RouteReply(RouteReply { last_hop_external, addresses })
        }),
        (0u8..16, any_host(), any_host(), kind).prop_map(|(salvage, source, destination, kind)| {
            DsrOption::RouteError(RouteError { salvage, source, destination, kind })
        }),
        any::<u16>().prop_map(|identification| DsrOption::AckRequest(AckRequest { identification })),
        (any::<u16>(), any_host(), any_host()).prop_map(|(identification, source, destination)| {
            DsrOption::Ack(Ack { identification, source, destination })
        }),
        (any::<[bool; 2]>(), 0u8..16, hosts(0..20), any::<u8>()).prop_map(
            |(external, salvage, addresses, left)| {
                DsrOption::SourceRoute(SourceRoute {
                    first_hop_external: external[0],
                    last_hop_external: external[1],
                    salvage,
                    segments_left: left % (addresses.len() as u8 + 1),
                    addresses,
                })
            }
        ),
        unknown.prop_map(|(kind, data)| DsrOption::Unknown { kind, data }),
    ]
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(options in prop::collection::vec(any_option(), 0..6), next in any::<u8>()) {
        let header = DsrHeader::with(options);
        let mut out = vec![0; header.wire_bytes()];
        prop_assert_eq!(header.emit(next, &mut out), Ok(out.len()));
        prop_assert_eq!(out.len() % 4, 0);
        let parsed = DsrHeader::parse(&out).expect("it was written");
        prop_assert_eq!((parsed.header, parsed.next_header, parsed.header_bytes), (header, next, out.len()));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(parsed) = DsrHeader::parse(&bytes) {
            prop_assert!(parsed.header_bytes <= bytes.len());
        }
    }
}
