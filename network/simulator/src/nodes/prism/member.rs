//! A member: the far end of a tunnel.
use super::receipts::Receipts;
use crate::core::ids::NodeId;
use crate::core::packet::Transit;
use crate::nodes::context::NodeContext;
use crate::nodes::node::Node;
use std::sync::Arc;

/// A member of a community. It ends the tunnels that lead to it and puts what leaves for beyond the proxy into one.
#[derive(Debug)]
pub(super) struct MemberNode {
    pub tunnel: MemberTunnel,
    /// Where the proxy asks for them.
    pub receipts: Option<Receipts>,
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
        let MemberTunnel { proxy, overhead_bytes, serves } = &self.tunnel;
        let stored = context.network.pool.get_mut(packet.carried.packet);
        if packet.carried.towards == context.node && stored.encapsulated {
            stored.encapsulated = false;
            let destination = stored.destination;
            if let Some(receipts) = &mut self.receipts {
                receipts.arrived(context, *proxy, &mut packet);
            }
            packet.carried.towards = destination;
            packet.size_bytes -= overhead_bytes;
        }
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

    fn timeout(&mut self, context: &mut NodeContext<'_>) {
        if let Some(receipts) = &mut self.receipts {
            receipts.timeout(context, self.tunnel.proxy);
        }
    }
}
