//! What a run tells the world: result columns, typed events, and their encoders.
//!
//! * [`results`]: one [`RunResult`](results::RunResult) per run, the same columns from simulator and lab.
//! * [`event`]: the one vocabulary of events; [`EventSink`](event::EventSink) is what a host hands them to, and
//!   [`JsonLines`](event::JsonLines) writes them as text.
//! * [`histogram`]: many durations in little memory, for percentiles.
//! * [`pcapng`]: packet captures that Wireshark opens, one interface per link.
//! * [`SharedBytes`]: where a log or a capture can go that is read by the same program.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

pub mod event;
pub mod histogram;
mod memory;
pub mod pcapng;
pub mod results;

pub use memory::SharedBytes;

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
