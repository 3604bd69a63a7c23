//! The contract between a protocol and whoever drives it.
//!
//! A protocol is an [`Endpoint`]: a state machine to which time, packets and randomness are arguments.
//! The rule of driving is: **one mutation, then drain**. [`drive`] keeps it, in the simulator, the lab, the
//! daemons and the tests alike.
#![no_std]

pub mod random;

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
    /// The earlier of two optional deadlines.
    pub fn earliest(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if b.at < a.at { b } else { a }),
            (a, b) => a.or(b),
        }
    }
}

/// A protocol machine without clock, sockets or threads.
pub trait Endpoint {
    /// What arrives: a packet, or a view on one.
    type Input;
    /// What leaves.
    type Transmit;
    /// What the application or a trace should know.
    type Event;

    /// A packet arrived at `now`.
    fn handle_input(&mut self, now: Instant, input: Self::Input);
    /// `now` has reached the last reported deadline. A call too early must do nothing.
    fn handle_timeout(&mut self, now: Instant);
    /// The next packet to send, if any; call until `None`.
    fn poll_transmit(&mut self, now: Instant) -> Option<Self::Transmit>;
    /// The next event, if any; call until `None`.
    fn poll_event(&mut self) -> Option<Self::Event>;
    /// When to call [`Endpoint::handle_timeout`]; `None` when nothing is pending.
    fn poll_timeout(&self) -> Option<Deadline>;
}

/// What an endpoint's outputs are handed to.
pub trait Host<E: Endpoint + ?Sized> {
    /// Carry a packet away.
    fn transmit(&mut self, now: Instant, transmit: E::Transmit);
    /// Note an event.
    fn event(&mut self, now: Instant, event: E::Event);
}

/// Drains `endpoint` after one mutation and returns its next deadline.
///
/// Call it after every `handle_*` or application command, and after nothing else.
pub fn drive<E: Endpoint + ?Sized>(
    endpoint: &mut E,
    now: Instant,
    host: &mut impl Host<E>,
) -> Option<Deadline> {
    while let Some(transmit) = endpoint.poll_transmit(now) {
        host.transmit(now, transmit);
    }
    while let Some(event) = endpoint.poll_event() {
        host.event(now, event);
    }
    endpoint.poll_timeout()
}
