use super::super::{Querier, Responder, Service};
use super::{MAX_BYTES, is_query, parse};
use crate::Datagram;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use prismux_endpoint::Endpoint;
use prismux_units::Instant;
use proptest::prelude::*;

/// RFC 1035, section 4.1.1: number, flags, and how many questions, answers, authorities and additional records.
fn header(counts: [u8; 4]) -> Vec<u8> {
    let [questions, answers, authorities, additional] = counts;
    vec![0, 7, 0, 0, 0, questions, 0, answers, 0, authorities, 0, additional]
}

/// The query for our type as RFC 6762 section 18 lays it out, with the unicast-response bit in its class.
fn query() -> Vec<u8> {
    [&header([1, 0, 0, 0])[..], b"\x08_prismux\x04_udp\x05local\0", &[0, 12, 0x80, 1]].concat()
}

#[test]
fn a_query_is_written_as_the_standard_has_it() {
    let mut querier = Querier::new(Instant::ZERO, "_prismux._udp", false, 7).unwrap();
    querier.handle_timeout(Instant::ZERO);
    let sent = querier.poll_transmit(Instant::ZERO).unwrap();
    assert_eq!((sent.to, sent.bytes), ("224.0.0.251:5353".parse().unwrap(), query()));
}

#[test]
fn what_is_no_message_is_refused_however_it_is_broken() {
    let name_at = |pointer: u8| [&header([1, 0, 0, 0])[..], &[0xc0, pointer, 0, 12, 0, 1]].concat();
    let labels = |first: &[u8]| [&header([1, 0, 0, 0])[..], first, &[0, 12, 0, 1]].concat();
    let mut counts = query();
    counts[4..12].copy_from_slice(&[0xff; 8]);
    let mut too_long = query();
    too_long.resize(MAX_BYTES + 1, 0);
    let of_300_bytes: Vec<u8> = core::iter::repeat_n(*b"\x04abcd", 60).flatten().chain([0]).collect();
    let cases = [
        ("nothing", vec![]),
        ("half a header", header([1, 0, 0, 0])[..6].to_vec()),
        ("a question announced, and none", header([1, 0, 0, 0])),
        ("a name that points at itself", name_at(12)),
        ("a name that points ahead", name_at(14)),
        ("a name that points beyond the end", name_at(255)),
        // A label, and then a pointer back to it: forever.
        ("a loop", labels(b"\x01a\xc0\x0c")),
        ("a label beyond the end", labels(b"\x3fa")),
        ("a kind of label that does not exist", labels(b"\x41a\0")),
        ("a name of 300 bytes", labels(&of_300_bytes)),
        ("more entries than there is room for", counts),
        ("too long", too_long),
    ];
    for (what, bytes) in cases {
        assert!(parse(&bytes).is_none(), "{what}");
    }
    assert!(parse(&query()).is_some_and(|packet| is_query(&packet)));
}

/// A query and an answer to it.
fn good() -> [Vec<u8>; 2] {
    let service = Service {
        service_type: "_prismux._udp".to_string(),
        instance: "kitchen".to_string(),
        host: "box".to_string(),
        port: 4761,
        text: vec![("key".to_string(), "ab".to_string())],
        addresses: vec!["192.0.2.7".parse().unwrap(), "fe80::7".parse().unwrap()],
    };
    let mut responder = Responder::new(Instant::ZERO, &service, false).unwrap();
    responder
        .handle_input(Instant::ZERO, Datagram { from: "192.0.2.9:4000".parse().unwrap(), bytes: &query() });
    [query(), responder.poll_transmit(Instant::ZERO).unwrap().bytes]
}

#[test]
fn every_cut_of_a_message_is_refused() {
    for whole in good() {
        assert!(parse(&whole).is_some());
        for length in 0..whole.len() {
            assert!(parse(&whole[..length]).is_none(), "{length} of {} bytes", whole.len());
        }
    }
}

proptest! {
    /// Whatever is changed in a message, its reader ends, and has no more entries than its bytes make room for.
    #[test]
    fn changed_bytes_are_read_or_refused(
        is_answer: bool,
        changes in proptest::collection::vec((0_usize..300, any::<u8>()), 1..12),
        tail in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let [query, answer] = good();
        let mut bytes = if is_answer { answer } else { query };
        for (at, byte) in changes {
            let length = bytes.len();
            bytes[at % length] = byte;
        }
        bytes.extend(tail);
        if let Some(packet) = parse(&bytes) {
            let records = packet.answers.len() + packet.name_servers.len() + packet.additional_records.len();
            prop_assert!(5 * packet.questions.len() + 11 * records <= bytes.len());
        }
    }
}
