//! One host's DSDV: what it is made of, and what reaches it.
use crate::config::DsdvConfig;
use crate::queue::Queue;
use crate::table::RouteTable;
use crate::update::DsdvHeader;
use core::net::Ipv4Addr;
use prismux_endpoint::random::RandomStream;
use prismux_endpoint::{Deadline, Endpoint};
use prismux_routing::{Frame, Input, Outbox, Packet, RoutingEndpoint, RoutingEvent, Statistics};
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// One host's DSDV.
#[derive(Debug, Clone)]
pub struct Dsdv<P> {
    pub(crate) address: Ipv4Addr,
    pub(crate) config: DsdvConfig,
    random: RandomStream,
    pub(crate) table: RouteTable,
    /// The host's own sequence number, always even.
    pub(crate) seq: SeqNumber,
    /// When the next full update is due.
    pub(crate) next_full_update: Instant,
    /// When an update of whatever kind last left.
    pub(crate) last_update: Option<Instant>,
    pub(crate) queue: Queue<Packet<DsdvHeader, P>>,
    pub(crate) outbox: Outbox<DsdvHeader, P>,
}

impl<P> Dsdv<P> {
    /// A host with this address that knows nobody and starts at `now`. Jitters are drawn from `random`.
    pub fn new(now: Instant, address: Ipv4Addr, config: DsdvConfig, random: RandomStream) -> Self {
        let mut dsdv = Self {
            address,
            config,
            random,
            table: RouteTable::default(),
            seq: SeqNumber(0),
            next_full_update: now,
            last_update: None,
            queue: Queue::new(config.queue_packets),
            outbox: Outbox::default(),
        };
        dsdv.next_full_update = now + dsdv.jitter(config.startup_jitter);
        dsdv
    }

    /// Begins with this number of its own, made even: behind those that it had before it was started again.
    #[must_use]
    pub fn with_sequence_number(mut self, seq: SeqNumber) -> Self {
        self.seq = SeqNumber(seq.0 & !1);
        self
    }

    /// The next hop to `destination`, if it is in reach.
    pub fn next_hop(&self, destination: Ipv4Addr) -> Option<Ipv4Addr> {
        self.table.get(destination).filter(|route| route.is_reachable()).map(|route| route.next_hop)
    }

    /// Hops to `destination`, if it is in reach.
    pub fn metric(&self, destination: Ipv4Addr) -> Option<u32> {
        self.table.get(destination).filter(|route| route.is_reachable()).map(|route| route.metric)
    }

    /// Destinations in the table, in reach or not.
    pub fn table_entries(&self) -> usize {
        self.table.len()
    }

    /// A random duration below `longest`.
    pub(crate) fn jitter(&mut self, longest: Duration) -> Duration {
        Duration::from_nanos(self.random.below(longest.as_nanos()))
    }
}

impl<P: 'static> Endpoint for Dsdv<P> {
    type Input<'a> = Input<'a, DsdvHeader, P>;
    type Transmit = Frame<DsdvHeader, P>;
    type Event = RoutingEvent<P>;

    fn handle_input(&mut self, now: Instant, input: Self::Input<'_>) {
        match input {
            Input::Send { destination, payload } => self.originate(destination, payload),
            Input::Received { from, packet } => match packet.header {
                DsdvHeader::Update(ref entries) => self.learn(now, from, entries),
                DsdvHeader::Data => self.take_data(packet),
            },
            Input::Overheard { .. } => {}
            Input::LinkFailure { neighbour, packet } => self.link_failed(now, neighbour, packet),
            Input::Flushed { packet, .. } => self.send_again(packet),
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.outbox.release(now);
        self.notice_silence(now);
        self.advertise(now);
    }

    fn poll_transmit(&mut self, _now: Instant) -> Option<Self::Transmit> {
        self.outbox.poll_frame()
    }

    fn poll_event(&mut self) -> Option<Self::Event> {
        self.outbox.poll_event()
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let silence = self.table.iter().filter_map(|(_, route)| route.silent_at).min();
        let timers = [
            (self.outbox.deadline(), "jitter"),
            (Some(self.next_full_update), "full-update"),
            (self.next_triggered_update(), "triggered-update"),
            (silence, "silent-neighbour"),
        ];
        let due = timers.into_iter().filter_map(|(at, why)| at.map(|at| Deadline { at, why }));
        due.min_by_key(|deadline| deadline.at)
    }
}

impl<P: 'static> RoutingEndpoint<P> for Dsdv<P> {
    type Header = DsdvHeader;

    fn address(&self) -> Ipv4Addr {
        self.address
    }

    fn statistics(&self) -> &Statistics {
        &self.outbox.statistics
    }

    fn buffered_packets(&self) -> usize {
        self.queue.len() + self.outbox.buffered_packets()
    }
}
