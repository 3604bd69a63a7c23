use super::super::message::parse;
use super::super::{GROUP_V4, Service};
use super::Responder;
use crate::allowance::BURST;
use crate::{Datagram, Transmit};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::net::SocketAddr;
use prismux_endpoint::Endpoint;
use prismux_units::{Duration, Instant};
use simple_dns::rdata::{PTR, RData};
use simple_dns::{CLASS, Name, Packet, PacketFlag, QCLASS, QTYPE, Question, ResourceRecord, TYPE};

const TYPE_NAME: &str = "_prismux._udp.local";
const INSTANCE: &str = "kitchen._prismux._udp.local";

fn service() -> Service {
    Service {
        service_type: "_prismux._udp".to_string(),
        instance: "kitchen".to_string(),
        host: "box".to_string(),
        port: 4761,
        text: vec![("name".to_string(), "kitchen".to_string())],
        addresses: vec!["192.0.2.7".parse().unwrap(), "fe80::7".parse().unwrap()],
    }
}

/// One whose announcements are over.
fn responder() -> Responder {
    let mut responder = Responder::new(Instant::ZERO, &service(), false).unwrap();
    for s in [0, 1] {
        responder.handle_timeout(Instant::ZERO + Duration::from_secs(s));
    }
    assert_eq!(core::iter::from_fn(|| responder.poll_transmit(Instant::ZERO)).count(), 2);
    responder
}

fn question(name: &str, kind: QTYPE, is_unicast: bool) -> Question<'_> {
    Question::new(Name::new(name).unwrap(), kind, QCLASS::CLASS(CLASS::IN), is_unicast)
}

fn query(questions: Vec<Question<'_>>) -> Packet<'_> {
    let mut packet = Packet::new_query(77);
    packet.questions = questions;
    packet
}

fn send(responder: &mut Responder, now: Instant, from: &str, packet: &Packet<'_>) -> Vec<Transmit> {
    let bytes = packet.build_bytes_vec().unwrap();
    responder.handle_input(now, Datagram { from: from.parse().unwrap(), bytes: &bytes });
    core::iter::from_fn(|| responder.poll_transmit(now)).collect()
}

fn line(record: &ResourceRecord<'_>) -> String {
    let kind = format!("{:?}", record.rdata.type_code());
    let flush = if record.cache_flush { " flush" } else { "" };
    format!("{} {kind} {}{flush}", record.name, record.ttl)
}

fn lines(records: &[ResourceRecord<'_>]) -> Vec<String> {
    records.iter().map(line).collect()
}

const PTR_TYPE: QTYPE = QTYPE::TYPE(TYPE::PTR);

#[test]
fn a_one_shot_query_is_answered_to_its_port_with_all_that_it_needs() {
    let sent = send(&mut responder(), LATER, ASKER, &query(vec![question(TYPE_NAME, PTR_TYPE, true)]));
    assert_eq!((sent.len(), sent[0].to), (1, ASKER.parse::<SocketAddr>().unwrap()));
    let packet = parse(&sent[0].bytes).unwrap();
    assert_eq!((packet.id(), packet.questions.len()), (77, 1));
    assert!(packet.has_flags(PacketFlag::RESPONSE | PacketFlag::AUTHORITATIVE_ANSWER));
    // Seconds as section 6.7 has them for such queries, and no bit in the class.
    assert_eq!(lines(&packet.answers), ["_prismux._udp.local PTR 10"]);
    let more = [
        "kitchen._prismux._udp.local SRV 10",
        "kitchen._prismux._udp.local TXT 10",
        "box.local A 10",
        "box.local AAAA 10",
    ];
    assert_eq!(lines(&packet.additional_records), more);
}

const ASKER: &str = "192.0.2.9:4000";
const NEIGHBOUR: &str = "192.0.2.9:5353";
const LATER: Instant = Instant::from_nanos(10_000_000_000);

#[test]
fn who_wants_the_answer_for_itself_gets_it_and_else_all_get_it() {
    let mut responder = responder();
    let alone = send(&mut responder, LATER, NEIGHBOUR, &query(vec![question(TYPE_NAME, PTR_TYPE, true)]));
    assert_eq!((alone.len(), alone[0].to), (1, NEIGHBOUR.parse::<SocketAddr>().unwrap()));
    let packet = parse(&alone[0].bytes).unwrap();
    assert_eq!((packet.id(), packet.questions.len()), (0, 0));
    assert_eq!(lines(&packet.answers), ["_prismux._udp.local PTR 4500"]);
    let own = ["SRV 120 flush", "TXT 4500 flush"].map(|rest| format!("{INSTANCE} {rest}"));
    let host = ["A 120 flush", "AAAA 120 flush"].map(|rest| format!("box.local {rest}"));
    assert_eq!(lines(&packet.additional_records), [own, host].concat());

    let open = query(vec![question(TYPE_NAME, PTR_TYPE, false)]);
    assert_eq!(send(&mut responder, LATER, NEIGHBOUR, &open).len(), 0, "not at once");
    let due = responder.poll_timeout().unwrap().at;
    assert!((20..=120).contains(&(due.saturating_since(LATER).as_nanos() / 1_000_000)));
    responder.handle_timeout(due);
    let to_all = responder.poll_transmit(due).unwrap();
    assert_eq!(to_all.to, SocketAddr::from((GROUP_V4, 5353)));
    assert_eq!(parse(&to_all.bytes).unwrap().answers.len(), 5);
    // Once more in the same second, and it waits for the next.
    send(&mut responder, due, NEIGHBOUR, &open);
    assert_eq!(responder.poll_timeout().unwrap().at, due + Duration::from_secs(1));
}

#[test]
fn what_nobody_asks_for_and_what_is_known_is_not_told() {
    let any = QTYPE::ANY;
    for (name, kind, count) in [
        ("_PRISMUX._udp.local", PTR_TYPE, 1),
        (INSTANCE, QTYPE::TYPE(TYPE::SRV), 1),
        (INSTANCE, any, 2),
        ("box.local", QTYPE::TYPE(TYPE::AAAA), 1),
        ("_services._dns-sd._udp.local", PTR_TYPE, 1),
        (TYPE_NAME, QTYPE::TYPE(TYPE::A), 0),
        ("_prismux._tcp.local", PTR_TYPE, 0),
        ("attic._prismux._udp.local", any, 0),
        ("local", any, 0),
    ] {
        let sent = send(&mut responder(), LATER, ASKER, &query(vec![question(name, kind, true)]));
        let answers = sent.first().map_or(0, |sent| parse(&sent.bytes).unwrap().answers.len());
        assert_eq!(answers, count, "{name}");
        assert_eq!(sent.len(), count.min(1), "{name}");
    }
    for (ttl_s, is_told) in [(4500, false), (2250, false), (2249, true)] {
        let mut packet = query(vec![question(TYPE_NAME, PTR_TYPE, true)]);
        let instance = RData::PTR(PTR(Name::new(INSTANCE).unwrap()));
        packet.answers.push(ResourceRecord::new(Name::new(TYPE_NAME).unwrap(), CLASS::IN, ttl_s, instance));
        assert_eq!(send(&mut responder(), LATER, ASKER, &packet).len(), usize::from(is_told), "{ttl_s}");
    }
    let mut answer = query(vec![question(TYPE_NAME, PTR_TYPE, true)]).into_reply();
    assert_eq!(send(&mut responder(), LATER, ASKER, &answer).len(), 0, "an answer is no question");
    answer = query(vec![question(TYPE_NAME, PTR_TYPE, true)]);
    *answer.opcode_mut() = simple_dns::OPCODE::Notify;
    assert_eq!(send(&mut responder(), LATER, ASKER, &answer).len(), 0, "another operation");
}

#[test]
fn a_flood_of_queries_is_answered_so_often_and_no_more() {
    let mut responder = responder();
    let packet = query(vec![question(TYPE_NAME, PTR_TYPE, true)]);
    let answered = (0..500).map(|_| send(&mut responder, LATER, ASKER, &packet).len()).sum::<usize>();
    assert_eq!((answered, responder.refused()), (BURST as usize, 500 - u64::from(BURST)));
    let second = LATER + Duration::from_secs(1);
    assert_eq!((0..500).map(|_| send(&mut responder, second, ASKER, &packet).len()).sum::<usize>(), 10);
    // Asked before all, all hear it once in a second.
    let open = query(vec![question(TYPE_NAME, PTR_TYPE, false)]);
    let mut told = 0;
    for ms in 0..3000 {
        let now = second + Duration::from_millis(ms);
        told += send(&mut responder, now, NEIGHBOUR, &open).len();
        responder.handle_timeout(now);
    }
    told += core::iter::from_fn(|| responder.poll_transmit(second)).count();
    assert!((2..=3).contains(&told), "{told}");
}

#[test]
fn it_announces_itself_twice_and_says_when_it_ends() {
    let mut responder = Responder::new(LATER, &service(), true).unwrap();
    let mut now = LATER;
    for _ in 0..2 {
        assert_eq!(responder.poll_timeout().unwrap().at, now);
        responder.handle_timeout(now);
        let sent = responder.poll_transmit(now).unwrap();
        assert_eq!(sent.to, "[ff02::fb]:5353".parse().unwrap());
        assert_eq!(lines(&parse(&sent.bytes).unwrap().answers).len(), 5);
        now += Duration::from_secs(1);
    }
    assert!(responder.poll_timeout().is_none());
    responder.end();
    let sent = responder.poll_transmit(now).unwrap();
    let packet = parse(&sent.bytes).unwrap();
    assert!(packet.answers.len() == 5 && packet.answers.iter().all(|record| record.ttl == 0));
    assert!(responder.poll_timeout().is_none());
}

#[test]
fn what_fits_no_record_is_no_service() {
    let long = "x".repeat(64);
    for service in [
        Service { instance: long.clone(), ..service() },
        Service { host: long, ..service() },
        Service { text: vec![("a=b".to_string(), String::new())], ..service() },
        Service { text: vec![("key".to_string(), "x".repeat(252))], ..service() },
    ] {
        assert!(Responder::new(Instant::ZERO, &service, false).is_err(), "{service:?}");
    }
}
