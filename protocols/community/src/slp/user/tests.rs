use super::super::{Body, Datagram, Message, Service, ServiceAgent, UrlEntry};
use super::{Found, MAX_FOUND, UserAgent};
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
    ServiceAgent::new(vec![address(host).ip()], vec![Service { service_type: TYPE.to_string(), url, lifetime_s: 60 }])
}

/// Lets `user` ask until it ends; `hears` says whether an agent hears a request, by the request's number from 0.
fn converge(user: &mut UserAgent, hosts: &[u8], hears: impl Fn(usize, u8) -> bool) -> (Vec<String>, usize, Instant) {
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

#[test]
fn answers_to_others_and_liars_without_end_are_not_listened_to() {
    let mut user = UserAgent::new(Instant::ZERO, TYPE, 77);
    user.handle_timeout(Instant::ZERO);
    let reply = |number: u16, start: usize| {
        let entry = |k: usize| UrlEntry { lifetime_s: 1, url: alloc::format!("{TYPE}://{k}") };
        let body = Body::ServiceReply { error: 0, entries: (start..start + 20).map(entry).collect() };
        Message { number, is_multicast: false, has_overflowed: false, body }.emit()
    };
    user.handle_input(Instant::ZERO, Datagram { from: address(1), bytes: &reply(78, 0) });
    assert_eq!(user.poll_event(), None);
    for start in (0..100_000).step_by(20) {
        user.handle_input(Instant::ZERO, Datagram { from: address(1), bytes: &reply(77, start) });
    }
    assert_eq!(core::iter::from_fn(|| user.poll_event()).count(), MAX_FOUND);
}
