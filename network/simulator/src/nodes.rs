//! What a packet meets between links: nodes, and how they forward.
//!
//! Hosts and routers follow their own table of next hops ([`routing`]); most packets pass only these, and are handled
//! without a call. A node with a rule of its own is a [`Node`]: it gets every packet that comes to it.
pub(crate) mod prism;
pub(crate) mod routing;
mod rules;

pub(crate) use rules::{Forwarding, RuleNode};

use crate::core::ids::{LinkIndex, NodeId, PortId};
use crate::core::packet::Carried;
use crate::media::{Frame, MediumIndex};
use crate::network::{Network, Target};
use prismux_units::Instant;
use std::any::Any;
use std::fmt;

/// A node that forwards by a rule of its own.
pub trait Node: Any + fmt::Debug + Send {
    /// A packet is at the node: it came out of a link, or one of the node's own endpoints sends it.
    fn arrive(&mut self, context: &mut NodeContext<'_>, packet: Transit);

    /// A time that [`NodeContext::wake`] was given has come; perhaps one that no longer matters.
    fn timeout(&mut self, context: &mut NodeContext<'_>) {
        let _ = context;
    }

    /// A frame for somebody else has passed on a shared medium. It goes on its way by itself.
    fn overhear(&mut self, context: &mut NodeContext<'_>, medium: MediumIndex, frame: &Frame) {
        let _ = (context, medium, frame);
    }

    /// What the node has counted, for results.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// A packet at a node. It must be sent, forwarded or delivered; dropped as a value it stays in the accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Transit {
    /// With outer headers.
    pub(crate) size_bytes: u32,
    pub(crate) carried: Carried,
}

/// The network, as far as a node may reach it.
#[derive(Debug)]
pub struct NodeContext<'a> {
    pub(crate) network: &'a mut Network,
    /// The node itself.
    pub(crate) node: NodeId,
    /// Its place among the nodes with rules of their own.
    pub(crate) place: u32,
}

impl NodeContext<'_> {
    /// The time.
    pub fn now(&self) -> Instant {
        self.network.now
    }

    /// The node itself.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// Whether the packet, or the tunnel around it, ends here.
    pub fn ends_here(&self, packet: &Transit) -> bool {
        packet.carried.towards == self.node
    }

    /// Where the packet comes from and where it goes, tunnels aside.
    pub fn addresses(&self, packet: &Transit) -> (NodeId, NodeId) {
        let packet = self.network.pool.get(packet.carried.packet);
        (packet.source, packet.destination)
    }

    /// A hash that is equal for all packets of a flow in one direction: of addresses, ports and protocol.
    pub fn flow_hash(&self, packet: &Transit) -> u64 {
        self.network.pool.packet(packet.carried.packet).flow_key().hash64()
    }

    /// Sends a packet by the shortest path.
    pub fn forward(&mut self, packet: Transit) {
        self.network.forward(self.node, packet.size_bytes, packet.carried);
    }

    /// Sends a packet over `link`, which must end at the node; over another it goes the shortest path.
    pub fn send(&mut self, link: LinkIndex, packet: Transit) {
        match self.exit_into(link) {
            Some(port) => self.network.send(port, packet.size_bytes, packet.carried),
            None => self.forward(packet),
        }
    }

    /// Sends a packet to everybody on `medium`, to which the node must be attached. Nodes with rules of their own
    /// take it in; hosts do if it ends there.
    pub fn broadcast(&mut self, medium: MediumIndex, packet: Transit) {
        let Transit { size_bytes, carried } = packet;
        self.network.put_on_medium(medium, Frame { from: self.node, to: None, size_bytes, carried });
    }

    /// Drops a packet.
    pub fn discard(&mut self, packet: Transit) {
        self.network.counters.taken_by_nodes += 1;
        self.network.counters.dropped_by_nodes += 1;
        self.network.pool.discard(packet.carried.packet);
    }

    /// Hands a packet to the endpoint on this node that it is for.
    pub fn deliver(&mut self, packet: Transit) {
        self.network.local.push_back(packet.carried.packet);
    }

    /// Calls [`Node::timeout`] at `at`. A call cannot be taken back: the node notes what it waits for.
    pub fn wake(&mut self, at: Instant) {
        self.network.queue.push(at, Target::Node(self.place));
    }

    fn exit_into(&self, link: LinkIndex) -> Option<PortId> {
        let leads_here =
            |port: PortId| self.network.ends.get(port.index()).is_some_and(|end| end.node == self.node);
        match (leads_here(link.forward()), leads_here(link.reverse())) {
            (false, true) => Some(link.forward()),
            (true, _) => Some(link.reverse()),
            (false, false) => None,
        }
    }
}
