//! IPv4 (RFC 791).
use super::{Fragment, IpHeader, IpPacket, word16};
use crate::checksum::{Sum, checksum};
use crate::ecn::Ecn;
use crate::error::{Layer, WireError};
use core::net::Ipv4Addr;

/// A header without options.
pub(super) const HEADER_BYTES: usize = 20;
const DONT_FRAGMENT: u16 = 0x4000;
const MORE_FRAGMENTS: u16 = 0x2000;
const OFFSET_MASK: u16 = 0x1fff;

#[inline]
pub(super) fn parse(bytes: &[u8]) -> Result<IpPacket, WireError> {
    let fixed = bytes.first_chunk::<HEADER_BYTES>().ok_or(WireError::Truncated(Layer::Ipv4))?;
    let header_bytes = usize::from(fixed[0] & 0x0f) * 4;
    let total_bytes = usize::from(word16(fixed, 2));
    if header_bytes < HEADER_BYTES || total_bytes < header_bytes {
        return Err(WireError::Length(Layer::Ipv4));
    }
    if total_bytes > bytes.len() {
        return Err(WireError::Truncated(Layer::Ipv4));
    }
    let with_options = bytes.get(..header_bytes).ok_or(WireError::Truncated(Layer::Ipv4))?;
    if !Sum::ZERO.add_bytes(with_options).is_valid() {
        return Err(WireError::Checksum(Layer::Ipv4));
    }
    let (identification, flags) = (word16(fixed, 4), word16(fixed, 6));
    let header = IpHeader {
        source: Ipv4Addr::new(fixed[12], fixed[13], fixed[14], fixed[15]).into(),
        destination: Ipv4Addr::new(fixed[16], fixed[17], fixed[18], fixed[19]).into(),
        protocol: fixed[9],
        dscp: fixed[1] >> 2,
        ecn: Ecn::from_bits(fixed[1]),
        hop_limit: fixed[8],
        identification,
        dont_fragment: flags & DONT_FRAGMENT != 0,
        flow_label: 0,
    };
    let fragment = (flags & (MORE_FRAGMENTS | OFFSET_MASK) != 0).then(|| Fragment {
        offset_bytes: (flags & OFFSET_MASK) * 8,
        more: flags & MORE_FRAGMENTS != 0,
        identification: identification.into(),
    });
    Ok(IpPacket { header, header_bytes, total_bytes, fragment })
}

pub(super) fn emit(
    header: &IpHeader,
    source: Ipv4Addr,
    destination: Ipv4Addr,
    payload_bytes: usize,
    out: &mut [u8],
) -> Result<usize, WireError> {
    let total = u16::try_from(HEADER_BYTES + payload_bytes).map_err(|_| WireError::NoRoom)?;
    let out = out.first_chunk_mut::<HEADER_BYTES>().ok_or(WireError::NoRoom)?;
    out[0] = 0x45;
    out[1] = header.traffic_class();
    out[2..4].copy_from_slice(&total.to_be_bytes());
    out[4..6].copy_from_slice(&header.identification.to_be_bytes());
    let flags = if header.dont_fragment { DONT_FRAGMENT } else { 0 };
    out[6..8].copy_from_slice(&flags.to_be_bytes());
    out[8] = header.hop_limit;
    out[9] = header.protocol;
    out[10..12].fill(0);
    out[12..16].copy_from_slice(&source.octets());
    out[16..20].copy_from_slice(&destination.octets());
    let sum = checksum(out);
    out[10..12].copy_from_slice(&sum.to_be_bytes());
    Ok(HEADER_BYTES)
}
