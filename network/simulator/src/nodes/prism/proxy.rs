//! A PRISM proxy: judges what is for the hosts it serves, and what TCP they send.
use super::neighbours;
use super::receipts::{Meters, Taken, Told};
use crate::core::ids::{FlowId, NodeId};
use crate::core::packet::{Body, Carried, Packet, Transit};
use crate::nodes::context::NodeContext;
use crate::nodes::node::Node;
use prismux_endpoint::{Alarm, Deadline, Drain, Endpoint as _, Output, expire};
use prismux_prism::{LinkConfig, LinkId, Proxy, ProxyCounters, ProxyEvent, ProxyInput, Verdict};
use prismux_prism_trace::{ack_released, drop_reason, link_event};
use prismux_trace::event::{DropReason, Event};
use prismux_wire::FlowKey;
use prismux_wire::gre::SEQUENCE_BYTES;
use std::sync::Arc;

/// A node that runs the PRISM proxy.
#[derive(Debug)]
pub(crate) struct ProxyNode {
    pub proxy: Proxy<Packet>,
    /// Bytes that a tunnel to a member adds to a packet.
    pub tunnel_bytes: u32,
    /// Member nodes, by [`LinkId`].
    pub members: Vec<NodeId>,
    /// By node: packets for it travel over the members' links.
    pub serves: Arc<[bool]>,
    /// Links measured by receipts.
    pub meters: Meters,
    /// Whether members ask whether packets pass.
    pub is_asked: bool,
    pub alarm: Alarm,
}

impl Node for ProxyNode {
    fn arrive(&mut self, context: &mut NodeContext<'_>, arrived: Transit) {
        match self.meters.take(context, &self.members, arrived) {
            Taken::NoReceipt => {}
            Taken::Discarded => return,
            Taken::Receipt(told) => return self.measured(context, &told),
        }
        if self.is_asked && neighbours::answer(context, arrived) {
            return;
        }
        let Transit { mut size_bytes, carried } = arrived;
        let network = &mut *context.network;
        let stored = network.pool.get_mut(carried.packet);
        if stored.encapsulated {
            if carried.towards != context.node {
                return context.forward(arrived);
            }
            stored.encapsulated = false;
            size_bytes -= self.tunnel_bytes;
        }
        let inward = self.serves[stored.destination.index()];
        let outward = self.serves[stored.source.index()];
        let towards = stored.destination;
        let is_tcp = network.pool.is_tcp(carried.packet);
        if !(inward || outward && is_tcp) {
            let packet = Transit { size_bytes, carried: Carried { towards, ..carried } };
            return match towards == context.node {
                true => context.deliver(packet),
                false => context.forward(packet),
            };
        }
        let packet = network.pool.remove(carried.packet);
        if packet.damaged {
            network.counters.corrupted += 1;
            network.observe_drop(context.node, DropReason::Corrupted, (&packet, None));
            return network.pool.forget(&packet);
        }
        network.counters.taken_by_nodes += 1;
        let key = if inward { packet.flow_key() } else { packet.flow_key().reversed() };
        self.proxy.handle_input(context.now(), Self::input(packet, inward));
        self.drain(context);
        if is_tcp && context.network.observer.is_some() {
            self.observe_held(context, packet.flow, key);
        }
    }

    fn timeout(&mut self, context: &mut NodeContext<'_>) {
        if self.alarm.rings(context.now()) {
            for (link, position) in self.meters.expire(context.now()) {
                if let Ok(link) = u8::try_from(link) {
                    self.proxy.handle_input(context.now(), ProxyInput::Lost { link: LinkId(link), position });
                }
            }
            for link in self.meters.to_repair(context.now()) {
                self.meters.send_repairs(context, link, (self.members[link], self.tunnel_bytes));
            }
            expire(&mut self.proxy, context.now());
            self.drain(context);
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut columns = columns(self.proxy.counters());
        columns.extend(self.meters.columns());
        columns
    }
}

impl ProxyNode {
    /// A packet as the proxy sees it: towards a receiver, or back.
    fn input(packet: Packet, inward: bool) -> ProxyInput<Packet> {
        let (flow, payload_bytes) = (packet.flow_key(), packet.payload_bytes);
        match packet.body {
            Body::Tcp { header, .. } if inward => ProxyInput::Data { flow, header, payload_bytes, packet },
            Body::Tcp { header, .. } => {
                ProxyInput::Reverse { data_flow: flow.reversed(), header, payload_bytes, packet }
            }
            Body::Datagram(_) => ProxyInput::Opaque { flow_hash: flow.hash64(), packet },
        }
    }

    /// A receipt has told of a link.
    fn measured(&mut self, context: &mut NodeContext<'_>, told: &Told) {
        if let Ok(link) = u8::try_from(told.link) {
            let tunnel_bytes = self.tunnel_bytes + SEQUENCE_BYTES as u32;
            let (link, estimate) = (LinkId(link), told.estimate);
            let now = context.now();
            self.proxy.handle_input(now, ProxyInput::Measured { link, estimate, tunnel_bytes });
            for &position in &told.lost {
                self.proxy.handle_input(now, ProxyInput::Lost { link, position });
            }
        }
        self.drain(context);
    }

    /// A member joins.
    pub fn join(&mut self, context: &mut NodeContext<'_>, link: LinkId, config: LinkConfig) {
        self.proxy.join(context.now(), link, config);
        self.drain(context);
    }

    /// A member leaves.
    pub fn leave(&mut self, context: &mut NodeContext<'_>, link: LinkId) {
        self.proxy.leave(context.now(), link);
        self.drain(context);
    }

    /// After one mutation: carries out the verdicts and sets the next event.
    fn drain(&mut self, context: &mut NodeContext<'_>) {
        let now = context.now();
        let mut drain = Drain::new();
        while let Some(output) = drain.next(&mut self.proxy, now) {
            match output {
                Output::Transmit(verdict) => self.carry_out(context, verdict),
                Output::Event(event) => self.observe_link(context, event),
            }
        }
        self.wake_in_time(context);
    }

    fn wake_in_time(&mut self, context: &mut NodeContext<'_>) {
        let deadline = Deadline::earliest(self.proxy.poll_timeout(), self.meters.deadline());
        if let Some(at) = self.alarm.set(context.now(), deadline) {
            context.wake(at);
        }
    }

    fn carry_out(&mut self, context: &mut NodeContext<'_>, mut verdict: Verdict<Packet>) {
        if context.network.observer.is_some() {
            self.observe(context, &verdict);
        }
        verdict.rewrite(|packet| match &mut packet.body {
            Body::Tcp { header, .. } => Some(header),
            Body::Datagram(_) => None,
        });
        match verdict {
            Verdict::Forward { link, mut packet, position, .. } => {
                packet.encapsulated = true;
                let size_bytes = packet.ip_bytes() + self.tunnel_bytes;
                let towards = self.members[usize::from(link.0)];
                let mut packet = put_back(context, packet, size_bytes, towards);
                self.meters.number(context, usize::from(link.0), &mut packet, position);
                context.forward(packet);
                self.meters.send_repairs(context, usize::from(link.0), (towards, self.tunnel_bytes));
            }
            Verdict::Release { packet, .. } => {
                if context.network.observer.is_some() {
                    self.observe_held(context, packet.flow, packet.flow_key().reversed());
                }
                let (size_bytes, towards) = (packet.ip_bytes(), packet.destination);
                let packet = put_back(context, packet, size_bytes, towards);
                match towards == context.node {
                    true => context.deliver(packet),
                    false => context.forward(packet),
                }
            }
            Verdict::Drop { packet, .. } => {
                context.network.counters.dropped_by_nodes += 1;
                context.network.pool.forget(&packet);
            }
        }
    }

    /// Tells how many ACKs the proxy holds back for a flow whose data packets have the key `key`.
    #[cold]
    fn observe_held(&self, context: &mut NodeContext<'_>, flow: FlowId, key: FlowKey) {
        let held = self.proxy.flow_status(&key).map_or(0, |status| status.held_acks as u64);
        let (now, node) = (context.now(), context.node);
        if let Some(observer) = &mut context.network.observer {
            observer.held_acks(now, node, flow, held);
        }
    }

    #[cold]
    fn observe(&self, context: &mut NodeContext<'_>, verdict: &Verdict<Packet>) {
        let node = context.node;
        match verdict {
            Verdict::Forward { packet, link, .. } => {
                let (flow, member) = (packet.flow, self.members[usize::from(link.0)]);
                context.network.observe(|names| Event::PacketScheduled {
                    node: names.node(node),
                    flow: names.flow(flow),
                    member: names.node(member),
                });
            }
            Verdict::Release { packet, rewrite } => {
                let header = match &packet.body {
                    Body::Tcp { header, .. } => Some(header),
                    Body::Datagram(_) => None,
                };
                context.network.observe(|names| {
                    ack_released(names.node(node), names.flow(packet.flow), header, rewrite)
                });
            }
            Verdict::Drop { packet, reason } => {
                context.network.observe_drop(node, drop_reason(*reason), (packet, None));
            }
        }
    }

    /// Tells what the proxy has noticed about a link.
    fn observe_link(&self, context: &mut NodeContext<'_>, event: ProxyEvent) {
        let (node, member) = (context.node, self.members[usize::from(event.link().0)]);
        context.network.observe(|names| link_event(event, names.node(node), names.node(member)));
    }
}

/// A packet comes out of the proxy.
fn put_back(context: &mut NodeContext<'_>, packet: Packet, size_bytes: u32, towards: NodeId) -> Transit {
    context.network.counters.returned_by_nodes += 1;
    Transit { size_bytes, carried: Carried { packet: context.network.pool.insert(packet), towards } }
}

/// The columns of a proxy.
fn columns(counters: &ProxyCounters) -> Vec<(&'static str, u64)> {
    vec![
        ("data_packets", counters.data_packets),
        ("retransmissions", counters.retransmissions),
        ("opaque_packets", counters.opaque_packets),
        ("reverse_packets", counters.reverse_packets),
        ("acks_held", counters.acks_held),
        ("acks_corrected", counters.acks_corrected),
        ("dropped_no_link", counters.dropped_no_link),
        ("dropped_no_room", counters.dropped_no_room),
        ("forgotten_packets", counters.forgotten_packets),
        ("dropped_acks", counters.dropped_acks),
        ("losses_detected", counters.losses_detected),
        ("losses_by_time", counters.losses_by_time),
        ("no_data_holes", counters.no_data_holes),
        ("false_losses", counters.false_losses),
        ("reports_sent", counters.reports_sent),
        ("loss_episodes", counters.loss_episodes),
        ("local_repairs", counters.local_repairs),
        ("probe_copies", counters.probe_copies),
        ("reinjected_packets", counters.reinjected_packets),
        ("waited_packets", counters.waited_packets),
        ("spurious_retransmissions", counters.spurious_retransmissions),
    ]
}
