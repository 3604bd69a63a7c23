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
    /// One end of a flow: a TCP connection, a UDP source or a UDP sink.
    pub(crate) EndpointId
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
