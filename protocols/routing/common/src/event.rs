//! What a routing protocol tells its host.
use core::fmt;
use core::net::Ipv4Addr;

/// Why a packet with a payload went no further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// No route is known, and none is looked for or none was found.
    NoRoute,
    /// The send buffer was full: the oldest packet made room.
    BufferFull,
    /// The packet waited for a route longer than the send buffer keeps packets.
    BufferTimeout,
    /// The packet has made as many hops as it may.
    HopLimit,
    /// The neighbour that was next did not take the packet, and there was no other way.
    LinkFailure,
    /// The packet was salvaged as often as it may be.
    SalvageLimit,
    /// The route in the packet does not name this host where it should, or cannot be followed.
    BadRoute,
    /// The packet came back to the host that had sent it.
    Loop,
    /// The host does not forward for others.
    NotAdmitted,
}

impl DropReason {
    /// All reasons, in the order of the counters.
    pub const ALL: [Self; 9] = [
        Self::NoRoute,
        Self::BufferFull,
        Self::BufferTimeout,
        Self::HopLimit,
        Self::LinkFailure,
        Self::SalvageLimit,
        Self::BadRoute,
        Self::Loop,
        Self::NotAdmitted,
    ];

    /// The reason's place in [`DropReason::ALL`].
    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoRoute => "no-route",
            Self::BufferFull => "buffer-full",
            Self::BufferTimeout => "buffer-timeout",
            Self::HopLimit => "hop-limit",
            Self::LinkFailure => "link-failure",
            Self::SalvageLimit => "salvage-limit",
            Self::BadRoute => "bad-route",
            Self::Loop => "loop",
            Self::NotAdmitted => "not-admitted",
        })
    }
}

/// What a routing protocol tells its host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoutingEvent<P> {
    /// A packet for this host arrived.
    Delivered {
        /// Who sent the packet.
        source: Ipv4Addr,
        /// Hops that the packet made.
        hops: u8,
        /// What the packet carried.
        payload: P,
    },
    /// A packet goes no further.
    Dropped {
        /// Who sent the packet.
        source: Ipv4Addr,
        /// Whom the packet was for.
        destination: Ipv4Addr,
        /// Why it was dropped.
        reason: DropReason,
        /// What the packet carried.
        payload: P,
    },
    /// A search for a route began, or went on with a larger reach.
    DiscoveryStarted {
        /// Whom the route leads to.
        target: Ipv4Addr,
        /// How many hops the search reaches.
        hop_limit: u8,
    },
    /// A search for a route had an answer.
    DiscoveryAnswered {
        /// Whom the route leads to.
        target: Ipv4Addr,
        /// Hops of the route.
        hops: u8,
    },
    /// A search for a route was given up.
    DiscoveryFailed {
        /// Whom no route was found to.
        target: Ipv4Addr,
    },
    /// A neighbour no longer takes frames.
    LinkBroken {
        /// The neighbour.
        neighbour: Ipv4Addr,
    },
    /// A packet that could not take its own route was sent over another one.
    Salvaged {
        /// Whom the packet is for.
        destination: Ipv4Addr,
    },
}
