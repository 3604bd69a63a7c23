//! A TCP segment or a UDP datagram as joining sees it: where things are in it, and whether it is like another.
use crate::offload::header::{Segmentation, TCP_CHECKSUM, TCP_FLAGS, UDP_CHECKSUM};
use prismux_wire::checksum::Sum;
use prismux_wire::ip::protocol;
use prismux_wire::{FlowKey, IpHeader, IpPacket, SeqNumber, TcpFlags, TcpHeader, TcpPacket, UdpHeader};

/// Where things are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub is_ipv6: bool,
    pub is_udp: bool,
    pub transport_at: usize,
    pub payload_at: usize,
}

/// A TCP segment or a UDP datagram in one piece.
pub(super) struct Segment<'a> {
    pub packet: &'a [u8],
    pub flow: FlowKey,
    pub ip: IpHeader,
    /// `None` of UDP.
    pub tcp: Option<TcpHeader>,
    pub shape: Shape,
    /// Data, nothing but data, and intact.
    pub may_join: bool,
}

impl<'a> Segment<'a> {
    /// Reads a segment; `None` for anything else, and for IP headers with options or extensions.
    pub fn parse(packet: &'a [u8]) -> Option<Self> {
        let ip = IpPacket::parse(packet).ok().filter(|ip| ip.total_bytes == packet.len())?;
        let is_ipv6 = ip.header.source.is_ipv6();
        if ip.header_bytes != Shape::plain_ip_bytes(is_ipv6) {
            return None;
        }
        let is_udp = ip.header.protocol == protocol::UDP && ip.fragment.is_none();
        if is_udp { Self::udp(ip, packet) } else { Self::tcp(ip, packet) }
    }

    fn tcp(ip: IpPacket, packet: &'a [u8]) -> Option<Self> {
        let parsed = TcpPacket::from_ip(ip, packet).ok()?;
        let may_join = parsed.header.flags.without(TcpFlags::PSH) == TcpFlags::ACK
            && parsed.payload_bytes() > 0
            && parsed.verify_checksum(packet).is_ok();
        let shape = Shape {
            is_ipv6: ip.header.source.is_ipv6(),
            is_udp: false,
            transport_at: ip.header_bytes,
            payload_at: parsed.payload_offset,
        };
        let (flow, tcp) = (parsed.flow(), Some(parsed.header));
        Some(Self { packet, flow, ip: ip.header, tcp, shape, may_join })
    }

    fn udp(ip: IpPacket, packet: &'a [u8]) -> Option<Self> {
        let datagram = ip.payload(packet);
        let (_, length) = UdpHeader::parse(datagram).ok().filter(|(_, length)| *length == datagram.len())?;
        let (source, destination) = (ip.header.source, ip.header.destination);
        // One without a checksum would get one.
        let has_checksum = datagram.get(6..8).is_some_and(|sum| sum != [0, 0]);
        let may_join = length > UdpHeader::WIRE_BYTES
            && has_checksum
            && UdpHeader::verify_checksum(datagram, source, destination, false).is_ok();
        let shape = Shape {
            is_ipv6: source.is_ipv6(),
            is_udp: true,
            transport_at: ip.header_bytes,
            payload_at: ip.header_bytes + UdpHeader::WIRE_BYTES,
        };
        let flow = FlowKey::of_packet(&ip, packet);
        Some(Self { packet, flow, ip: ip.header, tcp: None, shape, may_join })
    }

    /// Whoever sent it asks to have it handed on at once.
    pub fn is_pushed(&self) -> bool {
        self.tcp.as_ref().is_some_and(|tcp| tcp.flags.contains(TcpFlags::PSH))
    }

    pub fn payload(&self) -> &'a [u8] {
        self.packet.get(self.shape.payload_at..).unwrap_or_default()
    }

    /// The number of the first byte behind it, of TCP.
    pub fn end(&self) -> Option<SeqNumber> {
        self.tcp.as_ref().map(|tcp| tcp.seq + self.payload().len() as u32)
    }
}

impl Shape {
    /// Bytes of an IP header without options and extensions.
    const fn plain_ip_bytes(is_ipv6: bool) -> usize {
        if is_ipv6 { 40 } else { 20 }
    }

    /// Where the checksum is, from the transport's header.
    pub const fn checksum_at(&self) -> usize {
        if self.is_udp { UDP_CHECKSUM } else { TCP_CHECKSUM }
    }

    /// How the kernel cuts it.
    pub const fn segmentation(&self) -> Segmentation {
        match (self.is_udp, self.is_ipv6) {
            (true, _) => Segmentation::Udp,
            (false, true) => Segmentation::Tcp6,
            (false, false) => Segmentation::Tcp4,
        }
    }

    /// The sum of the pseudo header in front of `transport_bytes` behind the header `network`.
    pub fn pseudo_header(&self, network: &[u8], transport_bytes: usize) -> Sum {
        let addresses = if self.is_ipv6 { &network[8..40] } else { &network[12..20] };
        let protocol = if self.is_udp { protocol::UDP } else { protocol::TCP };
        Sum::ZERO.add_bytes(addresses).add_u16(u16::from(protocol)).add_u16(transport_bytes as u16)
    }

    /// Whether the headers of two packets of a flow say the same, but for lengths, numbers, checksums and PSH.
    pub fn has_equal_headers(&self, a: &[u8], b: &[u8]) -> bool {
        let network = if self.is_ipv6 { [0..4, 6..8] } else { [0..2, 6..10] };
        let at = self.transport_at;
        let transport = match self.is_udp {
            true => [at..at + 4, at..at, at..at],
            // Acknowledgement and data offset; window; urgent pointer and options.
            false => [at + 8..at + TCP_FLAGS, at + 14..at + TCP_CHECKSUM, at + 18..self.payload_at],
        };
        network.into_iter().chain(transport).all(|range| a[range.clone()] == b[range])
    }
}
