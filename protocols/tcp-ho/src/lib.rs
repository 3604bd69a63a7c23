//! TCP-HO: a mobile host tells its server that it has moved to another link, and how fast that link is.
//!
//! A handoff changes the bandwidth-delay product of a path at once, mostly after a gap without any connection. The
//! server controls congestion but only the host knows of the handoff.
//!
//! * [`HandoffHost`]: on the host. When a handoff is complete, two duplicate ACKs with a
//!   [`HandoffNotice`](prismux_wire::HandoffNotice) leave: one spare, and one fewer than a server that does not know
//!   the option would take for a loss.
//! * [`HandoffServer`]: at the sender, as an extension of TCP. A notice makes it transmit at once, with what it knew
//!   of the old path forgotten; until four RTT samples are there or congestion shows, the slow-start threshold
//!   follows the bandwidth told and the RTT measured.
//! * [`HandoffConfig`]: every choice as a named setting.
//!
//! Where the sender itself moves, it runs the server's machine on its own word
//! ([`Connection::handle_own_handoff`](prismux_tcp::Connection::handle_own_handoff)) and sends no notice.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

extern crate alloc;

mod config;
mod host;
mod server;

pub use config::{HandoffConfig, RttChoice};
pub use host::{HandoffHost, notice_of};
pub use server::{HandoffCounters, HandoffServer};
