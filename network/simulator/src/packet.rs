//! Packets as typed values, kept in a pool and passed around as small handles.
mod pool;

pub(crate) use pool::{PacketHandle, PacketPool, SegmentHandle};

use crate::ids::{EndpointId, FlowId, NodeId};
use prismux_prism::AckRewrite;
use prismux_rcp::RcpHeader;
use prismux_wire::ip::protocol;
use prismux_wire::{Ecn, FlowKey, TcpHeader};
use std::net::{IpAddr, Ipv4Addr};

/// Bytes of an IPv4 header without options.
pub(crate) const IPV4_HEADER_BYTES: u32 = 20;
/// Bytes of a UDP header.
pub(crate) const UDP_HEADER_BYTES: u32 = 8;

/// What is inside the IP header.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Body {
    /// A segment.
    Tcp {
        header: TcpHeader,
        /// Offset of the payload in the sender's stream; what the bytes *are*, for the checkers.
        stream_offset: u64,
    },
    /// A packet of RCP, in a datagram.
    Rcp {
        header: RcpHeader,
        /// As for a segment.
        stream_offset: u64,
    },
    /// A datagram, counted from 0 by its source.
    Udp { number: u64 },
    /// A pTCP segment over UDP; the pool keeps it, which keeps packets small.
    Ptcp { segment: SegmentHandle, header_bytes: u16, ports: (u16, u16) },
}

/// A packet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Packet<B = Body> {
    pub body: B,
    pub payload_bytes: u32,
    /// The machine it is for.
    pub endpoint: EndpointId,
    pub flow: FlowId,
    pub source: NodeId,
    pub destination: NodeId,
    pub ecn: Ecn,
    /// Travels in a tunnel at the moment.
    pub tunnelled: bool,
    /// Some link has damaged it.
    pub damaged: bool,
}

impl<B> Packet<B> {
    /// The same with another body, or another form of it.
    #[inline]
    fn with_body<C>(&self, body: C) -> Packet<C> {
        let &Self { payload_bytes, endpoint, flow, source, destination, ecn, tunnelled, damaged, .. } = self;
        Packet { body, payload_bytes, endpoint, flow, source, destination, ecn, tunnelled, damaged }
    }
}

impl Packet {
    /// Length of the IP packet, tunnel headers not counted.
    pub fn ip_bytes(&self) -> u32 {
        let transport = match &self.body {
            Body::Tcp { header, .. } => header.wire_bytes() as u32,
            Body::Rcp { header, .. } => UDP_HEADER_BYTES + header.wire_bytes() as u32,
            Body::Udp { .. } => UDP_HEADER_BYTES,
            Body::Ptcp { header_bytes, .. } => UDP_HEADER_BYTES + u32::from(*header_bytes),
        };
        IPV4_HEADER_BYTES + transport + self.payload_bytes
    }

    /// True when `rewrite` would leave another header than there is.
    pub fn is_changed_by(&self, rewrite: &AckRewrite) -> bool {
        let Body::Tcp { mut header, .. } = self.body else { return false };
        let before = header;
        rewrite.apply(&mut header);
        header != before
    }

    /// Addresses and ports. UDP flows use the flow's number as both ports.
    pub fn flow_key(&self) -> FlowKey {
        let (source_port, destination_port, number) = match &self.body {
            Body::Tcp { header, .. } => (header.source_port, header.destination_port, protocol::TCP),
            Body::Rcp { .. } | Body::Udp { .. } => (self.flow.0 as u16, self.flow.0 as u16, protocol::UDP),
            Body::Ptcp { ports, .. } => (ports.0, ports.1, protocol::UDP),
        };
        FlowKey {
            source: address(self.source),
            destination: address(self.destination),
            source_port,
            destination_port,
            protocol: number,
        }
    }
}

/// The address of a node: 10.0.0.0/8, by number from 1.
pub(crate) fn address(node: NodeId) -> IpAddr {
    let [_, b, c, d] = (node.0 + 1).to_be_bytes();
    IpAddr::V4(Ipv4Addr::new(10, b, c, d))
}

/// The node with an address.
pub(crate) fn node_at(address: IpAddr) -> Option<NodeId> {
    let IpAddr::V4(address) = address else { return None };
    let [_, b, c, d] = address.octets();
    u32::from_be_bytes([0, b, c, d]).checked_sub(1).map(NodeId)
}

/// What a link carries: the packet, and the node where its outermost header ends, so that a router need not
/// look at the packet itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Carried {
    pub packet: PacketHandle,
    pub towards: NodeId,
}
