//! Hosts with their routing protocols on one air: packets in, packets out, time as an argument.
use super::carriage::{Carriage, Output, Payload};
use super::radios::{Arrival, Framed, Radios, Sent};
use super::telling::HostLook;
use crate::packets::Labelled;
use prismux_daemons::route::counters::drop_reason;
use prismux_endpoint::expire;
use prismux_routing::{Input, NextHop, Packet, RoutingEndpoint, RoutingEvent};
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use prismux_wireless::{Air, AirEvent, HostId, Priority};
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

/// The IP header of a message of a routing protocol.
const IP_HEADER_BYTES: u32 = 20;

impl<H: Clone, P: Payload> Framed for Packet<H, P> {
    fn labelled(&self) -> Option<&Labelled> {
        self.payload.as_ref().map(Payload::labelled)
    }
}

/// The hosts that route on an air, in the order of their numbers.
pub(super) struct Hosts<R: RoutingEndpoint<P>, P> {
    pub radios: Radios<Packet<R::Header, P>>,
    routing: Vec<R>,
    numbers: BTreeMap<Ipv4Addr, HostId>,
    /// When each host's routing protocol has something to do.
    deadlines: Vec<Instant>,
    delivered: VecDeque<(Instant, HostId, P)>,
}

impl<R: RoutingEndpoint<P>, P: Payload> Hosts<R, P> {
    /// Hosts that run these routing protocols over these radios of the air; whether they take packets for a neighbour
    /// back that no longer answers.
    pub fn new(air: Air<u32>, hosts: Vec<(R, Vec<HostId>)>, takes_back: bool) -> Self {
        let (routing, radios): (Vec<R>, Vec<Vec<HostId>>) = hosts.into_iter().unzip();
        let numbers = (0..).zip(&routing).map(|(number, host)| (host.address(), HostId(number))).collect();
        let mut hosts = Self {
            radios: Radios::new(air, radios, takes_back),
            deadlines: vec![Instant::MAX; routing.len()],
            routing,
            numbers,
            delivered: VecDeque::new(),
        };
        for host in 0..hosts.routing.len() {
            hosts.drain(Instant::ZERO, host);
        }
        hosts
    }

    /// One thing happens to a host's routing protocol, and what follows from it is done.
    pub fn act(&mut self, now: Instant, host: HostId, input: Input<'_, R::Header, P>) {
        let index = host.0 as usize;
        self.routing[index].handle_input(now, input);
        self.drain(now, index);
    }

    /// Takes from a routing protocol what it has to say.
    fn drain(&mut self, now: Instant, index: usize) {
        let host = HostId(index as u32);
        while let Some(frame) = self.routing[index].poll_transmit(now) {
            let header_bytes = self.routing[index].header_bytes(&frame.packet) as u32;
            let ends = [frame.packet.source, frame.packet.destination];
            let (bytes, priority) = match &frame.packet.payload {
                Some(payload) => {
                    (payload.bytes() + payload.tunnel_bytes(ends) + header_bytes, payload.priority())
                }
                None => (IP_HEADER_BYTES + header_bytes, Priority::Routing),
            };
            let sent = Sent { frame: frame.packet, bytes, priority };
            match frame.next_hop {
                NextHop::Broadcast => self.radios.broadcast(now, host, &sent),
                NextHop::Neighbour(address) => match self.numbers.get(&address) {
                    Some(&neighbour) => self.radios.unicast(now, host, neighbour, sent),
                    // An address of no host: nobody would take it.
                    None => self.tell_dropped(now, host, DropReason::NoRoute, sent.frame.labelled()),
                },
            }
        }
        while let Some(event) = self.routing[index].poll_event() {
            match event {
                RoutingEvent::Delivered { payload, .. } => self.delivered.push_back((now, host, payload)),
                RoutingEvent::Dropped { reason, payload, .. } => {
                    self.tell_dropped(now, host, drop_reason(reason), Some(payload.labelled()));
                }
                _ => {}
            }
        }
        self.deadlines[index] =
            self.routing[index].poll_timeout().map_or(Instant::MAX, |next| next.at.max(now));
    }

    fn tell_dropped(&mut self, now: Instant, host: HostId, reason: DropReason, packet: Option<&Labelled>) {
        let own = self.radios.of(host)[0];
        self.radios.tell_dropped(now, own, reason, packet);
    }

    /// The air tells something of a radio by which somebody routes.
    pub fn handle_event(&mut self, now: Instant, event: AirEvent<u32>) {
        match self.radios.handle_event(now, event) {
            Some(Arrival::Received { host, from, payload }) => {
                if let Some(packet) = self.radios.frame(payload).cloned() {
                    let from = self.routing[from.0 as usize].address();
                    self.act(now, host, Input::Received { from, packet });
                }
            }
            Some(Arrival::Overheard { host, from, to, payload }) => {
                let [from, to] = [from, to].map(|host| self.routing[host.0 as usize].address());
                let index = host.0 as usize;
                if let Some(packet) = self.radios.frame(payload) {
                    self.routing[index].handle_input(now, Input::Overheard { from, to, packet });
                    self.drain(now, index);
                }
            }
            Some(Arrival::Failed { host, next_hop, payload, waiting }) => {
                let neighbour = self.routing[next_hop.0 as usize].address();
                if let Some(packet) = self.radios.take(payload) {
                    self.act(now, host, Input::LinkFailure { neighbour, packet });
                }
                for payload in waiting {
                    if let Some(packet) = self.radios.take(payload) {
                        self.act(now, host, Input::Flushed { neighbour, packet });
                    }
                }
            }
            None => {}
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

    /// What a host's routing has counted, by name.
    pub fn columns(&self, host: HostId) -> Vec<(&'static str, u64)> {
        let mut columns = self.routing[host.0 as usize].statistics().columns().to_vec();
        columns.extend(self.radios.columns(host));
        columns
    }
}

/// Where all on an air route, its hosts have the numbers of their first radios.
impl<R: RoutingEndpoint<P>, P: Payload> Carriage<P> for Hosts<R, P> {
    fn send(&mut self, now: Instant, host: HostId, destination: Ipv4Addr, payload: P) {
        self.run_until(now);
        match self.numbers.contains_key(&destination) {
            true => self.act(now, host, Input::Send { destination, payload }),
            false => self.tell_dropped(now, host, DropReason::NoRoute, Some(payload.labelled())),
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        [self.radios.next_timeout(), self.next_of_routing()].into_iter().flatten().min()
    }

    fn run_until(&mut self, now: Instant) {
        while let Some(at) = self.next_timeout().filter(|at| *at <= now) {
            self.radios.handle_timeout(at);
            while let Some(event) = self.radios.air.poll_event() {
                self.handle_event(at, event);
            }
            self.expire(at);
        }
    }

    fn poll_output(&mut self) -> Option<Output<P>> {
        if let Some(told) = self.radios.poll_told() {
            return Some(Output::Told(told));
        }
        let (at, host, payload) = self.poll_delivered()?;
        Some(Output::Packet(at, host, payload))
    }

    fn look(&mut self, now: Instant, radios: &[HostId]) -> HostLook {
        HostLook::on(&mut self.radios.air, now, radios)
    }

    fn counters(&self, now: Instant, host: HostId, counts_energy: bool) -> Vec<(&'static str, u64)> {
        let mut counters = self.radios.stats(now, host).columns(counts_energy);
        counters.extend(self.columns(host));
        counters
    }
}
