//! Multipath TCP (RFC 8684): one reliable, ordered connection over several TCP subflows, in TCP's own options.
//!
//! The map of the machine:
//!
//! * [`Connection`]: opening, joining, arriving segments, closing. Drives
//! * `subflow`: a [`prismux_tcp::Connection`] with the mappings of what it sends and receives;
//! * [`scheduler`]: which subflow gets the next bytes; [`coupling`]: what its window may do, given the others';
//! * `send_buffer`, `receive_buffer`: the two streams, reinjection, the one window;
//! * [`keys`]: tokens and proofs; [`options`]: the wire format. [`MptcpConfig`]: every switch.
//!
//! As in [`prismux_tcp`], payload is a pair (stream offset, length); the host keeps the bytes.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

extern crate alloc;

mod config;
mod connection;
pub mod coupling;
mod event;
pub mod keys;
pub mod options;
mod ranges;
mod receive_buffer;
pub mod scheduler;
mod segment;
mod send_buffer;
mod subflow;

pub use config::{Coupling, MAX_SUBFLOWS, MptcpConfig, Scheduler};
pub use connection::{Connection, Drops, Mode, Refusal, State, SubflowMetrics};
pub use event::MptcpEvent;
pub use segment::{Path, Segment, SegmentOut, reset_for};

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
