//! IPv4 (RFC 791) and IPv6 (RFC 8200) headers.

mod edit;
mod v4;
mod v6;

use crate::ecn::Ecn;
use crate::error::{Layer, WireError};
use core::net::IpAddr;

pub(crate) use edit::edit_v4;
pub use edit::{Expired, V4Fields, decrement_hop_limit, rewrite_v4, set_ecn, without_header};

/// IP protocol numbers that prismux looks at.
pub mod protocol {
    /// Internet Control Message Protocol for IPv4.
    pub const ICMP: u8 = 1;
    /// Transmission Control Protocol.
    pub const TCP: u8 = 6;
    /// User Datagram Protocol.
    pub const UDP: u8 = 17;
    /// Datagram Congestion Control Protocol.
    pub const DCCP: u8 = 33;
    /// Generic Routing Encapsulation.
    pub const GRE: u8 = 47;
    /// Encapsulating Security Payload.
    pub const ESP: u8 = 50;
    /// Internet Control Message Protocol for IPv6.
    pub const ICMPV6: u8 = 58;
    /// Stream Control Transmission Protocol.
    pub const SCTP: u8 = 132;
}

/// Version of the Internet Protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IpFamily {
    /// IPv4 (RFC 791).
    V4,
    /// IPv6 (RFC 8200).
    V6,
}

impl IpFamily {
    /// Both.
    pub const ALL: [Self; 2] = [Self::V4, Self::V6];

    /// The family of `address`.
    pub const fn of(address: &IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Self::V4,
            IpAddr::V6(_) => Self::V6,
        }
    }

    /// Bytes of a header without options or extension headers.
    pub const fn header_bytes(self) -> usize {
        match self {
            Self::V4 => 20,
            Self::V6 => 40,
        }
    }
}

/// What an IP header says, options and extension headers aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IpHeader {
    /// Sender.
    pub source: IpAddr,
    /// Receiver; of the same family as `source`.
    pub destination: IpAddr,
    /// Protocol of the payload, behind all extension headers.
    pub protocol: u8,
    /// Differentiated services codepoint, 6 bits (RFC 2474).
    pub dscp: u8,
    /// Congestion bits (RFC 3168).
    pub ecn: Ecn,
    /// Time to live, or hop limit.
    pub hop_limit: u8,
    /// IPv4 identification; 0 in IPv6.
    pub identification: u16,
    /// IPv4 flag DF; always true in IPv6, whose routers never fragment.
    pub dont_fragment: bool,
    /// IPv6 flow label, 20 bits (RFC 6437); 0 in IPv4.
    pub flow_label: u32,
}

/// Where a fragment belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fragment {
    /// Offset of this fragment's payload in the datagram, in bytes.
    pub offset_bytes: u16,
    /// More fragments follow.
    pub more: bool,
    /// Identification shared by the fragments of a datagram.
    pub identification: u32,
}

/// A parsed IP header and the geometry of its packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IpPacket {
    /// The header's contents.
    pub header: IpHeader,
    /// Bytes before the payload: header, options, extension headers.
    pub header_bytes: usize,
    /// Bytes of the whole packet; the buffer may be longer.
    pub total_bytes: usize,
    /// Set on a fragment.
    pub fragment: Option<Fragment>,
}

impl IpPacket {
    /// Reads the IP header at the start of `bytes`; an IPv4 header's checksum is verified.
    ///
    /// # Errors
    /// When the packet is cut short, its lengths contradict each other or its checksum is wrong.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        match bytes.first().map(|b| b >> 4) {
            Some(4) => v4::parse(bytes),
            Some(6) => v6::parse(bytes),
            Some(version) => Err(WireError::Version(Layer::Ipv4, version)),
            None => Err(WireError::Truncated(Layer::Ipv4)),
        }
    }

    /// The payload within the bytes this was parsed from.
    pub fn payload<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        bytes.get(self.header_bytes..self.total_bytes).unwrap_or(&[])
    }

    /// Length of the payload.
    pub const fn payload_bytes(&self) -> usize {
        self.total_bytes - self.header_bytes
    }
}

impl IpHeader {
    /// A header with everyday values: hop limit 64, DF set, no marks.
    pub const fn new(source: IpAddr, destination: IpAddr, protocol: u8) -> Self {
        Self {
            source,
            destination,
            protocol,
            dscp: 0,
            ecn: Ecn::NotEct,
            hop_limit: 64,
            identification: 0,
            dont_fragment: true,
            flow_label: 0,
        }
    }

    /// Length on the wire: 20 bytes for IPv4, 40 for IPv6.
    pub const fn wire_bytes(&self) -> usize {
        match self.source {
            IpAddr::V4(_) => v4::HEADER_BYTES,
            IpAddr::V6(_) => v6::HEADER_BYTES,
        }
    }

    /// Writes the header of a packet with `payload_bytes` of payload to the start of `out`; returns its length.
    ///
    /// # Errors
    /// When `out` is too small, the packet too long, or the families differ.
    pub fn emit(&self, payload_bytes: usize, out: &mut [u8]) -> Result<usize, WireError> {
        match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                v4::emit(self, source, destination, payload_bytes, out)
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                v6::emit(self, source, destination, payload_bytes, out)
            }
            _ => Err(WireError::MixedFamilies),
        }
    }

    /// The byte that IPv4 calls type of service and IPv6 traffic class.
    const fn traffic_class(&self) -> u8 {
        self.dscp << 2 | self.ecn.bits()
    }
}

/// The big-endian 16-bit word at `at`, which the caller knows to be there (0 where it is not).
#[inline]
pub(crate) fn word16(bytes: &[u8], at: usize) -> u16 {
    match bytes.get(at..at + 2) {
        Some(&[a, b]) => u16::from_be_bytes([a, b]),
        _ => 0,
    }
}

/// The big-endian 32-bit word at `at`, which the caller knows to be there (0 where it is not).
#[inline]
pub(crate) fn word32(bytes: &[u8], at: usize) -> u32 {
    match bytes.get(at..at + 4) {
        Some(&[a, b, c, d]) => u32::from_be_bytes([a, b, c, d]),
        _ => 0,
    }
}

/// Writes `bytes` at `at`, where the caller knows that there is room (and nothing where there is none).
#[inline]
pub(crate) fn put(out: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = out.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}
