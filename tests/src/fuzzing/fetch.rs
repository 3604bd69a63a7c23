//! Targets for fetched files: what is read before anything is believed, and both machines behind an honest handshake.
use prismux_endpoint::random::Seed;
use prismux_endpoint::{Drain, Endpoint, Output, expire};
use prismux_fetch::Entropy;
use prismux_fetch::channel::{Channel, Message};
use prismux_fetch::client::{self, Download, DownloadConfig, DownloadEvent, PathSpec, Transport};
use prismux_fetch::digest::Digest;
use prismux_fetch::handshake::{Answer, Identity, Initiator, Responder};
use prismux_fetch::key::ServerKey;
use prismux_fetch::partial::parse_sidecar;
use prismux_fetch::server::{self, Lookup, Object, Objects, Server, ServerConfig, Unreadable};
use prismux_fetch::url::Url;
use prismux_fetch::wire::{ConnectionId, Datagram};
use prismux_ptcp::header::{self, Parsed};
use prismux_ptcp::{Connection, Path, PtcpConfig, Segment};
use prismux_r2cp::policy::Cost;
use prismux_rcp::{Pipe, RcpConfig, RcpHeader};
use prismux_tcp::TcpConfig;
use prismux_units::{Duration, Instant};
use prismux_wire::{Ecn, SeqNumber};
use std::net::SocketAddr;
use std::sync::Arc;

const SIZE: u64 = 40_000;

/// What can be read can be written, and is the same; sidecars and URLs that are accepted make sense.
pub fn datagram(data: &[u8]) {
    if let Ok(datagram) = Datagram::parse(data) {
        let mut out = Vec::new();
        datagram.emit(&mut out);
        assert_eq!(out.len(), data.len());
        assert_eq!(Datagram::parse(&out), Ok(datagram));
    }
    if let Some(message) = Message::parse(data) {
        let mut out = Vec::new();
        message.emit(&mut out);
        assert_eq!(out, data);
    }
    if let Some(answer) = Answer::parse(data) {
        assert_eq!(Answer::parse(&answer.emit()), Some(answer));
    }
    if let Ok(leftover) = parse_sidecar(data) {
        assert!(
            leftover
                .ranges
                .iter()
                .all(|range| range.start < range.end && range.end <= leftover.identity.size)
        );
    }
    if let Ok(url) = String::from_utf8_lossy(data).parse::<Url>() {
        assert_eq!(url.to_string().parse(), Ok(url));
    }
}

/// Datagrams of every type, messages, answers, a sidecar and a URL.
pub(super) fn datagrams() -> Vec<Vec<u8>> {
    let (client, cookie, reset_token, noise) = (ConnectionId(7), [1; 24], [2; 16], [3; 60]);
    let mut seeds: Vec<Vec<u8>> = [
        Datagram::Hello { client, cookie: &cookie, noise: &noise },
        Datagram::Retry { client, cookie: &cookie },
        Datagram::Welcome { client, noise: &noise },
        Datagram::Sealed { to: client, nonce: 9, noise: &noise },
        Datagram::StatelessReset { server: client, token: &reset_token },
        Datagram::Notice { client, version: 2 },
    ]
    .iter()
    .map(|datagram| {
        let mut out = Vec::new();
        datagram.emit(&mut out);
        out
    })
    .collect();
    let mut challenge = Vec::new();
    Message::Challenge([5; 8]).emit(&mut challenge);
    let digest = Digest([6; 32]);
    let identity = Identity { size: 77, digest };
    seeds.push(challenge);
    for segment in super::ptcp::datagrams() {
        let mut message = Vec::new();
        Message::PtcpOpening { offset: 7, segment: &segment }.emit(&mut message);
        seeds.push(message);
    }
    seeds.push(Answer::Ready { server: client, reset_token, identity }.emit());
    seeds.push(format!(r#"{{"prismux_part":1,"size":9,"sha256":"{digest}","ranges":[[0,3],[5,9]]}}"#).into());
    seeds.push(format!("prismux://{digest}@[2001:db8::1]:99/a%20b").into());
    seeds
}

/// Bytes that count upwards.
struct Ramp;

impl Object for Ramp {
    fn identity(&self) -> Identity {
        Identity { size: SIZE, digest: Digest([0; 32]) }
    }
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Unreadable> {
        assert!(offset + buffer.len() as u64 <= SIZE, "asked for bytes that are not there");
        (offset..).zip(buffer).for_each(|(at, byte)| *byte = at as u8);
        Ok(())
    }
    fn is_unchanged(&self) -> bool {
        true
    }
}

struct Shelf;

impl Objects for Shelf {
    fn find(&mut self, _: &str) -> Lookup {
        Lookup::Ready(Arc::new(Ramp))
    }
}

/// The same in every run: an input shows the same each time.
fn entropy() -> Entropy {
    Entropy::from_seed([7; 32])
}

fn home() -> SocketAddr {
    SocketAddr::from(([198, 51, 100, 1], 5000))
}

fn elsewhere() -> SocketAddr {
    SocketAddr::from(([203, 0, 113, 1], 5000))
}

/// A server, and a session in it whose handshake was honest.
struct Served {
    server: Server<Shelf>,
    channel: Channel,
    now: Instant,
}

impl Served {
    fn new() -> Self {
        let mut entropy = entropy();
        let key = ServerKey::generate(&mut entropy);
        let now = Instant::from_secs(1);
        let (mut initiator, noise) = Initiator::new(&key.public(), "object", &mut entropy);
        let mut server = Server::new(key, ServerConfig::default(), Shelf, entropy);
        let client = ConnectionId(5);
        let mut hello = Vec::new();
        Datagram::Hello { client, cookie: &[0; 24], noise: &noise }.emit(&mut hello);
        let welcome = hand(&mut server, now, home(), &hello);
        let Ok(Datagram::Welcome { noise, .. }) = Datagram::parse(&welcome) else { panic!("a Welcome") };
        let finished = initiator.finish(noise, &mut Vec::new());
        let Some((_, Some(channel))) = finished else { panic!("an honest server") };
        Self { server, channel, now }
    }

    /// Hands over `message` sealed; returns what the answer holds.
    fn say(&mut self, message: &[u8]) -> Vec<u8> {
        let datagram = sealed(&mut self.channel, message);
        let answer = hand(&mut self.server, self.now, home(), &datagram);
        let mut opened = Vec::new();
        if let Ok(Datagram::Sealed { nonce, noise, .. }) = Datagram::parse(&answer) {
            let _ = self.channel.open(nonce, noise, &mut opened);
        }
        opened
    }

    /// Datagrams of the input's making, sealed and loose, from the client's address and another.
    fn run(&mut self, data: &[u8], chunk: usize) {
        for step in data.chunks(chunk) {
            let (order, rest) = (step[0], &step[1..]);
            let from = if order & 1 == 0 { home() } else { elsewhere() };
            let datagram = match order >> 1 & 3 {
                0 => rest.to_vec(),
                1 => [&[0x14, 0, 0, 0][..], &self.channel.peer().0.to_be_bytes(), rest].concat(),
                _ => sealed(&mut self.channel, rest),
            };
            hand(&mut self.server, self.now, from, &datagram);
            self.now += Duration::from_millis(u64::from(order >> 3) * 10);
            expire(&mut self.server, self.now);
            while self.server.poll_transmit(self.now).is_some() {}
        }
    }
}

/// Hands a datagram to the server and returns the first answer. An address that proves nothing never gets three times
/// what it sent.
fn hand(server: &mut Server<Shelf>, now: Instant, from: SocketAddr, datagram: &[u8]) -> Vec<u8> {
    let (mut unvalidated, mut first) = (0, None);
    let local = SocketAddr::from(([192, 0, 2, 1], 4717));
    server.handle_input(now, server::Received { from, local, ecn: Ecn::NotEct, bytes: datagram });
    while let Some(transmit) = server.poll_transmit(now) {
        if transmit.to == elsewhere() {
            unvalidated += server.datagram().len();
        }
        first.get_or_insert_with(|| server.datagram().to_vec());
    }
    assert!(unvalidated <= 3 * datagram.len(), "{unvalidated} bytes for {}", datagram.len());
    first.unwrap_or_default()
}

/// A server behind its handshake takes RCP packets and datagrams of the input's making.
pub fn server(data: &[u8]) {
    let mut served = Served::new();
    let mut pipe = Pipe::connect(RcpConfig::modern(), SeqNumber(1), served.now);
    let syn = pipe.poll_control(served.now).map(|packet| rcp_bytes(&packet.header)).unwrap_or_default();
    served.say(&syn);
    served.run(data, 40);
}

/// A server behind its handshake takes pTCP segments of the input's making; half of them carry the names of a
/// connection that was opened honestly.
pub fn pipes(data: &[u8]) {
    let mut served = Served::new();
    let path = Path { local: home().ip(), remote: home().ip() };
    let config = PtcpConfig::new(TcpConfig::modern(), 2);
    let mut connection = Connection::connect_over(config, path, Seed(1).stream("client"), served.now);
    let syn = connection.poll_transmit(served.now).map(|out| out.segment);
    let segment = syn.as_ref().map(segment_bytes).unwrap_or_default();
    let mut message = Vec::new();
    Message::PtcpOpening { offset: 9, segment: &segment }.emit(&mut message);
    let answer = served.say(&message);
    let names = match Message::parse(&answer) {
        Some(Message::Ptcp(bytes)) => bytes.get(4..8).map(|names| [names[2], names[3], names[0], names[1]]),
        _ => None,
    };
    let Some(names) = names else { panic!("an answer to an honest opening") };
    let mut data = data.to_vec();
    name_segments(&mut data, 120, names);
    served.run(&data, 120);
}

/// Gives half of the sealed segments (steps of `chunk` bytes) the names that they need: pSRC, pDST.
fn name_segments(data: &mut [u8], chunk: usize, names: [u8; 4]) {
    for step in data.chunks_mut(chunk).filter(|step| step.len() > 10 && step[0] & 4 != 0 && step[1] == 3) {
        step[6..10].copy_from_slice(&names);
    }
}

/// The honest answer to the opening in a client's datagram, and pSRC and pDST of what follows.
fn accept_opening(channel: &mut Channel, datagram: &[u8], now: Instant) -> (Vec<u8>, [u8; 4]) {
    let Ok(Datagram::Sealed { nonce, noise, .. }) = Datagram::parse(datagram) else { panic!("sealed") };
    let mut opened = Vec::new();
    channel.open(nonce, noise, &mut opened).expect("sealed for us");
    let Some(Message::PtcpOpening { segment, .. }) = Message::parse(&opened) else { panic!("an opening") };
    let parsed = Parsed::parse(segment).expect("well formed");
    let (path, set_up) = (Path { local: home().ip(), remote: home().ip() }, parsed.set_up.map(Box::new));
    let (header, tcp) = (parsed.header, parsed.tcp);
    let opening = Segment { path, header, set_up, tcp, payload_bytes: 0, ecn: Ecn::NotEct };
    let random = Seed(2).stream("server");
    let config = PtcpConfig::new(TcpConfig::modern(), 2);
    let mut connection = Connection::accept(config, &[], &opening, random, now).expect("an opening");
    let answer = connection.poll_transmit(now).map(|out| segment_bytes(&out.segment)).unwrap_or_default();
    let mut message = Vec::new();
    Message::Ptcp(&answer).emit(&mut message);
    let [a, b] = connection.own_name().to_be_bytes();
    let [c, d] = header.source.to_be_bytes();
    (message, [a, b, c, d])
}

fn segment_bytes(segment: &Segment) -> Vec<u8> {
    let mut out = vec![0; 256];
    let length =
        header::emit(&segment.header, segment.set_up.as_deref(), &segment.tcp, &mut out).unwrap_or(0);
    out.truncate(length);
    out
}

/// A download by R²CP behind an honest handshake.
pub fn client(data: &[u8]) {
    download(Transport::R2cp, 60, data);
}

/// A download by pTCP behind an honest handshake.
pub fn pipes_client(data: &[u8]) {
    download(Transport::Ptcp, 120, data);
}

/// Hands a datagram to the download and drains it; the last datagram that leaves. No byte comes from beyond the
/// object.
fn give(download: &mut Download, now: Instant, from: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    download.handle_input(now, client::Received { link: 0, from, ecn: Ecn::NotEct, bytes });
    drained(download, now)
}

fn drained(download: &mut Download, now: Instant) -> Vec<u8> {
    let (mut drain, mut last) = (Drain::new(), Vec::new());
    while let Some(output) = drain.next(download, now) {
        match output {
            Output::Transmit(_) => last = download.datagram().to_vec(),
            Output::Event(DownloadEvent::Received { offset, part }) => {
                let bytes = download.part(part.clone()).len();
                assert_eq!(bytes, part.len(), "bytes that have not come");
                assert!(offset + bytes as u64 <= SIZE, "bytes beyond the object");
            }
            Output::Event(_) => {}
        }
    }
    last
}

/// A download takes whatever its server says.
fn download(transport: Transport, chunk: usize, data: &[u8]) {
    let mut entropy = entropy();
    let key = ServerKey::generate(&mut entropy);
    let address = SocketAddr::from(([192, 0, 2, 1], 4717));
    let spec = PathSpec { link: 0, address, key: key.public(), object: "object".to_string(), cost: Cost(0) };
    let mut now = Instant::from_secs(1);
    let config = DownloadConfig { transport, ..DownloadConfig::default() };
    let mut download = Download::new(config, [spec], self::entropy(), now);
    expire(&mut download, now);
    let hello = drained(&mut download, now);
    let Ok(Datagram::Hello { client: id, noise, .. }) = Datagram::parse(&hello) else { panic!("a Hello") };
    let identity = Identity { size: SIZE, digest: Digest([0; 32]) };
    let answer = Answer::Ready { server: ConnectionId(8), reset_token: [1; 16], identity };
    let request = Responder::read(&key, noise, &mut entropy);
    let Some((noise, mut channel)) = request.and_then(|request| request.answer(&answer, id)) else {
        panic!("an honest client")
    };
    let mut welcome = Vec::new();
    Datagram::Welcome { client: id, noise: &noise }.emit(&mut welcome);
    let opening = give(&mut download, now, address, &welcome);
    let mut data = data.to_vec();
    if transport == Transport::Ptcp {
        let (answer, names) = accept_opening(&mut channel, &opening, now);
        give(&mut download, now, address, &sealed(&mut channel, &answer));
        name_segments(&mut data, chunk, names);
    }
    for step in data.chunks(chunk) {
        let (order, rest) = (step[0], &step[1..]);
        let datagram = match order & 3 {
            0 => rest.to_vec(),
            1 => [&[0x14, 0, 0, 0][..], &id.0.to_be_bytes(), rest].concat(),
            _ => sealed(&mut channel, rest),
        };
        give(&mut download, now, address, &datagram);
        now += Duration::from_millis(u64::from(order >> 2) * 10);
        expire(&mut download, now);
        drained(&mut download, now);
    }
}

fn sealed(channel: &mut Channel, message: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    channel.seal(message, &mut out);
    out
}

/// A message with an RCP packet.
fn rcp_bytes(header: &RcpHeader) -> Vec<u8> {
    let mut packet = [0; 64];
    let length = header.emit(&mut packet).unwrap_or(0);
    let mut out = Vec::new();
    Message::Rcp(&packet[..length]).emit(&mut out);
    out
}

/// Steps for [`server`] and [`client`]: headers of all kinds, sealed, challenges, and loose bytes.
pub(super) fn programs() -> Vec<Vec<u8>> {
    let packets = super::rcp::headers();
    let program = |chunk: usize, order: u8| {
        let mut program = Vec::new();
        for packet in packets.iter().filter(|packet| packet.len() + 2 <= chunk).take(30) {
            let mut step = vec![order, 0];
            step.extend_from_slice(packet);
            step.resize(chunk, 0);
            program.extend(step);
        }
        program
    };
    vec![program(40, 4), program(60, 2), vec![2, 1, 7, 7, 7, 7, 7, 7, 7, 7], vec![0; 100]]
}

/// Steps for [`pipes`] and [`pipes_client`]: segments of all kinds, sealed, as what they are and as openings.
pub(super) fn pipe_programs() -> Vec<Vec<u8>> {
    let program = |offset: Option<u64>| {
        let mut program = Vec::new();
        for segment in super::ptcp::datagrams() {
            let mut step = vec![4 | 2 << 3];
            match offset {
                Some(offset) => Message::PtcpOpening { offset, segment: &segment }.emit(&mut step),
                None => Message::Ptcp(&segment).emit(&mut step),
            }
            step.resize(120, 0);
            program.extend(step);
        }
        program
    };
    vec![program(None), program(Some(0)), program(Some(SIZE + 1))]
}
