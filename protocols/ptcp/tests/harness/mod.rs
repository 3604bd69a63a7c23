//! Two connections, paths with weather between them, and checkers that are always on.

use prismux_endpoint::random::{RandomStream, Seed};
use prismux_endpoint::{Deadline, Endpoint};
use prismux_ptcp::{Connection, Path, PtcpConfig, PtcpEvent, Segment, State, reset_for};
use prismux_tcp::{TcpConfig, TcpEvent};
use prismux_units::{ByteCount, Duration, Instant};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::net::{IpAddr, Ipv4Addr};

/// How bad a path is, in both directions.
#[derive(Debug, Clone, Default)]
pub struct Weather {
    pub loss: f64,
    pub duplication: f64,
    pub delay: Duration,
    pub jitter: Duration,
    /// Everything sent in this time is lost.
    pub dark: Option<(Instant, Instant)>,
}

/// Switches for tests, by profile: modern, linux-2.4, ns2-2002.
pub fn config(profile: usize, pipes: u8, buffer: u64) -> PtcpConfig {
    let mut tcp = [TcpConfig::modern(), TcpConfig::linux_2_4(), TcpConfig::ns2_2002()][profile].clone();
    tcp.mss = 1000;
    tcp.time_wait = Duration::from_secs(5);
    tcp.give_up_after = Duration::MAX;
    tcp.syn_retries = 12;
    tcp.receive_buffer = ByteCount::new(buffer);
    PtcpConfig { consume_on_arrival: true, ..PtcpConfig::new(tcp, pipes) }
}

/// A segment under way and the bytes it really carries.
#[derive(Debug, Clone)]
pub struct Flight {
    pub to: usize,
    pub segment: Segment,
    pub carries: u64,
}

/// What one side's peer has accepted of its stream.
#[derive(Debug, Default)]
struct Stream {
    accepted: BTreeMap<u64, u64>,
    accepted_to: u64,
    readable: u64,
    read: u64,
}

pub struct World {
    pub now: Instant,
    ends: [Option<Connection>; 2],
    config: PtcpConfig,
    pub server_config: PtcpConfig,
    paths: Vec<Weather>,
    random: RandomStream,
    server_random: RandomStream,
    queue: BinaryHeap<Reverse<(Instant, u64)>>,
    flights: BTreeMap<u64, Flight>,
    count: u64,
    streams: [Stream; 2],
    written: [u64; 2],
    closing: [bool; 2],
}

pub fn client(path: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, path as u8 + 1))
}

pub fn server(path: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 1, 0, path as u8 + 1))
}

impl World {
    /// A client that opens over `paths`; path `i` joins its `i`-th address to the server's `i`-th.
    pub fn new(seed: Seed, config: PtcpConfig, paths: Vec<Weather>) -> Self {
        let locals: Vec<IpAddr> = (0..paths.len()).map(client).collect();
        let opening = Connection::connect(
            config.clone(),
            &locals,
            server(0),
            (4000, 80),
            seed.stream("client"),
            Instant::ZERO,
        );
        let mut world = Self {
            now: Instant::ZERO,
            ends: [Some(opening), None],
            server_config: config.clone(),
            config,
            paths,
            random: seed.stream("weather"),
            server_random: seed.stream("server"),
            queue: BinaryHeap::new(),
            flights: BTreeMap::new(),
            count: 0,
            streams: Default::default(),
            written: [0; 2],
            closing: [false; 2],
        };
        world.drain(0);
        world
    }

    pub fn state(&self, side: usize) -> Option<State> {
        self.ends[side].as_ref().map(Connection::state)
    }

    /// Bytes of the other side's stream that `side` has read in order.
    pub fn received(&self, side: usize) -> u64 {
        self.streams[1 - side].readable
    }

    pub fn both_closed(&self) -> bool {
        self.ends.iter().flatten().all(|end| end.state() == State::Closed)
    }

    pub fn write(&mut self, side: usize, bytes: u64) {
        self.written[side] += bytes;
        self.mutate(side, |end, _| end.write(bytes));
    }

    pub fn close(&mut self, side: usize) {
        self.closing[side] = true;
        self.mutate(side, |end, now| end.close(now));
    }

    /// Reads all that is readable on `side`.
    pub fn read(&mut self, side: usize) {
        let stream = &mut self.streams[1 - side];
        let bytes = stream.readable - stream.read;
        stream.read = stream.readable;
        self.mutate(side, |end, _| end.read(bytes));
    }

    pub fn mutate(&mut self, side: usize, action: impl FnOnce(&mut Connection, Instant)) {
        if let Some(end) = &mut self.ends[side] {
            action(end, self.now);
            self.drain(side);
        }
    }

    fn drain(&mut self, side: usize) {
        let Some(mut end) = self.ends[side].take() else { return };
        while let Some(out) = end.poll_transmit(self.now) {
            if out.segment.payload_bytes > 0 {
                let last = out.stream_offset + u64::from(out.segment.payload_bytes);
                assert!(last <= self.written[side], "sent byte {last} of {}", self.written[side]);
            }
            self.send(side, out.segment, out.stream_offset);
        }
        if let Err(fault) = end.audit() {
            panic!("{}: side {side}: {fault}", self.now);
        }
        self.ends[side] = Some(end);
    }

    /// Takes the events of `side`; `carries` is the stream offset of the payload that has just arrived.
    fn take_events(&mut self, side: usize, carries: Option<u64>) {
        let mut readable = false;
        while let Some(event) = self.ends[side].as_mut().and_then(Endpoint::poll_event) {
            let stream = &mut self.streams[1 - side];
            let PtcpEvent::Connection(told) = event else { continue };
            match told {
                TcpEvent::Accepted { segment_offset, stream_offset, bytes } => {
                    let carries = carries.expect("only a segment brings bytes");
                    assert_eq!(carries + u64::from(segment_offset), stream_offset, "wrong bytes accepted");
                    let end = stream_offset + u64::from(bytes);
                    let before = stream.accepted.range(..end).next_back().map_or(0, |(_, &end)| end);
                    assert!(
                        stream_offset >= before.max(stream.accepted_to),
                        "bytes {stream_offset}..{end} accepted twice"
                    );
                    stream.accepted.insert(stream_offset, end);
                    while let Some(end) = stream.accepted.remove(&stream.accepted_to) {
                        stream.accepted_to = end;
                    }
                }
                TcpEvent::Readable { up_to } => {
                    assert!(up_to >= stream.readable && up_to <= stream.accepted_to, "readable to {up_to}");
                    stream.readable = up_to;
                    readable = true;
                }
                TcpEvent::Acknowledged { up_to } => {
                    let peer = &self.streams[side];
                    assert!(up_to <= peer.accepted_to, "acknowledged {up_to}, arrived {}", peer.accepted_to);
                }
                _ => {}
            }
        }
        if readable && !self.config.consume_on_arrival && self.random.chance(0.6) {
            self.read(side);
        }
    }

    fn send(&mut self, from: usize, segment: Segment, carries: u64) {
        let index = (0..self.paths.len())
            .find(|&path| [client(path), server(path)].contains(&segment.path.local))
            .expect("segments leave by known addresses");
        let path = Path { local: segment.path.remote, remote: segment.path.local };
        let flight = Flight { to: 1 - from, segment: Segment { path, ..segment }, carries };
        let weather = self.paths[index].clone();
        let dark = weather.dark.is_some_and(|(from, to)| (from..to).contains(&self.now));
        if dark || self.random.chance(weather.loss) {
            return;
        }
        let at = self.now + weather.delay;
        let copies = 1 + usize::from(self.random.chance(weather.duplication));
        for _ in 0..copies {
            let jitter = Duration::from_nanos(self.random.below(weather.jitter.as_nanos().max(1)));
            self.count += 1;
            self.queue.push(Reverse((at + jitter, self.count)));
            self.flights.insert(self.count, flight.clone());
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
            assert!(steps < 5_000_000, "{}: it never ends", self.now);
        }
        self.now = self.now.max(limit);
    }

    fn next_event(&self) -> Option<Instant> {
        let arrival = self.queue.peek().map(|Reverse((at, _))| *at);
        let timers = self.ends.iter().flatten().filter_map(Connection::poll_timeout);
        timers.map(|deadline: Deadline| deadline.at).chain(arrival).min()
    }

    fn step(&mut self) {
        if let Some(&Reverse((at, number))) = self.queue.peek()
            && at <= self.now
        {
            self.queue.pop();
            let flight = self.flights.remove(&number).expect("it is under way");
            self.arrive(flight);
            return;
        }
        for side in 0..2 {
            let due = self.ends[side].as_ref().and_then(Connection::poll_timeout);
            if due.is_some_and(|due| due.at <= self.now) {
                // Whoever does not read at once reads now and then.
                if !self.config.consume_on_arrival {
                    self.read(side);
                }
                self.mutate(side, |end, now| end.handle_timeout(now));
                self.take_events(side, None);
                self.drain(side);
            }
        }
    }

    /// Hands over a segment now.
    pub fn arrive(&mut self, flight: Flight) {
        let side = flight.to;
        if self.ends[side].is_none() {
            let locals: Vec<IpAddr> = (0..self.paths.len()).map(server).collect();
            let random = self.server_random.clone();
            let accepted =
                Connection::accept(self.server_config.clone(), &locals, &flight.segment, random, self.now);
            let Ok(mut accepted) = accepted else { return };
            accepted.write(self.written[side]);
            if self.closing[side] {
                accepted.close(self.now);
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
        self.take_events(side, None);
    }
}
