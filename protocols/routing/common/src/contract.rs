//! What a routing protocol is to the host that drives it.
use crate::event::RoutingEvent;
use crate::packet::{Frame, Header, Packet};
use crate::statistics::Statistics;
use core::net::Ipv4Addr;
use prismux_endpoint::Endpoint;

/// What happens to a routing protocol, time aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input<'a, H, P> {
    /// The layer above has something for `destination`.
    Send {
        /// Whom it is for.
        destination: Ipv4Addr,
        /// What is to be carried.
        payload: P,
    },
    /// A frame arrived that is addressed to this host, or to everybody.
    Received {
        /// The neighbour that sent the frame.
        from: Ipv4Addr,
        /// What the frame carried.
        packet: Packet<H, P>,
    },
    /// A frame between two others was heard (promiscuous mode).
    Overheard {
        /// The neighbour that sent the frame.
        from: Ipv4Addr,
        /// The host that the frame is addressed to.
        to: Ipv4Addr,
        /// What the frame carried.
        packet: &'a Packet<H, P>,
    },
    /// The MAC layer gave a frame up after its last retry: the link to `neighbour` is broken.
    LinkFailure {
        /// The neighbour that does not acknowledge.
        neighbour: Ipv4Addr,
        /// The packet that was not delivered.
        packet: Packet<H, P>,
    },
    /// A packet that still stood in the interface queue for a neighbour that has failed. The host reports those after
    /// [`Input::LinkFailure`], in the order of the queue.
    Flushed {
        /// The neighbour that does not acknowledge.
        neighbour: Ipv4Addr,
        /// The packet that was taken out of the queue.
        packet: Packet<H, P>,
    },
}

/// A routing protocol of an ad-hoc network, as a machine without clock or sockets.
///
/// `P` is what the protocol carries for the layer above.
pub trait RoutingEndpoint<P>:
    for<'a> Endpoint<
        Input<'a> = Input<'a, Self::Header, P>,
        Transmit = Frame<Self::Header, P>,
        Event = RoutingEvent<P>,
    >
{
    /// The header of the protocol's packets.
    type Header: Header + Clone;

    /// The host's own address.
    fn address(&self) -> Ipv4Addr;

    /// What the protocol has done so far.
    fn statistics(&self) -> &Statistics;

    /// Bytes that `packet`'s header is counted for on the air: its length on the wire, unless a setting says otherwise.
    fn header_bytes(&self, packet: &Packet<Self::Header, P>) -> usize {
        packet.header.wire_bytes()
    }

    /// Packets that wait inside: for a route, or for the end of a jitter.
    fn buffered_packets(&self) -> usize;
}
