//! TCP as RFC 9293 and its companions describe it, without clock, sockets or bytes.
//!
//! The map of the machine:
//!
//! * [`engine`]: units outstanding, units returned. Loss detection, RTT estimation, recovery and congestion
//!   control over 64-bit stream positions; knows no headers.
//! * [`Connection`]: everything else of one connection: states, handshake, acceptability, reassembly,
//!   acknowledgements, windows, timers. Owns one engine. Handles an arriving segment in the phases *accept,
//!   acknowledge, recover, deliver* and builds the next in the phases *choose, build*.
//! * [`Listener`]: passive opens, with a bounded table of half-open connections.
//! * [`ByteConnection`]: a [`Connection`] with send and receive buffers, for hosts with real bytes.
//! * [`extension`]: the seam through which a sender learns from the network (TCP-PRISM's loss reports).
//! * [`order`]: the seam through which both ends watch in which order segments leave and arrive (TCP-DOOR).
//! * [`loss_notification`]: explicit loss notification (ELN), a use of that seam.
//! * [`TcpConfig`]: every switch, and the profiles `modern`, `linux-2.4` and `ns2-2002`.
//!
//! Payload is a pair (stream offset, length); whoever drives the machine keeps the bytes. Position `p` of a
//! direction's stream has sequence number `initial sequence number + 1 + p`; FIN takes the position after
//! the last byte.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

extern crate alloc;

pub mod buffer;
mod config;
mod connection;
pub mod engine;
pub mod extension;
mod listener;
pub mod loss_notification;
pub mod order;

pub use buffer::ByteConnection;
pub use config::{EcnEcho, KeepAlive, TcpConfig, TcpProfile, UnknownProfile};
pub use connection::{
    Connection, ConnectionMetrics, DropCounters, SegmentIn, SegmentOut, State, TcpEvent, reset_for,
};
pub use listener::{Listener, ListenerEvent};

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
