//! Changing single fields of an IP header in place.
use super::{IpHeader, IpPacket, put, v4, v6, word16};
use crate::checksum::{Sum, update};
use crate::ecn::Ecn;
use crate::error::{Layer, WireError};
use core::fmt;

/// Why [`decrement_hop_limit`] refuses a packet: it has made its last hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Expired;

impl fmt::Display for Expired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the packet has made its last hop")
    }
}

impl core::error::Error for Expired {}

/// Sets the congestion bits of the IP packet in `packet`.
///
/// # Errors
/// When there is no IP header.
pub fn set_ecn(packet: &mut [u8], ecn: Ecn) -> Result<(), WireError> {
    match packet.first().map(|b| b >> 4) {
        Some(4) if packet.len() >= v4::HEADER_BYTES => {
            edit_v4(packet, 0, |word| word & 0xfffc | u16::from(ecn.bits()));
            Ok(())
        }
        Some(6) => {
            let header = v6_header(packet)?;
            header[1] = header[1] & 0b1100_1111 | ecn.bits() << 4;
            Ok(())
        }
        Some(version) if version != 4 && version != 6 => Err(WireError::Version(Layer::Ipv4, version)),
        _ => Err(WireError::Truncated(Layer::Ipv4)),
    }
}

/// What a router does: one hop less. `Ok(Err(Expired))` leaves the packet as it is: it must not be forwarded.
///
/// # Errors
/// When there is no IP header.
pub fn decrement_hop_limit(packet: &mut [u8]) -> Result<Result<(), Expired>, WireError> {
    match packet.first().map(|b| b >> 4) {
        Some(4) if packet.len() >= v4::HEADER_BYTES => {
            if word16(packet, 8) < 0x0200 {
                return Ok(Err(Expired));
            }
            edit_v4(packet, 8, |word| word - 0x0100);
            Ok(Ok(()))
        }
        Some(6) => {
            let header = v6_header(packet)?;
            if header[7] <= 1 {
                return Ok(Err(Expired));
            }
            header[7] -= 1;
            Ok(Ok(()))
        }
        Some(version) if version != 4 && version != 6 => Err(WireError::Version(Layer::Ipv4, version)),
        _ => Err(WireError::Truncated(Layer::Ipv4)),
    }
}

/// What changes in an IPv4 header when another header is put behind it, or taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct V4Fields {
    /// Protocol of what follows the header.
    pub protocol: u8,
    /// Bytes of the whole packet.
    pub total_bytes: u16,
    /// Time to live.
    pub hop_limit: u8,
    /// Identification.
    pub identification: u16,
}

/// Writes fields of an IPv4 header, which is all of `header` with its options, and its checksum anew.
///
/// # Errors
/// When `header` is shorter than an IPv4 header.
pub fn rewrite_v4(header: &mut [u8], fields: V4Fields) -> Result<(), WireError> {
    if header.len() < v4::HEADER_BYTES {
        return Err(WireError::Truncated(Layer::Ipv4));
    }
    put(header, 2, &fields.total_bytes.to_be_bytes());
    put(header, 4, &fields.identification.to_be_bytes());
    put(header, 8, &[fields.hop_limit, fields.protocol, 0, 0]);
    let sum = Sum::ZERO.add_bytes(header).checksum();
    put(header, 10, &sum.to_be_bytes());
    Ok(())
}

/// Writes an IPv4 packet to `out` without the header of so many bytes that stands behind IP's, and that announces what
/// follows it as `next_header`; returns its length.
///
/// # Errors
/// When the packet is shorter than its headers, or `out` too small.
pub fn without_header(
    packet: &[u8],
    ip: &IpPacket,
    (header_bytes, next_header): (usize, u8),
    out: &mut [u8],
) -> Result<usize, WireError> {
    let head = packet.get(..ip.header_bytes).ok_or(WireError::Truncated(Layer::Ipv4))?;
    let rest = ip.payload(packet).get(header_bytes..).ok_or(WireError::Truncated(Layer::Ipv4))?;
    let total_bytes = u16::try_from(head.len() + rest.len()).map_err(|_| WireError::NoRoom)?;
    let out = out.get_mut(..usize::from(total_bytes)).ok_or(WireError::NoRoom)?;
    put(out, 0, head);
    put(out, head.len(), rest);
    let IpHeader { hop_limit, identification, .. } = ip.header;
    let fields = V4Fields { protocol: next_header, total_bytes, hop_limit, identification };
    rewrite_v4(out.get_mut(..head.len()).ok_or(WireError::NoRoom)?, fields)?;
    Ok(usize::from(total_bytes))
}

fn v6_header(packet: &mut [u8]) -> Result<&mut [u8; v6::HEADER_BYTES], WireError> {
    packet.first_chunk_mut().ok_or(WireError::Truncated(Layer::Ipv4))
}

/// Changes the 16-bit word at `at` of an IPv4 header and keeps its checksum.
pub(crate) fn edit_v4(packet: &mut [u8], at: usize, change: impl FnOnce(u16) -> u16) {
    let old = word16(packet, at);
    let new = change(old);
    let sum = update(word16(packet, 10), Sum::ZERO.add_u16(old), Sum::ZERO.add_u16(new));
    put(packet, at, &new.to_be_bytes());
    put(packet, 10, &sum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::without_header;
    use crate::ip::{IpHeader, IpPacket};
    use alloc::vec;
    use core::net::IpAddr;

    #[test]
    fn a_header_is_taken_out_and_what_follows_is_told() {
        let [one, other] = [1, 2].map(|last| IpAddr::from([10, 9, 0, last]));
        let head = IpHeader { identification: 7, hop_limit: 9, ..IpHeader::new(one, other, 48) };
        let mut packet = vec![0; 20];
        head.emit(7, &mut packet).unwrap();
        packet.extend(*b"head+ab");
        let ip = IpPacket::parse(&packet).unwrap();
        let mut out = [0xee; 40];
        assert_eq!(without_header(&packet, &ip, (4, 17), &mut out), Ok(23));
        let inner = IpPacket::parse(&out[..23]).expect("its checksum is right");
        assert_eq!((inner.header, inner.total_bytes), (IpHeader { protocol: 17, ..head }, 23));
        assert_eq!((&out[20..23], out[23]), (&b"+ab"[..], 0xee));
        assert!(without_header(&packet, &ip, (8, 17), &mut out).is_err(), "longer than the packet");
        assert!(without_header(&packet, &ip, (4, 17), &mut out[..22]).is_err());
    }
}
