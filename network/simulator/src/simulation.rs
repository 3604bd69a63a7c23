//! The run: taking events in order and handing them to whom they are for.
mod application;
mod damage;
mod handoff;
mod look_ahead;
mod planned;
mod rcp;
mod report;
mod striped;

use crate::endpoint::Endpoint;
use crate::fabric::{Fabric, FabricCounters, Target};
use crate::ids::{EndpointId, FlowId, LinkIndex, NodeId, PortId};
use crate::observer::Capture;
use crate::packet::{Body, PacketHandle};
use crate::series::Sampler;
use prismux_link::LinkStats;
use prismux_prism::{FlowStatus, LinkStatus, ProxyCounters};
use prismux_tcp::{Connection, SegmentIn};
use prismux_units::Instant;
use std::io;

pub use handoff::Handoff;
pub use planned::NetworkEvent;
pub(crate) use planned::Plan;
pub use report::Answers;
pub(crate) use report::{FlowRecord, LinkRecord, MemberRecord, Receiver, Report, window_of};

/// A network with its flows, ready to run or running.
#[derive(Debug)]
pub struct Simulation {
    pub(crate) fabric: Fabric,
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) flows: Vec<FlowRecord>,
    pub(crate) planned: Vec<Plan>,
    pub(crate) sampler: Option<Sampler>,
    pub(crate) report: Report,
    /// Flows with an end that have not reached it.
    pub(crate) unfinished: usize,
    /// The stream checkers are on.
    pub(crate) checks: bool,
}

impl Simulation {
    /// Lets time pass until `until`; everything due by then, that instant included, has happened afterwards.
    pub fn run_until(&mut self, until: Instant) {
        while self.step(until) {}
        self.fabric.now = self.fabric.now.max(until);
    }

    /// Runs until every flow that has an end has reached it, or until `limit`. Returns whether all have.
    pub fn run_to_completion(&mut self, limit: Instant) -> bool {
        while self.unfinished > 0 && self.step(limit) {}
        if self.unfinished > 0 {
            self.fabric.now = self.fabric.now.max(limit);
        }
        self.unfinished == 0
    }

    /// Takes the next event that is due by `until`.
    #[inline]
    fn step(&mut self, until: Instant) -> bool {
        if self.fabric.queue.opened().len() == 0 && self.fabric.queue.open_next_slot() {
            self.look_ahead();
        }
        let Some((at, target)) = self.fabric.queue.pop_until(until) else { return false };
        self.fabric.now = at;
        match target {
            Target::Port(port) => self.take_port(port),
            Target::Endpoint(endpoint) => self.take_timer(endpoint),
            Target::Proxy(proxy) => self.fabric.proxy_timeout(proxy),
            Target::Application(endpoint) => self.take_application(endpoint),
            Target::Planned(index) => self.take_planned(index),
            Target::Sample => self.take_sample(),
        }
        while let Some(packet) = self.fabric.local.pop_front() {
            self.deliver(packet);
        }
        true
    }

    #[inline]
    fn take_port(&mut self, port: PortId) {
        if self.fabric.begin(port) {
            while let Some(packet) = self.fabric.next_arrival(port) {
                self.deliver(packet);
            }
        }
    }

    /// Hands a packet to the endpoint it is for.
    #[inline]
    fn deliver(&mut self, handle: PacketHandle) {
        let packet = self.fabric.pool.get(handle);
        if packet.damaged {
            self.fabric.counters.corrupted += 1;
            self.deliver_damaged(handle);
            return;
        }
        self.fabric.counters.delivered += 1;
        let id = packet.endpoint;
        if self.checks {
            self.refresh_check(id);
        }
        match &mut self.endpoints[id.index()] {
            Endpoint::Tcp(tcp) => {
                let Some((segment, stream_offset)) = self.fabric.pool.take_segment(handle) else {
                    return self.fabric.pool.discard(handle);
                };
                let notes = tcp.receive(&mut self.fabric, segment, stream_offset);
                if !tcp.is_quiet(&notes) {
                    self.serve_application(id, notes);
                }
            }
            _ => self.deliver_other(id, handle),
        }
    }

    /// Hands a packet to an endpoint that does not speak TCP.
    fn deliver_other(&mut self, id: EndpointId, handle: PacketHandle) {
        let packet = self.fabric.pool.packet(handle);
        match (&mut self.endpoints[id.index()], packet.body) {
            (Endpoint::Rcp(_) | Endpoint::RcpPort(_), Body::Rcp { .. }) => self.deliver_rcp(handle),
            (Endpoint::UdpSink(sink), _) => {
                sink.receive(&packet);
                self.fabric.pool.remove(handle);
            }
            (Endpoint::Striping(striping), Body::Tcp { header, .. }) => {
                let segment = SegmentIn { header, payload_bytes: packet.payload_bytes, ecn: packet.ecn };
                self.fabric.pool.remove(handle);
                let records = &mut self.flows[striping.site.flow.index()].records;
                let notes = striping.receive(&mut self.fabric, records, segment);
                self.serve_striped(id, notes);
            }
            (Endpoint::Ptcp(ptcp), Body::Ptcp { segment, .. }) => {
                let ecn = packet.ecn;
                self.fabric.pool.remove(handle);
                if let Some(mut out) = self.fabric.pool.take(segment) {
                    out.segment.ecn = ecn;
                    let notes = ptcp.receive(&mut self.fabric, out);
                    self.serve_striped(id, notes);
                }
            }
            _ => {
                self.fabric.pool.discard(handle);
            }
        }
    }

    #[inline]
    fn take_timer(&mut self, id: EndpointId) {
        let now = self.fabric.now;
        if self.checks {
            self.refresh_check(id);
        }
        match &mut self.endpoints[id.index()] {
            Endpoint::Tcp(tcp) if tcp.armed == now => {
                let notes = tcp.fire(&mut self.fabric);
                if !tcp.is_quiet(&notes) {
                    self.serve_application(id, notes);
                }
            }
            Endpoint::Striping(striping) if striping.armed == now => {
                let records = &mut self.flows[striping.site.flow.index()].records;
                let notes = striping.fire(&mut self.fabric, records);
                self.serve_striped(id, notes);
            }
            Endpoint::Ptcp(ptcp) if ptcp.armed == now => {
                let notes = ptcp.fire(&mut self.fabric);
                self.serve_striped(id, notes);
            }
            Endpoint::Rcp(rcp) if rcp.armed == now => {
                let notes = rcp.fire(&mut self.fabric);
                self.serve_rcp(id, notes);
            }
            Endpoint::R2cp(_) => self.fire_r2cp(id),
            Endpoint::UdpSource(source) if source.due == now => {
                let next = source.fire(&mut self.fabric);
                if next < Instant::MAX {
                    self.fabric.queue.push(next, Target::Endpoint(id));
                }
            }
            _ => {}
        }
    }

    /// Tells an endpoint's checker how far its peer lets it send.
    #[cold]
    fn refresh_check(&mut self, id: EndpointId) {
        let Endpoint::Tcp(tcp) = &self.endpoints[id.index()] else { return };
        let edge = match &self.endpoints[tcp.site.peer.index()] {
            Endpoint::Tcp(peer) => peer.connection.as_ref().map_or(0, Connection::receive_window_edge),
            _ => 0,
        };
        if let Endpoint::Tcp(tcp) = &mut self.endpoints[id.index()]
            && let Some(check) = &mut tcp.check
        {
            check.peer_edge = edge;
        }
    }

    fn take_sample(&mut self) {
        let Some(mut sampler) = self.sampler.take() else { return };
        sampler.sample(self);
        let next = self.fabric.now + sampler.interval();
        self.fabric.queue.push(next, Target::Sample);
        self.sampler = Some(sampler);
    }

    /// The time.
    pub fn now(&self) -> Instant {
        self.fabric.now
    }

    /// Events taken so far or pending: a measure of work.
    pub fn events(&self) -> u64 {
        self.fabric.queue.inserted()
    }

    /// The sending connection of a TCP flow (the asking one of request/response), once it has been opened.
    pub fn sender(&self, flow: FlowId) -> Option<&Connection> {
        self.connection(self.flows[flow.index()].source)
    }

    /// The receiving connection of a TCP flow.
    pub fn receiver(&self, flow: FlowId) -> Option<&Connection> {
        self.connection(self.flows[flow.index()].sink)
    }

    fn connection(&self, endpoint: EndpointId) -> Option<&Connection> {
        match &self.endpoints[endpoint.index()] {
            Endpoint::Tcp(tcp) => tcp.connection.as_ref(),
            _ => None,
        }
    }

    /// Both ends of a pTCP flow, the opening one first, once they exist.
    pub fn ptcp(&self, flow: FlowId) -> [Option<&prismux_ptcp::Connection>; 2] {
        let flow = &self.flows[flow.index()];
        [flow.source, flow.sink].map(|end| match &self.endpoints[end.index()] {
            Endpoint::Ptcp(ptcp) => ptcp.connection.as_ref(),
            _ => None,
        })
    }

    /// Whether the flow is one of datagrams.
    pub(crate) fn is_udp(&self, flow: FlowId) -> bool {
        matches!(self.endpoints[self.flows[flow.index()].source.index()], Endpoint::UdpSource(_))
    }

    /// Bytes that reached the flow's application.
    pub fn delivered_bytes(&self, flow: FlowId) -> u64 {
        let flow = &self.flows[flow.index()];
        match (&self.endpoints[flow.sink.index()], &self.endpoints[flow.source.index()]) {
            (Endpoint::UdpSink(sink), _) => sink.bytes,
            (Endpoint::Rcp(sink), _) => sink.received(),
            (Endpoint::R2cp(sink), _) => sink.received(),
            (Endpoint::Tcp(_), Endpoint::Tcp(asking)) if flow.returns => asking.received(),
            (Endpoint::Tcp(sink), _) => sink.received(),
            (Endpoint::Ptcp(sink), _) => sink.received(),
            (Endpoint::Striping(sink), _) => sink.received(),
            _ => 0,
        }
    }

    /// Counters of a link, from its first node to its second.
    pub fn forward_stats(&self, link: LinkIndex) -> LinkStats {
        self.fabric.ports[link.forward().index()].link.stats()
    }

    /// Counters of a link, from its second node to its first.
    pub fn reverse_stats(&self, link: LinkIndex) -> LinkStats {
        self.fabric.ports[link.reverse().index()].link.stats()
    }

    /// The links of the proxy on `node` as it sees them.
    pub fn proxy_links(&self, node: NodeId) -> Vec<LinkStatus> {
        let found = self.fabric.proxies.iter().find(|proxy| proxy.node == node);
        found.map_or_else(Vec::new, |proxy| proxy.proxy.link_status(self.fabric.now))
    }

    /// Counters of the proxy on `node`.
    pub fn proxy_counters(&self, node: NodeId) -> Option<&ProxyCounters> {
        self.fabric.proxies.iter().find(|proxy| proxy.node == node).map(|proxy| proxy.proxy.counters())
    }

    /// What the proxy on `node` knows of a TCP flow.
    pub fn proxy_flow(&self, node: NodeId, flow: FlowId) -> Option<FlowStatus> {
        let Endpoint::Tcp(tcp) = &self.endpoints[self.flows[flow.index()].source.index()] else {
            return None;
        };
        let found = self.fabric.proxies.iter().find(|proxy| proxy.node == node)?;
        found.proxy.flow_status(&tcp.flow_key())
    }

    /// ACKs of a TCP flow that proxies hold back at the moment; `None` where there is no proxy.
    pub fn held_acks(&self, flow: FlowId) -> Option<u64> {
        let Endpoint::Tcp(tcp) = &self.endpoints[self.flows[flow.index()].source.index()] else {
            return None;
        };
        let key = tcp.flow_key();
        let statuses = self.fabric.proxies.iter().map(|proxy| proxy.proxy.flow_status(&key));
        let held = statuses.map(|status| status.map_or(0, |status| status.held_acks as u64));
        held.reduce(|a, b| a + b)
    }

    /// Ends captures, so that nothing stays in buffers.
    ///
    /// # Errors
    /// When a capture could not be written.
    pub fn finish(self) -> io::Result<()> {
        self.fabric.observer.and_then(|observer| observer.capture).map_or(Ok(()), Capture::finish)
    }

    /// Counters over the whole network.
    pub fn counters(&self) -> &FabricCounters {
        &self.fabric.counters
    }

    /// Everything that the checkers found wrong, and whether every packet is accounted for; empty for a correct run.
    pub fn faults(&self) -> Vec<String> {
        let mut faults: Vec<String> = Vec::new();
        for flow in &self.flows {
            for end in [flow.source, flow.sink] {
                let check = match &self.endpoints[end.index()] {
                    Endpoint::Tcp(tcp) => tcp.check.as_deref(),
                    Endpoint::Ptcp(ptcp) => ptcp.check.as_deref(),
                    Endpoint::Rcp(rcp) => rcp.check.as_deref(),
                    Endpoint::R2cp(r2cp) => r2cp.check.as_deref(),
                    _ => None,
                };
                let found = check.into_iter().flat_map(|check| check.faults());
                faults.extend(found.map(|fault| format!("flow {}: {fault}", flow.name)));
            }
        }
        faults.extend(self.fabric.conservation_faults());
        faults
    }
}
