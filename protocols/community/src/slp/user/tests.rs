use super::super::{Body, Datagram, MAX_BYTES, Message, Service, ServiceAgent, UrlEntry};
use super::{Found, UserAgent};
use crate::convergence::{MAX_FOUND, MAX_FOUND_AT_ONE};
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::net::SocketAddr;
use prismux_endpoint::Endpoint;
use prismux_units::{Duration, Instant};

const TYPE: &str = "service:member.prismux";

fn address(host: u8) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, host], 427))
}

fn agent(host: u8) -> ServiceAgent {
    let url = alloc::format!("{TYPE}://192.0.2.{host}");
    ServiceAgent::new(
        vec![address(host).ip()],
        vec![Service { service_type: TYPE.to_string(), url, lifetime_s: 60 }],
    )
}

/// Lets `user` ask until it ends; `hears` says whether an agent hears a request, by the request's number from 0.
fn converge(
    user: &mut UserAgent,
    hosts: &[u8],
    hears: impl Fn(usize, u8) -> bool,
) -> (Vec<String>, usize, Instant) {
    let mut agents: Vec<_> = hosts.iter().map(|&host| (host, agent(host))).collect();
    let (mut now, mut requests, mut found) = (Instant::ZERO, 0, Vec::new());
    while let Some(deadline) = user.poll_timeout() {
        assert!(requests < 20, "it ends");
        now = now.max(deadline.at);
        user.handle_timeout(now);
        while let Some(request) = user.poll_transmit(now) {
            assert_eq!(request.to, SocketAddr::from(([239, 255, 255, 253], 427)));
            for (host, agent) in agents.iter_mut().filter(|(host, _)| hears(requests, *host)) {
                agent.handle_input(now, Datagram { from: address(200), bytes: &request.bytes });
                while let Some(answer) = agent.poll_transmit(now) {
                    user.handle_input(now, Datagram { from: address(*host), bytes: &answer.bytes });
                }
            }
            requests += 1;
        }
        found.extend(core::iter::from_fn(|| user.poll_event()).map(|found: Found| found.url));
    }
    assert!(user.has_ended());
    (found, requests, now)
}

#[test]
fn all_are_found_once_and_then_it_ends() {
    let mut user = UserAgent::new(Instant::ZERO, TYPE, 77);
    let (mut found, requests, ended) = converge(&mut user, &[1, 2, 3], |_, _| true);
    found.sort();
    assert_eq!(found, [1, 2, 3].map(|host| alloc::format!("{TYPE}://192.0.2.{host}")));
    assert_eq!(requests, 3, "and two more, to which nobody answers");
    assert!(ended <= Instant::ZERO + Duration::from_secs(15));
}

#[test]
fn a_request_that_is_lost_is_made_good_by_the_next() {
    let mut user = UserAgent::new(Instant::ZERO, TYPE, 77);
    let (found, ..) = converge(&mut user, &[1, 2], |request, host| request >= usize::from(host));
    assert_eq!(found.len(), 2);
}

#[test]
fn where_nobody_is_it_ends_too() {
    let mut user = UserAgent::new(Instant::ZERO, TYPE, 77);
    let (found, requests, _) = converge(&mut user, &[], |_, _| true);
    assert_eq!((found.len(), requests), (0, 2));
}

fn reply(number: u16, from: usize, count: usize) -> Vec<u8> {
    let entry = |k: usize| UrlEntry { lifetime_s: 1, url: alloc::format!("{TYPE}://{k}") };
    let body = Body::ServiceReply { error: 0, entries: (from..from + count).map(entry).collect() };
    Message { number, is_multicast: false, has_overflowed: false, body }.emit()
}

/// A flood by one host: answers to others, and more services than anybody has. Another is heard all the same.
#[test]
fn answers_to_others_and_a_liar_without_end_are_not_listened_to() {
    let mut user = UserAgent::new(Instant::ZERO, TYPE, 77);
    user.handle_timeout(Instant::ZERO);
    let mut hear = |from: SocketAddr, bytes: &[u8]| {
        user.handle_input(Instant::ZERO, Datagram { from, bytes });
        (core::iter::from_fn(|| user.poll_event()).count(), user.ignored())
    };
    assert_eq!(hear(address(1), &reply(78, 0, 20)), (0, 1));
    assert_eq!(hear(address(1), b"nonsense"), (0, 2));
    let (mut found, mut ignored) = (0, 0);
    for from in (0..10_000).step_by(20) {
        let (new, all) = hear(address(1), &reply(77, from, 20));
        (found, ignored) = (found + new, all);
    }
    assert_eq!((found, ignored), (MAX_FOUND_AT_ONE, 2 + 10_000 - MAX_FOUND_AT_ONE as u64));
    assert_eq!(hear(address(2), &reply(77, 0, 1)).0, 1);
}

/// Under many addresses: what is told of and what a request takes are bounded, and it ends.
#[test]
fn a_flood_under_many_addresses_is_bounded() {
    let mut user = UserAgent::new(Instant::ZERO, TYPE, 77);
    let mut found = 0;
    while let Some(deadline) = user.poll_timeout() {
        user.handle_timeout(deadline.at);
        if let Some(request) = user.poll_transmit(deadline.at) {
            assert!(request.bytes.len() <= MAX_BYTES && Message::parse(&request.bytes).is_ok());
        }
        for host in 0..u16::MAX {
            let from = SocketAddr::from(([10, 255, (host >> 8) as u8, host as u8], 427));
            user.handle_input(deadline.at, Datagram { from, bytes: &reply(77, 0, 1) });
        }
        found += core::iter::from_fn(|| user.poll_event()).count();
    }
    assert_eq!(found, MAX_FOUND);
    assert!(user.requests() <= 4 && user.ignored() > 60_000);
}
