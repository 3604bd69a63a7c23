//! The run: taking events in order and handing them to whom they are for.
pub(crate) mod delays;
mod handoff;
mod planned;
mod prefetch;
pub(crate) mod records;
mod renewal;
mod report;
mod sampling;
pub(crate) mod series;
mod tcp;
pub(crate) mod totals;

use crate::core::capture::Capture;
use crate::core::counters::NetworkCounters;
use crate::core::event_queue::Popped;
use crate::core::ids::{EndpointId, FlowId, LinkId, MediumId, NodeId, Place, PortId};
use crate::core::packet::PacketHandle;
use crate::flows::context::{Arrival, FlowContext};
use crate::flows::flow::Flow;
use crate::flows::record::FlowRecord;
use crate::flows::table::Flows;
use crate::media::medium::Medium;
use crate::network::{Network, Target};
use crate::nodes::node::Node;
use crate::nodes::prism::community::Community;
use delays::Delays;
use prismux_link::LinkStats;
use prismux_plan::Action;
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use records::Report;
use series::Sampler;
use std::any::Any;
use std::io;
use totals::Totals;

/// What a planned event does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Planned {
    Action(Action),
    /// The flow has warmed up: its steady goodput is measured from here.
    WarmedUp(FlowId),
}

/// A network with its flows, ready to run or running.
#[derive(Debug)]
pub struct Simulation {
    pub(crate) network: Network,
    pub(crate) flows: Flows,
    /// How far each flow has got.
    pub(crate) records: Vec<FlowRecord>,
    pub(crate) planned: Vec<Planned>,
    pub(crate) sampler: Option<Sampler>,
    /// Where somebody asks for them.
    pub(crate) delays: Option<Box<Delays>>,
    pub(crate) report: Report,
    pub(crate) totals: Totals,
    pub(crate) community: Community,
    /// Flows with an end that have not reached it.
    pub(crate) unfinished: usize,
    /// The stream checkers are on.
    pub(crate) checks: bool,
    /// What they found in connections that have made room for others.
    pub(crate) past_faults: Vec<String>,
}

impl Simulation {
    /// Lets time pass until `until`; everything due by then, that instant included, has happened afterwards.
    pub fn run_until(&mut self, until: Instant) {
        self.run(until, false);
        self.network.now = self.network.now.max(until);
    }

    /// Runs until every flow that has an end has reached it, or until `limit`. Returns whether all have.
    pub fn run_to_completion(&mut self, limit: Instant) -> bool {
        self.run(limit, true);
        if self.unfinished > 0 {
            self.network.now = self.network.now.max(limit);
        }
        self.unfinished == 0
    }

    /// Takes the events that are due by `until`, or those until every flow that has an end has reached it.
    fn run(&mut self, until: Instant, to_completion: bool) {
        self.network.limit = until;
        while !to_completion || self.unfinished > 0 {
            match self.network.queue.pop_until(until) {
                Popped::Due(at, target) => {
                    self.network.now = at;
                    self.take(target);
                }
                Popped::SlotDone if self.network.queue.open_next_slot() => self.prefetch(),
                Popped::SlotDone | Popped::Later => break,
            }
        }
    }

    /// Takes the event of `target` that is due now.
    #[inline]
    fn take(&mut self, target: Target) {
        match target {
            Target::Port(port) => self.take_port(port),
            Target::Medium(medium) => self.network.medium_event(medium),
            Target::Endpoint(endpoint) => self.take_timer(endpoint),
            Target::Node(place) => self.network.node_timeout(place),
            Target::Application(endpoint) => self.resume_application(endpoint),
            Target::Planned(index) => self.take_planned(index),
            Target::Sample => self.take_sample(),
            Target::Stock(flow) => self.note(flow),
            Target::Places => self.take_places(),
            Target::HandedOver(host) => self.station_settled(host),
        }
        while let Some(packet) = self.network.local.pop_front() {
            self.deliver(packet);
        }
    }

    #[inline]
    fn take_port(&mut self, port: PortId) {
        if !self.network.ports[port.index()].link.is_plain() {
            return self.take_special_port(port);
        }
        while let Some((packet, size_bytes)) = self.network.next_plain_arrival(port) {
            if let Some(packet) = self.network.come_out(port, packet, size_bytes) {
                self.deliver(packet);
            }
            if !self.network.go_on(port) {
                break;
            }
        }
    }

    #[inline(never)] // The loop stays small for plain links.
    fn take_special_port(&mut self, port: PortId) {
        if self.network.begin(port) {
            while let Some(packet) = self.network.next_arrival(port) {
                self.deliver(packet);
            }
        }
    }

    /// Hands a packet to the endpoint it is for.
    #[inline]
    fn deliver(&mut self, handle: PacketHandle) {
        let packet = self.network.pool.get(handle);
        let id = packet.endpoint;
        if packet.damaged {
            return self.deliver_damaged(id, handle);
        }
        self.network.counters.delivered += 1;
        if let Some(delays) = &mut self.delays {
            delays.arrived(&self.network, handle);
        }
        if let Some(observer) = &mut self.network.observer {
            let node = self.network.pool.get(handle).destination;
            observer.arrived(self.network.now, node, &self.network.pool, handle);
        }
        match id.place() {
            Place::Tcp { pair, end } if !self.checks => self.deliver_to_tcp(pair, end, handle),
            _ => self.deliver_to_flow(id, handle),
        }
    }

    /// Hands a packet to an end by way of its flow.
    #[inline(never)]
    fn deliver_to_flow(&mut self, id: EndpointId, handle: PacketHandle) {
        let packet = self.network.pool.remove(handle);
        if let Some((flow, end)) = self.flows.owner(id) {
            self.with_flow(flow, |flow, context| flow.deliver(context, end, Arrival(packet)));
        }
        self.network.pool.forget(&packet);
    }

    /// A checksum has caught a damaged packet. An end that hears of it from its link layer draws its conclusion.
    #[cold]
    fn deliver_damaged(&mut self, id: EndpointId, handle: PacketHandle) {
        self.network.counters.corrupted += 1;
        let number = self.network.pool.number(handle);
        let packet = self.network.pool.remove(handle);
        let node = self.flows.site(id).map_or(packet.destination, |site| site.node);
        self.network.observe_drop(node, DropReason::Corrupted, (&packet, number));
        if let Some((flow, end)) = self.flows.owner(id) {
            self.with_flow(flow, |flow, context| flow.deliver_damaged(context, end, Arrival(packet)));
        }
        self.network.pool.forget(&packet);
    }

    #[inline]
    fn take_timer(&mut self, id: EndpointId) {
        match id.place() {
            Place::Tcp { pair, end } if !self.checks => self.take_tcp_timer(pair, end),
            _ => self.take_flow_timer(id),
        }
    }

    /// A timer of an end, by way of its flow.
    #[inline(never)] // The loop stays small for TCP.
    fn take_flow_timer(&mut self, id: EndpointId) {
        let Some((flow, end)) = self.flows.owner(id) else { return };
        self.with_flow(flow, |flow, context| flow.timeout(context, end));
    }

    #[inline(never)]
    fn resume_application(&mut self, id: EndpointId) {
        let Some((flow, end)) = self.flows.owner(id) else { return };
        self.with_flow(flow, |flow, context| flow.resume(context, end));
    }

    /// Lets a flow act.
    pub(crate) fn with_flow<R>(
        &mut self,
        id: FlowId,
        act: impl FnOnce(&mut dyn Flow, &mut FlowContext<'_>) -> R,
    ) -> R {
        let (flow, sites) = self.flows.get_mut(id);
        let mut context = FlowContext {
            network: &mut self.network,
            record: &mut self.records[id.index()],
            sites,
            unfinished: &mut self.unfinished,
            checks: self.checks,
        };
        act(flow, &mut context)
    }

    /// A flow, if it is of type `T`: what its room shows beyond the columns that all flows have.
    pub fn flow_as<T: Flow>(&self, id: FlowId) -> Option<&T> {
        let flow: &dyn Any = self.flows.get(id);
        flow.downcast_ref()
    }

    /// A shared medium, if it is of type `T`.
    pub fn medium_as<T: Medium>(&self, medium: MediumId) -> Option<&T> {
        let medium: &dyn Any = &*self.network.media.get(medium.index())?.medium;
        medium.downcast_ref()
    }

    /// A node with a rule of its own, if the rule is of type `T`.
    pub fn node_as<T: Node>(&self, node: NodeId) -> Option<&T> {
        self.network.node_as(node)
    }

    /// The time.
    pub fn now(&self) -> Instant {
        self.network.now
    }

    /// Events taken so far or pending: a measure of work.
    pub fn events(&self) -> u64 {
        self.network.queue.inserted()
    }

    /// Bytes that reached the flow's application.
    pub fn delivered_bytes(&self, flow: FlowId) -> u64 {
        self.flows.get(flow).delivered_bytes()
    }

    /// Counters of a link, from its first node to its second.
    pub fn forward_stats(&self, link: LinkId) -> LinkStats {
        self.network.ports[PortId::forward(link).index()].link.stats()
    }

    /// Counters of a link, from its second node to its first.
    pub fn reverse_stats(&self, link: LinkId) -> LinkStats {
        self.network.ports[PortId::reverse(link).index()].link.stats()
    }

    /// Ends captures, so that nothing stays in buffers.
    ///
    /// # Errors
    /// When a capture could not be written.
    pub fn finish(self) -> io::Result<()> {
        self.network.observer.and_then(|observer| observer.capture).map_or(Ok(()), Capture::finish)
    }

    /// Counters over the whole network.
    pub fn counters(&self) -> &NetworkCounters {
        &self.network.counters
    }

    /// Everything that the checkers found wrong, and whether every packet is accounted for; empty for a correct run.
    pub fn faults(&self) -> Vec<String> {
        let mut faults: Vec<String> = self.past_faults.clone();
        for (index, record) in self.records.iter().enumerate() {
            let found = self.flows.get(FlowId(index as u32)).faults();
            faults.extend(found.iter().map(|fault| format!("flow {}: {fault}", record.name)));
        }
        faults.extend(self.network.conservation_faults());
        faults.extend(self.network.media.iter().flat_map(|shared| shared.medium.faults(self.now())));
        faults
    }
}
