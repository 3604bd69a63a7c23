//! Two connections, paths with weather between them, and checkers that are always on.
use prismux_endpoint::Endpoint;
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_mptcp::{Connection, MptcpConfig, MptcpEvent, Path, Segment, State, reset_for};
use prismux_tcp::{TcpConfig, TcpEvent};
use prismux_units::{ByteCount, Duration, Instant};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// How bad a path is, in both directions.
#[derive(Debug, Clone, Default)]
pub struct Weather {
    pub loss: f64,
    pub duplication: f64,
    pub delay: Duration,
    pub jitter: Duration,
    /// Everything sent in this time is lost.
    pub dark: Option<(Instant, Instant)>,
    /// The host of the opening side loses this path then.
    pub dropped_at: Option<Instant>,
    /// A box on the way takes MPTCP's options out of every segment.
    pub strips_options: bool,
}

/// Switches for tests: segments of 1000 bytes, short waits.
pub fn config(buffer: u64) -> MptcpConfig {
    let tcp = TcpConfig {
        mss: 1000,
        time_wait: Duration::from_secs(5),
        // Longer than any path is dark.
        give_up_after: Duration::from_secs(3000),
        syn_retries: 12,
        receive_buffer: ByteCount::new(buffer),
        ..TcpConfig::modern()
    };
    MptcpConfig { consume_on_arrival: true, ..MptcpConfig::new(tcp) }
}

/// A segment under way, and the offset in its sender's stream of the bytes it carries.
#[derive(Debug, Clone)]
struct Flight {
    to: usize,
    segment: Segment,
    carries: u64,
}

/// What has become of one side's stream.
#[derive(Debug, Default)]
struct Stream {
    written: u64,
    closing: bool,
    /// The sender may have forgotten everything below.
    forgotten: u64,
    accepted: BTreeMap<u64, u64>,
    accepted_to: u64,
    readable: u64,
    read: u64,
    closed: bool,
}

pub struct World {
    pub now: Instant,
    pub ends: [Option<Connection>; 2],
    config: MptcpConfig,
    paths: Vec<Weather>,
    random: RandomStream,
    server_random: RandomStream,
    flights: BTreeMap<(Instant, u64), Flight>,
    count: u64,
    streams: [Stream; 2],
}

/// The path with this number, as side 0 sees it.
pub fn path(number: usize) -> Path {
    let address = |side: u8| IpAddr::from([10, side, 0, number as u8 + 1]);
    Path { local: address(0), remote: address(1) }
}

fn mirrored(path: Path) -> Path {
    Path { local: path.remote, remote: path.local }
}

impl World {
    /// Side 0 opens over `paths`.
    pub fn new(seed: Seed, config: MptcpConfig, paths: Vec<Weather>) -> Self {
        let all: Vec<Path> = (0..paths.len()).map(path).collect();
        let opening =
            Connection::connect(config.clone(), &all, (4000, 80), seed.stream("client"), Instant::ZERO);
        let mut world = Self {
            now: Instant::ZERO,
            ends: [Some(opening), None],
            config,
            paths,
            random: seed.stream("weather"),
            server_random: seed.stream("server"),
            flights: BTreeMap::new(),
            count: 0,
            streams: Default::default(),
        };
        world.drain(0);
        world
    }

    pub fn state(&self, side: usize) -> Option<State> {
        self.ends[side].as_ref().map(Connection::state)
    }

    /// Bytes of the other side's stream that `side` can read, and whether it has been told of their end.
    pub fn received(&self, side: usize) -> (u64, bool) {
        (self.streams[1 - side].readable, self.streams[1 - side].closed)
    }

    pub fn both_closed(&self) -> bool {
        self.ends.iter().flatten().all(|end| end.state() == State::Closed)
    }

    pub fn write(&mut self, side: usize, bytes: u64) {
        self.streams[side].written += bytes;
        self.mutate(side, |end, _| end.write(bytes));
    }

    pub fn close(&mut self, side: usize) {
        self.streams[side].closing = true;
        self.mutate(side, |end, _| end.close());
    }

    fn read(&mut self, side: usize) {
        let stream = &mut self.streams[1 - side];
        let bytes = stream.readable - std::mem::replace(&mut stream.read, stream.readable);
        self.mutate(side, |end, _| end.read(bytes));
    }

    pub fn mutate(&mut self, side: usize, action: impl FnOnce(&mut Connection, Instant)) {
        if let Some(end) = &mut self.ends[side] {
            action(end, self.now);
            self.drain(side);
        }
    }

    fn drain(&mut self, side: usize) {
        self.take_events(side, None);
        let Some(mut end) = self.ends[side].take() else { return };
        while let Some(out) = end.poll_transmit(self.now) {
            if out.segment.payload_bytes > 0 {
                let stream = &self.streams[side];
                let last = out.stream_offset + u64::from(out.segment.payload_bytes);
                assert!(last <= stream.written, "sent byte {last} of {}", stream.written);
                assert!(out.stream_offset >= stream.forgotten, "byte {} is forgotten", out.stream_offset);
            }
            assert!(out.segment.mptcp.fit(&out.segment.tcp), "{:?}", out.segment);
            self.send(side, out.segment, out.stream_offset);
        }
        if let Err(fault) = end.audit() {
            panic!("{}: side {side}: {fault}", self.now);
        }
        self.ends[side] = Some(end);
        self.take_events(side, None);
    }

    /// Takes the events of `side`; `carries` is the stream offset of the payload that has just arrived.
    fn take_events(&mut self, side: usize, carries: Option<u64>) {
        while let Some(event) = self.ends[side].as_mut().and_then(Endpoint::poll_event) {
            let MptcpEvent::Connection(told) = event else { continue };
            let stream = &mut self.streams[1 - side];
            match told {
                TcpEvent::Accepted { segment_offset, stream_offset, bytes } => {
                    let carries = carries.expect("only a segment brings bytes");
                    assert_eq!(carries + u64::from(segment_offset), stream_offset, "wrong bytes accepted");
                    let end = stream_offset + u64::from(bytes);
                    let before = stream.accepted.range(..end).next_back().map_or(0, |(_, &end)| end);
                    assert!(stream_offset >= before.max(stream.accepted_to), "{stream_offset}..{end} twice");
                    stream.accepted.insert(stream_offset, end);
                    while let Some(end) = stream.accepted.remove(&stream.accepted_to) {
                        stream.accepted_to = end;
                    }
                }
                TcpEvent::Readable { up_to } => {
                    assert!(up_to >= stream.readable && up_to <= stream.accepted_to, "readable to {up_to}");
                    stream.readable = up_to;
                }
                TcpEvent::PeerClosed => {
                    assert_eq!(stream.readable, stream.written, "the stream ends early");
                    stream.closed = true;
                }
                TcpEvent::Acknowledged { up_to } => {
                    let own = &mut self.streams[side];
                    assert!(up_to <= own.accepted_to && up_to >= own.forgotten, "acknowledged {up_to}");
                    own.forgotten = up_to;
                }
                _ => {}
            }
        }
    }

    fn send(&mut self, from: usize, mut segment: Segment, carries: u64) {
        let seen = if from == 0 { segment.path } else { mirrored(segment.path) };
        let number = (0..self.paths.len()).find(|&number| path(number) == seen).expect("a known path");
        segment.path = mirrored(segment.path);
        let weather = self.paths[number].clone();
        if weather.strips_options {
            segment.mptcp = Default::default();
        }
        let flight = Flight { to: 1 - from, segment, carries };
        let dark = weather.dark.is_some_and(|(from, to)| (from..to).contains(&self.now));
        let gone = weather.dropped_at.is_some_and(|at| at <= self.now);
        if dark || gone || self.random.chance(weather.loss) {
            return;
        }
        for _ in 0..1 + usize::from(self.random.chance(weather.duplication)) {
            let jitter = Duration::from_nanos(self.random.below(weather.jitter.as_nanos().max(1)));
            self.count += 1;
            self.flights.insert((self.now + weather.delay + jitter, self.count), flight.clone());
        }
    }

    /// Runs until `limit`, or until everything is done and closed.
    pub fn run(&mut self, limit: Instant) {
        let mut steps = 0u64;
        while let Some(at) = self.next_event().filter(|&at| at <= limit) {
            if self.both_closed() && self.ends[1].is_some() {
                return;
            }
            self.now = self.now.max(at);
            self.step();
            steps += 1;
            assert!(steps < 3_000_000, "{}: it never ends", self.now);
        }
        self.now = self.now.max(limit);
    }

    fn next_event(&self) -> Option<Instant> {
        let arrival = self.flights.first_key_value().map(|((at, _), _)| *at);
        let timers = self.ends.iter().flatten().filter_map(Connection::poll_timeout);
        let drops = self.paths.iter().filter_map(|weather| weather.dropped_at).filter(|at| *at > self.now);
        timers.map(|deadline| deadline.at).chain(arrival).chain(drops).min()
    }

    fn step(&mut self) {
        for number in 0..self.paths.len() {
            if self.paths[number].dropped_at.is_some_and(|at| at <= self.now) {
                self.mutate(0, |end, _| end.drop_path(path(number)));
            }
        }
        if let Some((&(at, number), _)) = self.flights.first_key_value()
            && at <= self.now
        {
            let flight = self.flights.remove(&(at, number)).expect("it is under way");
            self.arrive(flight);
            return;
        }
        for side in 0..2 {
            let due = self.ends[side].as_ref().and_then(Connection::poll_timeout);
            if due.is_some_and(|due| due.at <= self.now) {
                if !self.config.consume_on_arrival {
                    self.read(side);
                }
                self.mutate(side, |end, now| end.handle_timeout(now));
            }
        }
    }

    fn arrive(&mut self, flight: Flight) {
        let side = flight.to;
        if self.ends[side].is_none() {
            let random = self.server_random.clone();
            let accepted = Connection::accept(self.config.clone(), &[], &flight.segment, random, self.now);
            let Ok(mut accepted) = accepted else { return };
            accepted.write(self.streams[side].written);
            if self.streams[side].closing {
                accepted.close();
            }
            self.ends[side] = Some(accepted);
        } else if self.state(side) == Some(State::Closed) {
            // The host of a connection that is no more.
            if let Some(reset) = reset_for(&flight.segment) {
                self.send(side, reset, 0);
            }
        } else {
            self.ends[side].as_mut().expect("it exists").handle_input(self.now, flight.segment);
        }
        self.take_events(side, Some(flight.carries));
        if !self.config.consume_on_arrival && self.random.chance(0.3) {
            self.read(side);
        }
        self.drain(side);
    }
}
