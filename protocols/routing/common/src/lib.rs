//! What the ad-hoc routing protocols of prismux have in common.
//!
//! * [`RoutingEndpoint`]: the contract of a routing protocol, an [`Endpoint`](prismux_endpoint::Endpoint) whose input
//!   is [`Input`], whose transmits are [`Frame`]s for the medium and whose events are [`RoutingEvent`]s.
//! * [`Packet`]: an IP packet with a routing protocol's header and an opaque payload; [`Header`] says how long a header
//!   is on the wire.
//! * [`SendBuffer`]: packets that wait for a route, bounded in number and time.
//! * [`Outbox`]: what leaves, now or after a jitter, and what the host is told.
//! * [`DropReason`], [`Statistics`]: every packet is delivered, dropped with a reason, or still somewhere.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

extern crate alloc;

mod contract;
mod event;
mod outbox;
mod packet;
mod send_buffer;
mod statistics;

pub use contract::{Input, RoutingEndpoint};
pub use event::{DropReason, RoutingEvent};
pub use outbox::Outbox;
pub use packet::{DATA_HOP_LIMIT, Frame, Header, NextHop, Packet};
pub use send_buffer::SendBuffer;
pub use statistics::Statistics;

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
