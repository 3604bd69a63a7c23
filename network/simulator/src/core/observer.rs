//! Captures and event logs: what passes the ends of links.
use crate::core::capture::Capture;
use crate::core::ids::{FlowId, MediumId, NO_FLOW, NodeId, PortId};
use crate::core::lost_acks::LostAcks;
use crate::core::packet::{Body, Carried, Packet, PacketHandle, PacketPool};
use crate::media::medium::{NodeState, SentFrame};
use prismux_link::{DropReason, Dropped};
use prismux_tcp::engine::EngineMetrics;
use prismux_trace::event::{self, Event, EventSink, PacketSummary};
use prismux_units::{Duration, Instant};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// Names that events use, by index.
#[derive(Debug, Default)]
pub(crate) struct Names {
    pub nodes: Vec<String>,
    pub links: Vec<String>,
    pub media: Vec<String>,
    pub flows: Vec<String>,
    /// By port: the node that sends into it and the node it leads to.
    pub ends: Vec<(String, String)>,
}

/// Whoever watches a run.
pub(crate) struct Observer {
    pub names: Names,
    pub capture: Option<Capture>,
    pub events: Option<Box<dyn EventSink + Send>>,
    /// Where somebody asks for them.
    pub acks: Option<LostAcks>,
    pub last: LastSeen,
}

/// Bytes in flight alone are told no more often than this.
const IN_FLIGHT_INTERVAL: Duration = Duration::from_millis(10);

/// What was told last, so that only changes are told.
#[derive(Debug, Default)]
pub(crate) struct LastSeen {
    /// By flow: congestion window, slow-start threshold and bytes in flight of its sender, and when that was told.
    windows: BTreeMap<FlowId, (Instant, [u64; 3])>,
    /// By proxy and flow: ACKs held back.
    held_acks: BTreeMap<(NodeId, FlowId), u64>,
    /// By node: where it was, in metres to the east and to the north.
    places: BTreeMap<NodeId, [f64; 2]>,
    /// By node: what waited, and its energy.
    states: BTreeMap<NodeId, NodeState>,
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

impl Observer {
    /// A packet is handed to a link.
    pub fn sent(
        &mut self,
        now: Instant,
        port: PortId,
        size_bytes: u32,
        pool: &PacketPool,
        packet: PacketHandle,
    ) {
        let (number, packet) = (pool.number(packet), &pool.packet(packet));
        if let Some(capture) = &mut self.capture {
            capture.packet(now, port, size_bytes, pool, packet);
        }
        if let Some(sink) = &mut self.events {
            let (link, from) = (self.names.link(port), self.names.sender(port));
            let packet = self.names.summary(size_bytes, pool, packet, number);
            sink.event(now, &Event::PacketSent { link, from, packet });
        }
    }

    /// A frame begins on a medium: its head, and the packet in it.
    pub fn on_air(
        &mut self,
        now: Instant,
        medium: MediumId,
        head: &[u8],
        packet: Option<(PacketHandle, u32)>,
        pool: &PacketPool,
    ) {
        if let Some(capture) = &mut self.capture {
            capture.frame(now, medium, head, packet, pool);
        }
    }

    /// A frame begins on a medium, with a packet of `flow` in it; the number is that of the packet, or of the one that
    /// the frame announces.
    pub fn frame_sent(
        &mut self,
        now: Instant,
        medium: MediumId,
        frame: &SentFrame,
        (flow, number): (Option<FlowId>, Option<u64>),
    ) {
        let Some(sink) = &mut self.events else { return };
        let flow = flow.and_then(|flow| self.names.flows.get(flow.index()));
        let event = Event::FrameSent {
            medium: self.names.medium(medium),
            from: self.names.node(frame.from),
            to: frame.to.map(|to| self.names.node(to)),
            kind: Cow::Borrowed(frame.kind),
            airtime_ns: frame.airtime.as_nanos(),
            number,
            flow: flow.map(|flow| flow.as_str().into()),
        };
        sink.event(now, &event);
    }

    /// A frame with a packet has not come to the neighbour it is for.
    pub fn frame_lost(
        &mut self,
        now: Instant,
        medium: MediumId,
        ends: [NodeId; 2],
        (cause, number): (&'static str, u64),
    ) {
        let Some(sink) = &mut self.events else { return };
        let [from, to] = ends.map(|node| self.names.node(node));
        let (medium, cause) = (self.names.medium(medium), Cow::Borrowed(cause));
        sink.event(now, &Event::FrameLost { medium, from, to, cause, number });
    }

    /// A numbered packet of a flow sets out from the host of its sender.
    pub fn set_out(
        &mut self,
        now: Instant,
        node: NodeId,
        size_bytes: u32,
        pool: &PacketPool,
        packet: PacketHandle,
    ) {
        let number = pool.number(packet);
        if let (Some(acks), Some(number)) = (&mut self.acks, number) {
            acks.sent(&pool.packet(packet), number);
        }
        let (Some(sink), Some(_)) = (&mut self.events, number) else { return };
        let packet = self.names.summary(size_bytes, pool, &pool.packet(packet), number);
        sink.event(now, &Event::PacketOriginated { node: self.names.node(node), packet });
    }

    /// A numbered packet of a flow has begun to wait for a medium.
    pub fn queued(&mut self, now: Instant, node: NodeId, pool: &PacketPool, packet: PacketHandle) {
        self.tell_numbered(now, pool, packet, |names, number| Event::PacketQueued {
            node: names.node(node),
            number,
        });
    }

    /// A numbered packet of a flow has reached the host that it is for.
    pub fn arrived(&mut self, now: Instant, node: NodeId, pool: &PacketPool, packet: PacketHandle) {
        self.tell_numbered(now, pool, packet, |names, number| Event::PacketArrived {
            node: names.node(node),
            number,
        });
    }

    fn tell_numbered(
        &mut self,
        now: Instant,
        pool: &PacketPool,
        packet: PacketHandle,
        event: impl FnOnce(&Names, u64) -> Event<'_>,
    ) {
        let (Some(sink), Some(number)) = (&mut self.events, pool.number(packet)) else { return };
        if pool.get(packet).flow != NO_FLOW {
            sink.event(now, &event(&self.names, number));
        }
    }

    /// Where a host is, if that has changed.
    pub fn place(&mut self, now: Instant, node: NodeId, [x_m, y_m]: [f64; 2]) {
        let Some(sink) = &mut self.events else { return };
        if self.last.places.insert(node, [x_m, y_m]) != Some([x_m, y_m]) {
            sink.event(now, &Event::HostMoved { node: self.names.node(node), x_m, y_m });
        }
    }

    /// What waits at a host on the air, and its energy, if that has changed; energy at whole seconds alone, since it
    /// changes all the time.
    pub fn state(&mut self, now: Instant, node: NodeId, state: NodeState) {
        let Some(sink) = &mut self.events else { return };
        let before = self.last.states.get(&node).copied().unwrap_or_default();
        let energy = [state.drawn_uj, state.battery_uj];
        let tells_energy =
            now.as_nanos().is_multiple_of(1_000_000_000) && energy != [before.drawn_uj, before.battery_uj];
        if state.waiting_packets != before.waiting_packets || tells_energy {
            let [drawn_uj, battery_uj] = if tells_energy { energy } else { [None, None] };
            let NodeState { waiting_packets, .. } = state;
            let told =
                Event::HostState { node: self.names.node(node), waiting_packets, drawn_uj, battery_uj };
            sink.event(now, &told);
            let kept = if tells_energy { state } else { NodeState { waiting_packets, ..before } };
            self.last.states.insert(node, kept);
        }
    }

    /// A packet comes out of a link.
    pub fn delivered(
        &mut self,
        now: Instant,
        port: PortId,
        size_bytes: u32,
        pool: &PacketPool,
        packet: PacketHandle,
    ) {
        if let Some(sink) = &mut self.events {
            let (link, (_, to)) = (self.names.link(port), &self.names.ends[port.index()]);
            let number = pool.number(packet);
            let packet = self.names.summary(size_bytes, pool, &pool.packet(packet), number);
            sink.event(now, &Event::PacketDelivered { link, to: Cow::Borrowed(to), packet });
        }
    }

    /// A link has dropped a packet, which is still in the pool.
    pub fn dropped(&mut self, now: Instant, port: PortId, dropped: &Dropped<Carried>, pool: &PacketPool) {
        if let Some(acks) = &mut self.acks {
            let handle = dropped.packet.packet;
            acks.lost(&pool.packet(handle), pool.number(handle));
        }
        if let Some(sink) = &mut self.events {
            let reason = match dropped.reason {
                DropReason::QueueFull => event::DropReason::QueueFull,
                DropReason::Early => event::DropReason::QueueEarly,
                DropReason::Lost => event::DropReason::Loss,
                DropReason::Down => event::DropReason::LinkDown,
            };
            let (at, from) = (self.names.link(port), Some(self.names.sender(port)));
            let handle = dropped.packet.packet;
            let number = pool.number(handle);
            let packet = self.names.summary(dropped.size_bytes, pool, &pool.packet(handle), number);
            sink.event(now, &Event::PacketDropped { at, from, reason, packet });
        }
    }

    /// A node could do nothing with a packet, which may have a number; the pool keeps what belongs to it.
    pub fn dropped_at(
        &mut self,
        now: Instant,
        node: NodeId,
        reason: event::DropReason,
        pool: &PacketPool,
        (packet, number): (&Packet, Option<u64>),
    ) {
        if let Some(acks) = &mut self.acks {
            acks.lost(packet, number);
        }
        if let Some(sink) = &mut self.events {
            let at = self.names.node(node);
            let packet = self.names.summary(packet.ip_bytes(), pool, packet, number);
            sink.event(now, &Event::PacketDropped { at, from: None, reason, packet });
        }
    }

    /// How the sender of a flow stands, where that has changed; what changes with every segment, only now and then.
    pub fn window(&mut self, now: Instant, flow: FlowId, engine: &EngineMetrics) {
        let Some(sink) = &mut self.events else { return };
        let state = [engine.cwnd_bytes, engine.ssthresh_bytes, engine.outstanding_bytes];
        if let Some((told, last)) = self.last.windows.get(&flow) {
            let patient = now < *told + IN_FLIGHT_INTERVAL && state[..2] == last[..2];
            if state == *last || patient {
                return;
            }
        }
        self.last.windows.insert(flow, (now, state));
        let event = Event::WindowChanged {
            flow: self.names.flow(flow),
            cwnd_bytes: engine.cwnd_bytes,
            ssthresh_bytes: Some(engine.ssthresh_bytes).filter(|&bytes| bytes != u64::MAX),
            in_flight_bytes: engine.outstanding_bytes,
            srtt_ns: engine.srtt.map(Duration::as_nanos),
        };
        sink.event(now, &event);
    }

    /// How many ACKs of a flow a proxy holds back, where that has changed.
    pub fn held_acks(&mut self, now: Instant, proxy: NodeId, flow: FlowId, held_acks: u64) {
        let Some(sink) = &mut self.events else { return };
        if self.last.held_acks.insert((proxy, flow), held_acks).unwrap_or(0) != held_acks {
            let (node, flow) = (self.names.node(proxy), self.names.flow(flow));
            sink.event(now, &Event::HeldChanged { node, flow, held_acks });
        }
    }

    /// Something else has happened.
    pub fn event(&mut self, now: Instant, event: impl FnOnce(&Names) -> Event<'_>) {
        if let Some(sink) = &mut self.events {
            sink.event(now, &event(&self.names));
        }
    }
}

impl Names {
    pub fn link(&self, port: PortId) -> Cow<'_, str> {
        Cow::Borrowed(&self.links[port.link().index()])
    }

    /// The node that sends into a port.
    pub fn sender(&self, port: PortId) -> Cow<'_, str> {
        Cow::Borrowed(&self.ends[port.index()].0)
    }

    pub fn node(&self, node: NodeId) -> Cow<'_, str> {
        Cow::Borrowed(self.nodes.get(node.index()).map_or("", String::as_str))
    }

    pub fn flow(&self, flow: FlowId) -> Cow<'_, str> {
        Cow::Borrowed(&self.flows[flow.index()])
    }

    fn medium(&self, medium: MediumId) -> Cow<'_, str> {
        Cow::Borrowed(self.media.get(medium.index()).map_or("", String::as_str))
    }

    fn summary(
        &self,
        size_bytes: u32,
        pool: &PacketPool,
        packet: &Packet,
        number: Option<u64>,
    ) -> PacketSummary<'_> {
        let flow = self.flows.get(packet.flow.index()).map(String::as_str);
        let summary = match &packet.body {
            Body::Tcp { header, .. } => PacketSummary::tcp(flow, size_bytes, header, packet.payload_bytes),
            Body::Datagram(datagram) => {
                match pool.content(datagram).and_then(|content| content.stream_offset()) {
                    Some(offset) => PacketSummary::part(flow, size_bytes, offset, packet.payload_bytes),
                    None => PacketSummary::opaque(flow, size_bytes),
                }
            }
        };
        PacketSummary { number, ..summary }
    }
}
