//! The network below the transports: links, the nodes between them, and packets under way.
//!
//! A packet enters by [`Network::inject`] and leaves by [`Network::next_arrival`] (or is dropped and counted). In
//! between it is a handle in the queues of links; each direction of a link has at most one event pending.
mod accounts;
mod rules;
mod shared;
mod wired;

use crate::core::counters::NetworkCounters;
use crate::core::event_queue::EventQueue;
use crate::core::ids::{EndpointId, FlowId, MediumId, NodeId, PortId};
use crate::core::observer::{Names, Observer};
use crate::core::packet::{Carried, Packet, PacketHandle, PacketPool};
use crate::core::site::Site;
use crate::media::link::{End, Port};
use crate::media::shared::{MediumExit, SharedMedium};
use crate::nodes::routing::Routes;
use crate::nodes::rule::{Forwarding, RuleNode};
use prismux_tcp::SegmentOut;
use prismux_trace::event::{self, Event};
use prismux_units::Instant;
use std::collections::VecDeque;

/// Whom an event is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// A packet arrives at the end of a link, or its schedule changes it.
    Port(PortId),
    /// Something happens on a medium.
    Medium(MediumId),
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
    /// A flow is steady, is so no longer or has ended: the run takes stock.
    Stock(FlowId),
    /// Time to tell where hosts are.
    Places,
    /// A host has another link, or another base station.
    HandedOver(NodeId),
}

/// The network.
#[derive(Debug)]
pub(crate) struct Network {
    pub now: Instant,
    /// Nothing later than this may happen yet.
    pub limit: Instant,
    pub queue: EventQueue<Target>,
    pub pool: PacketPool,
    pub ports: Vec<Port>,
    /// By port: when the event of one that is not plain is due; [`Instant::MAX`] for none. Events at other times are
    /// leftovers. The event of a plain one is always that of its next delivery.
    pub armed: Vec<Instant>,
    /// By port: where it leads.
    pub ends: Vec<End>,
    /// Media that several nodes share.
    pub media: Vec<SharedMedium>,
    /// Exits into media, numbered after the ports: one for each node on a medium and neighbour there.
    pub medium_exits: Vec<MediumExit>,
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
        let (packet, size_bytes) = self.pool.insert_segment(self.now, site, segment);
        self.set_out(site.node, site.exit, size_bytes, Carried { packet, towards: site.peer_node });
    }

    #[inline]
    fn set_out(&mut self, node: NodeId, exit: Option<PortId>, size_bytes: u32, carried: Carried) {
        self.counters.sent += 1;
        if let Some(observer) = &mut self.observer {
            observer.set_out(self.now, node, size_bytes, &self.pool, carried.packet);
        }
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

    /// Whether `address` is a further address of `node`. Addresses are numbered after the nodes.
    #[inline]
    pub fn is_interface_of(&self, address: NodeId, node: NodeId) -> bool {
        let nodes = self.forwarding.len() - self.interfaces.len();
        address.index() >= nodes && self.interfaces[address.index() - nodes] == node
    }

    /// Sends a packet on by the routes of `node`.
    #[inline(always)] // A look-up between two calls.
    pub fn forward(&mut self, node: NodeId, size_bytes: u32, carried: Carried) {
        match self.routes.next(node, carried.towards) {
            Some(port) => self.send(port, size_bytes, carried),
            None => self.strand(node, carried),
        }
    }

    /// Drops a packet for which `node` has no route.
    #[cold]
    fn strand(&mut self, node: NodeId, carried: Carried) {
        self.counters.no_route += 1;
        let packet = self.pool.packet(carried.packet);
        let number = self.pool.number(carried.packet);
        self.observe_drop(node, event::DropReason::NoRoute, (&packet, number));
        self.pool.discard(carried.packet);
    }

    /// Tells whoever wants to know.
    pub fn observe(&mut self, event: impl FnOnce(&Names) -> Event<'_>) {
        if let Some(observer) = &mut self.observer {
            observer.event(self.now, event);
        }
    }

    /// Tells whoever wants to know that `node` could do nothing with a packet, which may have a number.
    #[cold]
    pub fn observe_drop(&mut self, node: NodeId, reason: event::DropReason, packet: (&Packet, Option<u64>)) {
        if let Some(observer) = &mut self.observer {
            observer.dropped_at(self.now, node, reason, &self.pool, packet);
        }
    }
}
