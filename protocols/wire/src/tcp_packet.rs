//! TCP segments in bytes (RFC 9293 section 3.1), alone and behind their IP header.
use crate::checksum::{Sum, pseudo_header};
use crate::error::{Layer, WireError};
use crate::flow::FlowKey;
use crate::ip::{IpHeader, IpPacket, protocol, put, word16, word32};
use crate::seq::SeqNumber;
use crate::tcp_header::{TcpFlags, TcpHeader, TcpOptions};

/// A TCP header without options.
pub(crate) const FIXED_BYTES: usize = 20;

impl TcpHeader {
    /// Reads the TCP header at the start of `segment`; returns it and its length. The checksum is not looked at.
    ///
    /// Parsing what [`TcpHeader::emit`] wrote gives the same value. Reserved bits and unknown options are dropped.
    ///
    /// # Errors
    /// When the header is cut short or an option is malformed.
    #[inline]
    pub fn parse(segment: &[u8]) -> Result<(Self, usize), WireError> {
        let fixed = segment.first_chunk::<FIXED_BYTES>().ok_or(WireError::Truncated(Layer::Tcp))?;
        let length = usize::from(fixed[12] >> 4) * 4;
        if length < FIXED_BYTES {
            return Err(WireError::Length(Layer::Tcp));
        }
        let options = segment.get(FIXED_BYTES..length).ok_or(WireError::Truncated(Layer::Tcp))?;
        let header = Self {
            source_port: word16(fixed, 0),
            destination_port: word16(fixed, 2),
            seq: SeqNumber(word32(fixed, 4)),
            ack: SeqNumber(word32(fixed, 8)),
            flags: TcpFlags(fixed[13]),
            window: word16(fixed, 14),
            urgent: word16(fixed, 18),
            options: TcpOptions::parse(options)?,
        };
        Ok((header, length))
    }

    /// Writes the header to the start of `out` with a checksum field of zero; returns its length.
    ///
    /// # Errors
    /// When the options pass 40 bytes or `out` is too small.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let (fixed, options) = out.split_first_chunk_mut::<FIXED_BYTES>().ok_or(WireError::NoRoom)?;
        let length = FIXED_BYTES + self.options.emit(options)?;
        fixed[0..2].copy_from_slice(&self.source_port.to_be_bytes());
        fixed[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        fixed[4..8].copy_from_slice(&self.seq.0.to_be_bytes());
        fixed[8..12].copy_from_slice(&self.ack.0.to_be_bytes());
        fixed[12] = ((length / 4) as u8) << 4;
        fixed[13] = self.flags.0;
        fixed[14..16].copy_from_slice(&self.window.to_be_bytes());
        fixed[16..18].fill(0);
        fixed[18..20].copy_from_slice(&self.urgent.to_be_bytes());
        Ok(length)
    }
}

/// A TCP segment behind its IP header: both headers parsed, and where the payload lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TcpPacket {
    /// The IP header.
    pub ip: IpPacket,
    /// The TCP header.
    pub header: TcpHeader,
    /// Offset of the payload in the packet; it ends at `ip.total_bytes`.
    pub payload_offset: usize,
}

impl TcpPacket {
    /// Reads an IP packet that carries a whole TCP segment. The TCP checksum is not looked at: a forwarder leaves
    /// that to the receiver, which asks [`TcpPacket::verify_checksum`].
    ///
    /// # Errors
    /// When it is malformed, a fragment, or carries another protocol.
    #[inline]
    pub fn parse(packet: &[u8]) -> Result<Self, WireError> {
        Self::from_ip(IpPacket::parse(packet)?, packet)
    }

    /// As [`TcpPacket::parse`], for a packet whose IP header is parsed already.
    ///
    /// # Errors
    /// As [`TcpPacket::parse`].
    #[inline]
    pub fn from_ip(ip: IpPacket, packet: &[u8]) -> Result<Self, WireError> {
        if ip.header.protocol != protocol::TCP {
            return Err(WireError::OtherProtocol(ip.header.protocol));
        }
        if ip.fragment.is_some() {
            return Err(WireError::Fragment);
        }
        let (header, length) = TcpHeader::parse(ip.payload(packet))?;
        Ok(Self { ip, header, payload_offset: ip.header_bytes + length })
    }

    /// Whether the segment is an acknowledgement and nothing else.
    pub fn is_bare_acknowledgement(&self) -> bool {
        let opens_or_ends = TcpFlags(TcpFlags::SYN.0 | TcpFlags::FIN.0 | TcpFlags::RST.0);
        let flags = self.header.flags;
        self.payload_bytes() == 0 && flags.contains(TcpFlags::ACK) && !flags.intersects(opens_or_ends)
    }

    /// The payload within the packet this was parsed from.
    pub fn payload<'a>(&self, packet: &'a [u8]) -> &'a [u8] {
        packet.get(self.payload_offset..self.ip.total_bytes).unwrap_or(&[])
    }

    /// Length of the payload.
    pub const fn payload_bytes(&self) -> u32 {
        (self.ip.total_bytes - self.payload_offset) as u32
    }

    /// Addresses and ports.
    pub const fn flow(&self) -> FlowKey {
        FlowKey {
            source: self.ip.header.source,
            destination: self.ip.header.destination,
            source_port: self.header.source_port,
            destination_port: self.header.destination_port,
            protocol: protocol::TCP,
        }
    }

    /// Checks the TCP checksum of the packet this was parsed from.
    ///
    /// # Errors
    /// When it does not match.
    pub fn verify_checksum(&self, packet: &[u8]) -> Result<(), WireError> {
        let segment = self.ip.payload(packet);
        let ip = &self.ip.header;
        let sum = pseudo_header(ip.source, ip.destination, protocol::TCP, segment.len()).add_bytes(segment);
        if sum.is_valid() { Ok(()) } else { Err(WireError::Checksum(Layer::Tcp)) }
    }
}

/// Writes a whole packet, IP header, TCP header, `payload` and checksums, to the start of `out`; returns its length.
///
/// # Errors
/// When it does not fit `out`, 65,535 bytes, or the option space.
pub fn emit_tcp_packet(
    ip: &IpHeader,
    tcp: &TcpHeader,
    payload: &[u8],
    out: &mut [u8],
) -> Result<usize, WireError> {
    let segment_bytes = tcp.wire_bytes() + payload.len();
    emit_around(ip, segment_bytes, out, |segment| {
        let tcp_bytes = tcp.emit(segment)?;
        put(segment, tcp_bytes, payload);
        Ok(())
    })
}

/// As [`emit_tcp_packet`], around a `segment` whose header is written already, the checksum excepted: for options that
/// [`TcpHeader`] does not have.
///
/// # Errors
/// When it does not fit `out` or 65,535 bytes.
pub fn emit_tcp_segment(ip: &IpHeader, segment: &[u8], out: &mut [u8]) -> Result<usize, WireError> {
    emit_around(ip, segment.len(), out, |place| {
        put(place, 0, segment);
        Ok(())
    })
}

/// The IP header, the segment that `write` writes, and its checksum.
fn emit_around(
    ip: &IpHeader,
    segment_bytes: usize,
    out: &mut [u8],
    write: impl FnOnce(&mut [u8]) -> Result<(), WireError>,
) -> Result<usize, WireError> {
    let ip_bytes = ip.wire_bytes();
    let ip = IpHeader { protocol: protocol::TCP, ..*ip };
    ip.emit(segment_bytes, out)?;
    let segment = out.get_mut(ip_bytes..ip_bytes + segment_bytes).ok_or(WireError::NoRoom)?;
    write(segment)?;
    let sum: Sum = pseudo_header(ip.source, ip.destination, protocol::TCP, segment_bytes);
    let checksum = sum.add_bytes(segment).checksum();
    put(segment, 16, &checksum.to_be_bytes());
    Ok(ip_bytes + segment_bytes)
}
