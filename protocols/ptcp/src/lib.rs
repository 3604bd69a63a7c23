//! pTCP: one reliable, ordered connection over several end-to-end pipes, each with a TCP of its own.
//!
//! A pipe decides *how much* may be sent on its path (windows, loss recovery); the connection decides *which* bytes.
//! Bytes are bound to a pipe only when it has room for them, and unbound when its window shrinks.
//!
//! The map of the machine:
//!
//! * [`Connection`]: opening pipe by pipe, arriving segments, timers, closing. Drives
//! * `pipe`: TCP-v, a [`prismux_tcp::Connection`] without bytes, and the eight calls between it and the connection;
//! * `binding`: what each virtual segment of a pipe stands for; `send_buffer`: the bytes that are bound to no pipe,
//!   and those whose delivery is not confirmed;
//! * `receive_buffer`: the buffer that all pipes share for what arrives, and its one window.
//! * [`scheduler`]: where somebody outside says which pipe gets the next bytes.
//! * [`header`]: the wire format (over UDP). [`PtcpConfig`]: every switch.
//!
//! As in [`prismux_tcp`], payload is a pair (stream offset, length); the host keeps the bytes.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

extern crate alloc;

mod binding;
mod config;
mod connection;
mod event;
pub mod header;
mod pipe;
mod range_map;
mod receive_buffer;
pub mod scheduler;
mod segment;
mod send_buffer;

pub use config::{PtcpConfig, Reassignment, ResumeOrder};
pub use connection::{Connection, Drops, PipeMetrics, Refusal, State};
pub use event::PtcpEvent;
pub use header::{Addresses, MAX_PIPES, PtcpHeader, SetUp};
pub use segment::{Path, Segment, SegmentOut, reset_for};
pub use send_buffer::StripingCounters;

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
