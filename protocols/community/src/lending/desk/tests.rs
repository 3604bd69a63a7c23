use super::super::message::{ASK_BYTES, Answer, Ask, Receiver};
use super::{Desk, MAX_ASKS, MAX_ASKS_OF_ONE, Verdict};
use crate::Datagram;
use crate::allowance::BURST;
use alloc::string::ToString;
use alloc::vec;
use core::net::SocketAddr;
use prismux_endpoint::Endpoint;
use prismux_units::{Duration, Instant};

fn desk() -> Desk {
    Desk::new("kitchen", [9; 32])
}

fn ask(name: &str) -> Ask {
    let receivers = vec![Receiver { address: "10.77.0.2".parse().unwrap(), length: 32 }];
    Ask { name: name.to_string(), proxy: "192.0.2.1:51820".parse().unwrap(), proxy_key: [7; 32], receivers }
}

fn address(host: u16) -> SocketAddr {
    SocketAddr::from(([192, 168, (host >> 8) as u8, host as u8], 4000))
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// What the desk answers to an ask; it answers once at most, and where the ask came from.
fn asked(desk: &mut Desk, ms: u64, host: u16, name: &str) -> Option<Verdict> {
    let bytes = ask(name).emit(ms).unwrap();
    desk.handle_input(at(ms), Datagram { from: address(host), bytes: &bytes });
    let answer = desk.poll_transmit(at(ms))?;
    assert_eq!((desk.poll_transmit(at(ms)), answer.to), (None, address(host)));
    let answer = Answer::parse(&answer.bytes).unwrap();
    assert_eq!((answer.nonce, answer.key, answer.name.as_str()), (ms, [9; 32], "kitchen"));
    Some(answer.verdict)
}

#[test]
fn nobody_is_let_in_until_the_owner_says_so() {
    let mut desk = desk();
    for second in 0..100 {
        assert_eq!(asked(&mut desk, 1000 * second, 1, "ann"), Some(Verdict::Waiting));
    }
    assert_eq!(core::iter::from_fn(|| desk.poll_event()).count(), 1, "the owner is told once");
    assert_eq!(asked(&mut desk, 100_000, 2, "bob"), Some(Verdict::Waiting));
    assert_eq!(desk.decide(at(100_000), true, |ask| ask.name == "ann"), 1);
    assert_eq!(asked(&mut desk, 101_000, 1, "ann"), Some(Verdict::Granted));
    assert_eq!(asked(&mut desk, 101_000, 2, "bob"), Some(Verdict::Waiting), "nobody else");
    // Who says the same but for one thing is somebody else.
    assert_eq!(asked(&mut desk, 101_000, 1, "anna"), Some(Verdict::Waiting));
    assert_eq!(desk.decide(at(101_000), false, |ask| ask.name == "ann"), 1);
    assert_eq!(asked(&mut desk, 102_000, 1, "ann"), Some(Verdict::Refused));
    assert_eq!(desk.decide(at(102_000), true, |ask| ask.name == "eve"), 0, "who has not asked");
}

#[test]
fn asks_that_are_not_repeated_are_forgotten() {
    let mut desk = desk();
    asked(&mut desk, 0, 1, "ann");
    asked(&mut desk, 0, 2, "bob");
    desk.decide(at(0), true, |ask| ask.name == "bob");
    assert_eq!(desk.asks(at(59_000)).len(), 2);
    assert_eq!(desk.asks(at(61_000)).len(), 1);
    assert!(desk.asks(at(601_000)).is_empty());
    assert_eq!(asked(&mut desk, 602_000, 2, "bob"), Some(Verdict::Waiting), "a yes does not last for ever");
}

/// Strangers under many addresses: the desk keeps few, answers few, and an ask that lies there is answered as ever.
#[test]
fn a_flood_of_asks_is_bounded_and_stops_nobody_who_waits() {
    let mut desk = desk();
    assert_eq!(asked(&mut desk, 0, 1, "ann"), Some(Verdict::Waiting));
    assert_eq!(asked(&mut desk, 0, 1, "ann2"), Some(Verdict::Waiting));
    assert_eq!(asked(&mut desk, 0, 1, "ann3"), Some(Verdict::Full), "{MAX_ASKS_OF_ONE} of one");
    let answers =
        (2..10_000).filter(|&host| asked(&mut desk, u64::from(host) / 10, host, "eve").is_some()).count();
    assert!(answers <= MAX_ASKS + BURST as usize + 10, "{answers} in a second");
    assert_eq!(desk.asks(at(1000)).len(), MAX_ASKS);
    assert_eq!(asked(&mut desk, 1000, 1, "ann"), Some(Verdict::Waiting));
    assert_eq!(asked(&mut desk, 1001, 1, "ann"), None, "not faster than twice a second");
    assert!(desk.ignored() > 9000);
    for bytes in [&[0; ASK_BYTES][..], b"", &[0xff; 2000]] {
        let before = desk.ignored();
        desk.handle_input(at(1000), Datagram { from: address(1), bytes });
        assert_eq!((desk.ignored(), desk.poll_transmit(at(1000))), (before + 1, None));
    }
}
