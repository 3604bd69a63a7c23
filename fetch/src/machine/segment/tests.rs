use super::*;
use crate::channel::Message;
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::Seed;
use prismux_ptcp::Connection;
use prismux_units::Instant;

const WINDOW: ByteCount = ByteCount::new(1 << 20);

#[test]
fn a_session_is_found_by_the_path_named_after_it() {
    for number in [0, 7, u64::MAX] {
        assert_eq!(number_of(&path_named(number)), number);
    }
    assert_ne!(path_named(1), path_named(2));
}

#[test]
fn segments_are_read_as_they_were_written() {
    let now = Instant::ZERO;
    let mut connection = Connection::connect_over(config(WINDOW), path_named(5), Seed(1).stream("test"), now);
    let syn = connection.poll_transmit(now).expect("a SYN").segment;
    let mut message = Vec::new();
    Message::PtcpOpening { offset: 77, segment: &[] }.emit(&mut message);
    assert_eq!(emit(&syn, &mut message).map(|room| room.len()), Some(0));
    let Some(Message::PtcpOpening { offset: 77, segment }) = Message::parse(&message) else {
        panic!("kind 4")
    };
    assert_eq!(parse(segment, path_named(5), syn.ecn), Some((syn, segment.len())));
    assert_eq!(parse(&segment[..segment.len() - 1], path_named(5), Ecn::NotEct), None);
}

#[test]
fn a_data_segment_fills_a_datagram() {
    let now = Instant::ZERO;
    let (near, far) = (path_named(1), path_named(2));
    let mut client = Connection::connect_over(config(WINDOW), near, Seed(1).stream("client"), now);
    let syn = client.poll_transmit(now).expect("a SYN").segment;
    let opening = Segment { path: far, ..syn };
    let mut server =
        Connection::accept(config(WINDOW), &[], &opening, Seed(2).stream("server"), now).expect("a SYN");
    server.write(1_000_000);
    let answer = server.poll_transmit(now).expect("a SYN-ACK").segment;
    client.handle_input(now, Segment { path: near, ..answer });
    let last = client.poll_transmit(now).expect("an ACK").segment;
    server.handle_input(now, Segment { path: far, ..last });
    let data = server.poll_transmit(now).expect("data").segment;
    let mut message = Vec::new();
    Message::Ptcp(&[]).emit(&mut message);
    assert!(emit(&data, &mut message).is_some());
    assert_eq!(message.len(), crate::SEALED_BYTES + crate::channel::KIND_BYTES);
    assert_eq!(data.payload_bytes, 1265, "36 of headers, 12 of timestamps, 37 of seal in 1,350");
}
