//! AODV, ad-hoc on-demand distance vector routing (RFC 3561): routes are found when they are needed and kept in tables
//! along the way; sequence numbers of the destinations keep them free of loops.
//!
//! The map of the machine:
//!
//! * [`message`]: the four messages, typed and in bytes.
//! * [`Aodv`]: one host's AODV, a [`RoutingEndpoint`](prismux_routing::RoutingEndpoint). `data` forwards, `discovery`
//!   asks for routes, `requests` and `replies` answer, `errors` tells of broken links, `repair` mends routes on the
//!   spot, `hello` watches neighbours.
//! * `table`: the routing table with its sequence numbers, states and precursors.
//! * [`AodvConfig`]: every parameter under its name in RFC 3561 section 10, and every switch.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

extern crate alloc;

mod aodv;
mod config;
mod data;
mod discovery;
mod errors;
mod hello;
mod limit;
pub mod message;
mod repair;
mod replies;
mod requests;
mod seen;
mod table;
mod times;

pub use aodv::Aodv;
pub use config::AodvConfig;
pub use message::{AodvHeader, Rerr, Rrep, Rreq};

/// A packet with AODV's header.
pub type AodvPacket<P> = prismux_routing::Packet<AodvHeader, P>;

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
