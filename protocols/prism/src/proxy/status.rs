//! What people and programs may ask of a running proxy.
use super::Proxy;
use crate::link_table::LinkTable;
use crate::status::{FlowStatus, LinkState, LinkStatus, ProxyCounters};
use alloc::vec::Vec;
use prismux_wire::FlowKey;

impl<P: Clone> Proxy<P> {
    /// Every link that ever joined, in order of number.
    pub fn link_status(&self) -> Vec<LinkStatus> {
        let total: u64 = self.shared.links.iter().map(|(_, link)| link.scheduled_packets).sum();
        self.shared
            .links
            .iter()
            .map(|(id, link)| {
                let (state, reason) = match (link.up, link.usable) {
                    (false, _) => (LinkState::Down, "its member has left"),
                    (true, false) if link.is_silent() => (LinkState::Silent, link.reason),
                    (true, false) if link.model.min_rtt().is_none() => (LinkState::Learning, link.reason),
                    (true, false) => (LinkState::Standby, link.reason),
                    (true, true) => (LinkState::Active, link.reason),
                };
                LinkStatus {
                    id,
                    name: link.name.clone(),
                    rate: link.rate(),
                    rtt: link.smoothed_rtt(),
                    min_rtt: link.model.min_rtt(),
                    loss: link.model.loss(),
                    share: link.scheduled_packets as f64 / total.max(1) as f64,
                    in_flight_packets: link.in_flight_packets,
                    in_flight_bytes: link.in_flight_bytes,
                    cap_bytes: link.model.cap_bytes(),
                    weight: link.weight,
                    state,
                    reason,
                }
            })
            .collect()
    }

    /// The link table.
    pub fn links(&self) -> &LinkTable {
        &self.shared.links
    }

    /// What is known of the flow with this key (the direction of its data).
    pub fn flow_status(&self, flow: &FlowKey) -> Option<FlowStatus> {
        let flow = self.flows.get(self.flows.find(flow)?)?;
        let model = flow.receiver.as_ref();
        let span = model.map_or(0, |m| m.highest().distance_from(m.cumulative()).max(0) as u32);
        Some(FlowStatus {
            state: flow.state,
            held_acks: flow.held.len(),
            waiting_acks: flow.acks.len(),
            waiting_bytes: flow.acknowledged().distance_from(flow.released).max(0) as u32,
            flight_bytes: flow.flight,
            window_bytes: flow.edge_sent.map_or(0, |edge| edge.distance_from(flow.released).max(0) as u32),
            sender_rtt: flow.acks.upstream(),
            flight_limit_bytes: self.shared.selection.flight_limit,
            recorded_packets: flow.history.len(),
            resequencing_bytes: span,
            holes: model.map_or(0, |m| m.range_count()),
        })
    }

    /// Keys of all flows with state (the direction of their data), in order of their numbers.
    pub fn flow_keys(&self) -> impl Iterator<Item = FlowKey> + '_ {
        self.flows.numbers().filter_map(|number| self.flows.get(number).map(|flow| flow.key))
    }

    /// Number of flows with state.
    pub fn flow_count(&self) -> usize {
        self.flows.len()
    }

    /// Bytes of memory for flows: tables and rings, held packets themselves apart.
    pub fn flow_memory_bytes(&self) -> usize {
        self.flows.memory_bytes() + self.timers.memory_bytes()
    }

    /// Counters.
    pub fn counters(&self) -> &ProxyCounters {
        &self.shared.counters
    }
}
