//! How hosts of a community find each other, without anybody in the middle.
//!
//! * [`slp`]: the Service Location Protocol, version 2 (RFC 2608), as it works without directory agents: who offers a
//!   service answers requests that go to all.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

extern crate alloc;

pub mod slp;

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
