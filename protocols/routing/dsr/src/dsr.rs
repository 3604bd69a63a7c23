//! One host's DSR: what it is made of, and what reaches it.
use crate::cache::RouteCache;
use crate::config::{DsrConfig, Lengths};
use crate::constants::{SEND_BUFFER_SIZE, SEND_BUFFER_TIMEOUT};
use crate::flow::FlowTable;
use crate::gratuitous::Gratuitous;
use crate::header::{self, DsrHeader, FlowHeader, RouteError};
use crate::overheard::Overheard;
use crate::request_table::RequestTable;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_endpoint::random::RandomStream;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_routing::{
    DATA_HOP_LIMIT, DropReason, Frame, Header, Input, NextHop, Outbox, Packet, RoutingEndpoint, RoutingEvent,
    SendBuffer, Statistics,
};
use prismux_units::{Duration, Instant};

/// One host's DSR.
#[derive(Debug, Clone)]
pub struct Dsr<P> {
    pub(crate) address: Ipv4Addr,
    pub(crate) config: DsrConfig,
    pub(crate) random: RandomStream,
    pub(crate) cache: RouteCache,
    pub(crate) send_buffer: SendBuffer<Packet<DsrHeader, P>>,
    pub(crate) requests: RequestTable,
    /// When the packets that wait are looked at next, where that is done from time to time.
    pub(crate) next_check: Instant,
    /// Shorter routes that were told of lately.
    pub(crate) gratuitous: Gratuitous,
    /// The number of the last packet of the host's own.
    identification: u16,
    /// Packets that were overheard, where each is looked at once.
    pub(crate) overheard: Overheard,
    pub(crate) flows: FlowTable,
    /// Room for the way of a packet between others, used again.
    pub(crate) room: Vec<Ipv4Addr>,
    /// Neighbours that did not take a route reply, and until when that counts.
    pub(crate) blacklist: BTreeMap<Ipv4Addr, Instant>,
    /// The last route error that was for this host, and when it came.
    pub(crate) held_error: Option<(RouteError, Instant)>,
    /// Addresses that this host answers for beside its own, and whether it takes packets for them now.
    services: BTreeMap<Ipv4Addr, bool>,
    pub(crate) outbox: Outbox<DsrHeader, P>,
}

impl<P> Dsr<P> {
    /// A host with this address that knows no route yet. Jitters are drawn from `random`.
    pub fn new(address: Ipv4Addr, config: DsrConfig, random: RandomStream) -> Self {
        Self {
            address,
            config,
            random,
            cache: RouteCache::new(address, config.cache, config.cache_timeout),
            send_buffer: SendBuffer::new(SEND_BUFFER_SIZE, SEND_BUFFER_TIMEOUT),
            requests: RequestTable::default(),
            next_check: Instant::ZERO,
            gratuitous: Gratuitous::new(config.gratuitous_by_route),
            identification: 0,
            overheard: Overheard::default(),
            flows: FlowTable::default(),
            room: Vec::new(),
            blacklist: BTreeMap::new(),
            held_error: None,
            services: BTreeMap::new(),
            outbox: Outbox::default(),
        }
    }

    /// The host is one of those behind the anycast address `service` (a relay station, a gateway). While
    /// `is_admitting`, it answers route requests for that address; otherwise it leaves the answer to others, and still
    /// takes packets on routes that it has given.
    pub fn serve(&mut self, service: Ipv4Addr, is_admitting: bool) {
        self.services.insert(service, is_admitting);
    }

    /// Paths or links in the route cache.
    pub fn cached_routes(&self) -> usize {
        self.cache.entries()
    }

    /// Entries of all tables: what a flood of forged packets may fill.
    pub fn table_entries(&self) -> usize {
        self.cache.entries()
            + self.requests.entries()
            + self.gratuitous.len()
            + self.blacklist.len()
            + self.flows.len()
    }

    pub(crate) fn is_own(&self, address: Ipv4Addr) -> bool {
        address == self.address || self.services.contains_key(&address)
    }

    /// Whether a request for `target` is this host's to answer.
    pub(crate) fn answers_for(&self, target: Ipv4Addr) -> bool {
        target == self.address || self.services.get(&target).is_some_and(|&is_admitting| is_admitting)
    }

    /// A number for a new packet of the host's own.
    pub(crate) fn next_identification(&mut self) -> u16 {
        self.identification = self.identification.wrapping_add(1);
        self.identification
    }

    /// A random duration below `longest`.
    pub(crate) fn jitter(&mut self, longest: Duration) -> Duration {
        Duration::from_nanos(self.random.below(longest.as_nanos()))
    }

    fn originate(&mut self, now: Instant, destination: Ipv4Addr, payload: P) {
        self.outbox.statistics.originated_packets += 1;
        if self.is_own(destination) {
            return self.outbox.deliver(self.address, 0, payload);
        }
        let packet = Packet {
            source: self.address,
            destination,
            identification: self.next_identification(),
            hop_limit: DATA_HOP_LIMIT,
            header: DsrHeader::default(),
            payload: Some(payload),
        };
        if destination == Ipv4Addr::BROADCAST {
            return self.outbox.send(NextHop::Broadcast, packet);
        }
        self.route_or_wait(now, packet);
    }

    fn receive(&mut self, now: Instant, from: Ipv4Addr, packet: Packet<DsrHeader, P>) {
        if packet.header.route_request().is_some() {
            self.take_request(now, from, &packet);
        } else if packet.header.source_route().is_some() {
            self.take_routed(now, from, packet);
        } else if packet.destination == Ipv4Addr::BROADCAST || self.is_own(packet.destination) {
            // Over one hop no source route is needed.
            self.consume(now, packet);
        } else if packet.header.flow != FlowHeader::None && self.config.flow_state {
            self.take_flow(now, packet);
        } else {
            self.refuse(packet, DropReason::BadRoute);
        }
    }

    /// Drops a packet that no honest neighbour sends.
    pub(crate) fn refuse(&mut self, packet: Packet<DsrHeader, P>, reason: DropReason) {
        self.outbox.statistics.refused_packets += 1;
        self.outbox.discard(packet, reason);
    }
}

impl<P: 'static> Endpoint for Dsr<P> {
    type Input<'a> = Input<'a, DsrHeader, P>;
    type Transmit = Frame<DsrHeader, P>;
    type Event = RoutingEvent<P>;

    fn handle_input(&mut self, now: Instant, input: Self::Input<'_>) {
        match input {
            Input::Send { destination, payload } => self.originate(now, destination, payload),
            Input::Received { from, packet } => self.receive(now, from, packet),
            Input::Overheard { from, packet, .. } => self.overhear(now, from, packet),
            Input::LinkFailure { neighbour, packet } => self.link_failed(now, neighbour, packet),
            Input::Flushed { neighbour, packet } => self.rescue(now, neighbour, packet),
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.outbox.release(now);
        if self.next_look().is_some_and(|at| at <= now) {
            self.look_at_buffer(now);
        }
    }

    fn poll_transmit(&mut self, _now: Instant) -> Option<Self::Transmit> {
        self.outbox.poll_frame()
    }

    fn poll_event(&mut self) -> Option<Self::Event> {
        self.outbox.poll_event()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let deadline = |at: Option<Instant>, why| at.map(|at| Deadline { at, why });
        Deadline::earliest(
            deadline(self.outbox.deadline(), "jitter"),
            deadline(self.next_look(), "send-buffer"),
        )
    }
}

impl<P: 'static> RoutingEndpoint<P> for Dsr<P> {
    type Header = DsrHeader;

    fn address(&self) -> Ipv4Addr {
        self.address
    }

    fn statistics(&self) -> &Statistics {
        &self.outbox.statistics
    }

    fn header_bytes(&self, packet: &Packet<DsrHeader, P>) -> usize {
        match self.config.lengths {
            Lengths::Wire => packet.header.wire_bytes(),
            Lengths::Ns2 => header::ns2::header_bytes(&packet.header, packet.payload.is_some()),
        }
    }

    fn buffered_packets(&self) -> usize {
        self.send_buffer.count(|packet| packet.payload.is_some()) + self.outbox.buffered_packets()
    }
}
