use super::{Action, MAX_NEIGHBOURS, MAX_WAITING, Neighbours};
use prismux_units::{Duration, Instant};
use prismux_wire::ethernet::{ArpOperation, ArpPacket, MacAddress};
use std::net::Ipv4Addr;

const OWN: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
const OWN_INTERFACE: MacAddress = interface(1);
const B: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);

const fn interface(number: u8) -> MacAddress {
    MacAddress([2, 0, 0, 0, 0, number])
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

fn answer(from: MacAddress, address: Ipv4Addr) -> ArpPacket {
    ArpPacket {
        operation: ArpOperation::Reply,
        sender: from,
        sender_address: address,
        target: OWN_INTERFACE,
        target_address: OWN,
    }
}

fn asks(from: MacAddress, address: Ipv4Addr, whom: Ipv4Addr) -> ArpPacket {
    let (operation, target) = (ArpOperation::Request, MacAddress([0; 6]));
    ArpPacket { operation, sender: from, sender_address: address, target, target_address: whom }
}

/// What is to be done: "ask b" (all), "ask 2" (an interface), "send 2 packet", ...
fn told(neighbours: &mut Neighbours<&'static str>) -> Vec<String> {
    let name =
        |to: MacAddress| if to == MacAddress::BROADCAST { "all".to_owned() } else { to.0[5].to_string() };
    let action = |action: Action<&'static str>| match action {
        Action::Say(to, message) => {
            assert_eq!((message.sender, message.sender_address), (OWN_INTERFACE, OWN));
            match message.operation {
                ArpOperation::Request => format!("ask {} for {}", name(to), message.target_address),
                ArpOperation::Reply => format!("answer {} {}", name(to), message.target_address),
            }
        }
        Action::Send(to, packet) => format!("send {} {packet}", name(to)),
        Action::NotDelivered(host, packet) => format!("lost {host} {packet}"),
        Action::TakenBack(host, packet) => format!("back {host} {packet}"),
        Action::CrowdedOut(packet) => format!("out {packet}"),
    };
    std::iter::from_fn(|| neighbours.poll_action()).map(action).collect()
}

#[test]
fn packets_wait_for_the_address_and_go_in_order() {
    let mut neighbours = Neighbours::new(OWN_INTERFACE, OWN);
    neighbours.announce();
    assert_eq!(told(&mut neighbours), ["ask all for 10.9.0.1"]);
    neighbours.send(at(0), B, "one");
    neighbours.send(at(1), B, "two");
    assert_eq!(told(&mut neighbours), ["ask all for 10.9.0.2"]);
    neighbours.hear(at(5), &answer(interface(2), B));
    assert_eq!(told(&mut neighbours), ["send 2 one", "send 2 two"]);
    assert_eq!((neighbours.host_of(interface(2)), neighbours.deadline()), (Some(B), None));
    neighbours.send(at(1000), B, "three");
    assert_eq!(told(&mut neighbours), ["send 2 three"], "it was heard of lately");
}

#[test]
fn a_neighbour_that_answers_nothing_is_given_up_with_all_that_waits() {
    let mut neighbours = Neighbours::new(OWN_INTERFACE, OWN);
    for packet in ["one", "two", "three"] {
        neighbours.send(at(0), B, packet);
    }
    for millis in [300, 600] {
        assert_eq!(neighbours.deadline(), Some(at(millis)));
        assert_eq!(told(&mut neighbours), ["ask all for 10.9.0.2"]);
        neighbours.expire(at(millis));
    }
    assert_eq!(told(&mut neighbours), ["ask all for 10.9.0.2"]);
    neighbours.expire(at(900));
    assert_eq!(told(&mut neighbours), ["lost 10.9.0.2 one", "back 10.9.0.2 two", "back 10.9.0.2 three"]);
    assert!(neighbours.report(at(900)).is_empty());
}

#[test]
fn one_in_use_is_asked_from_time_to_time_and_missed_when_it_is_gone() {
    let mut neighbours = Neighbours::new(OWN_INTERFACE, OWN);
    neighbours.hear(at(0), &answer(interface(2), B));
    neighbours.send(at(2500), B, "one");
    assert_eq!(told(&mut neighbours), ["send 2 one", "ask 2 for 10.9.0.2"], "packets go on meanwhile");
    neighbours.hear(at(2501), &answer(interface(2), B));
    assert_eq!(neighbours.deadline(), None);
    neighbours.send(at(4000), B, "two");
    assert_eq!(told(&mut neighbours), ["send 2 two"]);
    // It leaves. The last packet that went to it is reported, and those before are lost.
    neighbours.send(at(5000), B, "three");
    neighbours.send(at(5100), B, "four");
    neighbours.expire(at(5300));
    neighbours.expire(at(5600));
    let questions = ["ask 2 for 10.9.0.2", "ask all for 10.9.0.2"];
    assert_eq!(
        told(&mut neighbours),
        ["send 2 three", "ask 2 for 10.9.0.2", "send 2 four", questions[0], questions[1]]
    );
    neighbours.expire(at(5900));
    assert_eq!(told(&mut neighbours), ["lost 10.9.0.2 four"]);
    assert_eq!(neighbours.host_of(interface(2)), None);
}

#[test]
fn questions_for_the_own_address_are_answered_and_tell_of_the_one_who_asks() {
    let mut neighbours = Neighbours::new(OWN_INTERFACE, OWN);
    neighbours.hear(at(0), &asks(interface(2), B, OWN));
    assert_eq!(told(&mut neighbours), ["answer 2 10.9.0.2"]);
    assert_eq!(neighbours.host_of(interface(2)), Some(B));
    // A probe (RFC 5227) is answered and tells of nobody; a question for somebody else tells all the same.
    neighbours.hear(at(0), &asks(interface(3), Ipv4Addr::UNSPECIFIED, OWN));
    neighbours.hear(at(0), &asks(interface(4), Ipv4Addr::new(10, 9, 0, 4), B));
    assert_eq!(told(&mut neighbours), ["answer 3 0.0.0.0"]);
    assert_eq!(neighbours.report(at(0)).len(), 2);
    // Nobody takes this host's own address, nor that of all.
    neighbours.hear(at(0), &answer(interface(5), OWN));
    neighbours.hear(at(0), &answer(MacAddress::BROADCAST, B));
    assert_eq!((neighbours.host_of(interface(5)), neighbours.host_of(interface(2))), (None, Some(B)));
}

#[test]
fn a_neighbour_with_another_interface_is_reached_there() {
    let mut neighbours = Neighbours::new(OWN_INTERFACE, OWN);
    neighbours.hear(at(0), &answer(interface(2), B));
    neighbours.learn(at(1), interface(3), B);
    neighbours.send(at(2), B, "one");
    assert_eq!(told(&mut neighbours), ["send 3 one"]);
    assert_eq!((neighbours.host_of(interface(2)), neighbours.host_of(interface(3))), (None, Some(B)));
    // The interface is another host's from now on.
    let c = Ipv4Addr::new(10, 9, 0, 3);
    neighbours.learn(at(3), interface(3), c);
    assert_eq!(neighbours.host_of(interface(3)), Some(c));
    neighbours.send(at(4), B, "two");
    assert_eq!(told(&mut neighbours), ["ask all for 10.9.0.2"]);
}

#[test]
fn what_waits_and_who_is_known_is_bounded() {
    let mut neighbours = Neighbours::new(OWN_INTERFACE, OWN);
    (0..2 * MAX_WAITING).for_each(|_| neighbours.send(at(0), B, "packet"));
    let out = told(&mut neighbours).iter().filter(|told| *told == "out packet").count();
    assert_eq!(out, MAX_WAITING);
    for number in 0..3 * MAX_NEIGHBOURS as u32 {
        let [_, _, high, low] = number.to_be_bytes();
        let forged = answer(MacAddress([2, 1, 0, 0, high, low]), Ipv4Addr::new(10, 9, 1 + high, low));
        neighbours.hear(at(1 + u64::from(number)), &forged);
    }
    assert!(neighbours.report(at(9000)).len() <= MAX_NEIGHBOURS);
    assert!(neighbours.by_interface.len() <= MAX_NEIGHBOURS);
    assert!(neighbours.entries.contains_key(&B), "packets wait for it");
}
