//! The far end of a tunnel.
use prismux_wire::gre::{GRE_IN_UDP_PORT, KEY_BYTES, SEQUENCE_BYTES};
use prismux_wire::{Encapsulation, IpFamily};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// What carries the GRE header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Transport {
    /// IPv4 itself, protocol 47 (RFC 2784).
    Gre,
    /// UDP (RFC 8086).
    Udp,
    /// A sealed session in UDP.
    Sealed,
}

/// Where a gateway of sealed sessions listens: WireGuard's customary port, since the messages are WireGuard's.
pub const SEALED_PORT: u16 = 51820;

impl Transport {
    /// The name in files and status output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gre => "gre",
            Self::Udp => "udp",
            Self::Sealed => "sealed",
        }
    }

    /// Its encapsulation on the wire.
    pub const fn encapsulation(self) -> Encapsulation {
        match self {
            Self::Gre => Encapsulation::Gre,
            Self::Udp => Encapsulation::GreInUdp,
            Self::Sealed => Encapsulation::Sealed,
        }
    }

    /// Bytes that the tunnel adds to a packet, outer IP header of `family` included.
    pub const fn overhead_bytes(self, family: IpFamily) -> usize {
        self.encapsulation().overhead_bytes(family)
    }
}

/// The far end of a tunnel. Text: `"sealed:192.0.2.1:51820"`, `"gre:192.0.2.1"` or `"udp:192.0.2.1:4754"` (ports may be
/// left out).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Peer {
    /// What carries the tunnel.
    pub transport: Transport,
    /// Where it ends; port 0 for GRE.
    pub address: SocketAddr,
    /// Whose key it has, of those that the configuration lists; 0 for tunnels without keys.
    pub number: u16,
}

impl Peer {
    /// GRE over IP to `address`.
    pub fn gre(address: impl Into<IpAddr>) -> Self {
        Self { transport: Transport::Gre, address: SocketAddr::new(address.into(), 0), number: 0 }
    }

    /// Bytes that the tunnel adds to a packet without a number.
    pub fn overhead_bytes(&self) -> usize {
        self.transport.overhead_bytes(IpFamily::of(&self.address.ip().to_canonical()))
    }

    /// Bytes of a packet on the line, outer headers included, of which `inner_bytes` are what the tunnel carries,
    /// behind a header with a sequence number and a key or without.
    pub fn line_bytes(&self, inner_bytes: usize, has_sequence: bool, has_key: bool) -> u64 {
        let optional = [(has_sequence, SEQUENCE_BYTES), (has_key, KEY_BYTES)];
        let optional_bytes: usize =
            optional.into_iter().map(|(has, bytes)| if has { bytes } else { 0 }).sum();
        (inner_bytes + self.overhead_bytes() + optional_bytes) as u64
    }

    /// GRE in UDP to `address`.
    pub const fn udp(address: SocketAddr) -> Self {
        Self { transport: Transport::Udp, address, number: 0 }
    }

    /// A sealed session with the peer `number`, at `address`.
    pub const fn sealed(address: SocketAddr, number: u16) -> Self {
        Self { transport: Transport::Sealed, address, number }
    }

    /// Whether both are the same end: by key where there is one, else by address.
    pub fn is_same_end(&self, other: &Self) -> bool {
        self.end() == other.end()
    }

    /// The same for all peers that are the same end.
    pub const fn end(&self) -> Self {
        const NOWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
        match self.transport {
            Transport::Sealed => Self::sealed(NOWHERE, self.number),
            Transport::Gre | Transport::Udp => *self,
        }
    }
}

impl FromStr for Peer {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let error = || {
            format!(
                "\"{text}\" is no tunnel end, expected \"sealed:192.0.2.1:51820\", \"gre:192.0.2.1\" or \
                 \"udp:192.0.2.1:4754\""
            )
        };
        let with_port = |address: &str, port| {
            let bare = || address.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, port));
            address.parse::<SocketAddr>().or_else(|_| bare()).map_err(|_| error())
        };
        match text.split_once(':') {
            // Raw sockets for GRE are IPv4 only.
            Some(("gre", address)) => {
                address.parse::<std::net::Ipv4Addr>().map(Self::gre).map_err(|_| error())
            }
            Some(("udp", address)) => with_port(address, GRE_IN_UDP_PORT).map(Self::udp),
            Some(("sealed", address)) => {
                with_port(address, SEALED_PORT).map(|address| Self::sealed(address, 0))
            }
            _ => Err(error()),
        }
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.transport {
            Transport::Gre => write!(f, "gre:{}", self.address.ip()),
            Transport::Udp => write!(f, "udp:{}", self.address),
            Transport::Sealed => write!(f, "sealed:{}", self.address),
        }
    }
}
