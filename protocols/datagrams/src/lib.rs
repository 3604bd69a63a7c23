//! Datagrams over several links, between two ends of ours: UDP, QUIC, and whatever else is not TCP.
//!
//! * [`Class`]: what is done with a flow.
//! * [`Spreader`]: the near end. It knows the links by what their meters say, and chooses one, or two, for each packet.
//! * [`Order`]: the place of a packet in its stream, which travels beside it where it may be overtaken or come twice.
//! * [`Resequencer`]: the far end. It puts streams back into order, within a bound that it measures, and lets nothing
//!   pass twice.
#![no_std]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

extern crate alloc;

mod class;
mod lateness;
mod order;
mod resequencer;
mod spreader;
mod stream;

pub use class::{Class, UnknownClass};
pub use order::{Order, STREAMS};
pub use resequencer::{Arrived, Resequencer, ResequencerCounters};
pub use spreader::{Choice, LinkView, Spreader};

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
