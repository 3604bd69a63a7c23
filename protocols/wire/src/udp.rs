//! UDP (RFC 768).
use crate::checksum::pseudo_header;
use crate::error::{Layer, WireError};
use crate::ip::{IpHeader, IpPacket, protocol, put, word16};
use core::net::IpAddr;

/// A UDP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct UdpHeader {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
}

impl UdpHeader {
    /// Length on the wire.
    pub const WIRE_BYTES: usize = 8;

    /// Reads the header at the start of `segment`; returns it and the length it announces for header and payload.
    /// The checksum is not looked at.
    ///
    /// # Errors
    /// When the header is cut short or its length impossible.
    pub fn parse(segment: &[u8]) -> Result<(Self, usize), WireError> {
        if segment.len() < Self::WIRE_BYTES {
            return Err(WireError::Truncated(Layer::Udp));
        }
        let length = usize::from(word16(segment, 4));
        if length < Self::WIRE_BYTES {
            return Err(WireError::Length(Layer::Udp));
        }
        if length > segment.len() {
            return Err(WireError::Truncated(Layer::Udp));
        }
        Ok((Self { source_port: word16(segment, 0), destination_port: word16(segment, 2) }, length))
    }

    /// Checks the checksum of a segment of exactly the length its header announces.
    ///
    /// A checksum of zero means "none" in IPv4; in IPv6 it is refused unless `allow_zero`, which tunnels may ask for
    /// (RFC 6936, RFC 8086 section 6.2).
    ///
    /// # Errors
    /// When it does not match.
    pub fn verify_checksum(
        segment: &[u8],
        source: IpAddr,
        destination: IpAddr,
        allow_zero: bool,
    ) -> Result<(), WireError> {
        if segment.len() < Self::WIRE_BYTES {
            return Err(WireError::Truncated(Layer::Udp));
        }
        let absent = word16(segment, 6) == 0 && (source.is_ipv4() || allow_zero);
        let sum = pseudo_header(source, destination, protocol::UDP, segment.len()).add_bytes(segment);
        if absent || word16(segment, 6) != 0 && sum.is_valid() {
            Ok(())
        } else {
            Err(WireError::Checksum(Layer::Udp))
        }
    }

    /// Writes the header of a datagram with `payload_bytes` of payload, checksum zero, to the start of `out`.
    ///
    /// # Errors
    /// When `out` is too small or the datagram too long.
    pub fn emit(&self, payload_bytes: usize, out: &mut [u8]) -> Result<usize, WireError> {
        let length = u16::try_from(Self::WIRE_BYTES + payload_bytes).map_err(|_| WireError::NoRoom)?;
        let out = out.first_chunk_mut::<{ Self::WIRE_BYTES }>().ok_or(WireError::NoRoom)?;
        out[0..2].copy_from_slice(&self.source_port.to_be_bytes());
        out[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        out[4..6].copy_from_slice(&length.to_be_bytes());
        out[6..8].fill(0);
        Ok(Self::WIRE_BYTES)
    }

    /// Fills in the checksum of a whole segment (header and payload).
    ///
    /// # Errors
    /// When `segment` has no room for a header.
    pub fn fill_checksum(segment: &mut [u8], source: IpAddr, destination: IpAddr) -> Result<(), WireError> {
        if segment.len() < Self::WIRE_BYTES {
            return Err(WireError::Truncated(Layer::Udp));
        }
        put(segment, 6, &[0; 2]);
        let sum = pseudo_header(source, destination, protocol::UDP, segment.len()).add_bytes(segment);
        // A computed zero is sent as all ones: zero means "none".
        let checksum = match sum.checksum() {
            0 => 0xffff,
            other => other,
        };
        put(segment, 6, &checksum.to_be_bytes());
        Ok(())
    }
}

/// A UDP datagram behind its IP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UdpPacket {
    /// The IP header.
    pub ip: IpPacket,
    /// The UDP header.
    pub header: UdpHeader,
    /// Offset of the payload in the packet.
    pub payload_offset: usize,
    /// Length of the payload.
    pub payload_bytes: usize,
}

impl UdpPacket {
    /// Reads an IP packet that carries a whole UDP datagram. The UDP checksum is not looked at.
    ///
    /// # Errors
    /// When it is malformed, a fragment, or carries another protocol.
    pub fn parse(packet: &[u8]) -> Result<Self, WireError> {
        let ip = IpPacket::parse(packet)?;
        if ip.header.protocol != protocol::UDP {
            return Err(WireError::OtherProtocol(ip.header.protocol));
        }
        if ip.fragment.is_some() {
            return Err(WireError::Fragment);
        }
        let (header, length) = UdpHeader::parse(ip.payload(packet))?;
        let payload_offset = ip.header_bytes + UdpHeader::WIRE_BYTES;
        Ok(Self { ip, header, payload_offset, payload_bytes: length - UdpHeader::WIRE_BYTES })
    }

    /// The payload within the packet this was parsed from.
    pub fn payload<'a>(&self, packet: &'a [u8]) -> &'a [u8] {
        packet.get(self.payload_offset..self.payload_offset + self.payload_bytes).unwrap_or(&[])
    }
}

/// Writes a whole packet, IP header, UDP header, `payload` and checksums, to the start of `out`; returns its length.
///
/// # Errors
/// When it does not fit `out` or 65,535 bytes.
pub fn emit_udp_packet(
    ip: &IpHeader,
    udp: &UdpHeader,
    payload: &[u8],
    out: &mut [u8],
) -> Result<usize, WireError> {
    let ip = IpHeader { protocol: protocol::UDP, ..*ip };
    let segment_bytes = UdpHeader::WIRE_BYTES + payload.len();
    let ip_bytes = ip.emit(segment_bytes, out)?;
    let segment = out.get_mut(ip_bytes..ip_bytes + segment_bytes).ok_or(WireError::NoRoom)?;
    let at = udp.emit(payload.len(), segment)?;
    put(segment, at, payload);
    UdpHeader::fill_checksum(segment, ip.source, ip.destination)?;
    Ok(ip_bytes + segment_bytes)
}
