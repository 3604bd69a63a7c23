//! What carries packets between the devices of hosts on an air.
use super::radios::Sent;
use super::telling::{HostLook, Told};
use crate::packets::{Label, Labelled};
use prismux_routing::NextHop;
use prismux_units::Instant;
use prismux_wire::{IpPacket, TcpPacket};
use prismux_wireless::{HostId, Priority};
use std::net::{IpAddr, Ipv4Addr};

/// What a tunnel of IP in IP adds to a packet (RFC 2003).
const TUNNEL_BYTES: u32 = 20;

/// What hosts carry for the layer above.
pub(super) trait Payload: Clone {
    /// The packet itself.
    fn labelled(&self) -> &Labelled;

    /// What its tunnel adds to it where it goes between these hosts of an ad-hoc network.
    fn tunnel_bytes(&self, _ends: [Ipv4Addr; 2]) -> u32 {
        0
    }

    /// Its length, IP header included.
    fn bytes(&self) -> u32 {
        self.labelled().packet.len() as u32
    }

    /// What it is to the log of the run.
    fn label(&self) -> Label {
        self.labelled().label
    }

    /// Who has sent it.
    fn source(&self) -> Option<Ipv4Addr> {
        match IpPacket::parse(&self.labelled().packet).ok()?.header.source {
            IpAddr::V4(source) => Some(source),
            IpAddr::V6(_) => None,
        }
    }

    /// Where it stands in an interface queue that knows kinds of packets.
    fn priority(&self) -> Priority {
        match TcpPacket::parse(&self.labelled().packet) {
            Ok(tcp) if tcp.is_bare_acknowledgement() => Priority::Acknowledgement,
            _ => Priority::Normal,
        }
    }
}

impl Payload for Labelled {
    fn labelled(&self) -> &Labelled {
        self
    }
}

/// A packet and the address that it is for, wherever it goes on its way.
#[derive(Debug, Clone)]
pub(super) struct Carried<P> {
    pub towards: Ipv4Addr,
    pub packet: P,
}

impl<P: Payload> Payload for Carried<P> {
    fn labelled(&self) -> &Labelled {
        self.packet.labelled()
    }

    fn tunnel_bytes(&self, [from, to]: [Ipv4Addr; 2]) -> u32 {
        if self.source() == Some(from) && self.towards == to { 0 } else { TUNNEL_BYTES }
    }
}

/// What an air has for the world outside, in the order in which it happened.
#[derive(Debug)]
pub(super) enum Output<P> {
    /// A packet for a host's kernel, and when it arrived there.
    Packet(Instant, HostId, P),
    /// Something for a host's routing daemon, and when its radio heard it.
    Heard(Instant, HostId, Heard<P>),
    /// A station belongs to the second base station instead of the first from then on, by this channel where base
    /// stations have several: routes are to turn before what comes after this.
    Settled(Instant, HostId, [Option<HostId>; 2], Option<u8>),
    /// A station that hears no base station goes over the second station instead of the first from then on, and by this
    /// base station: routes are to turn as above.
    Behind(Instant, HostId, [Option<HostId>; 2], Option<HostId>),
    /// Something for the log of the run, where there is one.
    Told(Told),
}

/// What a radio has for the routing daemon of its host.
#[derive(Debug)]
pub(super) enum Heard<P> {
    /// A packet from a neighbour.
    Received(Ipv4Addr, P),
    /// A packet of the first neighbour for the second.
    Overheard([Ipv4Addr; 2], P),
    /// A neighbour did not take this packet.
    NotDelivered(Ipv4Addr, P),
    /// A packet that waited for a neighbour which no longer answers.
    TakenBack(Ipv4Addr, P),
}

/// An air with its hosts: packets in, packets out, time as an argument.
pub(super) trait Carriage<P> {
    /// A host's kernel has a packet for `destination`; what is for nobody on this air is gone.
    fn send(&mut self, _now: Instant, _host: HostId, _destination: Ipv4Addr, _payload: P) {}

    /// A host's routing daemon sends a packet.
    fn transmit(&mut self, _now: Instant, _host: HostId, _to: NextHop, _sent: Sent<P>) {}

    /// A host's routing daemon begins, or has ended: its radios are on, or off.
    fn switch(&mut self, _now: Instant, _host: HostId, _on: bool) {}

    /// When something will happen.
    fn next_timeout(&self) -> Option<Instant>;

    /// All that is due by `now` happens, each at its time.
    fn run_until(&mut self, now: Instant);

    /// What has come of it.
    fn poll_output(&mut self) -> Option<Output<P>>;

    /// What the log of the run is told of a host with these radios.
    fn look(&mut self, now: Instant, radios: &[HostId]) -> HostLook;

    /// What a host has done by `now`, under the names of the simulator's results.
    fn counters(&self, now: Instant, host: HostId, counts_energy: bool) -> Vec<(&'static str, u64)>;
}
