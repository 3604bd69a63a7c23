//! Tunnels between a proxy and its members, and what they cost.
use prismux_wire::{Encapsulation, IpFamily};

/// How a proxy's packets travel to its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Tunnel {
    /// GRE over IP (RFC 2784).
    #[default]
    Gre,
    /// GRE in UDP (RFC 8086).
    GreInUdp,
    /// Sealed sessions in UDP: nobody reads, forges or repeats what passes.
    Sealed,
    /// Nothing is added to a packet: an idealised tunnel, which exists in simulations only.
    Free,
}

impl Tunnel {
    /// Its encapsulation on the wire; `None` where nothing is added.
    pub const fn encapsulation(self) -> Option<Encapsulation> {
        match self {
            Self::Gre => Some(Encapsulation::Gre),
            Self::GreInUdp => Some(Encapsulation::GreInUdp),
            Self::Sealed => Some(Encapsulation::Sealed),
            Self::Free => None,
        }
    }

    /// Bytes that the tunnel adds to every packet: outer IP header, UDP header where there is one, GRE header.
    pub const fn overhead_bytes(self, outer: IpFamily) -> u32 {
        match self.encapsulation() {
            Some(encapsulation) => encapsulation.overhead_bytes(outer) as u32,
            None => 0,
        }
    }
}
