//! Shared bottleneck detection: whether links that are told apart end in one queue.
//!
//! * [`Detector`]: what a sender tells of its links, and what is known of each two of them.
//! * `regression`, `way`, `pair`: whether a link's queue grows with what another one sends, and the verdict.
//! * [`Statistics`], [`Summary`], [`meets_bottleneck`], [`are_alike`]: RFC 8382, which compares how queues behave.
//!
//! Pure: time and packets are arguments. Who measures delays, and how, is the host's business.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

extern crate alloc;

mod detector;
mod grouping;
mod pair;
mod regression;
mod sends;
mod statistics;
mod way;

pub use detector::{Detector, Finding, MAX_LINKS, Passed};
pub use grouping::{are_alike, meets_bottleneck};
pub use pair::{Evidence, Verdict};
pub use statistics::{BASE_INTERVAL, LONG_INTERVALS, SHORT_INTERVALS, Statistics, Summary};

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
