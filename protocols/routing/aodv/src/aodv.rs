//! One host's AODV: what it is made of, and what reaches it.
use crate::config::AodvConfig;
use crate::discovery::Search;
use crate::hello::Neighbours;
use crate::limit::RateLimit;
use crate::message::AodvHeader;
use crate::seen::Seen;
use crate::table::RouteTable;
use alloc::collections::BTreeMap;
use core::net::Ipv4Addr;
use prismux_endpoint::random::RandomStream;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_routing::{
    DropReason, Frame, Input, NextHop, Outbox, Packet, RoutingEndpoint, RoutingEvent, SendBuffer, Statistics,
};
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// One host's AODV.
#[derive(Debug, Clone)]
pub struct Aodv<P> {
    pub(crate) address: Ipv4Addr,
    pub(crate) config: AodvConfig,
    random: RandomStream,
    pub(crate) table: RouteTable,
    pub(crate) seen: Seen,
    /// The host's own sequence number.
    pub(crate) seq: SeqNumber,
    pub(crate) next_request_id: u32,
    pub(crate) searches: BTreeMap<Ipv4Addr, Search>,
    pub(crate) buffer: SendBuffer<Packet<AodvHeader, P>>,
    pub(crate) request_limit: RateLimit,
    pub(crate) error_limit: RateLimit,
    /// Neighbours whose requests are ignored, and until when.
    pub(crate) blacklist: BTreeMap<Ipv4Addr, Instant>,
    /// Neighbours that owe the acknowledgement of a reply, and until when they have time.
    pub(crate) awaited_acks: BTreeMap<Ipv4Addr, Instant>,
    pub(crate) neighbours: Neighbours,
    pub(crate) outbox: Outbox<AodvHeader, P>,
}

impl<P> Aodv<P> {
    /// A host with this address that knows no route yet. Jitters are drawn from `random`.
    pub fn new(address: Ipv4Addr, config: AodvConfig, random: RandomStream) -> Self {
        Self {
            address,
            config,
            random,
            table: RouteTable::new(address, config.delete_period),
            seen: Seen::default(),
            seq: SeqNumber(0),
            next_request_id: 0,
            searches: BTreeMap::new(),
            buffer: SendBuffer::new(config.buffer_packets, config.buffer_timeout),
            request_limit: RateLimit::new(config.rreq_rate_limit),
            error_limit: RateLimit::new(config.rerr_rate_limit),
            blacklist: BTreeMap::new(),
            awaited_acks: BTreeMap::new(),
            neighbours: Neighbours::new(config.hello),
            outbox: Outbox::default(),
        }
    }

    /// Begins with this number of its own: behind those that it had before it was started again (RFC 3561 section 6.1).
    #[must_use]
    pub fn with_sequence_number(mut self, seq: SeqNumber) -> Self {
        self.seq = seq;
        self
    }

    /// The next hop to `destination`, if a route is valid.
    pub fn next_hop(&self, now: Instant, destination: Ipv4Addr) -> Option<Ipv4Addr> {
        self.table.next_hop(now, destination)
    }

    /// Entries of all tables: what a flood of forged packets may fill.
    pub fn table_entries(&self) -> usize {
        let lists = self.blacklist.len() + self.awaited_acks.len() + self.neighbours.len();
        self.table.len() + self.seen.len() + self.searches.len() + lists
    }

    /// Sends a message to every neighbour, after a jitter unless it is urgent.
    pub(crate) fn broadcast(&mut self, now: Instant, hop_limit: u8, header: AodvHeader) {
        let jitter = Duration::from_nanos(self.random.below(self.config.broadcast_jitter.as_nanos()));
        let packet = self.message(Ipv4Addr::BROADCAST, hop_limit, header);
        self.neighbours.broadcast_at(now);
        self.outbox.send_at(now + jitter, NextHop::Broadcast, packet);
    }

    /// Sends a message to one neighbour.
    pub(crate) fn unicast(&mut self, neighbour: Ipv4Addr, header: AodvHeader) {
        let packet = self.message(neighbour, 1, header);
        self.outbox.send(NextHop::Neighbour(neighbour), packet);
    }

    fn message(&self, destination: Ipv4Addr, hop_limit: u8, header: AodvHeader) -> Packet<AodvHeader, P> {
        Packet { source: self.address, destination, identification: 0, hop_limit, header, payload: None }
    }

    fn receive(&mut self, now: Instant, from: Ipv4Addr, packet: Packet<AodvHeader, P>) {
        match packet.header {
            AodvHeader::Data => self.take_data(now, from, packet),
            AodvHeader::Rreq(request) => self.take_request(now, from, packet.hop_limit, request),
            AodvHeader::Rrep(reply) if reply.is_hello(from, packet.destination) => {
                self.take_hello(now, from, &reply);
            }
            AodvHeader::Rrep(reply) => self.take_reply(now, from, reply),
            AodvHeader::Rerr(ref error) => self.take_error(now, from, error),
            AodvHeader::RrepAck => {
                self.awaited_acks.remove(&from);
            }
        }
    }
}

impl<P: 'static> Endpoint for Aodv<P> {
    type Input<'a> = Input<'a, AodvHeader, P>;
    type Transmit = Frame<AodvHeader, P>;
    type Event = RoutingEvent<P>;

    fn handle_input(&mut self, now: Instant, input: Self::Input<'_>) {
        match input {
            Input::Send { destination, payload } => self.originate(now, destination, payload),
            Input::Received { from, packet } => self.receive(now, from, packet),
            Input::Overheard { .. } => {}
            Input::LinkFailure { neighbour, packet } => self.link_failed(now, neighbour, packet),
            Input::Flushed { packet, .. } => self.flushed(now, packet),
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.outbox.release(now);
        for packet in self.buffer.take_expired(now) {
            self.outbox.discard(packet, DropReason::BufferTimeout);
        }
        self.continue_searches(now);
        self.note_missing_acks(now);
        self.watch_neighbours(now);
    }

    fn poll_transmit(&mut self, _now: Instant) -> Option<Self::Transmit> {
        self.outbox.poll_frame()
    }

    fn poll_event(&mut self) -> Option<Self::Event> {
        self.outbox.poll_event()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let timers = [
            (self.outbox.deadline(), "jitter"),
            (self.buffer.deadline(), "send-buffer"),
            (self.searches.values().map(|search| search.next).min(), "route-request"),
            (self.awaited_acks.values().copied().min(), "reply-acknowledgement"),
            (self.neighbours.deadline(), "hello"),
        ];
        let due = timers.into_iter().filter_map(|(at, why)| at.map(|at| Deadline { at, why }));
        due.min_by_key(|deadline| deadline.at)
    }
}

impl<P: 'static> RoutingEndpoint<P> for Aodv<P> {
    type Header = AodvHeader;

    fn address(&self) -> Ipv4Addr {
        self.address
    }

    fn statistics(&self) -> &Statistics {
        &self.outbox.statistics
    }

    fn buffered_packets(&self) -> usize {
        self.buffer.len() + self.outbox.buffered_packets()
    }
}
