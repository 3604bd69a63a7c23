//! Targets of discovery, lending and sharing: what is read is written as it was read; whatever comes, agents and desk
//! answer each datagram once at most, and with few bytes.
use prismux_community::contents::{
    Announcement, NeighbourId, PieceSet, Plan, PlanConfig, PlanEvent, PlanInput,
};
use prismux_community::lending::{ASK_BYTES, Answer, Ask, Asker, Desk, Receiver, Verdict};
use prismux_community::mdns::{self, Querier, Responder};
use prismux_community::slp::{
    Body, MAX_BYTES, Message, Service, ServiceAgent, ServiceRequest, UrlEntry, UserAgent,
};
use prismux_community::{Datagram, Transmit};
use prismux_endpoint::Endpoint;
use prismux_fetch::pieces::{PieceHasher, PieceList};
use prismux_units::Instant;
use std::net::SocketAddr;

const TYPE: &str = "service:member.prismux";
/// The number by which answers are known; seeds have it.
const NUMBER: u16 = 77;
const NONCE: u64 = 0x0102_0304_0506_0708;
const KEY: [u8; 32] = [9; 32];

fn from() -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 9], 4000))
}

/// A message of the Service Location Protocol, and both agents that hear it.
pub fn slp(data: &[u8]) {
    let parsed = Message::parse(data);
    if let Ok(message) = &parsed {
        let again = Message::parse(&message.emit());
        // What is longer than a datagram may be is cut, and says so.
        if message.emit().len() < MAX_BYTES && !message.has_overflowed && data.len() <= MAX_BYTES {
            assert_eq!(again.as_ref(), Ok(message));
        }
    }
    let service =
        Service { service_type: TYPE.to_owned(), url: format!("{TYPE}://192.0.2.7/a"), lifetime_s: 300 };
    let mut agent = ServiceAgent::new(vec![SocketAddr::from(([192, 0, 2, 7], 427)).ip()], vec![service]);
    let mut user = UserAgent::new(Instant::ZERO, TYPE, NUMBER);
    user.handle_timeout(Instant::ZERO);
    let datagram = Datagram { from: from(), bytes: data };
    agent.handle_input(Instant::ZERO, datagram);
    user.handle_input(Instant::ZERO, datagram);
    answered_once(agent.poll_transmit(Instant::ZERO), agent.poll_transmit(Instant::ZERO), MAX_BYTES);
    let found = std::iter::from_fn(|| user.poll_event()).count();
    assert!(found <= 8, "{found} services of one host");
    let was_answer = parsed.is_ok_and(|message| {
        message.number == NUMBER && matches!(message.body, Body::ServiceReply { error: 0, .. })
    });
    assert!(found == 0 || was_answer);
}

/// A message of multicast DNS, and both who hear it.
pub fn mdns(data: &[u8]) {
    let mut responder = mdns_responder();
    let mut querier = mdns_querier();
    for from in [from(), SocketAddr::new(from().ip(), mdns::PORT)] {
        let datagram = Datagram { from, bytes: data };
        responder.handle_input(Instant::ZERO, datagram);
        querier.handle_input(Instant::ZERO, datagram);
        let (first, second) =
            (responder.poll_transmit(Instant::ZERO), responder.poll_transmit(Instant::ZERO));
        assert!(second.is_none());
        assert!(first.is_none_or(|answer| answer.to == from && answer.bytes.len() <= mdns::MAX_BYTES));
    }
    let found: Vec<_> = std::iter::from_fn(|| querier.poll_event()).collect();
    assert!(found.len() <= 8, "{} services of one host", found.len());
    assert!(found.iter().all(|found| found.at.ip() == from().ip()), "a host speaks for itself");
    responder.handle_timeout(Instant::ZERO);
    assert!(responder.poll_transmit(Instant::ZERO).is_some_and(|sent| sent.to.ip() == mdns::GROUP_V4));
}

/// An announcement of a member that shares, a plan that hears it, and a list of pieces.
pub fn contents(data: &[u8]) {
    if let Ok(list) = PieceList::parse(data) {
        assert_eq!(list.layout().range(list.layout().count()), list.identity().size..list.identity().size);
        assert!((0..list.layout().count()).all(|piece| list.hash(piece).is_some()));
    }
    let Ok(announcement) = Announcement::parse(data) else { return };
    let mut again = Vec::new();
    announcement.emit(&mut again);
    assert_eq!(again, data);
    let count = announcement.held.count();
    let mut plan = Plan::new(Instant::ZERO, count, announcement.run, PlanConfig::for_pieces_of(256 << 10));
    let (held, claims) = (&announcement.held, &announcement.claims[..]);
    plan.handle_input(Instant::ZERO, PlanInput::Heard { from: NeighbourId(0), held, claims });
    let events: Vec<_> = std::iter::from_fn(|| plan.poll_event()).collect();
    // Two pieces of one neighbour, and one of the origin until it has been listened for a while.
    assert!(events.len() <= 3, "{events:?}");
    for event in events {
        let PlanEvent::Ask { piece, .. } = event else { panic!("{event:?}") };
        assert!(piece < count);
    }
}

/// An announcement and a list, both as they are written.
pub fn contents_seeds() -> Vec<Vec<u8>> {
    let mut held = PieceSet::none(20);
    (3..9).for_each(|piece| assert!(held.insert(piece)));
    let announcement =
        Announcement { run: NONCE, echo: 1, number: 2, key: KEY, root: KEY, claims: vec![9, 10, 19], held };
    let (mut announced, mut hasher) = (Vec::new(), PieceHasher::new(300_000).expect("short"));
    announcement.emit(&mut announced);
    hasher.update(&[7; 300_000]);
    vec![announced, hasher.finish()]
}

fn mdns_responder() -> Responder {
    let service = mdns::Service {
        service_type: "_prismux._udp".to_owned(),
        instance: "kitchen".to_owned(),
        host: "prismux-kitchen".to_owned(),
        port: 4761,
        text: vec![("name".to_owned(), "kitchen".to_owned()), ("key".to_owned(), "09".repeat(32))],
        addresses: vec![from().ip(), "fe80::9".parse().expect("an address")],
    };
    Responder::new(Instant::ZERO, &service, false).expect("it fits")
}

fn mdns_querier() -> Querier {
    let mut querier = Querier::new(Instant::ZERO, "_prismux._udp", false, NUMBER).expect("it fits");
    querier.handle_timeout(Instant::ZERO);
    querier
}

/// A query, an answer to it, and an announcement.
pub fn mdns_seeds() -> Vec<Vec<u8>> {
    let (mut responder, mut querier) = (mdns_responder(), mdns_querier());
    let query = querier.poll_transmit(Instant::ZERO).expect("it asks").bytes;
    responder.handle_input(Instant::ZERO, Datagram { from: from(), bytes: &query });
    responder.handle_timeout(Instant::ZERO);
    std::iter::once(query)
        .chain(std::iter::from_fn(|| responder.poll_transmit(Instant::ZERO)).map(|sent| sent.bytes))
        .collect()
}

/// A message between asker and lender, and both that hear it.
pub fn lending(data: &[u8]) {
    if let Ok((nonce, ask)) = Ask::parse(data) {
        assert_eq!(ask.emit(nonce).as_deref(), Ok(data));
    }
    let answer = Answer::parse(data);
    if let Ok(answer) = &answer {
        assert_eq!(answer.emit().as_deref(), Ok(data));
    }
    let mut desk = Desk::new("kitchen", KEY);
    let mut asker = Asker::new(Instant::ZERO, (from(), KEY), &ask(), NONCE).expect("it makes sense");
    asker.handle_timeout(Instant::ZERO);
    let datagram = Datagram { from: from(), bytes: data };
    desk.handle_input(Instant::ZERO, datagram);
    asker.handle_input(Instant::ZERO, datagram);
    answered_once(desk.poll_transmit(Instant::ZERO), desk.poll_transmit(Instant::ZERO), ASK_BYTES);
    assert!(desk.asks(Instant::ZERO).iter().all(|asked| asked.verdict == Verdict::Waiting));
    let is_known = answer.is_ok_and(|answer| (answer.nonce, answer.key) == (NONCE, KEY));
    assert!(asker.poll_event().is_none() || is_known);
}

fn answered_once(first: Option<Transmit>, second: Option<Transmit>, most_bytes: usize) {
    assert!(second.is_none());
    assert!(first.is_none_or(|answer| answer.to == from() && answer.bytes.len() <= most_bytes));
}

fn ask() -> Ask {
    let receiver = |text: &str, length| Receiver { address: text.parse().expect("an address"), length };
    let receivers = vec![receiver("10.77.0.2", 32), receiver("fd77::", 64)];
    Ask {
        name: "ann".to_owned(),
        proxy: SocketAddr::from(([192, 0, 2, 1], 51820)),
        proxy_key: [7; 32],
        receivers,
    }
}

/// A request, a reply, and an advert.
pub fn slp_seeds() -> Vec<Vec<u8>> {
    let request = ServiceRequest {
        previous_responders: "192.0.2.1".to_owned(),
        service_type: TYPE.to_owned(),
        scopes: "DEFAULT".to_owned(),
        ..ServiceRequest::default()
    };
    let entry = |k: usize| UrlEntry { lifetime_s: 300, url: format!("{TYPE}://192.0.2.7:4761/{k}") };
    let bodies = [
        Body::ServiceRequest(request),
        Body::ServiceReply { error: 0, entries: (0..3).map(entry).collect() },
        Body::AgentAdvert {
            url: "service:service-agent://192.0.2.7".to_owned(),
            scopes: "DEFAULT".to_owned(),
        },
    ];
    let message = |body| Message { number: NUMBER, is_multicast: true, has_overflowed: false, body }.emit();
    bodies.map(message).into()
}

/// An ask, and an answer.
pub fn lending_seeds() -> Vec<Vec<u8>> {
    let answer = Answer { nonce: NONCE, verdict: Verdict::Granted, key: KEY, name: "kitchen".to_owned() };
    vec![ask().emit(NONCE).expect("it makes sense"), answer.emit().expect("it makes sense")]
}
