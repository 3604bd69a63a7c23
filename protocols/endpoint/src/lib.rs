//! The contract between a protocol and whoever drives it.
//!
//! * [`Endpoint`]: a state machine to which time, packets and randomness are arguments.
//! * [`drive`], [`Drain`], [`expire`]: the rule of driving, which is **one mutation, then drain**.
//! * [`Alarm`]: deadlines for event queues that cannot take an entry back.
//! * [`random`]: randomness by name.
#![no_std]

mod alarm;
mod drive;
pub mod random;

pub use alarm::Alarm;
pub use drive::{Drain, Host, Output, drive, expire};

use prismux_units::Instant;

/// When an endpoint wants [`Endpoint::handle_timeout`] called next, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    /// Not before this instant.
    pub at: Instant,
    /// The timer's name, for traces ("rto", "delayed-ack", ...).
    pub why: &'static str,
}

impl Deadline {
    /// The earlier of two optional deadlines; the first of two equal ones.
    pub fn earliest(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if b.at < a.at { b } else { a }),
            (a, b) => a.or(b),
        }
    }
}

/// A protocol machine without clock, sockets or threads.
///
/// A mutation is a `handle_*` call or a command of the application (write, close, join). After each the machine is
/// drained, with [`drive`] or a [`Drain`], before the next.
pub trait Endpoint {
    /// What arrives: a packet, or a view on one that lasts as long as the call.
    type Input<'a>;
    /// What leaves. Where packets are bytes it describes one, and the machine writes or lends the bytes on demand.
    type Transmit;
    /// What the application or a trace should know.
    type Event;

    /// Takes a packet that arrived at `now`.
    fn handle_input(&mut self, now: Instant, input: Self::Input<'_>);
    /// Does what is due at `now`. A call before the reported deadline does nothing.
    fn handle_timeout(&mut self, now: Instant);
    /// The next packet to send, if any; `None` until the next mutation once it has answered `None`.
    fn poll_transmit(&mut self, now: Instant) -> Option<Self::Transmit>;
    /// The next event, if any; `None` until the next mutation once it has answered `None`.
    fn poll_event(&mut self) -> Option<Self::Event>;
    /// When to call [`Endpoint::handle_timeout`]; `None` when nothing is pending. Asked after draining.
    fn poll_timeout(&self) -> Option<Deadline>;
}

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
