//! Neighbours on one switch ([`crate::community`]) where a firewall drops the Service Location Protocol: a lender is
//! found by multicast DNS, over IPv4 and over IPv6 alone, beside another responder on its host.
use crate::community::{EVE, End, Street, offers};
use crate::network::{Machine, ip, program, wait_for};
use prismux_community::Datagram;
use prismux_community::mdns::{GROUP_V4, PORT, Querier, Responder, Service};
use prismux_endpoint::Endpoint;
use prismux_linux::interrupted::uninterrupted;
use prismux_linux::namespace::Namespace;
use prismux_units::Instant;
use serde_json::Value;
use socket2::{Domain, Socket, Type};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const KITCHEN: Ipv4Addr = Ipv4Addr::new(192, 168, 7, 1);
const OFFER: &str = "prismux offer kitchen --device lan0";

fn drop_udp(host: &Machine, rule: &str) {
    let script = format!(
        "add table inet wall; add chain inet wall in {{ type filter hook input priority 0; }}; \
         add rule inet wall in {rule} drop"
    );
    let output = host.space.enter(|| Command::new("nft").arg(&script).output()).unwrap().expect("nft");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A socket as other responders have it: at all addresses, shared.
fn responder_socket(host: &Namespace, own: Ipv4Addr, hop_limit: u32) -> UdpSocket {
    let open = || {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
        socket.set_reuse_address(true)?;
        socket.set_ttl_v4(hop_limit)?;
        socket.join_multicast_v4(&GROUP_V4, &own)?;
        socket.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, PORT)).into())?;
        Ok::<UdpSocket, std::io::Error>(socket.into())
    };
    let socket = host.enter(open).unwrap().unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
    socket
}

/// By what an offer was found, and whether over IPv6.
fn found_by(offer: &Value) -> Vec<(&str, bool)> {
    let is_ipv6 = |found: &Value| found["address"].as_str().unwrap().starts_with("[fe80::");
    let found = offer["found_by"].as_array().unwrap();
    let mut ways: Vec<_> =
        found.iter().map(|found| (found["by"].as_str().unwrap(), is_ipv6(found))).collect();
    ways.sort_unstable();
    ways
}

/// Looks until the only offer is found in all these ways, and never in another: on a busy machine an answer may come
/// when nobody listens any more.
fn offer_found_by(host: &Machine, ways: &[(&str, bool)]) -> Value {
    let mut offer = None;
    wait_for(&format!("it is found by {ways:?}"), || {
        let (found, _) = offers(host);
        assert!(found.len() <= 1, "one offer, however it was found: {found:?}");
        let by = found.first().map_or(vec![], found_by);
        assert!(by.iter().all(|way| ways.contains(way)), "{by:?}");
        offer = found.first().filter(|_| by == ways).cloned();
        offer.is_some()
    });
    offer.unwrap()
}

pub fn finds() {
    let street = Street::new();
    let (ann, kitchen) = (&street.ann, &street.kitchen);
    shares_the_port(&street);
    kitchen.spawn(OFFER);
    wait_for("it is offered", || kitchen.try_run("prismux lend").0);
    let code = kitchen.run("prismux lend").split_whitespace().nth(5).unwrap().to_owned();
    let found = offer_found_by(ann, &[("mdns", false), ("mdns", true), ("slp", false)]);
    assert_eq!((found["code"].as_str(), found["address"].as_str()), (Some(&*code), Some("192.168.7.1:4761")));

    drop_udp(kitchen, "udp dport 427");
    let found = offer_found_by(ann, &[("mdns", false), ("mdns", true)]);
    assert_eq!(found["address"], "192.168.7.1:4761");
    assert_eq!(offers(&street.proxy).0.len(), 0, "on a network that was not named");
    strangers_get_no_answer(&street);
    who_is_behind_a_router_is_not_believed(&street);

    drop_udp(kitchen, "meta nfproto ipv4 meta l4proto udp");
    let found = offer_found_by(ann, &[("mdns", true)]);
    assert!(found["address"].as_str().unwrap().starts_with("[fe80::"), "{found}");
    let key = street.proxy.run("prismux keygen /etc/key");
    let ask = format!("--name ann --proxy 10.9.0.2:51820 --proxy-key {} --receiver 10.77.0.2/32", key.trim());
    let (_, said) = ann.try_run(&format!("prismux borrow {code} {ask} --timeout 2"));
    assert!(said.contains("has said nothing"), "it is asked over IPv6 too: {said}");
    let shown = kitchen.run("prismux lend");
    assert!(shown.contains("ann at fe80::"), "{shown}");
}

/// Another responder on the lender's host hears what goes to all, and alone what comes to the host's address; and the
/// offer's beginning and end are told.
fn shares_the_port(street: &Street) {
    let other = responder_socket(&street.kitchen.space, KITCHEN, 255);
    let program = program();
    street
        .kitchen
        .spawn(&format!("timeout --signal INT 3 {program} {}", OFFER.trim_start_matches("prismux ")));
    // Behind the owner's name, its type and class.
    let ttl_s = |bytes: &[u8]| u32::from_be_bytes(bytes[37..41].try_into().unwrap());
    let mut buffer = [0; 2000];
    let mut hear = || {
        let (length, from) =
            uninterrupted(|| other.recv_from(&mut buffer)).expect("it comes to this responder too");
        (buffer[..length].to_vec(), from)
    };
    let (announced, from) = hear();
    assert_eq!((from, ttl_s(&announced)), (SocketAddr::from((KITCHEN, PORT)), 4500));
    let asker = street.eve.enter(|| UdpSocket::bind((EVE, 0))).unwrap().unwrap();
    for n in 0..20 {
        asker.send_to(&[n], (KITCHEN, PORT)).unwrap();
    }
    let (mut own, mut told) = (0, vec![]);
    while told.last() != Some(&0) {
        let (bytes, _) = hear();
        if bytes.len() == 1 { own += 1 } else { told.push(ttl_s(&bytes)) }
    }
    assert_eq!((own, told), (20, vec![4500, 0]), "announced once more, and then no more");
}

/// A query under an address of another network is not answered, though there is a way there.
fn strangers_get_no_answer(street: &Street) {
    ip(&street.kitchen.space, "route add 10.55.0.0/24 dev lan0");
    ip(&street.eve, "address add 10.55.0.66/24 dev lan0");
    let mut querier = Querier::new(Instant::ZERO, "_prismux._udp", false, 7).unwrap();
    querier.handle_timeout(Instant::ZERO);
    let query = querier.poll_transmit(Instant::ZERO).unwrap();
    for (own, is_answered) in [(Ipv4Addr::new(10, 55, 0, 66), false), (EVE, true)] {
        let open = || {
            let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
            socket.set_multicast_if_v4(&EVE)?;
            socket.bind(&SocketAddr::from((own, 0)).into())?;
            Ok::<UdpSocket, std::io::Error>(socket.into())
        };
        let socket = street.eve.enter(open).unwrap().unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(if is_answered { 10 } else { 1 }))).unwrap();
        socket.send_to(&query.bytes, query.to).unwrap();
        assert_eq!(uninterrupted(|| socket.recv_from(&mut [0; 2000])).is_ok(), is_answered, "{own}");
    }
}

/// What a router has passed on is no answer of a neighbour's, under whatever address.
fn who_is_behind_a_router_is_not_believed(street: &Street) {
    let service = Service {
        service_type: "_prismux._udp".to_owned(),
        instance: "eve".to_owned(),
        host: "eve".to_owned(),
        port: 4761,
        text: vec![("name".to_owned(), "eve".to_owned()), ("key".to_owned(), "ab".repeat(32))],
        addresses: vec![EVE.into()],
    };
    for (hop_limit, is_believed) in [(254, false), (255, true)] {
        let socket = responder_socket(&street.eve, EVE, hop_limit);
        socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let (has_ended, answered) = (AtomicBool::new(false), AtomicBool::new(false));
        let is_found = thread::scope(|scope| {
            let _end = End(&has_ended);
            scope.spawn(|| {
                let mut buffer = [0; 2000];
                while !has_ended.load(Ordering::Relaxed) {
                    let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
                    let mut responder = Responder::new(Instant::ZERO, &service, false).unwrap();
                    responder.handle_input(Instant::ZERO, Datagram { from, bytes: &buffer[..length] });
                    let answer = responder.poll_transmit(Instant::ZERO).expect("it is answered");
                    socket.send_to(&answer.bytes, from).unwrap();
                    answered.store(true, Ordering::Relaxed);
                }
            });
            // On a busy machine an answer may come when she listens no more.
            let mut looks = (0..5).map(|_| offers(&street.ann).0.iter().any(|offer| offer["name"] == "eve"));
            if is_believed { looks.any(|is_found| is_found) } else { looks.next() == Some(true) }
        });
        assert!(answered.into_inner(), "ann asks all");
        assert_eq!(is_found, is_believed, "{hop_limit}");
    }
}
