//! DSR, the Dynamic Source Routing protocol (RFC 4728): routes are found when they are needed, and packets carry them.
//!
//! The map of the machine:
//!
//! * [`header`]: the DSR options header, typed and in bytes.
//! * [`Dsr`]: one host's DSR, a [`RoutingEndpoint`](prismux_routing::RoutingEndpoint).
//!   `discovery` asks for routes, `requests` and `replies` answer, `forward` sends packets along their source route,
//!   `maintenance` reacts to broken links, `snoop` learns from packets that come by, `flow` lets
//!   them go without their route.
//! * `cache`: what is remembered of routes, as paths or as links; `request_table`: searches, and requests seen.
//! * [`DsrConfig`]: every switch; [`constants`]: the constants of RFC 4728 section 9 under their names.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

extern crate alloc;

mod cache;
mod config;
pub mod constants;
mod discovery;
mod dsr;
mod flow;
mod forward;
mod gratuitous;
pub mod header;
mod maintenance;
mod overheard;
mod replies;
mod request_table;
mod requests;
mod snoop;

pub use config::{CacheKind, DsrConfig, Lengths};
pub use dsr::Dsr;
pub use header::{
    Ack, AckRequest, DsrHeader, DsrOption, ErrorKind, FlowHeader, RouteError, RouteReply, RouteRequest,
    SourceRoute,
};

/// A packet with a DSR options header.
pub type DsrPacket<P> = prismux_routing::Packet<DsrHeader, P>;

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
