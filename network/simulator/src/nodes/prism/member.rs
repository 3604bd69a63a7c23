//! A member: the far end of a tunnel.
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
}

impl Node for MemberNode {
    fn arrive(&mut self, context: &mut NodeContext<'_>, mut packet: Transit) {
        let stored = context.network.pool.get_mut(packet.carried.packet);
        if packet.carried.towards == context.node && stored.encapsulated {
            stored.encapsulated = false;
            packet.size_bytes -= self.tunnel.overhead_bytes;
            return self.decapsulated(context, packet);
        }
        self.forward(context, packet);
    }

    fn timeout(&mut self, context: &mut NodeContext<'_>) {
        if let Some(receipts) = &mut self.receipts {
            receipts.timeout(context, self.tunnel.proxy);
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

    fn forward(&mut self, context: &mut NodeContext<'_>, mut packet: Transit) {
        let MemberTunnel { proxy, overhead_bytes, serves } = &self.tunnel;
        if packet.carried.towards == context.node {
            return context.deliver(packet);
        }
        let stored = context.network.pool.get_mut(packet.carried.packet);
        let (source, destination) = (stored.source, stored.destination);
        let outward = serves[source.index()] && !serves[destination.index()] && destination != *proxy;
        if outward && !stored.encapsulated {
            stored.encapsulated = true;
            packet.carried.towards = *proxy;
            packet.size_bytes += overhead_bytes;
        }
        context.forward(packet);
    }
}
