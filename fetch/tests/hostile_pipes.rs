//! The server's pTCP against clients that show wrong tokens, use pipes of others, or say what cannot be; in virtual
//! time.
mod common;

use common::*;
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::Seed;
use prismux_fetch::channel::{Channel, Message};
use prismux_fetch::handshake::Refusal;
use prismux_fetch::key::ServerKey;
use prismux_fetch::server::{Lookup, Object, Objects, Server, ServerConfig};
use prismux_fetch::wire::Datagram;
use prismux_ptcp::header::{self, Parsed};
use prismux_ptcp::{Connection, Path, PtcpConfig, Segment, State};
use prismux_tcp::TcpConfig;
use prismux_units::{Duration, Instant};
use prismux_wire::{Ecn, TcpFlags, TcpHeader};
use std::net::SocketAddr;
use std::sync::Arc;

/// Two objects.
struct Shelves;

impl Objects for Shelves {
    fn find(&mut self, path: &str) -> Lookup {
        let seed = match path {
            "object" => 1,
            "other" => 2,
            _ => return Lookup::Refused(Refusal::NotFound),
        };
        let bytes = content(20_000, seed);
        let claimed = identity(&bytes);
        Lookup::Ready(Arc::new(Bytes { bytes, claimed }) as Arc<dyn Object>)
    }
}

fn elsewhere(index: u8) -> SocketAddr {
    SocketAddr::from(([198, 51, 100, 50 + index], 5000))
}

fn path(index: u8) -> Path {
    let name = [10, 0, 0, index].into();
    Path { local: name, remote: name }
}

/// A client made by hand: one connection, and sessions for its pipes.
struct Client {
    server: Server<Shelves>,
    key: ServerKey,
    now: Instant,
    connection: Connection,
    sessions: Vec<(SocketAddr, Channel)>,
    /// What completed the handshake of the first pipe.
    first_ack: Segment,
}

impl Client {
    /// Its first pipe is established, in session 0, and what the server sent first is lost.
    fn connect() -> Self {
        let key = key(0);
        let now = Instant::from_secs(1);
        let config = PtcpConfig::new(TcpConfig::modern(), 3);
        let mut connection = Connection::connect_over(config, path(0), Seed(5).stream("client"), now);
        let server = server_of(&key, ServerConfig::default(), Shelves);
        let syn = connection.poll_transmit(now).expect("a SYN").segment;
        let mut client = Self { server, key, now, connection, sessions: Vec::new(), first_ack: syn.clone() };
        client.open_session("object");
        let answer = client.say(0, &syn).remove(0);
        client.connection.handle_input(now, answer);
        assert_eq!(client.connection.state(), State::Established(1));
        client.first_ack = client.connection.poll_transmit(now).expect("an ACK").segment;
        assert!(client.say(0, &client.first_ack.clone()).len() > 1);
        client
    }

    fn open_session(&mut self, object: &str) -> usize {
        let from = elsewhere(self.sessions.len() as u8);
        let channel = open_channel(&mut self.server, &self.key, self.now, from, object);
        self.sessions.push((from, channel));
        self.sessions.len() - 1
    }

    /// Seals `message` in a session; returns the segments that come back, and keeps what they bring.
    fn send(&mut self, session: usize, message: &Message<'_>) -> Vec<Segment> {
        let (from, channel) = &mut self.sessions[session];
        let datagram = sealed(channel, message);
        let answers = ask(&mut self.server, self.now, *from, &datagram);
        answers.iter().filter_map(|(to, bytes)| self.open(*to, bytes)).collect()
    }

    fn open(&mut self, to: SocketAddr, datagram: &[u8]) -> Option<Segment> {
        let index = self.sessions.iter().position(|(from, _)| *from == to).expect("an address of ours");
        let Ok(Datagram::Sealed { nonce, noise, .. }) = Datagram::parse(datagram) else { panic!("sealed") };
        let mut opened = Vec::new();
        self.sessions[index].1.open(nonce, noise, &mut opened).expect("sealed for us");
        let Some(Message::Ptcp(bytes)) = Message::parse(&opened) else { return None };
        let Parsed { header, set_up, tcp, payload_offset } = Parsed::parse(bytes).expect("well formed");
        let payload_bytes = (bytes.len() - payload_offset) as u32;
        let set_up = set_up.map(Box::new);
        Some(Segment { path: path(index as u8), header, set_up, tcp, payload_bytes, ecn: Ecn::NotEct })
    }

    fn say(&mut self, session: usize, segment: &Segment) -> Vec<Segment> {
        let bytes = bytes_of(segment);
        let opens = segment.tcp.flags.contains(TcpFlags::SYN) && segment.header.destination == 0;
        match opens {
            true => self.send(session, &Message::PtcpOpening { offset: 0, segment: &bytes }),
            false => self.send(session, &Message::Ptcp(&bytes)),
        }
    }

    /// The SYN of a further pipe, not sent.
    fn further(&mut self, index: u8) -> Segment {
        assert!(self.connection.open_pipe(self.now, path(index)).is_some());
        self.connection.poll_transmit(self.now).expect("a SYN").segment
    }

    fn refused(&self) -> u64 {
        self.server.counters().sessions.refused_segments
    }
}

fn bytes_of(segment: &Segment) -> Vec<u8> {
    let mut bytes = vec![0; 200];
    let length = header::emit(&segment.header, segment.set_up.as_deref(), &segment.tcp, &mut bytes);
    bytes.truncate(length.expect("there is room"));
    bytes
}

fn is_reset(answers: &[Segment]) -> bool {
    answers.len() == 1 && answers[0].tcp.flags.contains(TcpFlags::RST)
}

#[test]
fn a_further_pipe_without_the_token_is_reset_and_joins_nothing() {
    let mut client = Client::connect();
    let session = client.open_session("object");
    let honest = client.further(1);
    let mut forged = honest.clone();
    forged.set_up.as_mut().expect("a SYN has it").token ^= 1;
    assert!(is_reset(&client.say(session, &forged)));
    assert_eq!((client.refused(), client.server.counters().sessions.pipes), (1, 1));
    // Another name of the connection with the right token is no better.
    let mut misnamed = honest.clone();
    misnamed.header.destination ^= 1;
    assert!(is_reset(&client.say(session, &misnamed)));
    let answer = client.say(session, &honest);
    assert!(answer.len() == 1 && answer[0].tcp.flags.contains(TcpFlags::SYN | TcpFlags::ACK), "{answer:?}");
    assert_eq!(client.server.counters().sessions.pipes, 2);
}

#[test]
fn a_pipe_of_another_object_does_not_join() {
    let mut client = Client::connect();
    let session = client.open_session("other");
    let syn = client.further(1);
    assert!(is_reset(&client.say(session, &syn)));
    assert_eq!((client.refused(), client.server.counters().sessions.pipes), (1, 1));
}

#[test]
fn only_its_own_session_speaks_for_a_pipe() {
    let mut client = Client::connect();
    let session = client.open_session("object");
    let syn = client.further(1);
    let answer = client.say(session, &syn).remove(0);
    client.connection.handle_input(client.now, answer);
    let honest = client.first_ack.clone();
    let tcp = TcpHeader { flags: TcpFlags::RST | TcpFlags::ACK, ..honest.tcp };
    let reset = Segment { tcp, ..honest.clone() };
    // The very reset that ends pipe 0 when it comes in its session, in that of pipe 1.
    client.say(session, &reset);
    client.say(0, &honest);
    assert_eq!(client.refused(), 0, "pipe 0 is still there");
    client.say(0, &reset);
    assert!(is_reset(&client.say(0, &honest)));
    assert_eq!(client.refused(), 1);
}

#[test]
fn segments_that_cannot_be_are_counted_and_harm_nobody() {
    let mut client = Client::connect();
    let session = client.open_session("object");
    let syn = bytes_of(&client.further(1));
    let mut wrong = vec![vec![], vec![0x10; 7], syn[..syn.len() - 1].to_vec()];
    for (at, value) in [(0, 0x21), (0, 0x1f), (1, 8), (16 + 3, 9), (16 + 2, 15)] {
        let mut bytes = syn.clone();
        bytes[at] = value;
        wrong.push(bytes);
    }
    // Payload beyond the virtual length.
    wrong.push([&syn[..], &[0; 40]].concat());
    for bytes in &wrong {
        assert!(client.send(session, &Message::Ptcp(bytes)).is_empty(), "{bytes:?}");
        assert!(client.send(session, &Message::PtcpOpening { offset: 0, segment: bytes }).is_empty());
    }
    assert_eq!(client.server.counters().sessions.nonsense, 2 * wrong.len() as u64);
    // RCP in a session of pTCP is nonsense too; an opening is one only once.
    assert!(client.send(0, &Message::Rcp(&[0x1f; 30])).is_empty());
    assert_eq!(client.server.counters().sessions.nonsense, 2 * wrong.len() as u64 + 1);
    assert_eq!(client.server.counters().sessions.connections, 1);
}

#[test]
fn an_opening_beyond_the_object_is_refused() {
    let mut client = Client::connect();
    let session = client.open_session("object");
    let config = PtcpConfig::new(TcpConfig::modern(), 1);
    let mut other = Connection::connect_over(config, path(1), Seed(6).stream("client"), client.now);
    let syn = bytes_of(&other.poll_transmit(client.now).expect("a SYN").segment);
    for offset in [20_001, u64::MAX] {
        let answers = client.send(session, &Message::PtcpOpening { offset, segment: &syn });
        assert!(is_reset(&answers), "{answers:?}");
    }
    assert_eq!(client.server.counters().sessions.outside_object, 2);
    let answers = client.send(session, &Message::PtcpOpening { offset: 20_000, segment: &syn });
    assert!(answers[0].tcp.flags.contains(TcpFlags::SYN | TcpFlags::ACK), "its end is a place to begin");
}

#[test]
fn a_connection_whose_client_vanishes_is_forgotten_with_its_timers() {
    let mut client = Client::connect();
    let now = client.now;
    let mut last_sent_at = now;
    while let Some(at) = deadline(&client.server) {
        if !wait(&mut client.server, at).is_empty() {
            last_sent_at = at;
        }
    }
    assert_eq!((client.server.clients(), client.server.counters().sessions.vanished), (0, 1));
    let repeated = now + Duration::from_millis(200)..now + Duration::from_secs(70);
    assert!(repeated.contains(&last_sent_at), "repeated last at {last_sent_at}");
}
