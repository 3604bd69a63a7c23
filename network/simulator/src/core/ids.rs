//! Positions of the simulator's own parts, one type for each kind. Nodes, links, flows and media have the plan's.
pub use prismux_plan::{FlowId, LinkId, MediumId, NodeId};

/// One direction of a link: twice the link's number, plus one for the reverse direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PortId(pub u32);

impl PortId {
    /// From the first to the second node of `link`.
    pub const fn forward(link: LinkId) -> Self {
        Self(link.0 * 2)
    }

    pub const fn reverse(link: LinkId) -> Self {
        Self(link.0 * 2 + 1)
    }

    pub const fn index(self) -> usize {
        self.0 as usize
    }

    pub const fn link(self) -> LinkId {
        LinkId(self.0 / 2)
    }

    pub const fn is_forward(self) -> bool {
        self.0.is_multiple_of(2)
    }
}

/// One end of a flow.
///
/// TCP's ends lie in a list of their own, where a packet finds them without a detour; all others are called by way of
/// their flow. The highest bit says which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EndpointId(u32);

impl EndpointId {
    const OTHER: u32 = 1 << 31;
    /// Of packets that are no flow's: nodes send and take them.
    pub const NONE: Self = Self(u32::MAX);

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

/// The flow of packets that are no flow's.
pub(crate) const NO_FLOW: FlowId = FlowId(u32::MAX);
