//! What a run shows of its proxies.
use super::ProxyNode;
use crate::core::ids::{FlowId, NodeId};
use crate::simulation::Simulation;
use prismux_prism::{FlowStatus, LinkStatus, ProxyCounters};

impl Simulation {
    /// The proxies, in the order of their making.
    fn proxies(&self) -> impl Iterator<Item = &ProxyNode> {
        self.community.proxies.iter().filter_map(|&node| self.network.node_as(node))
    }

    /// The links of the proxy on `node` as it sees them.
    pub fn proxy_links(&self, node: NodeId) -> Vec<LinkStatus> {
        let proxy = self.network.node_as::<ProxyNode>(node);
        proxy.map_or_else(Vec::new, |proxy| proxy.proxy.link_status())
    }

    /// Counters of the proxy on `node`.
    pub fn proxy_counters(&self, node: NodeId) -> Option<&ProxyCounters> {
        self.network.node_as::<ProxyNode>(node).map(|proxy| proxy.proxy.counters())
    }

    /// What the proxy on `node` knows of a TCP flow.
    pub fn proxy_flow(&self, node: NodeId, flow: FlowId) -> Option<FlowStatus> {
        let key = self.flows.get(flow).tcp_key()?;
        self.network.node_as::<ProxyNode>(node)?.proxy.flow_status(&key)
    }

    /// ACKs of a TCP flow that proxies hold back at the moment; `None` where there is no proxy.
    pub fn held_acks(&self, flow: FlowId) -> Option<u64> {
        let key = self.flows.get(flow).tcp_key()?;
        let statuses = self.proxies().map(|proxy| proxy.proxy.flow_status(&key));
        let held = statuses.map(|status| status.map_or(0, |status| status.held_acks as u64));
        held.reduce(|a, b| a + b)
    }
}

/// The columns of a proxy.
pub(super) fn counters(counters: &ProxyCounters) -> Vec<(&'static str, u64)> {
    vec![
        ("data_packets", counters.data_packets),
        ("retransmissions", counters.retransmissions),
        ("opaque_packets", counters.opaque_packets),
        ("reverse_packets", counters.reverse_packets),
        ("acks_held", counters.acks_held),
        ("acks_corrected", counters.acks_corrected),
        ("dropped_no_link", counters.dropped_no_link),
        ("dropped_acks", counters.dropped_acks),
        ("losses_detected", counters.losses_detected),
        ("losses_by_time", counters.losses_by_time),
        ("no_data_holes", counters.no_data_holes),
        ("false_losses", counters.false_losses),
        ("reports_sent", counters.reports_sent),
        ("loss_episodes", counters.loss_episodes),
        ("local_repairs", counters.local_repairs),
        ("probe_copies", counters.probe_copies),
        ("waited_packets", counters.waited_packets),
        ("spurious_retransmissions", counters.spurious_retransmissions),
    ]
}
