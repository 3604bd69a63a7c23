//! A member: the far end of a tunnel.
use super::neighbours::Neighbours;
use super::receipts::Receipts;
use crate::core::ids::NodeId;
use crate::core::packet::Transit;
use crate::nodes::context::NodeContext;
use crate::nodes::node::Node;
use std::mem;
use std::sync::Arc;

/// A member of a community. It ends the tunnels that lead to it and puts what leaves for beyond the proxy into one.
#[derive(Debug)]
pub(super) struct MemberNode {
    pub tunnel: MemberTunnel,
    /// Where the proxy asks for them.
    pub receipts: Option<Receipts>,
    /// Where there are any.
    pub neighbours: Option<Neighbours>,
    /// Room for what one packet out of the tunnel makes go on.
    pub onwards: Vec<Transit>,
}

/// The tunnel to a member's proxy.
#[derive(Debug)]
pub(super) struct MemberTunnel {
    pub proxy: NodeId,
    /// Bytes that it adds to a packet.
    pub overhead_bytes: u32,
    /// By node: the proxy reaches it through its members.
    pub serves: Arc<[bool]>,
    /// By node: what it sends to those passes the proxy.
    pub passed_from: Arc<[bool]>,
}

impl Node for MemberNode {
    fn arrive(&mut self, context: &mut NodeContext<'_>, mut packet: Transit) {
        let ends_here = context.ends_here(&packet);
        if ends_here && self.neighbours.as_mut().is_some_and(|neighbours| neighbours.take(context, packet)) {
            return;
        }
        let stored = context.network.pool.get_mut(packet.carried.packet);
        if ends_here && stored.encapsulated {
            stored.encapsulated = false;
            let destination = stored.destination;
            packet.size_bytes -= self.tunnel.overhead_bytes;
            return match &mut self.neighbours {
                // What is for beyond the proxy comes from a neighbour, and goes no further than to the proxy.
                Some(neighbours) if !self.tunnel.serves[destination.index()] => {
                    neighbours.stands_in(context);
                    packet.carried.towards = destination;
                    self.tunnel.forward(context, packet, self.tunnel.proxy);
                }
                Some(neighbours) => {
                    neighbours.heard(context);
                    self.decapsulated(context, packet);
                }
                None => self.decapsulated(context, packet),
            };
        }
        self.forward(context, packet);
    }

    fn timeout(&mut self, context: &mut NodeContext<'_>) {
        if let Some(receipts) = &mut self.receipts {
            receipts.timeout(context, self.tunnel.proxy);
        }
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.timeout(context);
        }
    }
}

impl MemberNode {
    /// A packet has come out of the tunnel.
    fn decapsulated(&mut self, context: &mut NodeContext<'_>, mut packet: Transit) {
        if let Some(receipts) = &mut self.receipts {
            let mut onwards = mem::take(&mut self.onwards);
            receipts.arrived(context, self.tunnel.proxy, packet, &mut onwards);
            for mut packet in onwards.drain(..) {
                packet.carried.towards = context.network.pool.get(packet.carried.packet).destination;
                self.forward(context, packet);
            }
            self.onwards = onwards;
            return;
        }
        packet.carried.towards = context.network.pool.get(packet.carried.packet).destination;
        self.forward(context, packet);
    }

    fn forward(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        if context.ends_here(&packet) {
            return context.deliver(packet);
        }
        let towards = match &mut self.neighbours {
            Some(neighbours) if self.tunnel.takes(context, packet) => neighbours.towards(context),
            _ => self.tunnel.proxy,
        };
        self.tunnel.forward(context, packet, towards);
    }
}

impl MemberTunnel {
    /// Whether the packet goes into it.
    fn takes(&self, context: &NodeContext<'_>, packet: Transit) -> bool {
        let stored = context.network.pool.get(packet.carried.packet);
        let (source, destination) = (stored.source, stored.destination);
        let outward = self.serves[source.index()] && self.passed_from[destination.index()];
        outward && !stored.encapsulated
    }

    /// Sends a packet on, in a tunnel that ends at `towards` if it is for beyond the proxy.
    fn forward(&self, context: &mut NodeContext<'_>, mut packet: Transit, towards: NodeId) {
        if self.takes(context, packet) {
            context.network.pool.get_mut(packet.carried.packet).encapsulated = true;
            packet.carried.towards = towards;
            packet.size_bytes += self.overhead_bytes;
        }
        context.forward(packet);
    }
}
