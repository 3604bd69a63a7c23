//! One mutation, then drain: transmits, events, and the deadline that is left.
use crate::deadline::Deadline;
use crate::endpoint::Endpoint;
use prismux_units::Instant;

/// What an endpoint's outputs are handed to.
pub trait Host<E: Endpoint + ?Sized> {
    /// Carries a packet away.
    fn transmit(&mut self, now: Instant, transmit: E::Transmit);
    /// Notes an event. What follows from it for the endpoint is another mutation, after this drain.
    fn event(&mut self, now: Instant, event: E::Event);
}

/// Drains `endpoint` after one mutation and returns its next deadline.
///
/// For hosts that stand apart from the endpoint. [`Drain`] does the same for those that own it.
#[inline]
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

/// Calls [`Endpoint::handle_timeout`] if the endpoint's deadline has come, and says whether it did: a mutation like any
/// other.
#[inline]
pub fn expire<E: Endpoint + ?Sized>(endpoint: &mut E, now: Instant) -> bool {
    let due = endpoint.poll_timeout().is_some_and(|deadline| deadline.at <= now);
    if due {
        endpoint.handle_timeout(now);
    }
    due
}

/// One output of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output<T, E> {
    /// A packet to carry away.
    Transmit(T),
    /// An event to note.
    Event(E),
}

/// The outputs of an endpoint after one mutation, one at a time and in the order of [`drive`].
///
/// Between two outputs the endpoint is free: a host that owns it, or that needs the bytes it holds, reaches both.
#[derive(Debug, Clone, Copy, Default)]
pub struct Drain {
    transmits_done: bool,
}

impl Drain {
    /// To be begun after each mutation.
    pub const fn new() -> Self {
        Self { transmits_done: false }
    }

    /// The next output; `None` once the endpoint is drained, when [`Endpoint::poll_timeout`] is worth asking.
    #[inline]
    pub fn next<E: Endpoint + ?Sized>(
        &mut self,
        endpoint: &mut E,
        now: Instant,
    ) -> Option<Output<E::Transmit, E::Event>> {
        if !self.transmits_done {
            if let Some(transmit) = endpoint.poll_transmit(now) {
                return Some(Output::Transmit(transmit));
            }
            self.transmits_done = true;
        }
        endpoint.poll_event().map(Output::Event)
    }
}
