//! What carries packets between the devices of hosts on an air.
use super::telling::Begun;
use prismux_linux::packet::PacketBuf;
use prismux_units::Instant;
use prismux_wire::{IpPacket, TcpFlags, TcpPacket, UdpPacket};
use prismux_wireless::{Air, HostId, Priority};
use std::net::{IpAddr, Ipv4Addr};

/// What a tunnel of IP in IP adds to a packet (RFC 2003).
const TUNNEL_BYTES: u32 = 20;

/// What hosts carry for the layer above.
pub(super) trait Payload: Clone {
    /// Its length, IP header included.
    fn bytes(&self) -> u32;

    /// Who has sent it.
    fn source(&self) -> Option<Ipv4Addr>;

    /// Its ports, if it has any.
    fn ports(&self) -> Option<[u16; 2]>;

    /// Whether it is an acknowledgement of TCP and nothing else.
    fn is_bare_acknowledgement(&self) -> bool;

    /// What its tunnel adds to it where it goes between these hosts of an ad-hoc network.
    fn tunnel_bytes(&self, _ends: [Ipv4Addr; 2]) -> u32 {
        0
    }

    /// Where it stands in an interface queue that knows kinds of packets.
    fn priority(&self) -> Priority {
        if self.is_bare_acknowledgement() { Priority::Acknowledgement } else { Priority::Normal }
    }
}

impl Payload for PacketBuf {
    fn bytes(&self) -> u32 {
        self.len() as u32
    }

    fn source(&self) -> Option<Ipv4Addr> {
        match IpPacket::parse(self).ok()?.header.source {
            IpAddr::V4(source) => Some(source),
            IpAddr::V6(_) => None,
        }
    }

    fn ports(&self) -> Option<[u16; 2]> {
        match (TcpPacket::parse(self), UdpPacket::parse(self)) {
            (Ok(tcp), _) => Some([tcp.header.source_port, tcp.header.destination_port]),
            (_, Ok(udp)) => Some([udp.header.source_port, udp.header.destination_port]),
            _ => None,
        }
    }

    fn is_bare_acknowledgement(&self) -> bool {
        let Ok(tcp) = TcpPacket::parse(self) else { return false };
        let flags = tcp.header.flags;
        let opens_or_ends = [TcpFlags::SYN, TcpFlags::FIN, TcpFlags::RST];
        tcp.payload_bytes() == 0
            && flags.contains(TcpFlags::ACK)
            && !opens_or_ends.into_iter().any(|flag| flags.contains(flag))
    }
}

/// A packet and the address that it is for, wherever it goes on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Carried<P> {
    pub towards: Ipv4Addr,
    pub packet: P,
}

impl<P: Payload> Payload for Carried<P> {
    fn bytes(&self) -> u32 {
        self.packet.bytes()
    }

    fn source(&self) -> Option<Ipv4Addr> {
        self.packet.source()
    }

    fn ports(&self) -> Option<[u16; 2]> {
        self.packet.ports()
    }

    fn is_bare_acknowledgement(&self) -> bool {
        self.packet.is_bare_acknowledgement()
    }

    fn tunnel_bytes(&self, [from, to]: [Ipv4Addr; 2]) -> u32 {
        if self.source() == Some(from) && self.towards == to { 0 } else { TUNNEL_BYTES }
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
    /// A station that hears no base station goes over the second station instead of the first from then on, and by this
    /// base station: routes are to turn as above.
    Behind(Instant, HostId, [Option<HostId>; 2], Option<HostId>),
    /// A frame begins, where that is asked for.
    OnAir(Begun),
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

    /// The air itself.
    fn air(&mut self) -> &mut Air<u32>;

    /// What a host has done by `now`, under the names of the simulator's results.
    fn counters(&self, now: Instant, host: HostId, counts_energy: bool) -> Vec<(&'static str, u64)>;
}
