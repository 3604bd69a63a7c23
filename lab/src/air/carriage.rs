//! What carries packets between the devices of hosts on an air.
use prismux_units::Instant;
use prismux_wireless::{HostId, Priority};
use std::net::Ipv4Addr;

/// What hosts carry for the layer above.
pub(super) trait Payload: Clone {
    /// Its length, IP header included.
    fn bytes(&self) -> u32;

    /// Whether it is an acknowledgement of TCP and nothing else.
    fn is_bare_acknowledgement(&self) -> bool;

    /// Where it stands in an interface queue that knows kinds of packets.
    fn priority(&self) -> Priority {
        if self.is_bare_acknowledgement() { Priority::Acknowledgement } else { Priority::Normal }
    }
}

/// What an air has for the world outside, in the order in which it happened.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Output<P> {
    /// A packet for a host's kernel, and when it arrived there.
    Packet(Instant, HostId, P),
    /// A station belongs to the second base station instead of the first from then on: routes are to turn before what
    /// comes after this.
    Settled(Instant, HostId, [Option<HostId>; 2]),
}

/// An air with its hosts: packets in, packets out, time as an argument.
pub(super) trait Carriage<P> {
    /// A host's kernel has a packet for `destination`; what is for nobody on this air is gone.
    fn send(&mut self, now: Instant, host: HostId, destination: Ipv4Addr, payload: P);

    /// When something will happen.
    fn next_timeout(&self) -> Option<Instant>;

    /// All that is due by `now` happens, each at its time.
    fn run_until(&mut self, now: Instant);

    /// What has come of it.
    fn poll_output(&mut self) -> Option<Output<P>>;

    /// What a host has done by `now`, under the names of the simulator's results.
    fn counters(&self, now: Instant, host: HostId, counts_energy: bool) -> Vec<(&'static str, u64)>;
}
