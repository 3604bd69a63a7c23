//! Telling a sender that its packet does not fit (RFC 1191 section 4, RFC 4443 section 3.2).
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_wire::checksum::{checksum, pseudo_header};
use prismux_wire::ip::protocol;
use prismux_wire::{IpHeader, IpPacket, WireError};
use std::net::IpAddr;

/// Type and code of "fragmentation needed and DF set".
const FRAGMENTATION_NEEDED: [u8; 2] = [3, 4];
/// Type and code of "packet too big".
const PACKET_TOO_BIG: [u8; 2] = [2, 0];
/// Most of the offending packet that an IPv4 error quotes (RFC 1812 section 4.3.2.3).
const QUOTE_V4_BYTES: usize = 548;
/// An IPv6 error never passes the minimum MTU.
const QUOTE_V6_BYTES: usize = 1280 - 40 - 8;

/// The ICMP error that answers `packet`, which does not fit `mtu_bytes`; `None` when it must not be answered: it may be
/// fragmented, is a later fragment, or is itself an ICMP error.
///
/// The error comes from the address the packet was sent to, as nothing on the way is certain to have an address that
/// routes back.
pub fn too_big(pool: &PacketPool, packet: &[u8], mtu_bytes: usize) -> Option<PacketBuf> {
    let ip = IpPacket::parse(packet).ok()?;
    let later_fragment = ip.fragment.is_some_and(|f| f.offset_bytes > 0);
    if !ip.header.dont_fragment || later_fragment || is_error(&ip, packet) {
        return None;
    }
    let mut bytes = [0; 1280];
    let length = emit(&ip, packet, mtu_bytes, &mut bytes).ok()?;
    pool.copy_of(bytes.get(..length)?)
}

/// True for an ICMP error: what a router on the way may say, and what must never be answered (RFC 1122 section 3.2.2).
pub fn is_error(ip: &IpPacket, packet: &[u8]) -> bool {
    let kind = ip.payload(packet).first().copied().unwrap_or(0);
    match ip.header.protocol {
        // Everything but the queries: echo, router discovery, timestamp, address mask, extended echo.
        protocol::ICMP => !matches!(kind, 0 | 8..=10 | 13..=18 | 42 | 43),
        protocol::ICMPV6 => kind < 128,
        _ => false,
    }
}

fn emit(ip: &IpPacket, packet: &[u8], mtu_bytes: usize, out: &mut [u8]) -> Result<usize, WireError> {
    let (source, destination) = (ip.header.destination, ip.header.source);
    let (protocol, kind, quote_bytes) = match source {
        IpAddr::V4(_) => (protocol::ICMP, FRAGMENTATION_NEEDED, QUOTE_V4_BYTES),
        IpAddr::V6(_) => (protocol::ICMPV6, PACKET_TOO_BIG, QUOTE_V6_BYTES),
    };
    let quote = packet.get(..ip.total_bytes.min(quote_bytes)).ok_or(WireError::NoRoom)?;
    let header = IpHeader { dont_fragment: false, ..IpHeader::new(source, destination, protocol) };
    let at = header.emit(8 + quote.len(), out)?;
    let message = out.get_mut(at..at + 8 + quote.len()).ok_or(WireError::NoRoom)?;
    let (head, body) = message.split_first_chunk_mut::<8>().ok_or(WireError::NoRoom)?;
    // 32 bits in ICMPv6; in ICMPv4 the upper half is unused and zero.
    let [kind, code] = kind;
    let [a, b, c, d] = u32::try_from(mtu_bytes.min(65_535)).unwrap_or(0).to_be_bytes();
    *head = [kind, code, 0, 0, a, b, c, d];
    body.copy_from_slice(quote);
    let sum = match source {
        IpAddr::V4(_) => checksum(message),
        IpAddr::V6(_) => {
            pseudo_header(source, destination, protocol, message.len()).add_bytes(message).checksum()
        }
    };
    if let Some(field) = message.get_mut(2..4) {
        field.copy_from_slice(&sum.to_be_bytes());
    }
    Ok(at + 8 + quote.len())
}

#[cfg(test)]
mod tests;
