//! The Service Location Protocol, version 2 (RFC 2608).
//!
//! * [`ServiceAgent`]: offers services, and answers who asks for them.
//! * [`UserAgent`]: asks all that listen, again and again until nobody new answers (section 6.3).
//! * [`Message`]: what travels.
mod agent;
mod message;
mod user;

pub use agent::{Service, ServiceAgent};
pub use message::{Body, MAX_BYTES, Malformed, Message, ServiceRequest, UrlEntry};
pub use user::{Found, UserAgent};

use crate::allowance::Allowance;
use crate::{Datagram, Transmit};
use core::net::Ipv4Addr;

/// The port of the protocol.
pub const PORT: u16 = 427;

/// Where requests for all go (section 4.1).
pub const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 255, 253);

/// The scope of whoever names none (section 6.4).
pub const DEFAULT_SCOPE: &str = "DEFAULT";

/// Whether one of the strings in `list`, separated by commas, is `wanted`, whatever the case (section 6.4).
fn has(list: &str, wanted: &str) -> bool {
    list.split(',').any(|own| own.trim().eq_ignore_ascii_case(wanted.trim()))
}
