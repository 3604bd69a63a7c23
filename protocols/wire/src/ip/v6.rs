//! IPv6 (RFC 8200) and the walk over its extension headers.
use super::{Fragment, IpHeader, IpPacket, word16, word32};
use crate::ecn::Ecn;
use crate::error::{Layer, WireError};
use core::net::Ipv6Addr;

/// A header without extension headers.
pub(super) const HEADER_BYTES: usize = 40;
/// A chain longer than this is an attack, not a packet (RFC 8504 section 5.3 allows such a limit).
const MAX_EXTENSION_HEADERS: usize = 8;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION_OPTIONS: u8 = 60;
const MOBILITY: u8 = 135;
const HOST_IDENTITY: u8 = 139;
const SHIM6: u8 = 140;

#[inline]
pub(super) fn parse(bytes: &[u8]) -> Result<IpPacket, WireError> {
    let fixed = bytes.first_chunk::<HEADER_BYTES>().ok_or(WireError::Truncated(Layer::Ipv6))?;
    let total_bytes = HEADER_BYTES + usize::from(word16(fixed, 4));
    let packet = bytes.get(..total_bytes).ok_or(WireError::Truncated(Layer::Ipv6))?;
    let first_word = word32(fixed, 0);
    let chain = walk(packet, fixed[6])?;
    let header = IpHeader {
        source: address(&fixed[8..24]),
        destination: address(&fixed[24..40]),
        protocol: chain.protocol,
        dscp: (first_word >> 22) as u8 & 0x3f,
        ecn: Ecn::from_bits((first_word >> 20) as u8),
        hop_limit: fixed[7],
        identification: 0,
        dont_fragment: true,
        flow_label: first_word & 0x000f_ffff,
    };
    Ok(IpPacket { header, header_bytes: chain.end, total_bytes, fragment: chain.fragment })
}

/// The address in 16 octets.
fn address(octets: &[u8]) -> core::net::IpAddr {
    Ipv6Addr::from(<[u8; 16]>::try_from(octets).unwrap_or_default()).into()
}

/// Where the chain of extension headers ends.
struct Chain {
    /// Protocol of what follows the chain.
    protocol: u8,
    /// Offset of the first byte behind the chain.
    end: usize,
    /// From the fragment header, if there is one.
    fragment: Option<Fragment>,
}

/// Follows the chain that starts with `next_header` behind the fixed header.
///
/// Behind the fragment header of a later fragment there is no chain: the walk ends there.
fn walk(packet: &[u8], next_header: u8) -> Result<Chain, WireError> {
    let mut chain = Chain { protocol: next_header, end: HEADER_BYTES, fragment: None };
    for _ in 0..=MAX_EXTENSION_HEADERS {
        let length = match chain.protocol {
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS | MOBILITY | HOST_IDENTITY | SHIM6 => {
                8 * (1 + usize::from(*at(packet, chain.end + 1)?))
            }
            // RFC 4302 section 2.2 counts in 4-byte words, less two.
            AUTHENTICATION => 4 * (2 + usize::from(*at(packet, chain.end + 1)?)),
            FRAGMENT => 8,
            _ => return Ok(chain),
        };
        if chain.end + length > packet.len() {
            return Err(WireError::Truncated(Layer::Ipv6));
        }
        if chain.protocol == FRAGMENT {
            let offset_and_flags = word16(packet, chain.end + 2);
            let fragment = Fragment {
                offset_bytes: offset_and_flags & 0xfff8,
                more: offset_and_flags & 1 != 0,
                identification: word32(packet, chain.end + 4),
            };
            // An "atomic" fragment (RFC 6946) is the whole datagram.
            if fragment.more || fragment.offset_bytes != 0 {
                chain.fragment = Some(fragment);
            }
        }
        chain.protocol = *at(packet, chain.end)?;
        chain.end += length;
        if chain.fragment.is_some_and(|f| f.offset_bytes != 0) {
            return Ok(chain);
        }
    }
    Err(WireError::TooManyExtensionHeaders)
}

fn at(packet: &[u8], index: usize) -> Result<&u8, WireError> {
    packet.get(index).ok_or(WireError::Truncated(Layer::Ipv6))
}

pub(super) fn emit(
    header: &IpHeader,
    source: Ipv6Addr,
    destination: Ipv6Addr,
    payload_bytes: usize,
    out: &mut [u8],
) -> Result<usize, WireError> {
    let payload = u16::try_from(payload_bytes).map_err(|_| WireError::NoRoom)?;
    let out = out.first_chunk_mut::<HEADER_BYTES>().ok_or(WireError::NoRoom)?;
    let first_word = 6 << 28 | u32::from(header.traffic_class()) << 20 | header.flow_label & 0x000f_ffff;
    out[0..4].copy_from_slice(&first_word.to_be_bytes());
    out[4..6].copy_from_slice(&payload.to_be_bytes());
    out[6] = header.protocol;
    out[7] = header.hop_limit;
    out[8..24].copy_from_slice(&source.octets());
    out[24..40].copy_from_slice(&destination.octets());
    Ok(HEADER_BYTES)
}
