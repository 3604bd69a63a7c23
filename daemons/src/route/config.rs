//! What a routing daemon is told on its command line.
use prismux_linux::netconf::Prefix;
use prismux_plan::{Routing, registry};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::str::FromStr;

/// Where it answers `prismux status` unless it is told otherwise.
pub const STATUS_SOCKET: &str = "/run/prismux/route.sock";
/// The name of its device unless it is told otherwise.
pub const DEVICE: &str = "mesh0";

/// A routing protocol with its parameters, by its name in scenario files.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProtocolName {
    /// The name.
    pub name: &'static str,
    pub(super) routing: Routing,
}

impl ProtocolName {
    /// All that there are, and a line about each.
    pub fn all() -> impl Iterator<Item = (Self, &'static str)> {
        let routes = registry::ROUTING.iter().filter(|known| known.value != Routing::Direct);
        routes.map(|known| (Self { name: known.name, routing: known.value }, known.summary))
    }

    /// With hello messages between neighbours, which AODV has (RFC 3561 section 6.9).
    ///
    /// # Errors
    /// When it is another protocol.
    pub fn with_hello(mut self) -> Result<Self, String> {
        match &mut self.routing {
            Routing::Aodv(config) => config.hello = true,
            _ => return Err(format!("--hello: \"{}\" has no hello messages, AODV has", self.name)),
        }
        Ok(self)
    }
}

impl FromStr for ProtocolName {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::all().map(|(known, _)| known).find(|known| known.name == text);
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::all().map(|(known, _)| known.name).collect();
            format!("\"{text}\" is no routing protocol, expected one of {}", names.join(", "))
        })
    }
}

/// The address of this host in its ad-hoc network, and how much of it all hosts there have in common: "10.9.0.3/16".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeshAddress {
    /// The host's own.
    pub own: Ipv4Addr,
    /// Leading bits that all hosts have in common.
    pub length: u8,
}

impl MeshAddress {
    /// The network, the host's own bits included.
    pub const fn prefix(self) -> Prefix {
        Prefix { address: IpAddr::V4(self.own), length: self.length }
    }

    fn host_bits(self) -> u32 {
        u32::MAX.checked_shr(self.length.into()).unwrap_or(0)
    }

    /// Whether an address is that of a host of the network.
    pub fn is_host(self, address: Ipv4Addr) -> bool {
        let bits = address.to_bits() & self.host_bits();
        self.prefix().contains(address.into()) && bits != 0 && bits != self.host_bits()
    }
}

impl FromStr for MeshAddress {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let prefix: Prefix = text.parse()?;
        let expected =
            "expected this host's IPv4 address and the length of the network's, such as 10.9.0.3/16";
        let IpAddr::V4(own) = prefix.address else {
            return Err(format!("{text} is no IPv4 address; {expected}"));
        };
        let address = Self { own, length: prefix.length };
        let is_unicast = !own.is_multicast() && !own.is_loopback() && !own.is_broadcast();
        match prefix.length {
            1..=30 if is_unicast && address.is_host(own) => Ok(address),
            1..=30 => Err(format!("{text} is no address of a host; {expected}")),
            length => Err(format!("a network of /{length} is out of range; {expected}")),
        }
    }
}

impl fmt::Display for MeshAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.prefix().fmt(f)
    }
}

/// What packets are sent by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RadioName {
    /// An interface of this host.
    Interface(String),
    /// A socket to an air that somebody works out, as standard input ("fd:0").
    StandardInput,
}

impl FromStr for RadioName {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("fd", "0")) => Ok(Self::StandardInput),
            Some(_) => Err(format!("\"{text}\" is no radio, expected an interface such as wlan0, or fd:0")),
            None => Ok(Self::Interface(text.to_owned())),
        }
    }
}

impl fmt::Display for RadioName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Interface(name) => name,
            Self::StandardInput => "fd:0",
        })
    }
}

/// What a routing daemon does.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteConfig {
    /// The protocol.
    pub protocol: ProtocolName,
    /// The host's address.
    pub address: MeshAddress,
    /// What it sends by.
    pub radio: RadioName,
    /// The name of its device.
    pub device: String,
    /// Bytes of the longest packet that the kernel may send; by default what the radio takes, less headers.
    pub mtu_bytes: Option<usize>,
    /// Where it answers `prismux status`.
    pub status_socket: PathBuf,
}
