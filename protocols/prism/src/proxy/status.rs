//! What people and programs may ask of a running proxy.
use super::Proxy;
use crate::ids::LinkId;
use crate::link_table::{Link, LinkTable, LinkVariables};
use crate::status::{FlowStatus, LinkState, LinkStatus, ProxyCounters};
use alloc::vec::Vec;
use prismux_units::Duration;
use prismux_wire::FlowKey;

/// What a status tells of a link that flows may have of their own.
struct Variables {
    rtt: Option<Duration>,
    in_flight_packets: u32,
    in_flight_bytes: u64,
    weight: f64,
}

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
                let variables = self.variables(id, link);
                LinkStatus {
                    id,
                    name: link.name.clone(),
                    rate: link.rate(),
                    rtt: variables.rtt,
                    min_rtt: link.model.min_rtt(),
                    loss: link.model.loss(),
                    share: link.scheduled_packets as f64 / total.max(1) as f64,
                    in_flight_packets: variables.in_flight_packets,
                    in_flight_bytes: variables.in_flight_bytes,
                    cap_bytes: link.model.cap_bytes(),
                    weight: variables.weight,
                    state,
                    reason,
                }
            })
            .collect()
    }

    /// Where flows have their own state of the links: sums of what is in flight, means of the rest over the flows that
    /// know it.
    fn variables(&self, id: LinkId, link: &Link) -> Variables {
        let of = |variables: &LinkVariables| Variables {
            rtt: variables.smoothed_rtt(),
            in_flight_packets: variables.in_flight_packets,
            in_flight_bytes: variables.in_flight_bytes,
            weight: variables.weight,
        };
        let mut all = of(&link.variables);
        let (mut flows, mut weights) = (0, 0.0);
        let (mut measured, mut times) = (0, Duration::ZERO);
        for own in self.flows.iter().filter_map(|flow| flow.variables.get(id)).map(of) {
            all.in_flight_packets += own.in_flight_packets;
            all.in_flight_bytes += own.in_flight_bytes;
            (flows, weights) = (flows + 1, weights + own.weight);
            if let Some(rtt) = own.rtt {
                (measured, times) = (measured + 1, times + rtt);
            }
        }
        if flows > 0 {
            all.weight = weights / f64::from(flows);
        }
        if measured > 0 {
            all.rtt = Some(times / measured);
        }
        all
    }

    /// The link table. Where flows have their own state of the links, it shows what a new flow begins with.
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
