//! Hosts with their routing protocols on one air: packets in, packets out, time as an argument.
use super::carriage::{Carriage, Output, Payload};
use super::frames::Frames;
use super::telling::Begun;
use prismux_endpoint::expire;
use prismux_routing::{Input, NextHop, Packet, RoutingEndpoint, RoutingEvent};
use prismux_units::Instant;
use prismux_wireless::{Air, AirEvent, HostId, HostStats, Outgoing, Priority};
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

/// The IP header of a message of a routing protocol.
const IP_HEADER_BYTES: u32 = 20;

/// The hosts that route on an air, in the order of their numbers.
pub(super) struct Hosts<R: RoutingEndpoint<P>, P> {
    pub(super) air: Air<u32>,
    routing: Vec<R>,
    /// Those by which each of them sends, one at least.
    radios: Vec<Vec<HostId>>,
    /// By radio: the host that it belongs to.
    owners: BTreeMap<HostId, HostId>,
    numbers: BTreeMap<Ipv4Addr, HostId>,
    /// Whether packets for a neighbour that no longer answers are taken back.
    takes_back: bool,
    /// When each host's routing protocol has something to do.
    deadlines: Vec<Instant>,
    queue_drops: Vec<u64>,
    /// Changes of channel that are to come, in order: when, of which radio, and to which channel.
    tunings: VecDeque<(Instant, HostId, u8)>,
    /// Packets for neighbours without a common channel.
    without_channel: Vec<u64>,
    frames: Frames<Packet<R::Header, P>>,
    delivered: VecDeque<(Instant, HostId, P)>,
    /// Frames that have begun, on an air that reports them.
    begun: VecDeque<Begun>,
}

impl<R: RoutingEndpoint<P>, P: Payload> Hosts<R, P> {
    /// Hosts that run these routing protocols over these radios of the air; whether they take packets for a neighbour
    /// back that no longer answers.
    pub fn new(air: Air<u32>, hosts: Vec<(R, Vec<HostId>)>, takes_back: bool) -> Self {
        let (routing, radios): (Vec<R>, Vec<Vec<HostId>>) = hosts.into_iter().unzip();
        let numbers = (0..).zip(&routing).map(|(number, host)| (host.address(), HostId(number))).collect();
        let owners =
            (0..).zip(&radios).flat_map(|(number, own)| own.iter().map(move |radio| (*radio, number)));
        let mut hosts = Self {
            air,
            deadlines: vec![Instant::MAX; routing.len()],
            queue_drops: vec![0; routing.len()],
            owners: owners.map(|(radio, number)| (radio, HostId(number))).collect(),
            radios,
            tunings: VecDeque::new(),
            without_channel: vec![0; routing.len()],
            routing,
            numbers,
            takes_back,
            frames: Frames::default(),
            delivered: VecDeque::new(),
            begun: VecDeque::new(),
        };
        for host in 0..hosts.routing.len() {
            hosts.drain(Instant::ZERO, host);
        }
        hosts
    }

    /// Lets radios change their channels at these instants, which are in order.
    pub fn with_tunings(mut self, tunings: Vec<(Instant, HostId, u8)>) -> Self {
        self.tunings = tunings.into();
        self
    }

    /// One thing happens to a host's routing protocol, and what follows from it is done.
    pub fn act(&mut self, now: Instant, host: HostId, input: Input<'_, R::Header, P>) {
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

    /// The host that a radio belongs to, if anybody routes by it.
    pub fn owner(&self, radio: HostId) -> Option<HostId> {
        self.owners.get(&radio).copied()
    }

    /// The radios of a host.
    pub fn radios_of(&self, host: HostId) -> &[HostId] {
        &self.radios[host.0 as usize]
    }

    /// The radios by which one host reaches another: the sender's first that is on a channel of the other's.
    pub fn between(&self, from: HostId, to: HostId) -> Option<[HostId; 2]> {
        let others = self.radios_of(to);
        let pairs =
            self.radios_of(from).iter().flat_map(|own| others.iter().map(move |other| [*own, *other]));
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
            let ends = [frame.packet.source, frame.packet.destination];
            let (bytes, priority) = match &frame.packet.payload {
                Some(payload) => {
                    (payload.bytes() + payload.tunnel_bytes(ends) + header_bytes, payload.priority())
                }
                None => (IP_HEADER_BYTES + header_bytes, Priority::Routing),
            };
            let host = HostId(index as u32);
            match frame.next_hop {
                // One copy on each of its channels, which count as one where none has room.
                NextHop::Broadcast => {
                    let radios = self.radios_of(host).to_vec();
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
                    let firsts = || [host, neighbour].map(|host| self.radios_of(host)[0]);
                    let [own, other] = pair.unwrap_or_else(firsts);
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

    /// The air tells something of a radio by which somebody routes.
    pub fn handle_event(&mut self, now: Instant, event: AirEvent<u32>) {
        match event {
            AirEvent::Received { host, from, payload, .. } => {
                let [Some(host), Some(from)] = [host, from].map(|radio| self.owner(radio)) else { return };
                if let Some(packet) = self.frames.get(payload).cloned() {
                    let from = self.routing[from.0 as usize].address();
                    self.act(now, host, Input::Received { from, packet });
                }
            }
            AirEvent::Overheard { host, from, to, payload } => {
                let [Some(host), Some(from), Some(to)] = [host, from, to].map(|radio| self.owner(radio))
                else {
                    return;
                };
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
                if let Some(host) = self.owner(host) {
                    self.queue_drops[host.0 as usize] += 1;
                }
            }
            AirEvent::OnAir { at, frame, .. } => {
                let ports = frame.payload.and_then(|payload| self.ports_of(payload));
                self.begun.push_back(Begun::new(at, &frame, ports));
            }
            AirEvent::Missed { .. } => {}
        }
    }

    /// The ports of the packet in a frame.
    pub fn ports_of(&self, payload: u32) -> Option<[u16; 2]> {
        self.frames.get(payload)?.payload.as_ref()?.ports()
    }

    /// A neighbour no longer answers: its packet comes back, then those that wait for it.
    fn fail(&mut self, now: Instant, radio: HostId, next_hop: HostId, payload: u32) {
        let waiting = if self.takes_back { self.air.withdraw(radio, next_hop) } else { Vec::new() };
        let [Some(host), Some(next_hop)] = [radio, next_hop].map(|radio| self.owner(radio)) else { return };
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

    /// When a routing protocol has something to do.
    pub fn next_of_routing(&self) -> Option<Instant> {
        self.deadlines.iter().copied().min().filter(|at| *at != Instant::MAX)
    }

    /// Timers of routing protocols ring that are due.
    pub fn expire(&mut self, now: Instant) {
        for host in 0..self.routing.len() {
            if self.deadlines[host] <= now {
                expire(&mut self.routing[host], now);
                self.drain(now, host);
            }
        }
    }

    /// What has come for a host, and when.
    pub fn poll_delivered(&mut self) -> Option<(Instant, HostId, P)> {
        self.delivered.pop_front()
    }

    /// What the radios of a host have done.
    pub fn stats(&self, now: Instant, host: HostId) -> HostStats {
        let mut radios = self.radios_of(host).iter().map(|radio| self.air.stats(now, *radio));
        let mut stats = radios.next().unwrap_or_default();
        radios.for_each(|one| stats += one);
        stats
    }

    /// What a host's routing has counted, by name.
    pub fn columns(&self, host: HostId) -> Vec<(&'static str, u64)> {
        let index = host.0 as usize;
        let mut columns = self.routing[index].statistics().columns().to_vec();
        columns.push(("interface_queue_drops", self.queue_drops[index]));
        let without = self.without_channel[index];
        columns.extend((without > 0).then_some(("packets_without_channel", without)));
        columns
    }
}

/// Where all on an air route, its hosts have the numbers of their first radios.
impl<R: RoutingEndpoint<P>, P: Payload> Carriage<P> for Hosts<R, P> {
    fn send(&mut self, now: Instant, host: HostId, destination: Ipv4Addr, payload: P) {
        self.run_until(now);
        if self.numbers.contains_key(&destination) {
            self.act(now, host, Input::Send { destination, payload });
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        let tuning = self.tunings.front().map(|(at, ..)| *at);
        [self.air.next_timeout(), self.next_of_routing(), tuning].into_iter().flatten().min()
    }

    fn run_until(&mut self, now: Instant) {
        while let Some(at) = self.next_timeout().filter(|at| *at <= now) {
            while let Some((_, radio, channel)) = self.tunings.front().copied().filter(|(due, ..)| *due <= at)
            {
                self.tunings.pop_front();
                self.air.tune(at, radio, Some(channel));
            }
            self.air.handle_timeout(at);
            while let Some(event) = self.air.poll_event() {
                self.handle_event(at, event);
            }
            self.expire(at);
        }
    }

    fn poll_output(&mut self) -> Option<Output<P>> {
        if let Some(begun) = self.begun.pop_front() {
            return Some(Output::OnAir(begun));
        }
        let (at, host, payload) = self.poll_delivered()?;
        Some(Output::Packet(at, host, payload))
    }

    fn air(&mut self) -> &mut Air<u32> {
        &mut self.air
    }

    fn counters(&self, now: Instant, host: HostId, counts_energy: bool) -> Vec<(&'static str, u64)> {
        let mut counters = self.stats(now, host).columns(counts_energy);
        counters.extend(self.columns(host));
        counters
    }
}
