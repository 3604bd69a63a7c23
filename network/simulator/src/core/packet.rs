//! Packets as typed values, kept in a pool and passed around as small handles.
mod content;
mod kept;
mod pool;
mod segment;

pub(crate) use content::ContentHandle;
pub use content::{BehindIp, Content};
pub(crate) use kept::KeptPacket;
pub(crate) use pool::{PacketHandle, PacketPool};

use crate::core::ids::{EndpointId, FlowId, NodeId};
use prismux_units::Instant;
use prismux_wire::ip::protocol;
use prismux_wire::{Ecn, FlowKey, TcpHeader};
use std::net::{IpAddr, Ipv4Addr};

/// Bytes of an IPv4 header without options.
pub(crate) const IPV4_HEADER_BYTES: u32 = 20;
/// In place of a destination: whoever hears it.
pub(crate) const EVERYBODY: NodeId = NodeId(u32::MAX);
/// Bytes of a UDP header.
pub(crate) const UDP_HEADER_BYTES: u32 = 8;

/// What is inside the IP header.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Body {
    /// A segment of TCP, which middle boxes read.
    Tcp {
        header: TcpHeader,
        /// Offset of the payload in the sender's stream; what the bytes *are*, for the checkers.
        stream_offset: u64,
        /// When the sending host handed it to its first link.
        sent_at: Instant,
    },
    /// A datagram of UDP with whatever its transport has put into it.
    Datagram(Datagram),
}

/// A datagram; the pool keeps its content, which keeps packets small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Datagram {
    pub content: ContentHandle,
    /// Bytes of the content's own headers, between the header of UDP, where there is one, and the payload.
    pub header_bytes: u16,
    /// It is a segment of TCP: no header of UDP.
    pub is_segment: bool,
    /// Source and destination port.
    pub ports: (u16, u16),
    /// When the sending host handed it to its first link.
    pub sent_at: Instant,
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
    /// Has an outer header, of a tunnel, at the moment; [`Carried::towards`] is where that ends.
    pub encapsulated: bool,
    /// Some link has damaged it.
    pub damaged: bool,
    /// A routing protocol has put a header around it, which the pool keeps.
    pub headed: bool,
}

impl<B> Packet<B> {
    /// The same with another body, or another form of it.
    #[inline]
    fn with_body<C>(&self, body: C) -> Packet<C> {
        let &Self {
            payload_bytes,
            endpoint,
            flow,
            source,
            destination,
            ecn,
            encapsulated,
            damaged,
            headed,
            ..
        } = self;
        Packet {
            body,
            payload_bytes,
            endpoint,
            flow,
            source,
            destination,
            ecn,
            encapsulated,
            damaged,
            headed,
        }
    }
}

impl Packet {
    /// Length of the IP packet, outer headers not counted.
    pub fn ip_bytes(&self) -> u32 {
        let transport = match &self.body {
            Body::Tcp { header, .. } => header.wire_bytes() as u32,
            Body::Datagram(datagram) if datagram.is_segment => u32::from(datagram.header_bytes),
            Body::Datagram(datagram) => UDP_HEADER_BYTES + u32::from(datagram.header_bytes),
        };
        IPV4_HEADER_BYTES + transport + self.payload_bytes
    }

    /// Addresses and ports.
    pub fn flow_key(&self) -> FlowKey {
        let ((source_port, destination_port), number) = match &self.body {
            Body::Tcp { header, .. } => ((header.source_port, header.destination_port), protocol::TCP),
            Body::Datagram(datagram) if datagram.is_segment => (datagram.ports, protocol::TCP),
            Body::Datagram(datagram) => (datagram.ports, protocol::UDP),
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
    IpAddr::V4(ipv4_address(node))
}

/// [`address`], of IP version 4 as all are.
pub(crate) fn ipv4_address(node: NodeId) -> Ipv4Addr {
    let [_, b, c, d] = node.0.wrapping_add(1).to_be_bytes();
    Ipv4Addr::new(10, b, c, d)
}

/// The node with an address.
pub(crate) fn node_at(address: IpAddr) -> Option<NodeId> {
    let IpAddr::V4(address) = address else { return None };
    let [_, b, c, d] = address.octets();
    u32::from_be_bytes([0, b, c, d]).checked_sub(1).map(NodeId)
}

/// A packet at a node. It must be sent, forwarded or delivered; dropped as a value it stays in the accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Transit {
    /// With outer headers.
    pub(crate) size_bytes: u32,
    pub(crate) carried: Carried,
}

/// What a link carries: the packet, and the node where its outermost header ends, so that a router need not
/// look at the packet itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Carried {
    pub packet: PacketHandle,
    pub towards: NodeId,
}
