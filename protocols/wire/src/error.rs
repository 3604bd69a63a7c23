//! Why bytes are not the packet they should be.
use core::fmt;

/// The header an error speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Layer {
    /// Internet Protocol, version 4.
    Ipv4,
    /// Internet Protocol, version 6, extension headers included.
    Ipv6,
    /// Transmission Control Protocol.
    Tcp,
    /// User Datagram Protocol.
    Udp,
    /// Generic Routing Encapsulation.
    Gre,
    /// Ethernet.
    Ethernet,
    /// Address Resolution Protocol.
    Arp,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ipv4 => "IPv4",
            Self::Ipv6 => "IPv6",
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
            Self::Gre => "GRE",
            Self::Ethernet => "Ethernet",
            Self::Arp => "ARP",
        })
    }
}

/// Why bytes are not the packet they should be, or a packet does not fit its buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WireError {
    /// The bytes end before the header, or before the length it announces.
    Truncated(Layer),
    /// The version field holds a value that is not understood.
    Version(Layer, u8),
    /// A length field contradicts the header's own minimum.
    Length(Layer),
    /// The checksum does not match.
    Checksum(Layer),
    /// An option of this kind has an impossible length.
    MalformedOption(u8),
    /// More IPv6 extension headers than anybody needs.
    TooManyExtensionHeaders,
    /// A flag announces a field that is obsolete and not understood (RFC 2784 section 2.2).
    ObsoleteFlags(Layer),
    /// The packet carries another protocol than the one asked for.
    OtherProtocol(u8),
    /// An operation of ARP other than request and reply.
    Operation(u16),
    /// A fragment: its transport header is missing or incomplete.
    Fragment,
    /// Source and destination are not of one address family.
    MixedFamilies,
    /// The output buffer is too small, or the packet would pass 65,535 bytes.
    NoRoom,
    /// The TCP options do not fit their 40 bytes.
    OptionsTooLong,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated(layer) => write!(f, "{layer} packet cut short"),
            Self::Version(layer, version) => write!(f, "{layer} version {version} is not understood"),
            Self::Length(layer) => write!(f, "{layer} length field contradicts its header"),
            Self::Checksum(layer) => write!(f, "{layer} checksum does not match"),
            Self::MalformedOption(kind) => write!(f, "TCP option {kind} has an impossible length"),
            Self::TooManyExtensionHeaders => f.write_str("too many IPv6 extension headers"),
            Self::ObsoleteFlags(layer) => write!(f, "{layer} header announces obsolete fields"),
            Self::Operation(operation) => write!(f, "ARP operation {operation} is not understood"),
            Self::OtherProtocol(protocol) => write!(f, "the packet carries IP protocol {protocol}"),
            Self::Fragment => f.write_str("the packet is a fragment"),
            Self::MixedFamilies => f.write_str("source and destination are of different address families"),
            Self::NoRoom => f.write_str("the packet does not fit the buffer"),
            Self::OptionsTooLong => f.write_str("the TCP options pass 40 bytes"),
        }
    }
}

impl core::error::Error for WireError {}
