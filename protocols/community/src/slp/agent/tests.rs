use super::super::{Body, Datagram, MAX_BYTES, Message, ServiceRequest, Transmit};
use super::{Service, ServiceAgent};
use crate::allowance::BURST;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::net::SocketAddr;
use prismux_endpoint::Endpoint;
use prismux_units::{Duration, Instant};

const TYPE: &str = "service:member.prismux";

fn agent() -> ServiceAgent {
    let service = |name: &str, service_type: &str| Service {
        service_type: service_type.to_string(),
        url: alloc::format!("{service_type}://192.0.2.7/{name}"),
        lifetime_s: 300,
    };
    let services = vec![service("kitchen", TYPE), service("attic", "service:printer:lpr")];
    ServiceAgent::new(vec!["192.0.2.7".parse().unwrap()], services)
}

fn asker() -> SocketAddr {
    "192.0.2.9:4000".parse().unwrap()
}

fn ask_at(
    agent: &mut ServiceAgent,
    now: Instant,
    request: ServiceRequest,
    is_multicast: bool,
) -> Vec<Transmit> {
    let body = Body::ServiceRequest(request);
    let bytes = Message { number: 5, is_multicast, has_overflowed: false, body }.emit();
    agent.handle_input(now, Datagram { from: asker(), bytes: &bytes });
    core::iter::from_fn(|| agent.poll_transmit(now)).collect()
}

fn ask(request: ServiceRequest, is_multicast: bool) -> Option<Body> {
    let mut answers = ask_at(&mut agent(), Instant::ZERO, request, is_multicast);
    assert!(answers.len() <= 1);
    let answer = answers.pop()?;
    let message = Message::parse(&answer.bytes).unwrap();
    assert_eq!((answer.to, message.number), (asker(), 5));
    Some(message.body)
}

fn request(service_type: &str) -> ServiceRequest {
    let (service_type, scopes) = (service_type.to_string(), "other,default".to_string());
    ServiceRequest { service_type, scopes, ..ServiceRequest::default() }
}

/// Names of the services that are told of; `None` for silence.
fn names(body: Option<Body>) -> Option<Vec<alloc::string::String>> {
    let Body::ServiceReply { error: 0, entries } = body? else { panic!("an answer") };
    Some(entries.iter().map(|entry| entry.url.rsplit('/').next().unwrap().to_string()).collect())
}

#[test]
fn who_asks_for_what_is_offered_is_told_and_others_hear_nothing() {
    for (wanted, told) in [
        (TYPE, Some(vec!["kitchen".to_string()])),
        ("SERVICE:Member.Prismux", Some(vec!["kitchen".to_string()])),
        ("service:printer", Some(vec!["attic".to_string()])),
        ("service:printer:lpr", Some(vec!["attic".to_string()])),
        ("service:print", None),
        ("service:printer:lpr:x", None),
        ("", None),
    ] {
        assert_eq!(names(ask(request(wanted), true)), told, "{wanted}");
    }
    assert_eq!(names(ask(request("service:scanner"), false)), Some(vec![]), "asked alone it says so");
}

#[test]
fn who_has_answered_is_silent() {
    let previous_responders = "192.0.2.1, 192.0.2.7".to_string();
    assert_eq!(ask(ServiceRequest { previous_responders, ..request(TYPE) }, true), None);
    let previous_responders = "192.0.2.77".to_string();
    assert!(ask(ServiceRequest { previous_responders, ..request(TYPE) }, true).is_some());
}

#[test]
fn other_scopes_filters_and_signatures_find_nothing() {
    let error = |body| match body {
        Some(Body::ServiceReply { error, entries }) if entries.is_empty() => error,
        other => panic!("{other:?}"),
    };
    for scopes in ["", "other", "DEFAULTS"] {
        let request = ServiceRequest { scopes: scopes.to_string(), ..request(TYPE) };
        assert_eq!(ask(request.clone(), true), None);
        assert_eq!(error(ask(request, false)), 4, "{scopes}");
    }
    let signed = ServiceRequest { security_index: "key".to_string(), ..request(TYPE) };
    assert_eq!(error(ask(signed.clone(), false)), 5);
    assert_eq!(ask(signed, true), None);
    let filtered = ServiceRequest { predicate: "(rate>=5)".to_string(), ..request(TYPE) };
    assert_eq!(error(ask(filtered, false)), 0);
}

#[test]
fn an_agent_says_that_it_is_there() {
    let asked = ServiceRequest { scopes: "".to_string(), ..request("service:service-agent") };
    let Some(Body::AgentAdvert { url, scopes }) = ask(asked, true) else { panic!("an advert") };
    assert_eq!((url.as_str(), scopes.as_str()), ("service:service-agent://192.0.2.7", "DEFAULT"));
}

/// Under the address of somebody else a flood of requests brings no flood of answers there.
#[test]
fn a_flood_brings_few_answers() {
    let (mut agent, mut answers) = (agent(), 0);
    let at = |ms| Instant::ZERO + Duration::from_millis(ms);
    for ms in 0..10_000 {
        answers += ask_at(&mut agent, at(ms), request(TYPE), true).len();
    }
    assert!((100..=100 + BURST as usize).contains(&answers), "{answers} in ten seconds");
    assert_eq!(ask_at(&mut agent, at(20_000), request(TYPE), true).len(), 1);
}

#[test]
fn what_is_no_request_is_counted_or_ignored() {
    let mut agent = agent();
    for bytes in [&b""[..], &[2; 30], &[0xff; MAX_BYTES + 1]] {
        agent.handle_input(Instant::ZERO, Datagram { from: asker(), bytes });
    }
    assert_eq!(agent.refused(), 3);
    let reply = Message {
        number: 1,
        is_multicast: false,
        has_overflowed: false,
        body: Body::ServiceReply { error: 0, entries: vec![] },
    };
    agent.handle_input(Instant::ZERO, Datagram { from: asker(), bytes: &reply.emit() });
    assert_eq!(agent.poll_transmit(Instant::ZERO), None, "two agents do not talk for ever");
}
