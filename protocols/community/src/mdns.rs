//! DNS-based service discovery over multicast DNS (RFC 6762, RFC 6763): one service of this host, and one-shot queries
//! of others'.
//!
//! * [`Responder`]: tells of its service, answers who asks for it, and says when it ends.
//! * [`Querier`]: asks from a port of its own, and hears answers that come to it alone (section 5.1).
//!
//! Messages are read and written by the library `simple-dns`; what is here are the rules of the service.
mod message;
mod querier;
mod responder;
mod service;

pub use message::MAX_BYTES;
pub use querier::{Found, Querier};
pub use responder::Responder;
pub use service::{Invalid, Service};

use crate::allowance::Allowance;
use crate::{Datagram, Transmit};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The port of the protocol.
pub const PORT: u16 = 5353;

/// Where everybody on an IPv4 link hears.
pub const GROUP_V4: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 251);

/// Where everybody on an IPv6 link hears.
pub const GROUP_V6: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0xfb);

/// The hop limit of all that is sent: no router has passed on what comes with it (section 11).
pub const HOP_LIMIT: u8 = 255;

/// The domain of names that mean something on one link alone.
const DOMAIN: &str = "local";

/// The group of this address' family.
const fn group(is_ipv6: bool) -> IpAddr {
    if is_ipv6 { IpAddr::V6(GROUP_V6) } else { IpAddr::V4(GROUP_V4) }
}
