//! The network below the transports: nodes, links, routes and packets under way.
//!
//! A packet enters by [`Fabric::inject`] and leaves by [`Fabric::next_arrival`] (or is dropped and counted). In between it
//! is a handle in the queues of links; each direction of a link has at most one event pending.
mod middle;

use crate::event_queue::EventQueue;
use crate::ids::{EndpointId, NodeId, PortId};
use crate::observer::{Names, Observer};
use crate::packet::{Carried, Packet, PacketHandle, PacketPool};
use crate::routing::Routes;
pub use middle::Tunnel;
pub(crate) use middle::{MemberNode, ProxyNode};
use prismux_link::{Delivery, Dropped, Link, LinkChange};
use prismux_trace::event::{self, Event};
use prismux_units::{Duration, Instant, Rate};
use std::collections::VecDeque;

/// Whom an event is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// A packet arrives at the end of a link, or its schedule changes it.
    Port(PortId),
    /// A timer of a connection or of a UDP source.
    Endpoint(EndpointId),
    /// A timer of the proxy with this index.
    Proxy(u32),
    /// The application of an endpoint wants to go on.
    Application(EndpointId),
    /// The entry with this index of the list of planned events.
    Planned(u32),
    /// Time to sample.
    Sample,
}

/// What a node does with packets that are not for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeRole {
    /// Passes them on if routes lead through it (hosts are left out by routing).
    Plain,
    /// Ends tunnels and begins them; index of the member.
    Member(u32),
    /// Judges them; index of the proxy.
    Proxy(u32),
}

/// One direction of a link: what every packet needs fills two cache lines, the first packets under way two more.
#[derive(Debug)]
#[repr(C, align(128))]
pub(crate) struct Port {
    /// When its event is due; [`Instant::MAX`] for none. Events at other times are leftovers.
    armed: Instant,
    pub link: Link<Carried>,
}

impl Port {
    pub fn new(link: Link<Carried>) -> Self {
        Self { link, armed: Instant::MAX }
    }
}

/// Where every packet went. Links count their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FabricCounters {
    /// Packets that endpoints sent.
    pub sent: u64,
    /// Packets handed to endpoints.
    pub delivered: u64,
    /// Damaged packets that a checksum caught.
    pub corrupted: u64,
    /// Packets for which there was no route.
    pub no_route: u64,
    /// Packets handed to proxies.
    pub into_proxies: u64,
    /// Packets that came out of proxies, repairs included.
    pub out_of_proxies: u64,
    /// Packets that proxies dropped.
    pub dropped_by_proxies: u64,
}

/// The node that a port leads to, with all that most packets need to know of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub node: NodeId,
    /// Its role is [`NodeRole::Plain`].
    pub plain: bool,
    /// Its endpoint, if it has just one.
    pub only: Option<EndpointId>,
}

/// The network.
#[derive(Debug)]
pub(crate) struct Fabric {
    pub now: Instant,
    pub queue: EventQueue<Target>,
    pub pool: PacketPool,
    pub ports: Vec<Port>,
    /// By port: where it leads.
    pub ends: Vec<End>,
    pub roles: Vec<NodeRole>,
    pub routes: Routes,
    /// Further addresses of multi-homed hosts, numbered after the nodes: the host of each.
    pub interfaces: Vec<NodeId>,
    pub members: Vec<MemberNode>,
    pub proxies: Vec<ProxyNode>,
    pub counters: FabricCounters,
    /// Packets that are where they belong without another link to cross.
    pub local: VecDeque<PacketHandle>,
    /// Captures and event logs, where wanted.
    pub observer: Option<Box<Observer>>,
}

const _: () = assert!(size_of::<Port>() == 256, "a port fills four cache lines");

impl Fabric {
    /// A packet leaves an endpoint on `node`. `exit` is the node's exit towards the destination, if it is a plain
    /// node with a route.
    #[inline]
    pub fn inject(&mut self, node: NodeId, exit: Option<PortId>, packet: Packet) {
        self.counters.sent += 1;
        let (size_bytes, towards) = (packet.ip_bytes(), packet.destination);
        let handle = self.pool.insert(packet);
        match exit {
            Some(port) => self.send(port, size_bytes, Carried { packet: handle, towards }),
            None => self.pass(node, size_bytes, Carried { packet: handle, towards }),
        }
    }

    /// What [`Fabric::inject`] takes as `exit`: only plain nodes can skip the look at their role.
    pub fn direct_exit(&self, node: NodeId, towards: NodeId) -> Option<PortId> {
        match self.roles[node.index()] {
            NodeRole::Plain => self.routes.next(node, towards).filter(|_| node != towards),
            _ => None,
        }
    }

    /// Takes the events of a port; false for a leftover. Then call [`Fabric::next_arrival`] until `None`.
    #[inline]
    pub fn begin(&mut self, port: PortId) -> bool {
        let port = &mut self.ports[port.index()];
        let due = port.armed == self.now;
        if due {
            port.armed = Instant::MAX;
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
        self.sweep(port);
        self.arm(port);
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
            observer.delivered(self.now, port, size_bytes, &self.pool, self.pool.get(packet.packet));
        }
        let End { node, plain, .. } = self.ends[port.index()];
        match plain {
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
        let nodes = self.roles.len() - self.interfaces.len();
        address.index() >= nodes && self.interfaces[address.index() - nodes] == node
    }

    /// Sends a packet on by the routes of `node`.
    #[inline]
    fn forward(&mut self, node: NodeId, size_bytes: u32, carried: Carried) {
        match self.routes.next(node, carried.towards) {
            Some(port) => self.send(port, size_bytes, carried),
            None => {
                self.counters.no_route += 1;
                let packet = *self.pool.get(carried.packet);
                self.observe_drop(node, event::DropReason::NoRoute, &packet);
                self.pool.discard(carried.packet);
            }
        }
    }

    /// Hands a packet to a link.
    #[inline]
    fn send(&mut self, port: PortId, size_bytes: u32, carried: Carried) {
        if let Some(observer) = &mut self.observer {
            observer.sent(self.now, port, size_bytes, &self.pool, self.pool.get(carried.packet));
        }
        match self.ports[port.index()].link.enqueue(self.now, size_bytes, carried) {
            Ok(()) => self.arm(port),
            Err(dropped) => self.discard(port, dropped),
        }
    }

    #[inline]
    fn arm(&mut self, port: PortId) {
        let entry = &mut self.ports[port.index()];
        if let Some(at) = entry.link.next_wakeup().filter(|&at| at < entry.armed) {
            entry.armed = at;
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
        let FabricCounters { sent, delivered, corrupted, no_route, into_proxies, out_of_proxies, .. } =
            self.counters;
        let came = sent + copies + out_of_proxies;
        let gone = delivered + dropped + corrupted + no_route + into_proxies + inside;
        if came != gone {
            faults.push(format!("{came} packets came into the network, {gone} are accounted for"));
        }
        faults
    }
}
