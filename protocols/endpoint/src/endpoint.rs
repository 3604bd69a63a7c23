//! What a protocol machine is to its driver.
use crate::deadline::Deadline;
use prismux_units::Instant;

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
