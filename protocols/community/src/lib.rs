//! How hosts of a community find each other, agree to lend an uplink and share contents, without anybody in the
//! middle.
//!
//! * [`slp`]: the Service Location Protocol, version 2 (RFC 2608), as it works without directory agents: who offers a
//!   service answers requests that go to all.
//! * [`mdns`]: services by multicast DNS (RFC 6762, RFC 6763), over IPv4 and IPv6.
//! * [`lending`]: who has been found is asked, and answers what its owner says.
//! * [`contents`]: neighbours that want the same file take a part of it each, and share the parts.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

extern crate alloc;

mod allowance;
pub mod contents;
mod convergence;
pub mod lending;
pub mod mdns;
pub mod slp;

use alloc::vec::Vec;
use core::net::SocketAddr;

/// A datagram that came.
#[derive(Debug, Clone, Copy)]
pub struct Datagram<'a> {
    /// Who sent it, as it says.
    pub from: SocketAddr,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// A datagram to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transmit {
    /// Where it goes.
    pub to: SocketAddr,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
