//! Lending an uplink to neighbours, and finding who lends one. Off unless somebody asks for it, on named devices only.
//!
//! * [`offer`]: the daemon of whoever lends: it is found, hears who asks, and tells them what its owner has said. It
//!   holds no secret and opens no tunnel: [`crate::member`] does that once the owner has said yes.
//! * [`seek`]: who is there, and asking one of them.
//! * [`found`]: offers as they are found.
//! * [`code`]: what two people compare, since nothing else that comes over the network proves anything.
//! * [`lan`]: the local networks on which all of this happens, and nowhere beyond.
pub mod code;
pub mod found;
pub mod lan;
pub mod offer;
pub mod seek;

/// What is looked for (RFC 2609): hosts that lend an uplink.
const SERVICE_TYPE: &str = "service:member.prismux";
/// The same by DNS-based service discovery (RFC 6763).
const DNS_SERVICE_TYPE: &str = "_prismux._udp";
/// Where a lender is asked.
const DESK_PORT: u16 = 4761;
