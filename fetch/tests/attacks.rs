//! What a client may take from a server and from its other clients; in virtual time.
mod common;

use common::*;
use prismux_fetch::channel::Message;
use prismux_fetch::client::DownloadConfig;
use prismux_fetch::handshake::{Answer, Refusal};
use prismux_fetch::server::{Server, ServerConfig};
use prismux_fetch::wire::{ConnectionId, Datagram};
use prismux_rcp::{Ask, RcpConfig};
use prismux_units::{Duration, Instant};
use std::net::SocketAddr;

const SIZE: usize = 2_000_000;

fn server() -> Server<Shelf> {
    server_of(&key(0), ServerConfig::default(), Shelf::of(&content(SIZE, 1)))
}

fn now() -> Instant {
    Instant::from_secs(1)
}

fn host(number: u8, port: u16) -> SocketAddr {
    SocketAddr::from(([203, 0, 113, number], port))
}

#[test]
fn one_request_for_everything_brings_a_turn_of_datagrams_and_no_more() {
    let mut server = server();
    let mut client = RcpClient::connect(&mut server, &key(0), now());
    let request = client.request(&Ask::UpTo(SIZE as u64));
    let mut datagrams = client.say(&mut server, &request.header).len();
    // And what would follow by itself, for ten minutes.
    while let Some(at) = deadline(&server).filter(|at| *at < Instant::from_secs(600)) {
        datagrams += wait(&mut server, at).len();
    }
    assert!((32..=66).contains(&datagrams), "{datagrams}");
    assert_eq!(server.counters().sessions.refused_requests, 1);
}

#[test]
fn segments_are_not_as_short_as_a_client_would_like() {
    let mut server = server();
    let config = RcpConfig { mss: 88, ..RcpConfig::modern() };
    let mut client = RcpClient::with(config, &mut server, &key(0), now());
    let request = client.request(&Ask::Pull(0..88));
    let answers = client.say(&mut server, &request.header);
    assert!(answers.len() == 1 && answers[0].1 >= 500, "{answers:?}");
}

#[test]
fn one_host_leaves_places_to_others() {
    let config = ServerConfig { max_clients: 200, ..ServerConfig::default() };
    let mut server = server_of(&key(0), config, Shelf::of(&content(1000, 1)));
    let open = |server: &mut Server<Shelf>, from| {
        let (answer, channel) = request(server, &key(0), now(), from, "object");
        if let Some(mut channel) = channel {
            // The client is there, and goes on being there.
            ask(server, now(), from, &sealed(&mut channel, &Message::Challenge([0; 8])));
        }
        answer
    };
    let is_ready = |answer: &Answer| matches!(answer, Answer::Ready { .. });
    let taken = (0..500).filter(|port| is_ready(&open(&mut server, host(1, 1000 + port)))).count();
    assert_eq!(taken, 100, "half of the places, as long as nobody else wants them");
    assert_eq!(open(&mut server, host(1, 999)), Answer::Refused(Refusal::Busy));
    for number in 2..52 {
        assert!(is_ready(&open(&mut server, host(number, 1000))), "host {number}");
    }
}

#[test]
fn a_cookie_buys_no_end_of_key_exchanges() {
    let (mut server, key) = (server(), key(0));
    flood(&mut server, &key, now(), 64);
    let forged = server.counters().forged_hellos;
    let hello = hello_with_cookie(&mut server, now(), attacker(), &[1; 60]);
    for _ in 0..10_000 {
        assert!(ask(&mut server, now(), attacker(), &hello).is_empty());
    }
    let counters = server.counters();
    assert_eq!((counters.forged_hellos - forged, counters.limited_hellos), (1000, 9000));
    // Another host is not concerned.
    let answer = request(&mut server, &key, now(), home(), "object").0;
    assert!(matches!(answer, Answer::Ready { .. }));
}

#[test]
fn no_other_server_tells_the_reset_token_of_a_session() {
    let (mut server, mut other) = (server(), server());
    let (answer, _) = request(&mut server, &key(0), now(), home(), "object");
    let Answer::Ready { server: id, reset_token, .. } = answer else { panic!("{answer:?}") };
    let question = emitted(&Datagram::Sealed { to: id, nonce: 0, noise: &[0; 17] });
    let told = |server: &mut Server<Shelf>, local| {
        let answers = ask_at(server, now(), attacker(), local, &question);
        let Ok(Datagram::StatelessReset { server: named, token }) = Datagram::parse(&answers[0].1) else {
            panic!("a stateless reset")
        };
        assert_eq!(named, id);
        *token
    };
    // With the same key, at another address and at another port.
    for local in [server_address(1), SocketAddr::new(asked().ip(), 9)] {
        assert_ne!(told(&mut other, local), reset_token, "{local}");
    }
    // After a restart at the same address it is the token that the client knows.
    assert_eq!(told(&mut other, asked()), reset_token);
}

#[test]
fn a_client_obeys_one_retry_for_each_handshake() {
    let mut world = World::new(&[Shelf::of(b"bytes")], 1, DownloadConfig::default(), CLEAR, 1);
    world.dead[0] = true;
    world.keep = true;
    let until = world.now + Duration::from_secs(60);
    let mut forged = 0;
    while world.now < until {
        world.run_until(|world| !world.seen.is_empty() || world.now >= until);
        let Some((_, _, hello)) = world.seen.pop() else { break };
        let Ok(Datagram::Hello { client, .. }) = Datagram::parse(&hello) else { panic!("a Hello") };
        // Each Hello is answered by ten forged Retries.
        for cookie in 0..10 {
            let retry = emitted(&Datagram::Retry { client, cookie: &[cookie; 24] });
            world.send_back(0, vec![(home(), retry)]);
            forged += 1;
        }
    }
    let hellos = forged / 10;
    // Every half to four seconds one without them, and one more for each handshake of five.
    assert!((20..40).contains(&hellos), "{hellos} Hellos in a minute");
}

#[test]
fn a_server_that_prepares_without_end_is_given_up() {
    let shelf = Shelf::of(b"bytes");
    shelf.preparing.set(u32::MAX);
    let give_up_after = Duration::from_secs(5);
    let config = DownloadConfig { give_up_after, ..DownloadConfig::default() };
    let mut world = World::new(&[shelf], 1, config, CLEAR, 1);
    world.run_until(|world| world.failure().is_some());
    let (took, why) = (world.now - now(), world.failure().expect("it failed").to_string());
    assert!((50.0..60.0).contains(&took.as_secs_f64()), "took {took}");
    assert!(why.contains("server prepares"), "{why}");
}

#[test]
fn an_answer_to_nobody_is_no_session() {
    let mut server = server();
    let stray = emitted(&Datagram::Sealed { to: ConnectionId(5), nonce: 0, noise: &[0; 17] });
    assert!(ask(&mut server, now(), attacker(), &stray)[0].1.len() < stray.len());
    assert_eq!(server.clients(), 0);
}
