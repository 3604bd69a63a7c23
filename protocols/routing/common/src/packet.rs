//! Packets between hosts of an ad-hoc network, and the frames that carry them over one hop.
use alloc::vec::Vec;
use core::net::Ipv4Addr;

/// The hop limit (IPv4's time to live) of data packets: the default of RFC 1700.
pub const DATA_HOP_LIMIT: u8 = 64;

/// The header that a routing protocol puts between a packet's IP header and its payload.
pub trait Header {
    /// The IP protocol of packets with a header that is not empty.
    const PROTOCOL: u8;

    /// Bytes on the wire, the IP header and the payload not counted.
    fn wire_bytes(&self) -> usize;

    /// Writes the header behind `out`, which ends with its IP header; what follows is of protocol `next_header`.
    /// Nothing is written of a header that no packet can hold.
    fn write(&self, next_header: u8, out: &mut Vec<u8>);
}

/// An IP packet with a routing protocol's header.
///
/// The payload is opaque: a typed value in the simulator, a buffer on Linux. A packet without payload is the routing
/// protocol's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet<H, P> {
    /// The IP source address.
    pub source: Ipv4Addr,
    /// The IP destination address; [`Ipv4Addr::BROADCAST`] for what every neighbour takes.
    pub destination: Ipv4Addr,
    /// A number that the source gives its packets in turn (IPv4's identification); 0 where nobody tells them apart.
    pub identification: u16,
    /// Hops that the packet may still make, the one to its receiver included (IPv4's time to live).
    pub hop_limit: u8,
    /// The routing protocol's header.
    pub header: H,
    /// What the packet carries for the layer above; `None` for the routing protocol's own packets.
    pub payload: Option<P>,
}

/// Whom a frame is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NextHop {
    /// One neighbour, whose MAC layer acknowledges it.
    Neighbour(Ipv4Addr),
    /// Every neighbour that hears it; nobody acknowledges it.
    Broadcast,
}

/// A packet on its way over one hop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame<H, P> {
    /// Whom it is for.
    pub next_hop: NextHop,
    /// The packet.
    pub packet: Packet<H, P>,
}
