//! Packets of a routing protocol as bytes: its header stands between IP's and what the packet carries (RFC 4728), or
//! behind an IP header of its own in UDP (RFC 3561).
use super::protocol::{Protocol, Read};
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_routing::{DATA_HOP_LIMIT, Header, Packet};
use prismux_trace::event::DropReason;
use prismux_wire::ip::{V4Fields, protocol, rewrite_v4, without_header};
use prismux_wire::{IpHeader, IpPacket, TcpPacket};
use std::net::{IpAddr, Ipv4Addr};

/// The protocol number for "nothing follows" (RFC 8200 section 4.7).
const NO_NEXT_HEADER: u8 = 59;

/// What a routing protocol carries for the kernel: an IP packet without the protocol's header.
#[derive(Debug, Clone)]
pub struct Carried {
    packet: PacketBuf,
    /// By how much the time to live of the packet, when it was taken up here, exceeds the hops that the protocol gave
    /// it: senders choose with what they begin.
    hops_beyond: i16,
}

impl Carried {
    /// A packet as this host's kernel has sent it.
    pub(super) fn from_kernel(packet: PacketBuf, ip: &IpPacket) -> Self {
        Self { packet, hops_beyond: i16::from(ip.header.hop_limit) - i16::from(DATA_HOP_LIMIT) }
    }

    /// The packet itself.
    pub(super) fn packet(&self) -> &[u8] {
        &self.packet
    }

    /// Whether an interface queue that knows kinds takes it for an acknowledgement.
    pub(super) fn is_acknowledgement(&self) -> bool {
        TcpPacket::parse(&self.packet).is_ok_and(|tcp| tcp.is_bare_acknowledgement())
    }
}

/// The addresses of an IPv4 packet: source, destination.
pub(super) fn addresses(ip: &IpPacket) -> Option<[Ipv4Addr; 2]> {
    match (ip.header.source, ip.header.destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => Some([source, destination]),
        _ => None,
    }
}

/// Reads a packet that came over the radio. What is behind its end is padding of the frame.
///
/// # Errors
/// Why it is none: it is no IPv4, its header is malformed, or it is longer than the pool's packets.
pub(super) fn parse<R: Protocol>(
    pool: &PacketPool,
    mut packet: PacketBuf,
) -> Result<Packet<R::Header, Carried>, DropReason> {
    let ip = IpPacket::parse(&packet).map_err(|_| DropReason::MalformedPacket)?;
    let [source, destination] = addresses(&ip).ok_or(DropReason::OtherProtocol)?;
    let Read { header, next_header, header_bytes } =
        R::read(&ip, ip.payload(&packet)).ok_or(DropReason::MalformedPacket)?;
    let carries = next_header != NO_NEXT_HEADER;
    if header_bytes > 0 && carries {
        let room = ip.total_bytes.saturating_sub(header_bytes);
        let mut inner = pool.take_of(room).ok_or(DropReason::TooLong)?;
        without_header(&packet, &ip, (header_bytes, next_header), inner.buffer_mut())
            .map_err(|_| DropReason::MalformedPacket)?;
        packet = inner;
    } else {
        packet.set_length(ip.total_bytes);
    }
    let payload = carries.then_some(Carried { packet, hops_beyond: 0 });
    let IpHeader { identification, hop_limit, .. } = ip.header;
    Ok(Packet { source, destination, identification, hop_limit, header, payload })
}

/// Writes a packet as it goes over the radio to `out`, which it clears.
///
/// # Errors
/// When it would be longer than an IP packet can be, or its header than the protocol's fields tell.
pub(super) fn emit<H: Header>(packet: &Packet<H, Carried>, out: &mut Vec<u8>) -> Result<(), DropReason> {
    out.clear();
    let done = match &packet.payload {
        Some(payload) => emit_around(packet, payload, out),
        None => emit_alone(packet, out),
    };
    done.ok_or(DropReason::TooLong)
}

/// The header between those of IP and of what the packet carries.
fn emit_around<H: Header>(packet: &Packet<H, Carried>, payload: &Carried, out: &mut Vec<u8>) -> Option<()> {
    let ip = IpPacket::parse(&payload.packet).ok()?;
    let header_bytes = packet.header.wire_bytes();
    out.extend_from_slice(payload.packet.get(..ip.header_bytes)?);
    packet.header.write(ip.header.protocol, out);
    let is_written = out.len() == ip.header_bytes + header_bytes;
    out.extend_from_slice(ip.payload(&payload.packet));
    let hop_limit = (i16::from(packet.hop_limit) + payload.hops_beyond).clamp(1, 255);
    let fields = V4Fields {
        protocol: if header_bytes > 0 { H::PROTOCOL } else { ip.header.protocol },
        total_bytes: u16::try_from(out.len()).ok()?,
        hop_limit: u8::try_from(hop_limit).ok()?,
        identification: ip.header.identification,
    };
    rewrite_v4(out.get_mut(..ip.header_bytes)?, fields).ok()?;
    is_written.then_some(())
}

/// A message of the protocol behind an IP header of its own.
fn emit_alone<H: Header>(packet: &Packet<H, Carried>, out: &mut Vec<u8>) -> Option<()> {
    let head = IpHeader {
        hop_limit: packet.hop_limit,
        identification: packet.identification,
        ..IpHeader::new(packet.source.into(), packet.destination.into(), H::PROTOCOL)
    };
    out.resize(head.wire_bytes(), 0);
    packet.header.write(NO_NEXT_HEADER, out);
    let header_bytes = packet.header.wire_bytes();
    let is_written = header_bytes > 0 && out.len() == head.wire_bytes() + header_bytes;
    head.emit(header_bytes, out).ok()?;
    is_written.then_some(())
}

/// Gives a packet of this host that may not be cut into fragments a number, by which those who overhear it tell it from
/// others (RFC 6864: such packets' numbers mean nothing else).
pub(super) fn number(packet: &mut PacketBuf, ip: &IpPacket, identification: u16) {
    if !ip.header.dont_fragment || ip.fragment.is_some() {
        return;
    }
    let fields = V4Fields {
        protocol: ip.header.protocol,
        total_bytes: u16::try_from(ip.total_bytes).unwrap_or(u16::MAX),
        hop_limit: ip.header.hop_limit,
        identification,
    };
    if let Some(head) = packet.buffer_mut().get_mut(..ip.header_bytes) {
        // It was parsed before, so it cannot fail.
        let _ = rewrite_v4(head, fields);
    }
}

/// Whether a datagram goes to this port, as far as that can be seen.
pub(super) fn is_datagram_to(ip: &IpPacket, payload: &[u8], port: u16) -> bool {
    let to = payload.get(2..4).and_then(|bytes| bytes.first_chunk()).map(|bytes| u16::from_be_bytes(*bytes));
    ip.header.protocol == protocol::UDP && ip.fragment.is_none() && to == Some(port)
}

#[cfg(test)]
mod tests;
