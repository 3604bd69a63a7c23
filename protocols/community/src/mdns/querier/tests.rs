use super::super::{Responder, Service};
use super::{Found, MAX_FOUND_AT_ONE, Querier};
use crate::Datagram;
use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::net::SocketAddr;
use prismux_endpoint::Endpoint;
use prismux_units::{Duration, Instant};

const TYPE: &str = "_prismux._udp";

fn querier() -> (Querier, Vec<u8>) {
    let mut querier = Querier::new(Instant::ZERO, TYPE, false, 77).unwrap();
    querier.handle_timeout(Instant::ZERO);
    let query = querier.poll_transmit(Instant::ZERO).unwrap().bytes;
    (querier, query)
}

fn service(instance: &str, addresses: &[&str]) -> Service {
    Service {
        service_type: TYPE.to_string(),
        instance: instance.to_string(),
        host: format!("host-of-{instance}").replace('.', "-"),
        port: 4761,
        text: vec![("name".to_string(), "kitchen".to_string()), ("key".to_string(), "a=b".to_string())],
        addresses: addresses.iter().map(|address| address.parse().unwrap()).collect(),
    }
}

/// What a host that offers this says to a query.
fn answer(query: &[u8], service: &Service) -> Vec<u8> {
    let mut responder = Responder::new(Instant::ZERO, service, false).unwrap();
    responder.handle_input(Instant::ZERO, Datagram { from: "192.0.2.9:4000".parse().unwrap(), bytes: query });
    responder.poll_transmit(Instant::ZERO).unwrap().bytes
}

fn hear(querier: &mut Querier, from: &str, bytes: &[u8]) -> Vec<Found> {
    querier.handle_input(Instant::ZERO, Datagram { from: from.parse().unwrap(), bytes });
    core::iter::from_fn(|| querier.poll_event()).collect()
}

#[test]
fn an_answer_is_told_once_with_its_attributes_over_either_family() {
    let (mut querier, query) = querier();
    let bytes = answer(&query, &service("kitchen 3M8R.x", &["192.0.2.7", "fe80::7"]));
    for (from, at) in [("192.0.2.7:5353", "192.0.2.7:4761"), ("[fe80::7%3]:5353", "[fe80::7%3]:4761")] {
        let found = hear(&mut querier, from, &bytes);
        assert_eq!(found.len(), 1, "{from}");
        assert_eq!((found[0].at, &*found[0].instance), (at.parse::<SocketAddr>().unwrap(), "kitchen 3M8R.x"));
        assert_eq!((found[0].attribute("NAME"), found[0].attribute("key")), (Some("kitchen"), Some("a=b")));
        assert_eq!(found[0].attribute("other"), None);
        assert_eq!(hear(&mut querier, from, &bytes), []);
    }
    assert_eq!(querier.ignored(), 0);
}

#[test]
fn a_host_speaks_for_itself_and_answers_what_was_asked() {
    let (mut querier, query) = querier();
    let good = answer(&query, &service("kitchen", &["192.0.2.7"]));
    let mut other_id = good.clone();
    other_id[1] ^= 1;
    let mut failed = good.clone();
    failed[3] |= 3;
    let mut ended = Responder::new(Instant::ZERO, &service("kitchen", &["192.0.2.7"]), false).unwrap();
    ended.end();
    let mut goodbye = ended.poll_transmit(Instant::ZERO).unwrap().bytes;
    goodbye[..2].copy_from_slice(&[0, 77]);
    let elsewhere = answer(&query, &service("kitchen", &["192.0.2.8"]));
    let nowhere = answer(&query, &Service { port: 0, ..service("kitchen", &["192.0.2.7"]) });
    let wrong = [&query[..], &other_id, &failed, &goodbye, &elsewhere, &nowhere, b"noise"];
    for (n, bytes) in (1..).zip(wrong) {
        assert_eq!(hear(&mut querier, "192.0.2.7:5353", bytes), [], "{n}");
        assert_eq!(querier.ignored(), n);
    }
    assert_eq!(hear(&mut querier, "192.0.2.7:5353", &good).len(), 1);
}

#[test]
fn who_answers_without_end_is_not_listened_to_without_end() {
    let (mut querier, query) = querier();
    let mut told = 0;
    for n in 0..50 {
        let bytes = answer(&query, &service(&format!("attic-{n}"), &["192.0.2.66"]));
        told += hear(&mut querier, "192.0.2.66:5353", &bytes).len();
    }
    assert_eq!((told, querier.ignored()), (MAX_FOUND_AT_ONE, 50 - MAX_FOUND_AT_ONE as u64));
    let kitchen = answer(&query, &service("kitchen", &["192.0.2.7"]));
    assert_eq!(hear(&mut querier, "192.0.2.7:5353", &kitchen).len(), 1, "others find room");
}

#[test]
fn it_asks_ever_more_seldom_until_nobody_new_answers() {
    let mut querier = Querier::new(Instant::ZERO, TYPE, true, 77).unwrap();
    let mut asked_ms = vec![];
    let mut now = Instant::ZERO;
    while let Some(deadline) = querier.poll_timeout() {
        now = deadline.at;
        querier.handle_timeout(now);
        if querier.poll_transmit(now).is_some_and(|query| query.to == "[ff02::fb]:5353".parse().unwrap()) {
            asked_ms.push(now.saturating_since(Instant::ZERO).as_nanos() / 1_000_000);
        }
    }
    assert_eq!(asked_ms, [0, 1000]);
    assert!(querier.has_ended() && now == Instant::ZERO + Duration::from_secs(3));
    assert_eq!(querier.queries(), 2);
}
