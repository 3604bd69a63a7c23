//! The network below the transports: links, the nodes between them, and packets under way.
//!
//! A packet enters by [`Network::inject`] and leaves by [`Network::next_arrival`] (or is dropped and counted). In between it
//! is a handle in the queues of links; each direction of a link has at most one event pending.
use crate::core::event_queue::EventQueue;
use crate::core::ids::{EndpointId, NodeId, PortId};
use crate::core::observer::{Names, Observer};
use crate::core::packet::{Carried, Packet, PacketHandle, PacketPool};
use crate::flows::Site;
use crate::nodes::routing::Routes;
use crate::nodes::{Forwarding, RuleNode};
use prismux_link::{Delivery, Dropped, Link, LinkChange};
use prismux_tcp::SegmentOut;
use prismux_trace::event::{self, Event};
use prismux_units::{Duration, Instant, Rate};
use std::collections::VecDeque;

/// Whom an event is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// A packet arrives at the end of a link, or its schedule changes it.
    Port(PortId),
    /// A timer of an end of a flow.
    Endpoint(EndpointId),
    /// A timer of the node at this place among those with rules of their own.
    Node(u32),
    /// The application of an endpoint wants to go on.
    Application(EndpointId),
    /// The entry with this index of the list of planned events.
    Planned(u32),
    /// Time to sample.
    Sample,
}

/// One direction of a link: an uncontended packet needs the first of its three cache lines.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Port {
    pub link: Link<Carried>,
}

impl Port {
    pub fn new(link: Link<Carried>) -> Self {
        Self { link }
    }
}

/// Where every packet went. Links count their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NetworkCounters {
    /// Packets that endpoints sent.
    pub sent: u64,
    /// Packets handed to endpoints.
    pub delivered: u64,
    /// Damaged packets that a checksum caught.
    pub corrupted: u64,
    /// Packets for which there was no route.
    pub no_route: u64,
    /// Packets that nodes with rules of their own, such as proxies, took in to keep.
    pub taken_by_nodes: u64,
    /// Packets that such nodes gave out again, repairs included.
    pub returned_by_nodes: u64,
    /// Packets that such nodes dropped.
    pub dropped_by_nodes: u64,
}

/// The node that a port leads to, with all that most packets need to know of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub node: NodeId,
    /// Whether it forwards by its table, and its endpoint if it has just one. In one word: there are many ends.
    resident: u32,
}

impl End {
    const PLAIN: u32 = 1 << 31;
    const NOBODY: u32 = Self::PLAIN - 1;

    pub fn new(node: NodeId, plain: bool) -> Self {
        Self { node, resident: Self::NOBODY | if plain { Self::PLAIN } else { 0 } }
    }

    #[inline]
    fn is_plain(self) -> bool {
        self.resident & Self::PLAIN != 0
    }

    /// The node's endpoint, if it is known to have just one, of TCP.
    #[inline]
    pub fn only(self) -> Option<EndpointId> {
        let resident = self.resident & Self::NOBODY;
        (resident != Self::NOBODY).then_some(EndpointId::from_bits(resident))
    }

    pub fn set_only(&mut self, endpoint: EndpointId) {
        self.resident = self.resident & Self::PLAIN | endpoint.to_bits() & Self::NOBODY;
    }
}

/// The network.
#[derive(Debug)]
pub(crate) struct Network {
    pub now: Instant,
    pub queue: EventQueue<Target>,
    pub pool: PacketPool,
    pub ports: Vec<Port>,
    /// By port: when the event of one that is not plain is due; [`Instant::MAX`] for none. Events at other times are
    /// leftovers. The event of a plain one is always that of its next delivery.
    pub armed: Vec<Instant>,
    /// By port: where it leads.
    pub ends: Vec<End>,
    /// By node, further addresses included.
    pub forwarding: Vec<Forwarding>,
    /// Nodes with rules of their own.
    pub rules: Vec<RuleNode>,
    pub routes: Routes,
    /// Further addresses of multi-homed hosts, numbered after the nodes: the host of each.
    pub interfaces: Vec<NodeId>,
    pub counters: NetworkCounters,
    /// Packets that are where they belong without another link to cross.
    pub local: VecDeque<PacketHandle>,
    /// Captures and event logs, where wanted.
    pub observer: Option<Box<Observer>>,
}

const _: () = assert!(size_of::<Port>() == 192, "a port fills three cache lines");

impl Network {
    /// A packet leaves an endpoint on `node`. `exit` is the node's exit towards the destination, if it is a plain
    /// node with a route.
    #[inline]
    pub fn inject(&mut self, node: NodeId, exit: Option<PortId>, packet: Packet) {
        let (size_bytes, towards) = (packet.ip_bytes(), packet.destination);
        let handle = self.pool.insert(packet);
        self.set_out(node, exit, size_bytes, Carried { packet: handle, towards });
    }

    /// [`Network::inject`] of a packet with a TCP segment.
    #[inline]
    pub fn inject_segment(&mut self, site: &Site, segment: &SegmentOut) {
        let (packet, size_bytes) = self.pool.insert_segment(site, segment);
        self.set_out(site.node, site.exit, size_bytes, Carried { packet, towards: site.peer_node });
    }

    #[inline]
    fn set_out(&mut self, node: NodeId, exit: Option<PortId>, size_bytes: u32, carried: Carried) {
        self.counters.sent += 1;
        match exit {
            Some(port) => self.send(port, size_bytes, carried),
            None => self.pass(node, size_bytes, carried),
        }
    }

    /// What [`Network::inject`] takes as `exit`: only plain nodes can skip the look at their role.
    pub fn direct_exit(&self, node: NodeId, towards: NodeId) -> Option<PortId> {
        match self.forwarding[node.index()] {
            Forwarding::Table => self.routes.next(node, towards).filter(|_| node != towards),
            Forwarding::Rule(_) => None,
        }
    }

    /// Takes the events of a port; false for a leftover. Then call [`Network::next_arrival`] until `None`.
    #[inline]
    pub fn begin(&mut self, port: PortId) -> bool {
        let link = &self.ports[port.index()].link;
        if link.is_plain() {
            return link.next_delivery() == Some(self.now);
        }
        let armed = &mut self.armed[port.index()];
        let due = *armed == self.now;
        if due {
            *armed = Instant::MAX;
        }
        due
    }

    /// The next packet that arrives through `port` for an endpoint; packets for elsewhere are sent on. When nothing
    /// is left the port's next event is set.
    #[inline]
    pub fn next_arrival(&mut self, port: PortId) -> Option<PacketHandle> {
        while let Some(delivery) = self.ports[port.index()].link.poll_delivery(self.now) {
            if let Some(local) = self.arrive(port, delivery) {
                return Some(local);
            }
        }
        let link = &self.ports[port.index()].link;
        if !link.is_plain() {
            self.sweep(port);
            self.arm(port);
        } else if let Some(at) = link.next_delivery() {
            self.queue.push(at, Target::Port(port));
        }
        None
    }

    /// A packet comes out of a link.
    #[inline]
    fn arrive(&mut self, port: PortId, delivery: Delivery<Carried>) -> Option<PacketHandle> {
        let Delivery { mut packet, size_bytes, corrupted, copy, .. } = delivery;
        if copy {
            packet.packet = self.pool.duplicate(packet.packet);
        }
        if corrupted {
            self.pool.get_mut(packet.packet).damaged = true;
        }
        if let Some(observer) = &mut self.observer {
            observer.delivered(self.now, port, size_bytes, &self.pool, packet.packet);
        }
        let end = self.ends[port.index()];
        let node = end.node;
        match end.is_plain() {
            true if packet.towards == node => return Some(packet.packet),
            true if self.is_interface_of(packet.towards, node) => return Some(packet.packet),
            true => self.forward(node, size_bytes, packet),
            false => self.pass(node, size_bytes, packet),
        }
        None
    }

    /// Whether `address` is a further address of `node`. Addresses are numbered after the nodes.
    #[inline]
    fn is_interface_of(&self, address: NodeId, node: NodeId) -> bool {
        let nodes = self.forwarding.len() - self.interfaces.len();
        address.index() >= nodes && self.interfaces[address.index() - nodes] == node
    }

    /// Sends a packet on by the routes of `node`.
    #[inline]
    pub fn forward(&mut self, node: NodeId, size_bytes: u32, carried: Carried) {
        match self.routes.next(node, carried.towards) {
            Some(port) => self.send(port, size_bytes, carried),
            None => {
                self.counters.no_route += 1;
                let packet = self.pool.packet(carried.packet);
                self.observe_drop(node, event::DropReason::NoRoute, &packet);
                self.pool.discard(carried.packet);
            }
        }
    }

    /// Hands a packet to a link.
    #[inline]
    pub fn send(&mut self, port: PortId, size_bytes: u32, carried: Carried) {
        if let Some(observer) = &mut self.observer {
            observer.sent(self.now, port, size_bytes, &self.pool, carried.packet);
        }
        let link = &mut self.ports[port.index()].link;
        let was_empty = link.peek().is_none();
        match link.enqueue(self.now, size_bytes, carried) {
            Ok(()) if !link.is_plain() => self.arm(port),
            Ok(()) => {
                if let Some(at) = link.next_delivery().filter(|_| was_empty) {
                    self.queue.push(at, Target::Port(port));
                }
            }
            Err(dropped) => self.discard(port, dropped),
        }
    }

    /// Sets the next event of a port that is not plain.
    fn arm(&mut self, port: PortId) {
        let (link, armed) = (&self.ports[port.index()].link, &mut self.armed[port.index()]);
        if let Some(at) = link.next_wakeup().filter(|at| at < armed) {
            *armed = at;
            self.queue.push(at, Target::Port(port));
        }
    }

    #[cold]
    fn discard(&mut self, port: PortId, dropped: Dropped<Carried>) {
        if let Some(observer) = &mut self.observer {
            observer.dropped(self.now, port, &dropped, &self.pool);
        }
        self.pool.discard(dropped.packet.packet);
    }

    /// Frees what an outage took out of a link.
    fn sweep(&mut self, port: PortId) {
        while let Some(dropped) = self.ports[port.index()].link.poll_dropped() {
            self.discard(port, dropped);
        }
    }

    /// Tells whoever wants to know.
    pub fn observe(&mut self, event: impl FnOnce(&Names) -> Event<'_>) {
        if let Some(observer) = &mut self.observer {
            observer.event(self.now, event);
        }
    }

    /// Tells whoever wants to know that `node` could do nothing with a packet.
    #[cold]
    pub fn observe_drop(&mut self, node: NodeId, reason: event::DropReason, packet: &Packet) {
        if let Some(observer) = &mut self.observer {
            observer.dropped_at(self.now, node, reason, &self.pool, packet);
        }
    }

    /// Changes one direction of a link.
    pub fn change_link(&mut self, port: PortId, change: LinkChange) {
        let link = &mut self.ports[port.index()].link;
        if link.is_plain() {
            self.armed[port.index()] = link.next_delivery().unwrap_or(Instant::MAX);
        }
        link.apply(self.now, change);
        let up = link.is_up();
        self.sweep(port);
        self.arm(port);
        self.observe(|names| Event::LinkChanged {
            link: names.link(port),
            from: Some(names.sender(port)),
            rate_bps: change.rate.map(Rate::as_bps),
            delay_ns: change.delay.map(Duration::as_nanos),
            up,
        });
    }

    /// Sets the first events.
    pub fn start(&mut self) {
        for index in 0..self.ports.len() {
            self.arm(PortId(index as u32));
        }
    }

    /// What is wrong with the accounts: every packet is delivered, dropped for a stated reason, or still inside.
    pub fn conservation_faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let (mut inside, mut copies, mut dropped) = (0, 0, 0);
        for (index, port) in self.ports.iter().enumerate() {
            let (stats, packets) = (port.link.stats(), port.link.packets_inside() as u64);
            inside += packets;
            copies += stats.duplicated_packets;
            dropped += stats.dropped_packets();
            let came_in = stats.offered_packets + stats.duplicated_packets;
            let went_out = stats.delivered_packets + stats.dropped_packets() + packets;
            if came_in != went_out {
                faults.push(format!("port {index}: {came_in} packets went in, {went_out} are accounted for"));
            }
        }
        if self.pool.len() as u64 != inside + self.local.len() as u64 {
            faults.push(format!("{} packets in the pool, {inside} in links", self.pool.len()));
        }
        let NetworkCounters {
            sent, delivered, corrupted, no_route, taken_by_nodes, returned_by_nodes, ..
        } = self.counters;
        let came = sent + copies + returned_by_nodes;
        let gone = delivered + dropped + corrupted + no_route + taken_by_nodes + inside;
        if came != gone {
            faults.push(format!("{came} packets came into the network, {gone} are accounted for"));
        }
        faults
    }
}
