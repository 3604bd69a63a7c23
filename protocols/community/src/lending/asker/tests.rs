use super::super::desk::{Desk, Verdict};
use super::super::message::{Answer, Ask, Receiver};
use super::Asker;
use crate::Datagram;
use alloc::string::ToString;
use alloc::vec;
use core::net::SocketAddr;
use prismux_endpoint::Endpoint;
use prismux_units::{Duration, Instant};

const NONCE: u64 = 0x1234_5678_9abc_def0;

fn lender() -> SocketAddr {
    "192.168.1.7:4761".parse().unwrap()
}

fn asker() -> Asker {
    let receivers = vec![Receiver { address: "10.77.0.2".parse().unwrap(), length: 32 }];
    let (name, proxy) = ("ann".to_string(), "192.0.2.1:51820".parse().unwrap());
    let ask = Ask { name, proxy, proxy_key: [7; 32], receivers };
    Asker::new(Instant::ZERO, (lender(), [9; 32]), &ask, NONCE).unwrap()
}

/// Asks until `end`; every other ask is lost.
fn ask_until(asker: &mut Asker, desk: &mut Desk, end: Instant) -> Option<Verdict> {
    let mut last = None;
    let mut count = 0;
    while let Some(deadline) = asker.poll_timeout().filter(|deadline| deadline.at < end) {
        asker.handle_timeout(deadline.at);
        let request = asker.poll_transmit(deadline.at).expect("it asks");
        count += 1;
        if count % 2 == 0 {
            let from = "192.168.1.9:4000".parse().unwrap();
            desk.handle_input(deadline.at, Datagram { from, bytes: &request.bytes });
        }
        while let Some(answer) = desk.poll_transmit(deadline.at) {
            asker.handle_input(deadline.at, Datagram { from: lender(), bytes: &answer.bytes });
        }
        last = asker.poll_event().map(|outcome| outcome.verdict).or(last);
    }
    last
}

#[test]
fn it_asks_until_the_owner_has_decided() {
    for (is_granted, verdict) in [(true, Verdict::Granted), (false, Verdict::Refused)] {
        let (mut asker, mut desk) = (asker(), Desk::new("kitchen", [9; 32]));
        let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
        assert_eq!(ask_until(&mut asker, &mut desk, at(30)), Some(Verdict::Waiting));
        assert!(!asker.has_ended());
        assert_eq!(desk.decide(at(30), is_granted, |ask| ask.name == "ann"), 1);
        assert_eq!(ask_until(&mut asker, &mut desk, at(60)), Some(verdict));
        assert!(asker.has_ended() && asker.poll_timeout().is_none());
    }
}

#[test]
fn nobody_else_answers_for_the_lender() {
    let mut asker = asker();
    asker.handle_timeout(Instant::ZERO);
    let right = Answer { nonce: NONCE, verdict: Verdict::Granted, key: [9; 32], name: "kitchen".to_string() };
    let stranger: SocketAddr = "192.168.1.8:4761".parse().unwrap();
    let forged = [
        (stranger, right.clone()),
        (lender(), Answer { nonce: NONCE + 1, ..right.clone() }),
        (lender(), Answer { key: [8; 32], ..right.clone() }),
    ];
    for (count, (from, answer)) in forged.into_iter().enumerate() {
        let bytes = answer.emit().unwrap();
        asker.handle_input(Instant::ZERO, Datagram { from, bytes: &bytes });
        assert_eq!((asker.poll_event(), asker.ignored()), (None, count as u64 + 1));
    }
    asker.handle_input(Instant::ZERO, Datagram { from: lender(), bytes: &right.emit().unwrap() });
    assert_eq!(asker.poll_event().map(|outcome| outcome.verdict), Some(Verdict::Granted));
}
