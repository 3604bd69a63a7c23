//! The contract between a protocol and whoever drives it.
//!
//! * [`Endpoint`]: a state machine to which time, packets and randomness are arguments.
//! * [`drive`], [`Drain`], [`expire`]: the rule of driving, which is **one mutation, then drain**.
//! * [`Alarm`]: deadlines for event queues that cannot take an entry back.
//! * [`random`]: randomness by name.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic))]

mod alarm;
mod deadline;
mod drive;
mod endpoint;
pub mod random;

pub use alarm::Alarm;
pub use deadline::Deadline;
pub use drive::{Drain, Host, Output, drive, expire};
pub use endpoint::Endpoint;

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
