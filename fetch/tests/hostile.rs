//! The server against strangers, forgers, repeaters and clients that ask for what they should not; in virtual time.
mod common;

use common::*;
use prismux_endpoint::Endpoint;
use prismux_fetch::channel::Message;
use prismux_fetch::client::{DownloadConfig, Transport};
use prismux_fetch::handshake::{Answer, Refusal};
use prismux_fetch::key::ServerKey;
use prismux_fetch::server::{Server, ServerConfig};
use prismux_fetch::wire::{ConnectionId, Datagram, DatagramError, VERSION};
use prismux_rcp::RcpFlags;
use prismux_units::{Duration, Instant, Rate};
use std::net::SocketAddr;

fn server(bytes: &[u8]) -> (Server<Shelf>, ServerKey) {
    (server_of(&key(0), ServerConfig::default(), Shelf::of(bytes)), key(0))
}

#[test]
fn a_first_hello_is_welcomed_with_less_than_three_times_its_bytes() {
    let (mut server, key) = server(&content(100_000, 1));
    let (_, noise) = initiator(key.public(), "object");
    let answers = ask(&mut server, Instant::from_secs(1), home(), &hello(&noise));
    assert!(matches!(Datagram::parse(&answers[0].1), Ok(Datagram::Welcome { .. })));
    assert!(answers.len() == 1 && answers[0].1.len() < 3 * hello(&noise).len());
    assert_eq!((server.counters().retries, server.counters().opened), (0, 1));
}

#[test]
fn in_a_flood_an_address_that_is_not_validated_gets_less_than_it_sent() {
    let (mut server, key) = server(&content(100_000, 1));
    flood(&mut server, &key, Instant::from_secs(1), 1000);
    assert_eq!((server.counters().opened, server.counters().retries), (64, 936), "few are believed");
    let (_, noise) = initiator(key.public(), "object");
    let mut datagrams = vec![
        hello(&noise),
        hello(&[0; 48]),
        emitted(&Datagram::Sealed { to: ConnectionId(5), nonce: 0, noise: &[0; 17] }),
    ];
    // A cookie that was given to somebody else.
    datagrams.push(hello_with_cookie(&mut server, Instant::from_secs(1), home(), &noise));
    let mut other_version = datagrams[0].clone();
    other_version[0] = 0x21;
    datagrams.push(other_version);
    for datagram in datagrams {
        let answers = ask(&mut server, Instant::from_secs(1), attacker(), &datagram);
        let answered: usize = answers.iter().map(|(_, bytes)| bytes.len()).sum();
        assert!(answers.len() == 1 && answered < datagram.len(), "{answered} bytes for {}", datagram.len());
    }
    assert_eq!((server.counters().opened, server.clients()), (64, 64), "and nothing is remembered");
    // Who returns the cookie is welcome, flood or not.
    let hello = hello_with_cookie(&mut server, Instant::from_secs(1), home(), &noise);
    ask(&mut server, Instant::from_secs(1), home(), &hello);
    assert_eq!(server.clients(), 65);
    // The flood over, a first Hello is enough again, and what it left behind goes.
    let later = Instant::from_secs(12);
    wait(&mut server, later);
    assert_eq!(server.clients(), 0);
    open_channel(&mut server, &key, later, home(), "object");
    assert_eq!(server.clients(), 1);
}

#[test]
fn clients_that_were_heard_make_room_for_others_at_once() {
    let (mut server, key) = server(&content(100_000, 1));
    let now = Instant::from_secs(1);
    flood(&mut server, &key, now, 63);
    for port in 0..3 {
        // Each shows by its first sealed datagram that it has got the answer.
        let from = SocketAddr::from(([192, 0, 2, 9], 2000 + port));
        let mut channel = open_channel(&mut server, &key, now, from, "object");
        let datagram = sealed(&mut channel, &Message::Challenge([0; 8]));
        assert_eq!(ask(&mut server, now, from, &datagram).len(), 1);
    }
    assert_eq!((server.counters().retries, server.clients()), (0, 66));
}

#[test]
fn places_are_kept_for_clients_with_a_cookie() {
    let key = key(0);
    let config = ServerConfig { max_clients: 4, ..ServerConfig::default() };
    let mut server = server_of(&key, config, Shelf::of(&content(1000, 1)));
    flood(&mut server, &key, Instant::from_secs(1), 100);
    assert_eq!((server.clients(), server.counters().retries), (2, 98));
}

#[test]
fn a_welcome_that_was_lost_is_said_again_for_the_same_session() {
    let (mut server, key) = server(&content(1000, 1));
    let (_, noise) = initiator(key.public(), "object");
    let now = Instant::from_secs(1);
    let first = ask(&mut server, now, home(), &hello(&noise));
    assert_eq!(ask(&mut server, now, home(), &hello(&noise)), first);
    assert_eq!((server.counters().opened, server.counters().repeated_hellos), (1, 1));
    // Who never says a word is soon forgotten.
    wait(&mut server, now + Duration::from_secs(9));
    assert_eq!(server.clients(), 1);
    wait(&mut server, now + Duration::from_secs(11));
    assert_eq!((server.clients(), server.counters().sessions.vanished), (0, 1));
}

#[test]
fn a_client_that_vanishes_is_forgotten_after_a_minute() {
    let (mut server, key) = server(&content(100_000, 1));
    let now = Instant::from_secs(1);
    let mut client = RcpClient::connect(&mut server, &key, now);
    let request = client.pull(0);
    assert_eq!(client.say(&mut server, &request.header).len(), 1);
    wait(&mut server, now + Duration::from_secs(59));
    assert_eq!(server.clients(), 1);
    wait(&mut server, now + Duration::from_secs(62));
    assert_eq!((server.clients(), server.counters().sessions.vanished), (0, 1));
    assert_eq!(server.poll_timeout(), None, "nothing is timed for nobody");
}

#[test]
fn a_full_server_says_so() {
    let (bytes, key) = (content(1000, 1), key(0));
    let config = ServerConfig { max_clients: 1, ..ServerConfig::default() };
    let mut server = server_of(&key, config, Shelf::of(&bytes));
    let now = Instant::from_secs(1);
    RcpClient::connect(&mut server, &key, now);
    let (mut initiator, noise) = initiator(key.public(), "object");
    let hello = hello_with_cookie(&mut server, now, attacker(), &noise);
    let answers = ask(&mut server, now, attacker(), &hello);
    let Ok(Datagram::Welcome { noise, .. }) = Datagram::parse(&answers[0].1) else { panic!("an answer") };
    let answer = initiator.finish(noise, &mut Vec::new()).map(|(answer, _)| answer);
    assert_eq!(answer, Some(Answer::Refused(Refusal::Busy)));
}

#[test]
fn a_request_outside_the_object_is_counted_and_answered_with_its_end() {
    let (mut server, key) = server(&content(5000, 1));
    let mut client = RcpClient::connect(&mut server, &key, Instant::from_secs(1));
    for start in [5001, 100_000, 300_000] {
        let request = client.pull(start);
        for (header, payload_bytes) in client.say(&mut server, &request.header) {
            assert_eq!(payload_bytes, 0, "no byte that is not there");
            assert!(header.flags.contains(RcpFlags::FIN), "it says where the object ends");
        }
    }
    let sessions = server.counters().sessions;
    assert_eq!(sessions.outside_object, 3, "{sessions:?}");
    // And the end itself is as it should be.
    let request = client.pull(4000);
    let answers = client.say(&mut server, &request.header);
    assert!(answers.len() == 1 && answers[0].1 == 1000 && answers[0].0.flags.contains(RcpFlags::FIN));
    // Beyond what may be asked for at all there is no answer.
    let request = client.pull(5000 + (1 << 30) + 2000);
    assert!(client.say(&mut server, &request.header).is_empty());
    assert_eq!(server.counters().sessions.refused_requests, 1);
}

#[test]
fn authentic_nonsense_is_counted_and_harms_nobody() {
    let (mut server, key) = server(&content(5000, 1));
    let mut client = RcpClient::connect(&mut server, &key, Instant::from_secs(1));
    let mut wrong_token = client.pull(0).header;
    wrong_token.proof ^= 1;
    assert!(client.say(&mut server, &wrong_token).is_empty());
    assert_eq!(server.counters().sessions.bad_packets, 1);
    for message in [Message::Rcp(&[]), Message::Rcp(&[0x1f; 30]), Message::Response([7; 8])] {
        assert!(client.send(&mut server, home(), &message).is_empty());
    }
    assert_eq!(server.counters().sessions.nonsense, 3);
    let request = client.pull(0);
    assert_eq!(client.say(&mut server, &request.header).len(), 1, "the connection goes on");
}

#[test]
fn a_version_that_is_not_understood_is_answered_with_one_that_is() {
    let (mut server, _) = server(&content(10, 1));
    let mut hello = emitted(&Datagram::Hello { client: CLIENT, cookie: &[0; 24], noise: &[0; 48] });
    hello[0] = 0x71;
    assert_eq!(Datagram::parse(&hello), Err(DatagramError::Version(CLIENT)));
    let answers = ask(&mut server, Instant::from_secs(1), home(), &hello);
    assert_eq!(Datagram::parse(&answers[0].1), Ok(Datagram::Notice { client: CLIENT, version: VERSION }));
}

/// A download that has begun, over two interfaces.
fn begun(transport: Transport, bytes: &[u8]) -> World {
    let config = DownloadConfig { transport, ..DownloadConfig::default() };
    let mut world = World::new(&[Shelf::of(bytes)], 2, config, CLEAR, 1);
    world.network.rate = Some(Rate::from_mbps(20));
    world.keep = true;
    world.run_until(|world| world.stored_bytes > 500_000);
    world
}

#[test]
fn datagrams_sent_again_are_counted_and_bring_nothing_out() {
    for transport in [Transport::R2cp, Transport::Ptcp] {
        let bytes = content(2_000_000, 2);
        let mut world = begun(transport, &bytes);
        // The newest are still on their way and therefore new; all others are old.
        let old = world.replay_sealed();
        assert!(old > 100, "{transport}: {old} were seen to be old");
        world.complete(&bytes);
    }
}

#[test]
fn a_client_that_moves_is_followed_once_it_answers_from_there() {
    let bytes = content(4_000_000, 3);
    let mut world = begun(Transport::R2cp, &bytes);
    world.move_and_be_followed();
    world.complete(&bytes);
    assert_eq!((world.servers[0].counters().opened, world.servers[0].counters().sessions.migrations), (2, 1));
}

#[test]
fn who_passes_on_datagrams_of_others_gets_no_data() {
    for transport in [Transport::R2cp, Transport::Ptcp] {
        let bytes = content(4_000_000, 4);
        let mut world = begun(transport, &bytes);
        world.pass_on_from_elsewhere(20);
        world.complete(&bytes);
    }
}
