use super::{FromAir, MAX_MESSAGE_BYTES, MessageSocket, REASONS, ToAir, VERSION};
use crate::route::radio::Priority;
use prismux_routing::NextHop;
use prismux_trace::event::DropReason;
use proptest::prelude::*;
use std::net::Ipv4Addr;

const A: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);

#[test]
fn every_message_reads_back() {
    let mut out = Vec::new();
    for packet in [&b"a packet"[..], b""] {
        let send = |priority, to| ToAir::Send { priority, to, counted_bytes: 70_000, packet };
        let reasons = REASONS.iter().map(|reason| ToAir::Dropped(*reason, packet));
        let sends = [Priority::Routing, Priority::Acknowledgement, Priority::Normal]
            .into_iter()
            .flat_map(|priority| [send(priority, NextHop::Neighbour(A)), send(priority, NextHop::Broadcast)]);
        for message in sends.chain(reasons).chain([ToAir::Taken(packet), ToAir::Hello(VERSION), ToAir::Bye]) {
            message.emit(&mut out);
            assert_eq!(ToAir::parse(&out), Some(message));
        }
        for message in [
            FromAir::Ready { version: VERSION, keeps_log: true },
            FromAir::Received(A, packet),
            FromAir::Overheard(A, B, packet),
            FromAir::NotDelivered(A, packet),
            FromAir::TakenBack(B, packet),
        ] {
            message.emit(&mut out);
            assert_eq!(FromAir::parse(&out), Some(message));
        }
    }
    ToAir::Send {
        priority: Priority::Acknowledgement,
        to: NextHop::Neighbour(A),
        counted_bytes: 258,
        packet: b"x",
    }
    .emit(&mut out);
    assert_eq!(out, [1, 1, 10, 9, 0, 1, 0, 0, 1, 2, b'x'], "as the page of the format says");
    ToAir::Dropped(DropReason::Corrupted, b"x").emit(&mut out);
    assert_eq!(ToAir::parse(&out), None, "no routing protocol has this reason");
}

#[test]
fn messages_keep_their_bounds_and_the_end_is_told() {
    let (air, daemon) = MessageSocket::pair().unwrap();
    let mut buffer = vec![0; MAX_MESSAGE_BYTES];
    assert_eq!(daemon.read(&mut buffer).unwrap(), None);
    assert!(air.write(b"first") && air.write(b"second"));
    assert_eq!(daemon.read(&mut buffer).unwrap(), Some(&b"first"[..]));
    assert_eq!(daemon.read(&mut buffer).unwrap(), Some(&b"second"[..]));
    let written = (0..100_000).take_while(|_| air.write(&[7; 1500])).count();
    assert!((50..100_000).contains(&written), "a reader that does not read stops nobody: {written}");
    drop(air);
    let read =
        (0..=written).map(|_| daemon.read(&mut buffer).unwrap().unwrap().len()).filter(|length| *length > 0);
    assert_eq!(read.count(), written);
    assert!(!daemon.write(b"nobody is there"));
}

proptest! {
    #![proptest_config(prismux_properties::cases(512))]

    #[test]
    fn whatever_comes_is_a_message_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        let mut out = Vec::new();
        if let Some(message) = ToAir::parse(&bytes) {
            message.emit(&mut out);
            // What follows the last field is passed over.
            prop_assert!(bytes.starts_with(&out));
        }
        if let Some(message) = FromAir::parse(&bytes) {
            message.emit(&mut out);
            let is_ready = matches!(message, FromAir::Ready { .. });
            prop_assert!(is_ready || out == bytes);
        }
    }
}
