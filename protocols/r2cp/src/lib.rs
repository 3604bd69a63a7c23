//! R²CP, radial RCP: one stream fetched over several RCP pipes, from one server or from several that hold the same
//! bytes.
//!
//! Each pipe runs its own window and loss detection ([`prismux_rcp::Pipe`]) and says when it may ask for one more
//! segment; for which one is decided here. The servers are plain RCP senders and know nothing of each other.
//!
//! The map of the machine:
//!
//! * [`Connection`]: the pipes and the stream; opening, handoff, migration. Its parts: rank, by which a pipe's next
//!   request takes the segment that will be due when its data arrives; arriving data, losses, the end of the stream.
//! * `binding`: which data each unit of a pipe stands for, and since when. `pending`: what no pipe has been asked for.
//! * [`policy`]: a target rate by token buckets, pipes that cost more. [`scheduler`]: where somebody outside chooses
//!   the segment.
//! * [`R2cpConfig`]: every switch.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

extern crate alloc;

mod binding;
mod config;
mod connection;
mod event;
mod pending;
pub mod policy;
pub mod scheduler;

pub use config::{R2cpConfig, Scheduling};
pub use connection::{Connection, ConnectionMetrics, PipeId, PipeMetrics};
pub use event::R2cpEvent;

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
