//! Hosts with their routing protocols on one air: packets in, packets out, time as an argument.
use prismux_endpoint::expire;
use prismux_routing::{Input, NextHop, Packet, RoutingEndpoint, RoutingEvent};
use prismux_units::Instant;
use prismux_wireless::{Air, AirEvent, HostId, Outgoing, Priority};
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

/// What hosts carry for the layer above.
pub(super) trait Payload: Clone {
    /// Its length, IP header included.
    fn bytes(&self) -> u32;

    /// Whether it is an acknowledgement of TCP and nothing else.
    fn is_bare_acknowledgement(&self) -> bool;
}

/// The IP header of a message of a routing protocol.
const IP_HEADER_BYTES: u32 = 20;

/// All hosts on an air, in the order of their numbers.
pub(super) struct Hosts<R: RoutingEndpoint<P>, P> {
    air: Air<u32>,
    routing: Vec<R>,
    numbers: BTreeMap<Ipv4Addr, HostId>,
    /// Whether packets for a neighbour that no longer answers are taken back.
    takes_back: bool,
    /// When each host's routing protocol has something to do.
    deadlines: Vec<Instant>,
    queue_drops: Vec<u64>,
    frames: Frames<Packet<R::Header, P>>,
    delivered: VecDeque<(Instant, HostId, P)>,
}

/// Packets that the air knows by number, in places that are used again.
struct Frames<F> {
    places: Vec<Option<F>>,
    free: Vec<u32>,
}

impl<F> Frames<F> {
    fn put(&mut self, frame: F) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = Some(frame);
                place
            }
            None => {
                self.places.push(Some(frame));
                self.places.len() as u32 - 1
            }
        }
    }

    fn get(&self, place: u32) -> Option<&F> {
        self.places.get(place as usize)?.as_ref()
    }

    fn take(&mut self, place: u32) -> Option<F> {
        let frame = self.places.get_mut(place as usize)?.take()?;
        self.free.push(place);
        Some(frame)
    }
}

impl<R: RoutingEndpoint<P>, P: Payload> Hosts<R, P> {
    /// Hosts that run these routing protocols; whether they take packets for a neighbour back that no longer answers.
    pub fn new(air: Air<u32>, routing: Vec<R>, takes_back: bool) -> Self {
        let numbers = (0..).zip(&routing).map(|(number, host)| (host.address(), HostId(number))).collect();
        let mut hosts = Self {
            air,
            deadlines: vec![Instant::MAX; routing.len()],
            queue_drops: vec![0; routing.len()],
            routing,
            numbers,
            takes_back,
            frames: Frames { places: Vec::new(), free: Vec::new() },
            delivered: VecDeque::new(),
        };
        for host in 0..hosts.routing.len() {
            hosts.drain(Instant::ZERO, host);
        }
        hosts
    }

    /// A host's kernel has a packet for `destination`; what is for nobody on this air is gone.
    pub fn send(&mut self, now: Instant, host: HostId, destination: Ipv4Addr, payload: P) {
        self.run_until(now);
        if self.numbers.contains_key(&destination) {
            self.act(now, host, Input::Send { destination, payload });
        }
    }

    /// When something will happen.
    pub fn next_timeout(&self) -> Option<Instant> {
        let routing = self.deadlines.iter().copied().min().filter(|at| *at != Instant::MAX);
        [self.air.next_timeout(), routing].into_iter().flatten().min()
    }

    /// All that is due by `now` happens, each at its time.
    pub fn run_until(&mut self, now: Instant) {
        while let Some(at) = self.next_timeout().filter(|at| *at <= now) {
            self.air.handle_timeout(at);
            self.drain_air(at);
            for host in 0..self.routing.len() {
                if self.deadlines[host] <= at {
                    expire(&mut self.routing[host], at);
                    self.drain(at, host);
                }
            }
        }
    }

    /// A packet for a host's kernel, and when it arrived.
    pub fn poll_delivery(&mut self) -> Option<(Instant, HostId, P)> {
        self.delivered.pop_front()
    }

    /// What a host has done by `now`, under the names of the simulator's results.
    pub fn counters(&self, now: Instant, host: HostId, counts_energy: bool) -> Vec<(&'static str, u64)> {
        let index = host.0 as usize;
        let mut counters = self.air.stats(now, host).columns(counts_energy);
        counters.extend(self.routing[index].statistics().columns());
        counters.push(("interface_queue_drops", self.queue_drops[index]));
        counters
    }

    fn act(&mut self, now: Instant, host: HostId, input: Input<'_, R::Header, P>) {
        let index = host.0 as usize;
        self.routing[index].handle_input(now, input);
        self.drain(now, index);
    }

    /// Takes from a routing protocol what it has to say.
    fn drain(&mut self, now: Instant, index: usize) {
        while let Some(frame) = self.routing[index].poll_transmit(now) {
            let header_bytes = self.routing[index].header_bytes(&frame.packet) as u32;
            let (bytes, priority) = match &frame.packet.payload {
                Some(payload) if payload.is_bare_acknowledgement() => {
                    (payload.bytes() + header_bytes, Priority::Acknowledgement)
                }
                Some(payload) => (payload.bytes() + header_bytes, Priority::Normal),
                None => (IP_HEADER_BYTES + header_bytes, Priority::Routing),
            };
            let to = match frame.next_hop {
                NextHop::Broadcast => None,
                NextHop::Neighbour(address) => match self.numbers.get(&address) {
                    Some(&neighbour) => Some(neighbour),
                    // An address of no host: nobody would take it.
                    None => continue,
                },
            };
            let payload = self.frames.put(frame.packet);
            let outgoing = Outgoing { to, bytes, priority, payload };
            if let Err(refused) = self.air.send(now, HostId(index as u32), outgoing) {
                self.frames.take(refused.payload);
                self.queue_drops[index] += 1;
            }
        }
        while let Some(event) = self.routing[index].poll_event() {
            if let RoutingEvent::Delivered { payload, .. } = event {
                self.delivered.push_back((now, HostId(index as u32), payload));
            }
        }
        self.deadlines[index] =
            self.routing[index].poll_timeout().map_or(Instant::MAX, |next| next.at.max(now));
    }

    fn drain_air(&mut self, now: Instant) {
        while let Some(event) = self.air.poll_event() {
            match event {
                AirEvent::Received { host, from, payload, .. } => {
                    if let Some(packet) = self.frames.get(payload).cloned() {
                        let from = self.routing[from.0 as usize].address();
                        self.act(now, host, Input::Received { from, packet });
                    }
                }
                AirEvent::Overheard { host, from, to, payload } => {
                    let [from, to] = [from, to].map(|host| self.routing[host.0 as usize].address());
                    let index = host.0 as usize;
                    if let Some(packet) = self.frames.get(payload) {
                        self.routing[index].handle_input(now, Input::Overheard { from, to, packet });
                        self.drain(now, index);
                    }
                }
                AirEvent::Sent { payload, .. } => drop(self.frames.take(payload)),
                AirEvent::Failed { host, next_hop, payload } => self.fail(now, host, next_hop, payload),
                AirEvent::PoweredOff { payload, .. } | AirEvent::Unresolved { payload, .. } => {
                    drop(self.frames.take(payload));
                }
                AirEvent::Refused { host, payload } => {
                    self.frames.take(payload);
                    self.queue_drops[host.0 as usize] += 1;
                }
                AirEvent::OnAir { .. } | AirEvent::Missed { .. } => {}
            }
        }
    }

    /// A neighbour no longer answers: its packet comes back, then those that wait for it.
    fn fail(&mut self, now: Instant, host: HostId, next_hop: HostId, payload: u32) {
        let neighbour = self.routing[next_hop.0 as usize].address();
        let waiting = if self.takes_back { self.air.withdraw(host, next_hop) } else { Vec::new() };
        if let Some(packet) = self.frames.take(payload) {
            self.act(now, host, Input::LinkFailure { neighbour, packet });
        }
        for payload in waiting {
            if let Some(packet) = self.frames.take(payload) {
                self.act(now, host, Input::Flushed { neighbour, packet });
            }
        }
    }
}
