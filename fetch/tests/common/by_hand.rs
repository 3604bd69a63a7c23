//! Single datagrams for a server, and what it answers.
use super::network::client_address;
use super::shelf::entropy;
use prismux_endpoint::{Endpoint, expire};
use prismux_fetch::channel::{Channel, Message};
use prismux_fetch::handshake::{Answer, Initiator};
use prismux_fetch::key::{PublicKey, ServerKey};
use prismux_fetch::server::{Objects, Received, Server};
use prismux_fetch::wire::{ConnectionId, Datagram};
use prismux_units::Instant;
use prismux_wire::Ecn;
use std::net::SocketAddr;

pub const CLIENT: ConnectionId = ConnectionId(0x77);

pub fn home() -> SocketAddr {
    client_address(0, 0)
}

pub fn attacker() -> SocketAddr {
    "203.0.113.66:666".parse().expect("an address")
}

/// Where servers are asked.
pub fn asked() -> SocketAddr {
    super::network::server_address(0)
}

/// Everything that leaves a server after a mutation.
pub fn sent_by<O: Objects>(server: &mut Server<O>, now: Instant) -> Vec<(SocketAddr, Vec<u8>)> {
    let mut sent = Vec::new();
    while let Some(transmit) = server.poll_transmit(now) {
        sent.push((transmit.to, server.datagram().to_vec()));
    }
    sent
}

/// What a server answers to one datagram.
pub fn ask<O: Objects>(
    server: &mut Server<O>,
    now: Instant,
    from: SocketAddr,
    bytes: &[u8],
) -> Vec<(SocketAddr, Vec<u8>)> {
    ask_at(server, now, from, asked(), bytes)
}

/// What a server answers to one datagram that came to `local`.
pub fn ask_at<O: Objects>(
    server: &mut Server<O>,
    now: Instant,
    from: SocketAddr,
    local: SocketAddr,
    bytes: &[u8],
) -> Vec<(SocketAddr, Vec<u8>)> {
    server.handle_input(now, Received { from, local, ecn: Ecn::NotEct, bytes });
    sent_by(server, now)
}

/// Lets a server's timers go off that are due; what leaves.
pub fn wait<O: Objects>(server: &mut Server<O>, now: Instant) -> Vec<(SocketAddr, Vec<u8>)> {
    expire(server, now);
    sent_by(server, now)
}

pub fn deadline<E: Endpoint>(endpoint: &E) -> Option<Instant> {
    endpoint.poll_timeout().map(|deadline| deadline.at)
}

pub fn emitted(datagram: &Datagram<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    datagram.emit(&mut out);
    out
}

/// A client's side of a handshake for the object at `path`.
pub fn initiator(key: PublicKey, path: &str) -> (Initiator, Vec<u8>) {
    Initiator::new(&key, path, &mut entropy(1, "client"))
}

/// A first Hello.
pub fn hello(noise: &[u8]) -> Vec<u8> {
    emitted(&Datagram::Hello { client: CLIENT, cookie: &[0; 24], noise })
}

/// The Hello with the cookie that a server in a flood gives to `from`.
pub fn hello_with_cookie<O: Objects>(
    server: &mut Server<O>,
    now: Instant,
    from: SocketAddr,
    noise: &[u8],
) -> Vec<u8> {
    let answers = ask(server, now, from, &hello(noise));
    let Ok(Datagram::Retry { client: CLIENT, cookie }) = Datagram::parse(&answers[0].1) else {
        panic!("an unknown address gets a Retry")
    };
    emitted(&Datagram::Hello { client: CLIENT, cookie, noise })
}

/// So many Hellos from invented addresses, which never say more.
pub fn flood<O: Objects>(server: &mut Server<O>, key: &ServerKey, now: Instant, hellos: u16) {
    for port in 0..hellos {
        let (_, noise) = initiator(key.public(), "object");
        ask(server, now, SocketAddr::from(([198, 51, 100, 7], 1000 + port)), &hello(&noise));
    }
}

/// What a server says to a request for the object at `path`, and the channel to it.
pub fn request<O: Objects>(
    server: &mut Server<O>,
    key: &ServerKey,
    now: Instant,
    from: SocketAddr,
    path: &str,
) -> (Answer, Option<Channel>) {
    let (mut initiator, noise) = initiator(key.public(), path);
    let mut answers = ask(server, now, from, &hello(&noise));
    if let Ok(Datagram::Retry { client, cookie }) = Datagram::parse(&answers[0].1) {
        let again = emitted(&Datagram::Hello { client, cookie, noise: &noise });
        answers = ask(server, now, from, &again);
    }
    let Ok(Datagram::Welcome { noise, .. }) = Datagram::parse(&answers[0].1) else { panic!("welcome") };
    initiator.finish(noise, &mut Vec::new()).expect("made by this key")
}

/// A channel to a server for the object at `path`.
pub fn open_channel<O: Objects>(
    server: &mut Server<O>,
    key: &ServerKey,
    now: Instant,
    from: SocketAddr,
    path: &str,
) -> Channel {
    let (Answer::Ready { .. }, Some(channel)) = request(server, key, now, from, path) else {
        panic!("ready")
    };
    channel
}

/// The datagram that carries `message`.
pub fn sealed(channel: &mut Channel, message: &Message<'_>) -> Vec<u8> {
    let (mut plain, mut datagram) = (Vec::new(), Vec::new());
    message.emit(&mut plain);
    channel.seal(&plain, &mut datagram);
    datagram
}
