//! The routing protocols: how each begins, and how its headers are read.
use super::carriage::{Carried, is_datagram_to};
use prismux_aodv::{Aodv, AodvConfig, AodvHeader, message};
use prismux_dsdv::{Dsdv, DsdvConfig, DsdvHeader};
use prismux_dsr::{Dsr, DsrConfig, DsrHeader, FlowHeader};
use prismux_endpoint::random::RandomStream;
use prismux_routing::{Header, Packet, RoutingEndpoint};
use prismux_units::Instant;
use prismux_wire::{IpPacket, SeqNumber, UdpHeader};
use std::net::Ipv4Addr;

/// A header that was read, and what stands behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read<H> {
    pub header: H,
    /// The IP protocol of what follows; 59 for nothing.
    pub next_header: u8,
    pub header_bytes: usize,
}

/// How a host's protocol begins.
#[derive(Debug, Clone)]
pub struct Beginning {
    pub at: Instant,
    pub address: Ipv4Addr,
    pub random: RandomStream,
    /// Numbers begin behind those that a daemon has used which ran here before.
    pub sequence: SeqNumber,
}

/// A routing protocol that packets on a radio speak.
pub trait Protocol: RoutingEndpoint<Carried> + Sized {
    /// Its parameters and switches.
    type Config: Copy;
    /// Whether packets between others tell it anything.
    const HEARS_ALL: bool;
    /// Bytes of a packet that its headers may take.
    const HEADROOM_BYTES: usize;

    /// A host that knows no route yet.
    fn begin(beginning: Beginning, config: Self::Config) -> Self;

    /// Reads what stands behind an IP header; `None` where it is malformed.
    fn read(ip: &IpPacket, payload: &[u8]) -> Option<Read<Self::Header>>;

    /// The neighbour that has put a packet on the air, where the packet tells.
    fn transmitter(packet: &Packet<Self::Header, Carried>) -> Option<Ipv4Addr>;
}

/// No header: the payload follows IP's.
fn none<H>(header: H, ip: &IpPacket) -> Read<H> {
    Read { header, next_header: ip.header.protocol, header_bytes: 0 }
}

/// A message of the protocol, which nothing follows.
fn alone<H>(header: H, payload: &[u8]) -> Read<H> {
    Read { header, next_header: prismux_dsr::header::NO_NEXT_HEADER, header_bytes: payload.len() }
}

impl Protocol for Dsr<Carried> {
    type Config = DsrConfig;
    const HEARS_ALL: bool = true;
    /// A route over thirty hosts.
    const HEADROOM_BYTES: usize = 128;

    fn begin(beginning: Beginning, config: DsrConfig) -> Self {
        Self::new(beginning.address, config, beginning.random)
    }

    fn read(ip: &IpPacket, payload: &[u8]) -> Option<Read<DsrHeader>> {
        if ip.header.protocol != DsrHeader::PROTOCOL {
            let header = DsrHeader { flow: FlowHeader::Default, options: Vec::new() };
            return Some(none(header, ip));
        }
        let parsed = DsrHeader::parse(payload).ok()?;
        Some(Read {
            header: parsed.header,
            next_header: parsed.next_header,
            header_bytes: parsed.header_bytes,
        })
    }

    fn transmitter(packet: &Packet<DsrHeader, Carried>) -> Option<Ipv4Addr> {
        if let Some(request) = packet.header.route_request() {
            return Some(request.addresses.last().copied().unwrap_or(packet.source));
        }
        let route = packet.header.source_route()?;
        let made = route.addresses.len().checked_sub(usize::from(route.segments_left))?;
        match made.checked_sub(1) {
            None => Some(packet.source),
            Some(last) => route.addresses.get(last).copied(),
        }
    }
}

impl Protocol for Aodv<Carried> {
    type Config = AodvConfig;
    const HEARS_ALL: bool = false;
    const HEADROOM_BYTES: usize = 0;

    fn begin(beginning: Beginning, config: AodvConfig) -> Self {
        Self::new(beginning.address, config, beginning.random).with_sequence_number(beginning.sequence)
    }

    fn read(ip: &IpPacket, payload: &[u8]) -> Option<Read<AodvHeader>> {
        if !is_datagram_to(ip, payload, message::PORT) {
            return Some(none(AodvHeader::Data, ip));
        }
        let (_, length) = UdpHeader::parse(payload).ok()?;
        let datagram = payload.get(..length)?;
        UdpHeader::verify_checksum(datagram, ip.header.source, ip.header.destination, false).ok()?;
        let header = AodvHeader::parse(datagram.get(UdpHeader::WIRE_BYTES..)?).ok()?;
        Some(alone(header, payload))
    }

    fn transmitter(packet: &Packet<AodvHeader, Carried>) -> Option<Ipv4Addr> {
        // Messages go one hop, each from its sender.
        packet.payload.is_none().then_some(packet.source)
    }
}

impl Protocol for Dsdv<Carried> {
    type Config = DsdvConfig;
    const HEARS_ALL: bool = false;
    const HEADROOM_BYTES: usize = 0;

    fn begin(beginning: Beginning, config: DsdvConfig) -> Self {
        let Beginning { at, address, random, sequence } = beginning;
        Self::new(at, address, config, random).with_sequence_number(sequence)
    }

    fn read(ip: &IpPacket, payload: &[u8]) -> Option<Read<DsdvHeader>> {
        if ip.header.protocol != DsdvHeader::PROTOCOL {
            return Some(none(DsdvHeader::Data, ip));
        }
        // One that is cut into fragments is none: the protocol sends several.
        let header = DsdvHeader::parse(payload).ok().filter(|_| ip.fragment.is_none())?;
        Some(alone(header, payload))
    }

    fn transmitter(packet: &Packet<DsdvHeader, Carried>) -> Option<Ipv4Addr> {
        packet.payload.is_none().then_some(packet.source)
    }
}
