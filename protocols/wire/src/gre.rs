//! Generic Routing Encapsulation (RFC 2784) with key and sequence number (RFC 2890), over IP or in UDP (RFC 8086).
use crate::checksum::{Sum, checksum};
use crate::error::{Layer, WireError};
use crate::ip::{IpFamily, put, word16, word32};
use crate::udp::UdpHeader;

/// EtherTypes that a tunnel of ours carries.
pub mod ether_type {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// IPv6.
    pub const IPV6: u16 = 0x86dd;
}

/// Destination port of GRE-in-UDP (RFC 8086 section 3.2).
pub const GRE_IN_UDP_PORT: u16 = 4754;

/// Bytes of a GRE header without optional fields.
pub const PLAIN_GRE_BYTES: usize = 4;

/// Bytes that a sequence number adds to a GRE header.
pub const SEQUENCE_BYTES: usize = 4;

/// Bytes that a key adds to a GRE header.
pub const KEY_BYTES: usize = 4;

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
    /// A header without optional fields, in front of a payload of EtherType `protocol`: what our tunnels send.
    pub const fn plain(protocol: u16) -> Self {
        Self { protocol, checksum: false, key: None, sequence: None }
    }

    /// Flags and EtherType, which every header begins with: all there is of a [plain](GreHeader::plain) one.
    pub const fn fixed_part(&self) -> [u8; PLAIN_GRE_BYTES] {
        let flags = (if self.checksum { CHECKSUM_PRESENT } else { 0 })
            | (if self.key.is_some() { KEY_PRESENT } else { 0 })
            | (if self.sequence.is_some() { SEQUENCE_PRESENT } else { 0 });
        let ([a, b], [c, d]) = (flags.to_be_bytes(), self.protocol.to_be_bytes());
        [a, b, c, d]
    }

    /// Length on the wire: 4 bytes, and 4 for each of checksum, key and sequence number.
    pub const fn wire_bytes(&self) -> usize {
        PLAIN_GRE_BYTES
            + 4 * (self.checksum as usize + self.key.is_some() as usize + self.sequence.is_some() as usize)
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
        put(out, 0, &self.fixed_part());
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

/// What carries the GRE header of a tunnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encapsulation {
    /// IP itself, protocol 47 (RFC 2784).
    Gre,
    /// UDP (RFC 8086).
    GreInUdp,
    /// A sealed session in UDP: WireGuard's data message around the GRE header and its payload.
    Sealed,
}

/// Bytes that a sealed session adds to what it carries: header (16) and authentication tag (16).
pub const SEAL_BYTES: usize = 32;

impl Encapsulation {
    /// Bytes that a tunnel with [plain headers](GreHeader::plain) adds to a packet, in outer IP packets of `family`
    /// without options: 24, 32 and 64 over IPv4, 44, 52 and 84 over IPv6.
    pub const fn overhead_bytes(self, family: IpFamily) -> usize {
        let udp = match self {
            Self::Gre => 0,
            Self::GreInUdp => UdpHeader::WIRE_BYTES,
            Self::Sealed => UdpHeader::WIRE_BYTES + SEAL_BYTES,
        };
        family.header_bytes() + udp + PLAIN_GRE_BYTES
    }
}
