//! Members and proxies: the machines in the middle.
use super::{Network, NodeRole, Target};
use crate::core::ids::{FlowId, NodeId};
use crate::core::packet::{Body, Carried, Packet};
use prismux_endpoint::Endpoint;
use prismux_plan::{IpFamily, Tunnel};
use prismux_prism::{AckRewrite, DropReason, LinkId, Proxy, ProxyEvent, Verdict};
use prismux_trace::event::{self, Event, LinkState, LossRule, Name};
use prismux_units::Instant;
use prismux_wire::FlowKey;

/// Nodes are known to each other by IPv4 addresses.
const OUTER: IpFamily = IpFamily::V4;

/// Whether `rewrite` would leave another header than there is.
fn changes(packet: &Packet, rewrite: &AckRewrite) -> bool {
    let Body::Tcp { mut header, .. } = packet.body else { return false };
    let before = header;
    rewrite.apply(&mut header);
    header != before
}

/// A member of a community: the far end of a tunnel.
#[derive(Debug)]
pub(crate) struct MemberNode {
    /// Its proxy, as index, and the number of its link there.
    pub proxy: Option<(u32, LinkId)>,
    pub joined: bool,
}

/// A node that runs the PRISM proxy.
#[derive(Debug)]
pub(crate) struct ProxyNode {
    pub node: NodeId,
    pub proxy: Proxy<Packet>,
    pub tunnel: Tunnel,
    /// Member nodes, by [`LinkId`].
    pub members: Vec<NodeId>,
    /// By node: packets for it travel over the members' links.
    pub serves: Vec<bool>,
    /// When its event is due; [`Instant::MAX`] for none.
    pub armed: Instant,
}

impl Network {
    /// A packet is at a member or a proxy (or at a plain node that sends it).
    pub(super) fn pass(&mut self, node: NodeId, size_bytes: u32, carried: Carried) {
        match self.roles[node.index()] {
            NodeRole::Plain if carried.towards == node => self.local.push_back(carried.packet),
            NodeRole::Plain => self.forward(node, size_bytes, carried),
            NodeRole::Member(member) => self.pass_member(node, member, size_bytes, carried),
            NodeRole::Proxy(proxy) => self.pass_proxy(node, proxy, size_bytes, carried),
        }
    }

    /// A member ends the tunnels that lead to it and puts what leaves for beyond the proxy into one.
    fn pass_member(&mut self, node: NodeId, member: u32, size_bytes: u32, mut carried: Carried) {
        let Some((proxy, _)) = self.members[member as usize].proxy else {
            return match carried.towards == node {
                true => self.local.push_back(carried.packet),
                false => self.forward(node, size_bytes, carried),
            };
        };
        let overhead = self.proxies[proxy as usize].tunnel.overhead_bytes(OUTER);
        let mut size_bytes = size_bytes;
        if carried.towards == node && self.pool.get(carried.packet).encapsulated {
            let packet = self.pool.get_mut(carried.packet);
            packet.encapsulated = false;
            carried.towards = packet.destination;
            size_bytes -= overhead;
        }
        if carried.towards == node {
            self.local.push_back(carried.packet);
            return;
        }
        let proxy_node = &self.proxies[proxy as usize];
        let packet = self.pool.get_mut(carried.packet);
        let outward = proxy_node.serves[packet.source.index()]
            && !proxy_node.serves[packet.destination.index()]
            && packet.destination != proxy_node.node;
        if outward && !packet.encapsulated {
            packet.encapsulated = true;
            carried.towards = proxy_node.node;
            size_bytes += overhead;
        }
        self.forward(node, size_bytes, carried);
    }

    /// A proxy judges what is for the hosts it serves, and what TCP they send; the rest passes.
    fn pass_proxy(&mut self, node: NodeId, index: u32, size_bytes: u32, carried: Carried) {
        let ProxyNode { tunnel, serves, .. } = &self.proxies[index as usize];
        let overhead = tunnel.overhead_bytes(OUTER);
        let packet = *self.pool.get(carried.packet);
        let tunnel_ends = packet.encapsulated && carried.towards == node;
        if packet.encapsulated && !tunnel_ends {
            return self.forward(node, size_bytes, carried);
        }
        let size_bytes = if tunnel_ends { size_bytes - overhead } else { size_bytes };
        let (inward, outward) = (serves[packet.destination.index()], serves[packet.source.index()]);
        let is_tcp = self.pool.is_tcp(carried.packet);
        let judged = inward || (outward && is_tcp);
        if !judged {
            let packet = self.pool.get_mut(carried.packet);
            packet.encapsulated = false;
            let carried = Carried { packet: carried.packet, towards: packet.destination };
            return match carried.towards == node {
                true => self.local.push_back(carried.packet),
                false => self.forward(node, size_bytes, carried),
            };
        }
        let mut packet = self.pool.remove(carried.packet);
        packet.encapsulated = false;
        if packet.damaged {
            self.counters.corrupted += 1;
            self.observe_drop(node, event::DropReason::Corrupted, &packet);
            self.pool.forget(&packet);
            return;
        }
        self.counters.into_proxies += 1;
        let now = self.now;
        let proxy = &mut self.proxies[index as usize].proxy;
        let (flow, payload_bytes) = (packet.flow_key(), packet.payload_bytes);
        match packet.body {
            Body::Tcp { header, .. } if inward => {
                proxy.handle_data(now, flow, &header, payload_bytes, size_bytes + overhead, packet);
            }
            Body::Tcp { header, .. } => {
                proxy.handle_reverse(now, flow.reversed(), &header, payload_bytes, packet);
            }
            Body::Datagram(_) => proxy.handle_opaque(now, flow.hash64(), packet),
        }
        self.carry_out(index);
        if is_tcp && self.observer.is_some() {
            self.observe_held(index, packet.flow, if inward { flow } else { flow.reversed() });
        }
    }

    /// A deadline of a proxy.
    pub fn proxy_timeout(&mut self, index: u32) {
        let node = &mut self.proxies[index as usize];
        if node.armed != self.now {
            return;
        }
        node.armed = Instant::MAX;
        if node.proxy.poll_timeout().is_some_and(|deadline| deadline.at <= self.now) {
            node.proxy.handle_timeout(self.now);
        }
        self.carry_out(index);
    }

    /// Carries out a proxy's verdicts and sets its next event.
    pub fn carry_out(&mut self, index: u32) {
        while let Some(verdict) = self.proxies[index as usize].proxy.poll_verdict() {
            self.carry_out_one(index, verdict);
        }
        if self.observer.is_some() {
            self.observe_links(index);
        }
        let node = &mut self.proxies[index as usize];
        if let Some(deadline) = node.proxy.poll_timeout().filter(|deadline| deadline.at < node.armed) {
            // A deadline in the past is due at once; time does not go back.
            node.armed = deadline.at.max(self.now);
            self.queue.push(node.armed, Target::Proxy(index));
        }
    }

    fn carry_out_one(&mut self, index: u32, verdict: Verdict<Packet>) {
        let node = self.proxies[index as usize].node;
        if self.observer.is_some() {
            self.observe_verdict(index, &verdict);
        }
        match verdict {
            Verdict::Forward { link, mut packet, rewrite } => {
                self.counters.out_of_proxies += 1;
                if let Body::Tcp { header, .. } = &mut packet.body {
                    rewrite.apply(header);
                }
                let proxy = &self.proxies[index as usize];
                let member = proxy.members[usize::from(link.0)];
                packet.encapsulated = true;
                let size_bytes = packet.ip_bytes() + proxy.tunnel.overhead_bytes(OUTER);
                let handle = self.pool.insert(packet);
                self.forward(node, size_bytes, Carried { packet: handle, towards: member });
            }
            Verdict::Release { mut packet, rewrite } => {
                self.counters.out_of_proxies += 1;
                if self.observer.is_some() {
                    self.observe_held(index, packet.flow, packet.flow_key().reversed());
                }
                if let Body::Tcp { header, .. } = &mut packet.body {
                    rewrite.apply(header);
                }
                let (size_bytes, towards) = (packet.ip_bytes(), packet.destination);
                let handle = self.pool.insert(packet);
                match towards == node {
                    true => self.local.push_back(handle),
                    false => self.forward(node, size_bytes, Carried { packet: handle, towards }),
                }
            }
            Verdict::Drop { packet, .. } => {
                self.counters.dropped_by_proxies += 1;
                self.pool.forget(&packet);
            }
        }
    }

    /// Tells how many ACKs the proxy holds back for a flow whose data packets have the key `key`.
    #[cold]
    fn observe_held(&mut self, index: u32, flow: FlowId, key: FlowKey) {
        let ProxyNode { node, proxy, .. } = &self.proxies[index as usize];
        let held = proxy.flow_status(&key).map_or(0, |status| status.held_acks as u64);
        if let Some(observer) = &mut self.observer {
            observer.held_acks(self.now, (index, *node), flow, held);
        }
    }

    #[cold]
    fn observe_verdict(&mut self, index: u32, verdict: &Verdict<Packet>) {
        let proxy = &self.proxies[index as usize];
        let node = proxy.node;
        match verdict {
            Verdict::Forward { packet, link, .. } => {
                let (flow, member) = (packet.flow, proxy.members[usize::from(link.0)]);
                self.observe(|names| Event::PacketScheduled {
                    node: names.node(node),
                    flow: names.flow(flow),
                    member: names.node(member),
                });
            }
            Verdict::Release { packet, rewrite } => self.observe(|names| Event::AckReleased {
                node: names.node(node),
                flow: names.flow(packet.flow),
                ack: rewrite.ack.0,
                rewritten: changes(packet, rewrite),
                report: rewrite.report.is_some(),
            }),
            Verdict::Drop { packet, reason } => self.observe_drop(node, drop_reason(*reason), packet),
        }
    }

    /// Tells what a proxy has noticed about its links since it was asked last.
    #[cold]
    fn observe_links(&mut self, index: u32) {
        while let Some(event) = self.proxies[index as usize].proxy.poll_event() {
            let proxy = &self.proxies[index as usize];
            let (node, member) = (proxy.node, proxy.members[usize::from(event.link().0)]);
            self.observe(|names| proxy_event(event, names.node(node), names.node(member)));
        }
    }
}

/// What a proxy tells of a member's link, in the vocabulary of events.
fn proxy_event<'a>(event: ProxyEvent, node: Name<'a>, member: Name<'a>) -> Event<'a> {
    let (state, cause) = match event {
        ProxyEvent::LinkParked { reason, .. } => (LinkState::Standby, Some(reason.into())),
        ProxyEvent::LinkResumed { .. } => (LinkState::Active, None),
        ProxyEvent::LinkSilent { .. } => (LinkState::Silent, None),
        ProxyEvent::PacketLost { by_age, .. } => {
            let by = if by_age { LossRule::Age } else { LossRule::LinkOrder };
            return Event::LossDetected { node, member, by };
        }
        ProxyEvent::PacketRepaired { .. } => return Event::PacketRepaired { node, member },
    };
    Event::LinkStateChanged { node, member, state, cause }
}

/// The proxy's reason in the vocabulary of events.
const fn drop_reason(reason: DropReason) -> event::DropReason {
    match reason {
        DropReason::NoLink => event::DropReason::NoLink,
        DropReason::RepeatedAck => event::DropReason::RepeatedAck,
        DropReason::ProbeAnswer => event::DropReason::ProbeAnswer,
        DropReason::StaleAck => event::DropReason::StaleAck,
        DropReason::NeedlessRetransmission => event::DropReason::SpuriousRetransmission,
    }
}
