//! Indices, one type for each kind.

macro_rules! index {
    ($(#[$doc:meta])* $visibility:vis $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $name(pub(crate) u32);

        impl $name {
            pub(crate) const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index! {
    /// A node of the network.
    pub NodeId
}
index! {
    /// A link between two nodes, both directions.
    pub LinkIndex
}
index! {
    /// A flow.
    pub FlowId
}
index! {
    /// One direction of a link: twice the link's number, plus one for the reverse direction.
    pub(crate) PortId
}

impl LinkIndex {
    /// From the first to the second node of the link.
    pub(crate) const fn forward(self) -> PortId {
        PortId(self.0 * 2)
    }

    pub(crate) const fn reverse(self) -> PortId {
        PortId(self.0 * 2 + 1)
    }
}

impl PortId {
    pub(crate) const fn link(self) -> LinkIndex {
        LinkIndex(self.0 / 2)
    }

    pub(crate) const fn is_forward(self) -> bool {
        self.0.is_multiple_of(2)
    }
}

/// One end of a flow.
///
/// TCP's ends lie in a list of their own, where a packet finds them without a detour; all others are called by way of
/// their flow. The highest bit says which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EndpointId(u32);

impl EndpointId {
    const OTHER: u32 = 1 << 31;

    /// An end of a TCP connection: of pair `pair`, the opening one (0) or the other (1).
    pub const fn tcp(pair: u32, end: u32) -> Self {
        Self(pair * 2 + end)
    }

    /// The end with this place in the list of all others.
    pub const fn other(place: u32) -> Self {
        Self(place | Self::OTHER)
    }

    /// The pair and the end of a TCP connection, or the place of another end.
    #[inline]
    pub const fn place(self) -> Place {
        match self.0 & Self::OTHER {
            0 => Place::Tcp { pair: (self.0 >> 1) as usize, end: (self.0 & 1) as usize },
            _ => Place::Other((self.0 & !Self::OTHER) as usize),
        }
    }

    /// As bits, and from them.
    pub const fn to_bits(self) -> u32 {
        self.0
    }

    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }
}

/// Where an end is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Tcp { pair: usize, end: usize },
    Other(usize),
}
