//! pTCP: one reliable, ordered connection over several end-to-end pipes, each with a TCP of its own.
//!
//! A pipe decides *how much* may be sent on its path (windows, loss recovery); the connection decides *which* bytes. Bytes are
//! tied to a pipe only when it has room for them, and untied when its window shrinks.
//!
//! The map of the machine:
//!
//! * [`Connection`]: opening pipe by pipe, arriving segments, timers, closing. Drives
//! * `pipe`: TCP-v, a [`prismux_tcp::Connection`] without bytes, and the eight calls between it and the connection;
//! * `binding`: what each virtual segment of a pipe stands for; `striper`: the bytes tied to nothing, and suspects;
//! * `resequencer`: the receive buffer that all pipes share, and its one window.
//! * [`header`]: the wire format (over UDP). [`PtcpConfig`]: every switch.
//!
//! As in [`prismux_tcp`], payload is a pair (stream offset, length); whoever drives the machine keeps the bytes.
#![no_std]

extern crate alloc;

mod binding;
mod config;
mod connection;
mod event;
pub mod header;
mod pipe;
mod range_map;
mod resequencer;
mod segment;
mod striper;

pub use config::{PtcpConfig, Reassignment, ResumeOrder};
pub use connection::{Connection, Drops, PipeMetrics, Refusal, State};
pub use event::PtcpEvent;
pub use header::{Addresses, MAX_PIPES, PtcpHeader, SetUp};
pub use segment::{Path, Segment, SegmentOut, reset_for};
pub use striper::StripingCounters;

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
