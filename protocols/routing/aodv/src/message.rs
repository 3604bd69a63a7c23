//! AODV's messages (RFC 3561 section 5), which travel in UDP on port 654.
pub mod wire;

use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_routing::Header;
use prismux_units::Duration;
use prismux_wire::SeqNumber;

/// UDP's port of AODV.
pub const PORT: u16 = 654;
/// Bytes of UDP's header in front of a message.
const UDP_BYTES: usize = 8;

/// What AODV puts between the IP header and the payload: nothing for data, UDP and a message for its own packets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum AodvHeader {
    /// A packet of the layer above.
    #[default]
    Data,
    /// A route request.
    Rreq(Rreq),
    /// A route reply, or a hello.
    Rrep(Rrep),
    /// A route error.
    Rerr(Rerr),
    /// The acknowledgement of a route reply.
    RrepAck,
}

/// Looks for a route (RFC 3561 section 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rreq {
    /// J, R: kept for multicast, passed on.
    pub multicast_bits: u8,
    /// G: the destination shall learn of the originator when somebody else answers.
    pub gratuitous: bool,
    /// D: only the destination may answer.
    pub destination_only: bool,
    /// Hops from the originator.
    pub hop_count: u8,
    /// Tells the requests of an originator apart.
    pub id: u32,
    /// Whom a route is looked for to.
    pub destination: Ipv4Addr,
    /// The latest sequence number of the destination that is known; `None` for none (U).
    pub destination_seq: Option<SeqNumber>,
    /// Who looks.
    pub originator: Ipv4Addr,
    /// The originator's own sequence number.
    pub originator_seq: SeqNumber,
}

/// Tells a route (RFC 3561 section 5.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rrep {
    /// R: the repair flag of multicast, passed on.
    pub repair: bool,
    /// A: the next hop shall acknowledge the reply.
    pub ack_required: bool,
    /// Length of the subnet's prefix that shares the route, in 5 bits; zero for the one destination.
    pub prefix_size: u8,
    /// Hops to the destination.
    pub hop_count: u8,
    /// Whom the route leads to.
    pub destination: Ipv4Addr,
    /// The destination's sequence number.
    pub destination_seq: SeqNumber,
    /// Who looked for the route.
    pub originator: Ipv4Addr,
    /// How long the route holds, in whole milliseconds.
    pub lifetime: Duration,
}

impl Rrep {
    /// Whether the reply is a hello: it tells a neighbour of its sender alone.
    pub fn is_hello(&self, from: Ipv4Addr, receiver: Ipv4Addr) -> bool {
        receiver == Ipv4Addr::BROADCAST && self.destination == from && self.hop_count == 0
    }
}

/// Tells of destinations that are out of reach (RFC 3561 section 5.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rerr {
    /// N: a route was repaired on the spot, and shall not be given up.
    pub no_delete: bool,
    /// Destinations with their sequence numbers; at least one, at most 255.
    pub unreachable: Vec<(Ipv4Addr, SeqNumber)>,
}

impl Header for AodvHeader {
    /// UDP.
    const PROTOCOL: u8 = 17;

    fn wire_bytes(&self) -> usize {
        match wire::message_bytes(self) {
            0 => 0,
            bytes => UDP_BYTES + bytes,
        }
    }

    /// UDP's header, its checksum left out as IPv4 allows, and the message.
    fn write(&self, _: u8, out: &mut Vec<u8>) {
        let length = self.wire_bytes();
        let mut message = alloc::vec![0; length.saturating_sub(UDP_BYTES)];
        if length > 0 && self.emit(&mut message).is_ok() {
            out.extend([PORT, PORT, length as u16, 0].into_iter().flat_map(u16::to_be_bytes));
            out.extend(message);
        }
    }
}
