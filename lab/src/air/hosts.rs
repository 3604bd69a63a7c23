//! Hosts with their routing protocols on one air: packets in, packets out, time as an argument.
use super::carriage::{Carriage, Output, Payload};
use super::frames::Frames;
use prismux_endpoint::expire;
use prismux_routing::{Input, NextHop, Packet, RoutingEndpoint, RoutingEvent};
use prismux_units::Instant;
use prismux_wireless::{Air, AirEvent, HostId, Outgoing, Priority};
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

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
    /// By number of the radio, behind the first ones of all hosts: whose it is.
    further: Vec<HostId>,
    /// Changes of channel that are to come, in order: when, whose first radio, and to which channel.
    tunings: VecDeque<(Instant, HostId, u8)>,
    /// Packets for neighbours without a common channel.
    without_channel: Vec<u64>,
    frames: Frames<Packet<R::Header, P>>,
    delivered: VecDeque<(Instant, HostId, P)>,
}

impl<R: RoutingEndpoint<P>, P: Payload> Hosts<R, P> {
    /// Hosts that run these routing protocols; whose the `further` radios of the air are; whether hosts take packets
    /// for a neighbour back that no longer answers.
    pub fn new(air: Air<u32>, routing: Vec<R>, further: Vec<HostId>, takes_back: bool) -> Self {
        let numbers = (0..).zip(&routing).map(|(number, host)| (host.address(), HostId(number))).collect();
        let mut hosts = Self {
            air,
            deadlines: vec![Instant::MAX; routing.len()],
            queue_drops: vec![0; routing.len()],
            further,
            tunings: VecDeque::new(),
            without_channel: vec![0; routing.len()],
            routing,
            numbers,
            takes_back,
            frames: Frames::default(),
            delivered: VecDeque::new(),
        };
        for host in 0..hosts.routing.len() {
            hosts.drain(Instant::ZERO, host);
        }
        hosts
    }

    /// Lets hosts change the channels of their first radios at these instants, which are in order.
    pub fn with_tunings(mut self, tunings: Vec<(Instant, HostId, u8)>) -> Self {
        self.tunings = tunings.into();
        self
    }

    fn act(&mut self, now: Instant, host: HostId, input: Input<'_, R::Header, P>) {
        let index = host.0 as usize;
        self.routing[index].handle_input(now, input);
        self.drain(now, index);
    }

    /// Hands a packet to a radio. Says whether it had room.
    fn transmit(&mut self, now: Instant, own: HostId, packet: Outgoing<u32>) -> bool {
        let refused = self.air.send(now, own, packet);
        if let Err(refused) = &refused {
            self.frames.take(refused.payload);
        }
        refused.is_ok()
    }

    /// All radios of a host.
    fn radios_of(&self, host: HostId) -> impl Iterator<Item = HostId> + '_ {
        let numbered = (self.routing.len() as u32..).map(HostId).zip(&self.further);
        std::iter::once(host).chain(numbered.filter(move |(_, own)| **own == host).map(|(radio, _)| radio))
    }

    /// The host that a radio belongs to.
    fn host_of(&self, radio: HostId) -> HostId {
        let further = (radio.0 as usize).checked_sub(self.routing.len());
        further.and_then(|place| self.further.get(place).copied()).unwrap_or(radio)
    }

    /// The radios by which one host reaches another: the sender's first that is on a channel of the other's.
    fn between(&self, from: HostId, to: HostId) -> Option<[HostId; 2]> {
        let pairs = self.radios_of(from).flat_map(|own| self.radios_of(to).map(move |other| [own, other]));
        let on_one = |[own, other]: &[HostId; 2]| {
            let channel = self.air.channel(*own);
            channel.is_some() && channel == self.air.channel(*other)
        };
        pairs.into_iter().find(on_one)
    }

    /// Takes from a routing protocol what it has to say.
    fn drain(&mut self, now: Instant, index: usize) {
        while let Some(frame) = self.routing[index].poll_transmit(now) {
            let header_bytes = self.routing[index].header_bytes(&frame.packet) as u32;
            let (bytes, priority) = match &frame.packet.payload {
                Some(payload) => (payload.bytes() + header_bytes, payload.priority()),
                None => (IP_HEADER_BYTES + header_bytes, Priority::Routing),
            };
            let host = HostId(index as u32);
            match frame.next_hop {
                // One copy on each of its channels, which count as one where none has room.
                NextHop::Broadcast => {
                    let radios: Vec<HostId> = self.radios_of(host).collect();
                    let sent = radios.into_iter().map(|own| {
                        let payload = self.frames.put(frame.packet.clone());
                        self.transmit(now, own, Outgoing { to: None, bytes, priority, payload })
                    });
                    let sent = sent.filter(|sent| *sent).count();
                    self.queue_drops[index] += u64::from(sent == 0);
                }
                NextHop::Neighbour(address) => {
                    // An address of no host: nobody would take it.
                    let Some(&neighbour) = self.numbers.get(&address) else { continue };
                    let pair = self.between(host, neighbour);
                    self.without_channel[index] += u64::from(pair.is_none());
                    let [own, other] = pair.unwrap_or([host, neighbour]);
                    let payload = self.frames.put(frame.packet);
                    let sent =
                        self.transmit(now, own, Outgoing { to: Some(other), bytes, priority, payload });
                    self.queue_drops[index] += u64::from(!sent);
                }
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
                    let [host, from] = [host, from].map(|radio| self.host_of(radio));
                    if let Some(packet) = self.frames.get(payload).cloned() {
                        let from = self.routing[from.0 as usize].address();
                        self.act(now, host, Input::Received { from, packet });
                    }
                }
                AirEvent::Overheard { host, from, to, payload } => {
                    let [host, from, to] = [host, from, to].map(|radio| self.host_of(radio).0 as usize);
                    let [from, to] = [from, to].map(|host| self.routing[host].address());
                    let index = host;
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
                    let host = self.host_of(host);
                    self.queue_drops[host.0 as usize] += 1;
                }
                AirEvent::OnAir { .. } | AirEvent::Missed { .. } => {}
            }
        }
    }

    /// A neighbour no longer answers: its packet comes back, then those that wait for it.
    fn fail(&mut self, now: Instant, radio: HostId, next_hop: HostId, payload: u32) {
        let waiting = if self.takes_back { self.air.withdraw(radio, next_hop) } else { Vec::new() };
        let [host, next_hop] = [radio, next_hop].map(|radio| self.host_of(radio));
        let neighbour = self.routing[next_hop.0 as usize].address();
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

impl<R: RoutingEndpoint<P>, P: Payload> Carriage<P> for Hosts<R, P> {
    fn send(&mut self, now: Instant, host: HostId, destination: Ipv4Addr, payload: P) {
        self.run_until(now);
        if self.numbers.contains_key(&destination) {
            self.act(now, host, Input::Send { destination, payload });
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let routing = self.deadlines.iter().copied().min().filter(|at| *at != Instant::MAX);
        let tuning = self.tunings.front().map(|(at, ..)| *at);
        [self.air.next_timeout(), routing, tuning].into_iter().flatten().min()
    }

    fn run_until(&mut self, now: Instant) {
        while let Some(at) = self.next_timeout().filter(|at| *at <= now) {
            while let Some((_, host, channel)) = self.tunings.front().copied().filter(|(due, ..)| *due <= at)
            {
                self.tunings.pop_front();
                self.air.tune(at, host, Some(channel));
            }
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

    fn poll_output(&mut self) -> Option<Output<P>> {
        let (at, host, payload) = self.delivered.pop_front()?;
        Some(Output::Packet(at, host, payload))
    }

    fn counters(&self, now: Instant, host: HostId, counts_energy: bool) -> Vec<(&'static str, u64)> {
        let index = host.0 as usize;
        let mut radios = self.radios_of(host).map(|radio| self.air.stats(now, radio));
        let mut stats = radios.next().unwrap_or_default();
        radios.for_each(|one| stats += one);
        let mut counters = stats.columns(counts_energy);
        counters.extend(self.routing[index].statistics().columns());
        counters.push(("interface_queue_drops", self.queue_drops[index]));
        let without = self.without_channel[index];
        counters.extend((without > 0).then_some(("packets_without_channel", without)));
        counters
    }
}
