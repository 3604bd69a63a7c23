//! Generic Routing Encapsulation (RFC 2784) with key and sequence number (RFC 2890), over IP or in UDP (RFC 8086).
use crate::checksum::{Sum, checksum};
use crate::error::{Layer, WireError};
use crate::ip::{put, word16, word32};

/// EtherTypes that a tunnel of ours carries.
pub mod ether_type {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// IPv6.
    pub const IPV6: u16 = 0x86dd;
}

/// Destination port of GRE-in-UDP (RFC 8086 section 3.2).
pub const GRE_UDP_PORT: u16 = 4754;

const CHECKSUM_PRESENT: u16 = 0x8000;
const KEY_PRESENT: u16 = 0x2000;
const SEQUENCE_PRESENT: u16 = 0x1000;
/// Bits 1, 4 and 5: routing and strict source route of RFC 1701, and one never used. RFC 2784 section 2.3 says that a
/// packet with any of them must be discarded.
const OBSOLETE: u16 = 0x4c00;
const VERSION: u16 = 0x0007;

/// A GRE header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct GreHeader {
    /// EtherType of the payload.
    pub protocol: u16,
    /// True when the header carries a checksum over itself and the payload.
    pub checksum: bool,
    /// Tunnel key.
    pub key: Option<u32>,
    /// Sequence number.
    pub sequence: Option<u32>,
}

impl GreHeader {
    /// A plain header in front of the IP packet `inner`; the EtherType is that of its version.
    ///
    /// # Errors
    /// When `inner` is neither IPv4 nor IPv6.
    pub fn for_ip(inner: &[u8]) -> Result<Self, WireError> {
        let protocol = match inner.first().map(|b| b >> 4) {
            Some(4) => ether_type::IPV4,
            Some(6) => ether_type::IPV6,
            Some(version) => return Err(WireError::Version(Layer::Ipv4, version)),
            None => return Err(WireError::Truncated(Layer::Ipv4)),
        };
        Ok(Self { protocol, ..Self::default() })
    }

    /// Length on the wire: 4 bytes, and 4 for each of checksum, key and sequence number.
    pub const fn wire_bytes(&self) -> usize {
        4 + 4 * (self.checksum as usize + self.key.is_some() as usize + self.sequence.is_some() as usize)
    }

    /// Reads the header at the start of `bytes` (header and payload, to the last byte); returns it and its length. A
    /// checksum, when there is one, is verified.
    ///
    /// # Errors
    /// When the header is cut short, of another version, announces obsolete fields, or its checksum is wrong.
    pub fn parse(bytes: &[u8]) -> Result<(Self, usize), WireError> {
        if bytes.len() < 4 {
            return Err(WireError::Truncated(Layer::Gre));
        }
        let flags = word16(bytes, 0);
        if flags & VERSION != 0 {
            return Err(WireError::Version(Layer::Gre, (flags & VERSION) as u8));
        }
        if flags & OBSOLETE != 0 {
            return Err(WireError::ObsoleteFlags(Layer::Gre));
        }
        let mut at = 4;
        let mut field = |present: u16| {
            let value = if flags & present == 0 {
                None
            } else if at + 4 <= bytes.len() {
                at += 4;
                Some(word32(bytes, at - 4))
            } else {
                return Err(WireError::Truncated(Layer::Gre));
            };
            Ok(value)
        };
        let checksum = field(CHECKSUM_PRESENT)?.is_some();
        let (key, sequence) = (field(KEY_PRESENT)?, field(SEQUENCE_PRESENT)?);
        if checksum && !Sum::ZERO.add_bytes(bytes).is_valid() {
            return Err(WireError::Checksum(Layer::Gre));
        }
        Ok((Self { protocol: word16(bytes, 2), checksum, key, sequence }, at))
    }

    /// Writes the header in front of a payload that already lies behind it in `out` (header and payload, to the last
    /// byte); returns the header's length.
    ///
    /// # Errors
    /// When `out` is shorter than the header.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let length = self.wire_bytes();
        if out.len() < length {
            return Err(WireError::NoRoom);
        }
        let flag = |set: bool, bit: u16| if set { bit } else { 0 };
        let flags = flag(self.checksum, CHECKSUM_PRESENT)
            | flag(self.key.is_some(), KEY_PRESENT)
            | flag(self.sequence.is_some(), SEQUENCE_PRESENT);
        put(out, 0, &flags.to_be_bytes());
        put(out, 2, &self.protocol.to_be_bytes());
        let mut at = 4;
        // The checksum's place stays zero until the rest is written; its second half is reserved.
        for word in [self.checksum.then_some(0), self.key, self.sequence].into_iter().flatten() {
            put(out, at, &u32::to_be_bytes(word));
            at += 4;
        }
        if self.checksum {
            let sum = checksum(out);
            put(out, 4, &sum.to_be_bytes());
        }
        Ok(length)
    }
}

/// The UDP source port of a flow in GRE-in-UDP: routers spread flows by it, so it comes from the flow's hash and lies
/// in the ephemeral range 49152 to 65535 (RFC 8086 section 3.1).
pub const fn entropy_port(flow_hash: u64) -> u16 {
    0xc000 | (flow_hash >> 48) as u16 & 0x3fff
}

/// Bytes that a tunnel with plain GRE headers adds in front of an inner packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encapsulation {
    /// GRE straight over IP.
    Gre,
    /// GRE in UDP.
    GreInUdp,
}

impl Encapsulation {
    /// Outer headers for an outer IP header of 20 (IPv4) or 40 (IPv6) bytes: 24, 44, 32 or 52 in all.
    pub const fn overhead_bytes(self, outer_is_ipv6: bool) -> usize {
        let ip = if outer_is_ipv6 { 40 } else { 20 };
        match self {
            Self::Gre => ip + 4,
            Self::GreInUdp => ip + 8 + 4,
        }
    }

    /// The largest TCP payload that fits a path of `path_mtu_bytes` through this tunnel, options not counted: what an
    /// MSS should be clamped to. A path of 1500 bytes leaves 1436 for IPv4 in GRE over IPv4.
    pub const fn max_segment_bytes(
        self,
        path_mtu_bytes: usize,
        outer_is_ipv6: bool,
        inner_is_ipv6: bool,
    ) -> u16 {
        let headers = self.overhead_bytes(outer_is_ipv6) + if inner_is_ipv6 { 60 } else { 40 };
        let room = path_mtu_bytes.saturating_sub(headers);
        if room > u16::MAX as usize { u16::MAX } else { room as u16 }
    }
}
