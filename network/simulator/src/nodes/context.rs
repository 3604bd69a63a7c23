//! What a node with a rule of its own reaches while it acts.
use crate::core::ids::{EndpointId, LinkId, MediumId, NO_FLOW, NodeId, PortId};
use crate::core::packet::{Body, Carried, Content, Datagram, EVERYBODY, KeptPacket, Packet, Transit};
use crate::media::medium::{Frame, Priority};
use crate::network::{Network, Target};
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use prismux_wire::Ecn;

/// The network, as far as a node may reach it.
#[derive(Debug)]
pub struct NodeContext<'a> {
    pub(crate) network: &'a mut Network,
    /// The node itself.
    pub(crate) node: NodeId,
    /// Its place among the nodes with rules of their own.
    pub(crate) place: u32,
}

/// The time and the node itself.
impl NodeContext<'_> {
    /// The time.
    pub fn now(&self) -> Instant {
        self.network.now
    }

    /// The node itself.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// Calls [`Node::timeout`](super::node::Node::timeout) at `at`. A call cannot be taken back: the node notes what it
    /// waits for.
    pub fn wake(&mut self, at: Instant) {
        self.network.queue.push(at, Target::Node(self.place));
    }
}

/// Looking at packets.
impl NodeContext<'_> {
    /// Whether the packet, or the tunnel around it, ends here.
    pub fn ends_here(&self, packet: &Transit) -> bool {
        packet.carried.towards == self.node
    }

    /// Where the packet comes from and where it goes, tunnels aside.
    pub fn addresses(&self, packet: &Transit) -> (NodeId, NodeId) {
        let packet = self.network.pool.get(packet.carried.packet);
        (packet.source, packet.destination)
    }

    /// A hash that is equal for all packets of a flow in one direction: of addresses, ports and protocol.
    pub fn flow_hash(&self, packet: &Transit) -> u64 {
        self.network.pool.packet(packet.carried.packet).flow_key().hash64()
    }

    /// What the datagram carries, if it is of type `C`.
    pub fn content<C: Content + Clone>(&self, packet: &Transit) -> Option<&C> {
        self.network.pool.content_as(packet.carried.packet)
    }

    /// The header that a routing protocol has put around the packet, if it is of type `C`.
    pub fn header<C: Content + Clone>(&self, packet: &Transit) -> Option<&C> {
        self.network.pool.header_as(packet.carried.packet)
    }

    /// What a routing protocol has put around the packet, or sends as one of its own, if it is of type `C`.
    pub(crate) fn routed<C: Content + Clone>(&self, packet: &Transit) -> Option<&C> {
        self.header(packet).or_else(|| self.content(packet))
    }
}

/// Making and changing packets.
impl NodeContext<'_> {
    /// A datagram of the node's own, for a node or, with `None`, for whoever hears it: a message of a routing protocol,
    /// say. No endpoint takes it; nodes do, by [`NodeContext::take`].
    pub fn originate<C: Content + Clone>(
        &mut self,
        content: C,
        destination: Option<NodeId>,
        payload_bytes: u32,
    ) -> Transit {
        let towards = destination.unwrap_or(EVERYBODY);
        let header_bytes = content.header_bytes() as u16;
        let content = self.network.pool.keep(content);
        let packet = Packet {
            body: Body::Datagram(Datagram {
                content,
                header_bytes,
                is_segment: false,
                ports: (0, 0),
                sent_at: self.network.now,
            }),
            payload_bytes,
            endpoint: EndpointId::NONE,
            flow: NO_FLOW,
            source: self.node,
            destination: towards,
            ecn: Ecn::NotEct,
            encapsulated: false,
            damaged: false,
            headed: false,
        };
        self.network.counters.returned_by_nodes += 1;
        let size_bytes = packet.ip_bytes();
        Transit { size_bytes, carried: Carried { packet: self.network.pool.insert(packet), towards } }
    }

    /// A copy of the packet outside of the network.
    pub(crate) fn keep_copy(&self, packet: &Transit) -> KeptPacket {
        self.network.pool.keep_copy(packet.carried.packet)
    }

    /// Puts a copy of a packet into the network again, on its way to `towards`.
    pub(crate) fn put_back_kept(&mut self, kept: &KeptPacket, towards: NodeId) -> Transit {
        self.network.counters.returned_by_nodes += 1;
        let packet = self.network.pool.put_back_kept(kept);
        Transit { size_bytes: kept.packet().ip_bytes(), carried: Carried { packet, towards } }
    }

    /// Takes in a datagram of another node's own. `None`, and nothing happens, for content of another type.
    pub fn take<C: Content + Clone>(&mut self, packet: &Transit) -> Option<C> {
        let handle = packet.carried.packet;
        let content = self.network.pool.take_content(handle)?;
        self.network.counters.taken_by_nodes += 1;
        self.network.pool.discard(handle);
        Some(content)
    }

    /// Puts the header of a routing protocol around the packet, in place of one that it has. The packet grows by its
    /// length; whatever lies between need not know it.
    pub fn put_header<C: Content + Clone>(&mut self, packet: &mut Transit, header: C) {
        self.drop_header(packet);
        packet.size_bytes += header.header_bytes() as u32;
        self.network.pool.put_header(packet.carried.packet, header);
    }

    /// Takes the header of a routing protocol off the packet. `None` where there is none; one of another type is gone.
    pub fn take_header<C: Content + Clone>(&mut self, packet: &mut Transit) -> Option<C> {
        packet.size_bytes -= self.header_bytes(packet);
        self.network.pool.take_header(packet.carried.packet)
    }

    fn drop_header(&mut self, packet: &mut Transit) {
        packet.size_bytes -= self.header_bytes(packet);
        self.network.pool.drop_header(packet.carried.packet);
    }

    fn header_bytes(&self, packet: &Transit) -> u32 {
        self.network.pool.header(packet.carried.packet).map_or(0, |header| header.header_bytes() as u32)
    }
}

/// Letting packets go.
impl NodeContext<'_> {
    /// Sends a packet by the shortest path.
    pub fn forward(&mut self, packet: Transit) {
        self.network.forward(self.node, packet.size_bytes, packet.carried);
    }

    /// Sends a packet over `link`, which must end at the node; over another it goes the shortest path.
    pub fn send(&mut self, link: LinkId, packet: Transit) {
        match self.exit_into(link) {
            Some(port) => self.network.send(port, packet.size_bytes, packet.carried),
            None => self.forward(packet),
        }
    }

    /// Hands a packet to `medium`, to which the node must be attached, for a neighbour or, with `None`, for everybody.
    /// Those of an earlier `priority` go before it.
    ///
    /// # Errors
    /// A packet for which the medium has no room: this one, or a less urgent one of the node that it displaces.
    pub fn transmit(
        &mut self,
        medium: MediumId,
        to: Option<NodeId>,
        packet: Transit,
        priority: Priority,
    ) -> Result<(), Transit> {
        let frame = Frame { from: self.node, to, priority, packet };
        self.network.put_on_medium(medium, frame).map_err(|frame| frame.packet)
    }

    /// What the packet is to an interface queue: an acknowledgement of TCP, or anything else.
    pub fn priority(&self, packet: &Transit) -> Priority {
        match self.network.pool.is_bare_acknowledgement(packet.carried.packet) {
            true => Priority::Acknowledgement,
            false => Priority::Normal,
        }
    }

    /// Sends a packet to everybody on `medium`, to which the node must be attached. Nodes with rules of their own
    /// take it in; hosts do if it ends there.
    pub fn broadcast(&mut self, medium: MediumId, packet: Transit) {
        if let Err(packet) = self.transmit(medium, None, packet, Priority::Normal) {
            self.network.unheard(packet);
        }
    }

    /// The fewest hops from `from` to the node over `medium` at this moment, where the medium knows.
    pub(crate) fn fewest_hops(&mut self, medium: MediumId, from: NodeId) -> Option<u32> {
        let (now, node) = (self.now(), self.node);
        self.network.media[medium.index()].medium.fewest_hops(now, from, node)
    }

    /// Whether the node finds `medium` busy. [`Node::medium_free`](super::node::Node::medium_free) tells when it no
    /// longer is.
    pub fn is_busy(&self, medium: MediumId) -> bool {
        self.network.media[medium.index()].medium.is_busy(self.node)
    }

    /// Drops a packet.
    pub fn discard(&mut self, packet: Transit) {
        self.network.counters.taken_by_nodes += 1;
        self.network.counters.dropped_by_nodes += 1;
        self.network.pool.discard(packet.carried.packet);
    }

    /// Drops a packet, and tells why.
    pub fn lose(&mut self, packet: Transit, reason: DropReason) {
        let handle = packet.carried.packet;
        let (lost, number) = (self.network.pool.packet(handle), self.network.pool.number(handle));
        self.network.observe_drop(self.node, reason, (&lost, number));
        self.discard(packet);
    }

    /// Hands a packet to the endpoint on this node that it is for, without the header of a routing protocol.
    pub fn deliver(&mut self, packet: Transit) {
        self.network.pool.drop_header(packet.carried.packet);
        self.network.local.push_back(packet.carried.packet);
    }

    fn exit_into(&self, link: LinkId) -> Option<PortId> {
        let leads_here =
            |port: PortId| self.network.ends.get(port.index()).is_some_and(|end| end.node == self.node);
        match (leads_here(PortId::forward(link)), leads_here(PortId::reverse(link))) {
            (false, true) => Some(PortId::forward(link)),
            (true, _) => Some(PortId::reverse(link)),
            (false, false) => None,
        }
    }
}
