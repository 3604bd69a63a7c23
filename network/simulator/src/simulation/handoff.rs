//! A host moves from one link to another, or to another base station.
use super::Simulation;
use crate::core::ids::{FlowId, LinkId, NodeId, PortId};
use crate::radio::cells::Station;
use prismux_trace::event::Event;
use prismux_units::Rate;

impl Simulation {
    /// A host has completed a handoff: it has a link, an address and a route, and knows it. It keeps its address, as
    /// with Mobile IP.
    pub(super) fn hand_over(&mut self, host: NodeId, link: Option<LinkId>, bandwidth: Option<Rate>) {
        if let Some(link) = link {
            self.network.attach(host, link);
            self.refresh_exits();
        }
        self.network.observe(|names| Event::HandoffComplete {
            node: names.node(host),
            link: link.map(|link| names.link(PortId::forward(link))),
            bandwidth_bps: bandwidth.map(Rate::as_bps),
        });
        self.tell_flows(host, bandwidth);
    }

    /// A station belongs to another base station, or to none: packets for it take other ways, and its flows learn of
    /// it where it has a link again.
    #[inline(never)] // Rare: the loop stays small.
    pub(super) fn station_settled(&mut self, host: NodeId) {
        self.refresh_exits();
        if let Some(bandwidth) = self.network.node_as::<Station>(host).and_then(Station::bandwidth) {
            self.tell_flows(host, bandwidth);
        }
    }

    /// The flows that end at `host` learn that it has another link.
    fn tell_flows(&mut self, host: NodeId, bandwidth: Option<Rate>) {
        for flow in (0..self.flows.len() as u32).map(FlowId) {
            self.with_flow(flow, |flow, context| flow.hand_over(context, host, bandwidth));
        }
    }
}
