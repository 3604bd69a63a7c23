//! DSDV, destination-sequenced distance-vector routing (C. Perkins and P. Bhagwat, SIGCOMM 1994): every host keeps a
//! route to every other and tells its neighbours, at intervals and when something changes.
//!
//! The map of the machine:
//!
//! * [`update`]: the message, typed and in bytes.
//! * [`Dsdv`]: one host's DSDV, a [`RoutingEndpoint`](prismux_routing::RoutingEndpoint). `advertise` sends updates,
//!   `learn` takes them, `data` forwards.
//! * `table`: routes with sequence numbers and settling times; `queue`: packets that wait for a route.
//! * [`DsdvConfig`]: every parameter, with those of ns-2.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

extern crate alloc;

mod advertise;
mod config;
mod data;
mod dsdv;
mod learn;
mod queue;
mod table;
pub mod update;

pub use config::DsdvConfig;
pub use dsdv::Dsdv;
pub use update::{Advertised, DsdvHeader, INFINITE_METRIC};

/// A packet with DSDV's header.
pub type DsdvPacket<P> = prismux_routing::Packet<DsdvHeader, P>;

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
