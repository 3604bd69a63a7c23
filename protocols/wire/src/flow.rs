//! Who talks to whom.
use crate::error::WireError;
use crate::ip::{IpPacket, protocol, word16, word32};
use core::fmt;
use core::net::{IpAddr, SocketAddr};

/// Addresses, ports and protocol of one direction of a flow (the 5-tuple).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowKey {
    /// Sender's address.
    pub source: IpAddr,
    /// Receiver's address.
    pub destination: IpAddr,
    /// Sender's port (0 where the protocol has none).
    pub source_port: u16,
    /// Receiver's port (0 where the protocol has none).
    pub destination_port: u16,
    /// IP protocol number (6 for TCP).
    pub protocol: u8,
}

impl FlowKey {
    /// The same flow seen from the other end.
    pub const fn reversed(self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
            protocol: self.protocol,
        }
    }

    /// The flow of a parsed packet, given with its bytes.
    ///
    /// Ports are 0 in every fragment, the first included, so that the fragments of a datagram stay together, and in
    /// protocols without ports.
    pub fn of_packet(ip: &IpPacket, packet: &[u8]) -> Self {
        let payload = ip.payload(packet);
        let has_ports =
            matches!(ip.header.protocol, protocol::TCP | protocol::UDP | protocol::DCCP | protocol::SCTP);
        let (source_port, destination_port) = if has_ports && ip.fragment.is_none() && payload.len() >= 4 {
            (word16(payload, 0), word16(payload, 2))
        } else {
            (0, 0)
        };
        Self {
            source: ip.header.source,
            destination: ip.header.destination,
            source_port,
            destination_port,
            protocol: ip.header.protocol,
        }
    }

    /// A hash of the flow, equal on every machine and in every run.
    pub fn hash64(&self) -> u64 {
        let mut hash = Hasher::new();
        self.feed(&mut hash);
        hash.finish()
    }

    fn feed(&self, hash: &mut Hasher) {
        for address in [self.source, self.destination] {
            match address {
                IpAddr::V4(v4) => hash.word(v4.to_bits().into()),
                IpAddr::V6(v6) => {
                    hash.word((v6.to_bits() >> 64) as u64);
                    hash.word(v6.to_bits() as u64);
                }
            }
        }
        let ports = u64::from(self.source_port) << 16 | u64::from(self.destination_port);
        hash.word(u64::from(self.protocol) << 32 | ports);
    }
}

impl fmt::Display for FlowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = SocketAddr::new(self.source, self.source_port);
        write!(f, "{source} > {}", SocketAddr::new(self.destination, self.destination_port))
    }
}

/// The flow of an IP packet; see [`FlowKey::of_packet`].
///
/// # Errors
/// When there is no well-formed IP header.
pub fn flow_key(packet: &[u8]) -> Result<FlowKey, WireError> {
    Ok(FlowKey::of_packet(&IpPacket::parse(packet)?, packet))
}

/// The hash by which packets of one flow keep to one link: of the 5-tuple, and of what tells flows apart where ports
/// are missing or hidden: the IPv6 flow label (RFC 6437) and the index of an IPsec association (RFC 4303).
pub fn flow_hash(ip: &IpPacket, packet: &[u8]) -> u64 {
    let mut hash = Hasher::new();
    let key = FlowKey::of_packet(ip, packet);
    key.feed(&mut hash);
    if key.source_port == 0 && key.destination_port == 0 {
        hash.word(ip.header.flow_label.into());
        let payload = ip.payload(packet);
        if ip.header.protocol == protocol::ESP && ip.fragment.is_none() && payload.len() >= 4 {
            hash.word(word32(payload, 0).into());
        }
    }
    hash.finish()
}

/// Multiply-and-rotate over words with the finaliser of MurmurHash3: fixed, fast, good in all bits.
struct Hasher(u64);

impl Hasher {
    const fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    const fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x87c3_7b91_1142_53d5).rotate_left(31);
    }

    const fn finish(self) -> u64 {
        let mut hash = self.0;
        hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        hash ^ hash >> 33
    }
}
