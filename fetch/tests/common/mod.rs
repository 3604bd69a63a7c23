//! A server, a client and a network between them, in virtual time and without sockets.
#![allow(dead_code, reason = "each test file uses its own part")]
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_fetch::channel::Channel;
use prismux_fetch::client::{Download, DownloadConfig, DownloadEvent, PathSpec};
use prismux_fetch::digest::Digest;
use prismux_fetch::handshake::{Answer, Identity, Initiator, Refusal};
use prismux_fetch::key::ServerKey;
use prismux_fetch::server::{Lookup, Object, Objects, Server, ServerConfig};
use prismux_fetch::wire::{ConnectionId, Datagram};
use prismux_r2cp::policy::Cost;
use prismux_rcp::ranges::Ranges;
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wire::Ecn;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

/// Bytes that look like nothing in particular.
pub fn content(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Seed(seed).stream("content");
    (0..length).map(|_| random.below(256) as u8).collect()
}

/// An object in memory.
pub struct Bytes {
    pub bytes: Vec<u8>,
    pub claimed: Identity,
}

impl Object for Bytes {
    fn identity(&self) -> Identity {
        self.claimed
    }
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let start = offset as usize;
        let part = self.bytes.get(start..start + buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(part);
        Ok(())
    }
    fn is_unchanged(&self) -> bool {
        true
    }
}

pub fn identity(bytes: &[u8]) -> Identity {
    Identity { size: bytes.len() as u64, digest: Digest::of(bytes).expect("memory") }
}

/// One object, called "object", that is being prepared for a while.
#[derive(Clone)]
pub struct Shelf {
    pub object: Arc<Bytes>,
    pub preparing: Rc<Cell<u32>>,
}

impl Shelf {
    pub fn of(bytes: &[u8]) -> Self {
        let object = Bytes { bytes: bytes.to_vec(), claimed: identity(bytes) };
        Self { object: Arc::new(object), preparing: Rc::default() }
    }
}

impl Objects for Shelf {
    fn find(&mut self, path: &str) -> Lookup {
        if path != "object" {
            return Lookup::Refused(Refusal::NotFound);
        }
        if self.preparing.get() > 0 {
            self.preparing.set(self.preparing.get() - 1);
            return Lookup::Preparing;
        }
        Lookup::Ready(Arc::clone(&self.object) as Arc<dyn Object>)
    }
}

/// What the network does to datagrams.
#[derive(Clone, Copy)]
pub struct Weather {
    pub loss: f64,
    pub duplicates: f64,
    pub corruption: f64,
    /// Datagrams take from 5 ms to this much longer.
    pub jitter: Duration,
}

pub const CLEAR: Weather =
    Weather { loss: 0.0, duplicates: 0.0, corruption: 0.0, jitter: Duration::from_millis(0) };

#[derive(Clone, Copy)]
enum Way {
    To(usize),
    From(usize),
}

struct UnderWay {
    /// Where it travels: to a server, or from one to the client.
    way: Way,
    /// The client's interface.
    link: usize,
    bytes: Vec<u8>,
}

pub struct World {
    /// The paths that the download began with.
    pub specs: Vec<PathSpec>,
    pub now: Instant,
    pub servers: Vec<Server<Shelf>>,
    /// Servers that are switched off.
    pub dead: Vec<bool>,
    /// How fast interfaces receive, with a queue of 100 ms; without limit at first.
    pub rate: Option<Rate>,
    free_at: Vec<Instant>,
    /// Interfaces over which nothing comes through.
    pub dark: Vec<bool>,
    /// The longest time in which no byte came whose predecessors were all here, since it was last set to zero.
    pub longest_stall: Duration,
    in_order: Ranges,
    in_order_at: Instant,
    /// Interfaces whose source address is another than at first.
    pub moved: Vec<u16>,
    pub weather: Weather,
    pub download: Download,
    pub received: Vec<u8>,
    pub events: Vec<DownloadEvent>,
    /// Payload bytes written by the client twice or wrongly placed would show here.
    pub stored_bytes: u64,
    air: BTreeMap<(Instant, u64), UnderWay>,
    sent: u64,
    random: RandomStream,
    /// Everything that travelled, for replays: to which server, from which address.
    pub seen: Vec<(usize, SocketAddr, Vec<u8>)>,
    pub keep: bool,
    /// Bytes that each address sent to a server, and got from it.
    pub traffic: BTreeMap<SocketAddr, (usize, usize)>,
}

pub fn server_address(index: usize) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1 + index as u8], 4717))
}

pub fn client_address(link: usize, moved: u16) -> SocketAddr {
    SocketAddr::from(([198, 51, 100, 1 + link as u8], 5000 + moved))
}

pub fn specs(keys: &[ServerKey], links: usize) -> Vec<PathSpec> {
    let pairs = (0..keys.len()).flat_map(|server| (0..links).map(move |link| (server, link)));
    pairs
        .map(|(server, link)| PathSpec {
            link,
            address: server_address(server),
            key: keys[server].public(),
            object: "object".to_string(),
            cost: Cost(0),
        })
        .collect()
}

impl World {
    pub fn new(shelves: &[Shelf], links: usize, config: DownloadConfig, weather: Weather, seed: u64) -> Self {
        let keys: Vec<ServerKey> = shelves.iter().map(|_| ServerKey::generate()).collect();
        let specs = specs(&keys, links);
        Self::with(shelves, keys, specs, links, config, weather, seed)
    }

    pub fn with(
        shelves: &[Shelf],
        keys: Vec<ServerKey>,
        specs: Vec<PathSpec>,
        links: usize,
        config: DownloadConfig,
        weather: Weather,
        seed: u64,
    ) -> Self {
        let now = Instant::from_secs(1);
        let servers = keys
            .into_iter()
            .zip(shelves)
            .map(|(key, shelf)| Server::new(key, ServerConfig::default(), shelf.clone()));
        Self {
            now,
            servers: servers.collect(),
            dead: vec![false; shelves.len()],
            rate: None,
            free_at: vec![now; links],
            dark: vec![false; links],
            longest_stall: Duration::ZERO,
            in_order: Ranges::default(),
            in_order_at: now,
            moved: vec![0; links],
            weather,
            download: Download::new(config, specs.clone(), now),
            specs,
            received: vec![0; shelves[0].object.bytes.len()],
            events: Vec::new(),
            stored_bytes: 0,
            air: BTreeMap::new(),
            sent: 0,
            random: Seed(seed).stream("weather"),
            seen: Vec::new(),
            keep: false,
            traffic: BTreeMap::new(),
        }
    }

    fn dispatch(&mut self, under_way: UnderWay) {
        let copies = 1 + u64::from(self.random.uniform() < self.weather.duplicates);
        for _ in 0..copies {
            if self.random.uniform() < self.weather.loss || self.dark[under_way.link] {
                continue;
            }
            let mut bytes = under_way.bytes.clone();
            if self.random.uniform() < self.weather.corruption {
                let index = self.random.below(bytes.len() as u64) as usize;
                bytes[index] ^= 1 << self.random.below(8);
            }
            let jitter = self.random.below(self.weather.jitter.as_nanos() + 1);
            let mut leaves_at = self.now;
            if let (Some(rate), Way::From(_)) = (self.rate, under_way.way) {
                let free_at = self.free_at[under_way.link].max(self.now);
                if free_at - self.now > Duration::from_millis(100) {
                    continue;
                }
                leaves_at = free_at + rate.transmission_time(ByteCount::new(bytes.len() as u64));
                self.free_at[under_way.link] = leaves_at;
            }
            let at = leaves_at + Duration::from_millis(5) + Duration::from_nanos(jitter);
            self.sent += 1;
            self.air.insert((at, self.sent), UnderWay { bytes, ..under_way });
        }
    }

    /// Hands everything that wants to leave to the network.
    fn drain(&mut self) {
        let mut out = Vec::new();
        while let Some(departure) = self.download.poll_transmit(self.now, &mut out) {
            let server = (0..self.servers.len()).find(|&index| server_address(index) == departure.to);
            let server = server.expect("a server of ours");
            if self.keep {
                let from = client_address(departure.link, self.moved[departure.link]);
                self.seen.push((server, from, out.clone()));
            }
            self.dispatch(UnderWay { way: Way::To(server), link: departure.link, bytes: out.clone() });
        }
        while let Some(event) = self.download.poll_event() {
            self.events.push(event);
        }
    }

    /// A datagram reaches a server; what it answers is sent.
    pub fn reach_server(
        &mut self,
        index: usize,
        from: SocketAddr,
        bytes: &[u8],
    ) -> Vec<(SocketAddr, Vec<u8>)> {
        let mut answers = Vec::new();
        self.servers[index].handle_datagram(self.now, from, Ecn::NotEct, bytes, &mut |to, _, bytes| {
            answers.push((to, bytes.to_vec()));
        });
        self.traffic.entry(from).or_default().0 += bytes.len();
        for (to, bytes) in &answers {
            self.traffic.entry(*to).or_default().1 += bytes.len();
        }
        answers
    }

    /// Lets time go on to the next thing that happens; false when nothing ever will.
    pub fn step(&mut self) -> bool {
        self.drain();
        let arrival = self.air.keys().next().map(|&(at, _)| at);
        let timers = self.servers.iter().zip(&self.dead).filter(|(_, dead)| !**dead);
        let timers = timers.filter_map(|(server, _)| server.next_deadline());
        let download = self.download.next_deadline().filter(|_| !self.download.is_over(self.now));
        let Some(next) = timers.chain(download).chain(arrival).min() else {
            return false;
        };
        self.now = self.now.max(next);
        if arrival == Some(next) {
            if let Some((_, under_way)) = self.air.pop_first() {
                self.arrive(under_way);
            }
            return true;
        }
        for index in 0..self.servers.len() {
            if self.dead[index] || self.servers[index].next_deadline().is_none_or(|at| at > self.now) {
                continue;
            }
            let mut answers = Vec::new();
            let now = self.now;
            self.servers[index].handle_timeout(now, &mut |to, _, bytes| answers.push((to, bytes.to_vec())));
            self.forward(index, answers);
        }
        self.download.handle_timeout(self.now);
        true
    }

    fn arrive(&mut self, under_way: UnderWay) {
        match under_way.way {
            Way::To(index) => {
                if !self.dead[index] {
                    let from = client_address(under_way.link, self.moved[under_way.link]);
                    let answers = self.reach_server(index, from, &under_way.bytes);
                    self.forward(index, answers);
                }
            }
            Way::From(index) => {
                let from = server_address(index);
                let before = self.in_order.next();
                let (received, stored) = (&mut self.received, &mut self.stored_bytes);
                let in_order = &mut self.in_order;
                self.download.handle_datagram(
                    self.now,
                    under_way.link,
                    from,
                    Ecn::NotEct,
                    &under_way.bytes,
                    &mut |offset, bytes| {
                        let start = offset as usize;
                        received[start..start + bytes.len()].copy_from_slice(bytes);
                        *stored += bytes.len() as u64;
                        in_order.insert(offset..offset + bytes.len() as u64);
                    },
                );
                if self.in_order.next() > before {
                    self.longest_stall = self.longest_stall.max(self.now - self.in_order_at);
                    self.in_order_at = self.now;
                }
            }
        }
    }

    /// Answers of server `index` travel to the client.
    pub fn forward(&mut self, index: usize, answers: Vec<(SocketAddr, Vec<u8>)>) {
        for (to, bytes) in answers {
            // Answers to addresses that nobody has (any more) are lost.
            let link = (0..self.moved.len()).find(|&link| client_address(link, self.moved[link]) == to);
            if let Some(link) = link {
                self.dispatch(UnderWay { way: Way::From(index), link, bytes });
            }
        }
    }

    /// Every sealed datagram that travelled reaches the first server once more, from where it came and from elsewhere. How many
    /// were seen to be old; the answers elsewhere stay within three times what came from there.
    pub fn replay_sealed(&mut self) -> u64 {
        let before = self.servers[0].counters().sessions.replayed;
        let sealed: Vec<Vec<u8>> = self.seen.iter().map(|(_, _, bytes)| bytes.clone()).collect();
        for datagram in sealed.iter().filter(|datagram| datagram[0] & 15 == 4) {
            for from in [home(), attacker()] {
                self.reach_server(0, from, datagram);
            }
        }
        let (sent, received) = self.traffic[&attacker()];
        assert!(sent > 0 && received <= 3 * sent, "{received} bytes for {sent}");
        self.servers[0].counters().sessions.replayed - before
    }

    /// Runs until the download has failed, within a minute of silence, for want of an answer.
    pub fn fail_for_silence(&mut self) {
        let since = self.now;
        self.run_until(|world| world.failure().is_some());
        assert!(self.now - since <= Duration::from_secs(61), "took {}", self.now - since);
        let why = self.failure().unwrap_or_default();
        assert!(why.contains("192.0.2.1:4717: does not answer") && why.contains("remedy"), "{why}");
    }

    /// The first interface gets another source address; runs until the first server has followed, and before it has
    /// it sends there no more than three times what came from there.
    pub fn move_and_be_followed(&mut self) {
        self.moved[0] = 1;
        let new_home = client_address(0, 1);
        self.run_until(|world| {
            let (sent, received) = world.traffic.get(&new_home).copied().unwrap_or_default();
            let followed = world.servers[0].counters().sessions.migrations > 0;
            assert!(
                followed || received <= 3 * sent,
                "{received} bytes went to an unproved address for {sent}"
            );
            followed
        });
    }

    /// Runs until `done`; fails after ten virtual minutes.
    pub fn run_until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        let mut steps = 0;
        while !done(self) {
            steps += 1;
            assert!(steps < 1_000_000, "time stands still: {:?}", self.events);
            assert!(self.now < Instant::from_secs(600), "ten minutes have passed: {:?}", self.events);
            assert!(self.step(), "nothing will happen any more: {:?}", self.events);
            self.drain();
        }
    }

    pub fn is_complete(&self) -> bool {
        self.events.contains(&DownloadEvent::Complete)
    }

    pub fn failure(&self) -> Option<&str> {
        self.events.iter().find_map(|event| match event {
            DownloadEvent::Failed(why) => Some(why.as_str()),
            _ => None,
        })
    }

    /// Runs to the end and checks every byte.
    pub fn complete(&mut self, wanted: &[u8]) {
        self.run_until(|world| world.is_complete() || world.failure().is_some());
        assert_eq!(self.failure(), None);
        assert!(self.received == wanted, "bytes differ");
    }
}

pub const CLIENT: ConnectionId = ConnectionId(0x77);

pub fn home() -> SocketAddr {
    client_address(0, 0)
}

pub fn attacker() -> SocketAddr {
    "203.0.113.66:666".parse().expect("an address")
}

/// What a server answers to one datagram.
pub fn ask<O: Objects>(
    server: &mut Server<O>,
    now: Instant,
    from: SocketAddr,
    bytes: &[u8],
) -> Vec<(SocketAddr, Vec<u8>)> {
    let mut answers = Vec::new();
    server.handle_datagram(now, from, Ecn::NotEct, bytes, &mut |to, _, bytes| {
        answers.push((to, bytes.to_vec()))
    });
    answers
}

pub fn emitted(datagram: &Datagram<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    datagram.emit(&mut out);
    out
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
        let (_, noise) = Initiator::new(&key.public(), "object");
        ask(server, now, SocketAddr::from(([198, 51, 100, 7], 1000 + port)), &hello(&noise));
    }
}

/// A channel to a server for the object at `path`.
pub fn open_channel<O: Objects>(
    server: &mut Server<O>,
    key: &ServerKey,
    now: Instant,
    from: SocketAddr,
    path: &str,
) -> Channel {
    let (mut initiator, noise) = Initiator::new(&key.public(), path);
    let mut answers = ask(server, now, from, &hello(&noise));
    if let Ok(Datagram::Retry { client, cookie }) = Datagram::parse(&answers[0].1) {
        let again = emitted(&Datagram::Hello { client, cookie, noise: &noise });
        answers = ask(server, now, from, &again);
    }
    let Ok(Datagram::Welcome { noise, .. }) = Datagram::parse(&answers[0].1) else { panic!("welcome") };
    let finished = initiator.finish(noise, &mut Vec::new());
    let Some((Answer::Ready { .. }, Some(channel))) = finished else { panic!("ready") };
    channel
}
