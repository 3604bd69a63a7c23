//! A host of an ad-hoc network: a routing protocol between its endpoints and the air. It may be a relay: what comes for
//! it and is for somebody else waits until whoever keeps the relay sends it on.
use super::header::Routed;
use crate::core::ids::{MediumId, NodeId};
use crate::core::packet::{IPV4_HEADER_BYTES, Transit, ipv4_address, node_at};
use crate::media::medium::{Frame, Priority};
use crate::nodes::context::NodeContext;
use crate::nodes::node::Node;
use prismux_endpoint::Alarm;
use prismux_routing::{Input, NextHop, RoutingEndpoint, RoutingEvent};
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use std::collections::VecDeque;
use std::fmt;
use std::net::IpAddr;

/// A host that runs the routing protocol `R`.
#[derive(Debug)]
pub(super) struct AdhocHost<R> {
    medium: MediumId,
    routing: R,
    alarm: Alarm,
    /// The neighbour whose failure was told of last, and when.
    failed: Option<(NodeId, Instant)>,
    queue_drops: u64,
    /// Hops of packets that arrived, where they are compared.
    hops: Option<Hops>,
    /// Of a relay: what has come and is to go on.
    passing: Option<VecDeque<Transit>>,
}

/// A host of an ad-hoc network that carries packets between others and it, in tunnels: IP in IP (RFC 2003).
pub(super) trait Relay: Node {
    /// Sends a packet to a host of the network, wherever it goes from there.
    fn send_to(&mut self, context: &mut NodeContext<'_>, host: NodeId, packet: Transit);

    /// A packet that has come and is for somebody else.
    fn poll_passing(&mut self) -> Option<Transit>;
}

/// How far packets have come, and how far they would have had to.
#[derive(Debug, Clone, Copy, Default)]
struct Hops {
    packets: u64,
    made: u64,
    fewest: u64,
    /// Packets that took the fewest hops, one more, and more than that.
    above: [u64; 3],
}

impl Hops {
    fn count(&mut self, made: u8, fewest: Option<u32>) {
        let made = u32::from(made);
        // A packet may have left before its last hop became possible, or impossible.
        let fewest = fewest.unwrap_or(made).min(made);
        self.packets += 1;
        self.made += u64::from(made);
        self.fewest += u64::from(fewest);
        self.above[(made - fewest).min(2) as usize] += 1;
    }
}

impl<R> AdhocHost<R> {
    pub fn new(medium: MediumId, routing: R, compares_hops: bool) -> Self {
        let hops = compares_hops.then(Hops::default);
        Self { medium, routing, alarm: Alarm::new(), failed: None, queue_drops: 0, hops, passing: None }
    }

    /// The same as a relay.
    pub fn relaying(self) -> Self {
        Self { passing: Some(VecDeque::new()), ..self }
    }
}

impl<R> AdhocHost<R>
where
    R: RoutingEndpoint<Transit>,
    R::Header: fmt::Debug + Send + 'static,
{
    /// One thing happens to the routing protocol, and what follows from it is done.
    fn act(&mut self, context: &mut NodeContext<'_>, input: Input<'_, R::Header, Transit>) {
        self.routing.handle_input(context.now(), input);
        self.drain(context);
    }

    fn drain(&mut self, context: &mut NodeContext<'_>) {
        let now = context.now();
        while let Some(prismux_routing::Frame { next_hop, packet }) = self.routing.poll_transmit(now) {
            let mut header_bytes = self.routing.header_bytes(&packet);
            if let (Some(payload), Some(_)) = (&packet.payload, &self.passing) {
                let (source, destination) = context.addresses(payload);
                let ends = [packet.source, packet.destination];
                let is_tunnelled = [source, destination].map(ipv4_address) != ends;
                header_bytes += if is_tunnelled { IPV4_HEADER_BYTES as usize } else { 0 };
            }
            let routed = Routed::new(packet, header_bytes);
            let (packet, priority) = match routed.payload() {
                Some(mut packet) => {
                    context.put_header(&mut packet, routed);
                    (packet, context.priority(&packet))
                }
                None => (context.originate(routed, None, 0), Priority::Routing),
            };
            let to = match next_hop {
                NextHop::Neighbour(address) => node_at(IpAddr::V4(address)),
                NextHop::Broadcast => None,
            };
            if let Err(refused) = context.transmit(self.medium, to, packet, priority) {
                self.queue_drops += 1;
                context.lose(refused, DropReason::QueueFull);
            }
        }
        while let Some(event) = self.routing.poll_event() {
            match event {
                RoutingEvent::Delivered { source, hops: made, payload } => {
                    if let Some(hops) = &mut self.hops {
                        let fewest = node_at(IpAddr::V4(source))
                            .and_then(|from| context.fewest_hops(self.medium, from));
                        hops.count(made, fewest);
                    }
                    match &mut self.passing {
                        Some(passing) if !context.is_for_node(&payload) => passing.push_back(payload),
                        _ => context.deliver(payload),
                    }
                }
                RoutingEvent::Dropped { reason, payload, .. } => context.lose(payload, drop_reason(reason)),
                _ => {}
            }
        }
        if let Some(at) = self.alarm.set(now, self.routing.poll_timeout()) {
            context.wake(at);
        }
    }

    /// A packet off the air, as the routing protocol knows it. `None`, and the packet is gone, for one of another
    /// protocol.
    fn open(
        context: &mut NodeContext<'_>,
        mut packet: Transit,
    ) -> Option<prismux_routing::Packet<R::Header, Transit>> {
        if let Some(message) = context.take::<Routed<R::Header>>(&packet) {
            return Some(message.open(None));
        }
        match context.take_header::<Routed<R::Header>>(&mut packet) {
            Some(header) => Some(header.open(Some(packet))),
            None => {
                context.discard(packet);
                None
            }
        }
    }
}

/// What event logs call it.
const fn drop_reason(reason: prismux_routing::DropReason) -> DropReason {
    use prismux_routing::DropReason as Routing;
    match reason {
        Routing::NoRoute => DropReason::NoRoute,
        Routing::BufferFull => DropReason::BufferFull,
        Routing::BufferTimeout => DropReason::BufferTimeout,
        Routing::HopLimit => DropReason::HopLimit,
        Routing::LinkFailure | Routing::SalvageLimit => DropReason::Unanswered,
        Routing::BadRoute | Routing::Loop => DropReason::BadRoute,
        Routing::NotAdmitted => DropReason::NotAdmitted,
    }
}

impl<R> Node for AdhocHost<R>
where
    R: RoutingEndpoint<Transit> + fmt::Debug + Send + 'static,
    R::Header: fmt::Debug + Send + 'static,
{
    fn start(&mut self, context: &mut NodeContext<'_>) {
        self.drain(context);
    }

    fn arrive(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        let destination = ipv4_address(context.addresses(&packet).1);
        self.act(context, Input::Send { destination, payload: packet });
    }

    fn receive(&mut self, context: &mut NodeContext<'_>, _: MediumId, from: NodeId, packet: Transit) {
        if let Some(packet) = Self::open(context, packet) {
            self.act(context, Input::Received { from: ipv4_address(from), packet });
        }
    }

    fn overhear(&mut self, context: &mut NodeContext<'_>, _: MediumId, frame: &Frame) {
        let Some(to) = frame.to else { return };
        let Some(heard) = context.routed::<Routed<R::Header>>(&frame.packet) else { return };
        let (from, to) = (ipv4_address(frame.from), ipv4_address(to));
        self.routing.handle_input(context.now(), Input::Overheard { from, to, packet: heard.packet() });
        self.drain(context);
    }

    fn undelivered(&mut self, context: &mut NodeContext<'_>, _: MediumId, to: NodeId, packet: Transit) {
        let now = context.now();
        // The first tells that the neighbour is gone; the others come out of the interface queue.
        let known = self.failed == Some((to, now));
        self.failed = Some((to, now));
        let Some(packet) = Self::open(context, packet) else { return };
        let neighbour = ipv4_address(to);
        self.act(
            context,
            match known {
                false => Input::LinkFailure { neighbour, packet },
                true => Input::Flushed { neighbour, packet },
            },
        );
    }

    fn timeout(&mut self, context: &mut NodeContext<'_>) {
        let now = context.now();
        if self.alarm.rings(now) {
            if self.routing.poll_timeout().is_some_and(|deadline| deadline.at <= now) {
                self.routing.handle_timeout(now);
            }
            self.drain(context);
        }
    }

    fn packets_inside(&self) -> usize {
        self.routing.buffered_packets() + self.passing.as_ref().map_or(0, VecDeque::len)
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.routing.statistics().columns().to_vec();
        counters.push(("interface_queue_drops", self.queue_drops));
        if let Some(hops) = self.hops {
            counters.extend([
                ("routing_delivered_packets", hops.packets),
                ("routing_hops_made", hops.made),
                ("routing_fewest_hops", hops.fewest),
                ("routing_packets_at_fewest_hops", hops.above[0]),
                ("routing_packets_one_hop_above", hops.above[1]),
                ("routing_packets_farther_above", hops.above[2]),
            ]);
        }
        counters
    }
}

impl<R> Relay for AdhocHost<R>
where
    R: RoutingEndpoint<Transit> + fmt::Debug + Send + 'static,
    R::Header: fmt::Debug + Send + 'static,
{
    fn send_to(&mut self, context: &mut NodeContext<'_>, host: NodeId, packet: Transit) {
        self.act(context, Input::Send { destination: ipv4_address(host), payload: packet });
    }

    fn poll_passing(&mut self) -> Option<Transit> {
        self.passing.as_mut()?.pop_front()
    }
}
