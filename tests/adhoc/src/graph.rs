//! Hosts that move on a square, with links between those that are near.
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_routing::{Frame, Input, NextHop, RoutingEndpoint, RoutingEvent};
use prismux_units::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

/// How a graph behaves.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Hosts, at most 250.
    pub hosts: u8,
    /// How far a frame reaches; the square's side is 1.
    pub range: f64,
    /// How far a host moves in a second, at most.
    pub speed: f64,
    /// The share of frames that do not arrive within reach.
    pub loss: f64,
    /// The share of frames to one neighbour that arrive although their sender hears otherwise.
    pub lost_acks: f64,
    /// The longest delay of a frame: frames overtake one another.
    pub max_delay: Duration,
    /// Whether hosts hear frames between others.
    pub promiscuous: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            hosts: 12,
            range: 0.4,
            speed: 0.0,
            loss: 0.0,
            lost_acks: 0.0,
            max_delay: Duration::from_millis(2),
            promiscuous: true,
        }
    }
}

/// How long a sender takes to find out that a neighbour is gone.
const FAILURE_DELAY: Duration = Duration::from_millis(10);
/// How often hosts move.
const MOVE_INTERVAL: Duration = Duration::from_millis(200);

enum Happening<H> {
    Arrival { to: usize, from: usize, frame: Frame<H, u32> },
    Overheard { by: usize, from: usize, frame: Frame<H, u32> },
    Failure { at: usize, frame: Frame<H, u32> },
    Wake { host: usize },
    Move,
}

/// What became of the packets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// Packets that were handed to a host.
    pub sent: BTreeSet<u32>,
    /// Packets that arrived, each counted once.
    pub delivered: BTreeSet<u32>,
    /// Packets that were dropped somewhere.
    pub dropped: BTreeSet<u32>,
    /// Hops of the packets that arrived, and how many arrived, copies included.
    pub hops: (u64, u64),
}

/// A network of hosts that run `R`.
pub struct Graph<R: RoutingEndpoint<u32>> {
    /// The hosts in the order of their addresses, from 10.0.0.1.
    pub hosts: Vec<R>,
    /// What became of the packets.
    pub account: Account,
    seed: u64,
    positions: Vec<(f64, f64)>,
    settings: Settings,
    happenings: BTreeMap<(Instant, u64), Happening<R::Header>>,
    next_number: u64,
    /// Payloads inside frames that are under way.
    random: RandomStream,
    now: Instant,
    /// Called with every frame that leaves.
    watch: fn(&Frame<R::Header, u32>),
}

impl<R: RoutingEndpoint<u32>> Graph<R> {
    /// Hosts at random places. `make` makes the protocol of each.
    pub fn new(seed: u64, settings: Settings, mut make: impl FnMut(Ipv4Addr, RandomStream) -> R) -> Self {
        let mut random = Seed(seed).stream("graph");
        let address = |index: u8| Ipv4Addr::new(10, 0, 0, index + 1);
        let stream = |index: u8| Seed(seed).stream(&format!("host/{index}"));
        let hosts = (0..settings.hosts).map(|index| make(address(index), stream(index))).collect();
        let positions = (0..settings.hosts).map(|_| (random.uniform(), random.uniform())).collect();
        let mut graph = Self {
            hosts,
            account: Account::default(),
            seed,
            positions,
            settings,
            happenings: BTreeMap::new(),
            next_number: 0,
            random,
            now: Instant::ZERO,
            watch: |_| {},
        };
        graph.schedule(Duration::ZERO, Happening::Move);
        for host in 0..graph.hosts.len() {
            graph.drain(host);
        }
        graph
    }

    /// `watch` sees every frame that leaves.
    pub fn watch_frames(&mut self, watch: fn(&Frame<R::Header, u32>)) {
        self.watch = watch;
    }

    /// Puts every host where `place` says.
    pub fn place(&mut self, place: impl Fn(usize) -> (f64, f64)) {
        self.positions = (0..self.hosts.len()).map(place).collect();
    }

    /// Moves one host.
    pub fn move_host(&mut self, host: usize, place: (f64, f64)) {
        self.positions[host] = place;
    }

    /// The time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Hands a packet to a host.
    pub fn send(&mut self, from: usize, to: usize, payload: u32) {
        let destination = self.hosts[to].address();
        self.account.sent.insert(payload);
        self.hosts[from].handle_input(self.now, Input::Send { destination, payload });
        self.drain(from);
    }

    /// Lets time pass until `end`.
    pub fn run_until(&mut self, end: Instant) {
        while let Some(entry) = self.happenings.first_entry().filter(|entry| entry.key().0 <= end) {
            self.now = entry.key().0;
            let happening = entry.remove();
            self.happen(happening);
        }
        self.now = end;
    }

    /// Holds that whoever follows next hops to a destination never comes to the same host twice.
    ///
    /// # Panics
    /// With the seed, the destination and the time of a loop.
    pub fn assert_no_loops(&self, next_hop: impl Fn(&R, Ipv4Addr) -> Option<Ipv4Addr>) {
        let number = |address: Ipv4Addr| usize::from(address.octets()[3]) - 1;
        for destination in 0..self.hosts.len() {
            let target = self.hosts[destination].address();
            for start in 0..self.hosts.len() {
                let (mut host, mut hops) = (start, 0);
                while let Some(next) = next_hop(&self.hosts[host], target).filter(|_| host != destination) {
                    host = number(next);
                    hops += 1;
                    let (seed, now) = (self.seed, self.now);
                    assert!(hops <= self.hosts.len(), "seed {seed}: a loop to {target} at {now:?}");
                }
            }
        }
    }

    /// Whether there is a way from one host to another now.
    pub fn connects(&self, from: usize, to: usize) -> bool {
        self.distance(from, to).is_some()
    }

    /// Hops of the shortest way from one host to another now.
    pub fn distance(&self, from: usize, to: usize) -> Option<usize> {
        let (mut reached, mut hops) = (BTreeSet::from([from]), 0);
        while !reached.contains(&to) {
            let next: BTreeSet<usize> = (0..self.hosts.len())
                .filter(|&host| reached.iter().any(|&other| self.is_near(host, other)))
                .collect();
            if next.len() == reached.len() {
                return None;
            }
            reached = next;
            hops += 1;
        }
        Some(hops)
    }

    /// Packets that are in frames under way.
    pub fn under_way(&self) -> BTreeSet<u32> {
        let payload = |happening: &Happening<R::Header>| match happening {
            Happening::Arrival { frame, .. } | Happening::Failure { frame, .. } => frame.packet.payload,
            _ => None,
        };
        self.happenings.values().filter_map(payload).collect()
    }

    /// Holds that every packet was delivered, dropped with a reason, or is still somewhere.
    ///
    /// # Panics
    /// When one has vanished.
    pub fn assert_nothing_vanished(&self) {
        let under_way = self.under_way();
        let Account { sent, delivered, dropped, .. } = &self.account;
        let accounted = |packet: &&u32| {
            delivered.contains(packet) || dropped.contains(packet) || under_way.contains(packet)
        };
        let elsewhere = sent.iter().filter(|packet| !accounted(packet)).count();
        let buffered: usize = self.hosts.iter().map(RoutingEndpoint::buffered_packets).sum();
        assert!(elsewhere <= buffered, "{elsewhere} packets are nowhere, {buffered} are buffered");
    }

    fn is_near(&self, a: usize, b: usize) -> bool {
        let ((ax, ay), (bx, by)) = (self.positions[a], self.positions[b]);
        let (dx, dy) = (ax - bx, ay - by);
        dx * dx + dy * dy <= self.settings.range * self.settings.range
    }

    fn schedule(&mut self, delay: Duration, happening: Happening<R::Header>) {
        self.happenings.insert((self.now + delay, self.next_number), happening);
        self.next_number += 1;
    }

    fn happen(&mut self, happening: Happening<R::Header>) {
        let now = self.now;
        let host = match happening {
            Happening::Arrival { to, from, frame } => {
                let from = self.hosts[from].address();
                self.hosts[to].handle_input(now, Input::Received { from, packet: frame.packet });
                to
            }
            Happening::Overheard { by, from, frame } => {
                let NextHop::Neighbour(to) = frame.next_hop else { return };
                let from = self.hosts[from].address();
                self.hosts[by].handle_input(now, Input::Overheard { from, to, packet: &frame.packet });
                by
            }
            Happening::Failure { at, frame } => {
                let NextHop::Neighbour(neighbour) = frame.next_hop else { return };
                let packet = frame.packet;
                self.hosts[at].handle_input(now, Input::LinkFailure { neighbour, packet });
                at
            }
            Happening::Wake { host } => {
                if !prismux_endpoint::expire(&mut self.hosts[host], now) {
                    return;
                }
                host
            }
            Happening::Move => return self.move_hosts(),
        };
        self.drain(host);
    }

    fn move_hosts(&mut self) {
        let step = self.settings.speed * MOVE_INTERVAL.as_secs_f64();
        if step > 0.0 {
            for place in &mut self.positions {
                let mut shift = || (self.random.uniform() * 2.0 - 1.0) * step;
                let (dx, dy) = (shift(), shift());
                *place = ((place.0 + dx).clamp(0.0, 1.0), (place.1 + dy).clamp(0.0, 1.0));
            }
            self.schedule(MOVE_INTERVAL, Happening::Move);
        }
    }

    fn drain(&mut self, host: usize) {
        while let Some(frame) = self.hosts[host].poll_transmit(self.now) {
            (self.watch)(&frame);
            self.transmit(host, frame);
        }
        while let Some(event) = self.hosts[host].poll_event() {
            match event {
                RoutingEvent::Delivered { payload, hops, .. } => {
                    self.account.delivered.insert(payload);
                    self.account.hops.0 += u64::from(hops);
                    self.account.hops.1 += 1;
                }
                RoutingEvent::Dropped { payload, .. } => {
                    self.account.dropped.insert(payload);
                }
                _ => {}
            }
        }
        if let Some(deadline) = self.hosts[host].poll_timeout() {
            let delay = deadline.at.saturating_since(self.now);
            self.schedule(delay, Happening::Wake { host });
        }
    }

    fn delay(&mut self) -> Duration {
        Duration::from_nanos(1 + self.random.below(self.settings.max_delay.as_nanos()))
    }

    fn transmit(&mut self, from: usize, frame: Frame<R::Header, u32>) {
        let near: Vec<usize> =
            (0..self.hosts.len()).filter(|&other| other != from && self.is_near(from, other)).collect();
        let is_for = |host: usize| frame.next_hop == NextHop::Neighbour(self.hosts[host].address());
        let to = near.iter().copied().find(|&host| is_for(host));
        let is_broadcast = frame.next_hop == NextHop::Broadcast;
        let mut has_arrived = is_broadcast;
        for &host in &near {
            if self.random.chance(self.settings.loss) {
                continue;
            }
            let (delay, frame) = (self.delay(), frame.clone());
            if is_broadcast || Some(host) == to {
                has_arrived = true;
                self.schedule(delay, Happening::Arrival { to: host, from, frame });
            } else if self.settings.promiscuous {
                self.schedule(delay, Happening::Overheard { by: host, from, frame });
            }
        }
        if !is_broadcast && (!has_arrived || self.random.chance(self.settings.lost_acks)) {
            self.schedule(FAILURE_DELAY, Happening::Failure { at: from, frame });
        }
    }
}
