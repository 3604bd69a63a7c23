//! Wired links: one node to one node.
use crate::core::ids::{EndpointId, NodeId};
use crate::core::packet::Carried;
use prismux_link::Link;

/// One direction of a link: an uncontended packet needs the first of its three cache lines.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Port {
    pub link: Link<Carried>,
}

impl Port {
    pub fn new(link: Link<Carried>) -> Self {
        Self { link }
    }
}

const _: () = assert!(size_of::<Port>() == 192, "a port fills three cache lines");

/// The node that a port leads to, with all that most packets need to know of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub node: NodeId,
    /// Whether it forwards by its table, and its endpoint if it has just one. In one word: there are many ends.
    resident: u32,
}

impl End {
    const PLAIN: u32 = 1 << 31;
    const NOBODY: u32 = Self::PLAIN - 1;

    pub fn new(node: NodeId, plain: bool) -> Self {
        Self { node, resident: Self::NOBODY | if plain { Self::PLAIN } else { 0 } }
    }

    #[inline]
    pub fn is_plain(self) -> bool {
        self.resident & Self::PLAIN != 0
    }

    /// The node's endpoint, if it is known to have just one, of TCP.
    #[inline]
    pub fn only(self) -> Option<EndpointId> {
        let resident = self.resident & Self::NOBODY;
        (resident != Self::NOBODY).then_some(EndpointId::from_bits(resident))
    }

    pub fn set_only(&mut self, endpoint: EndpointId) {
        self.resident = self.resident & Self::PLAIN | endpoint.to_bits() & Self::NOBODY;
    }
}
