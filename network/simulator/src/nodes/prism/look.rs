//! What a run shows of its proxies.
use super::proxy::ProxyNode;
use crate::core::ids::{FlowId, NodeId};
use crate::simulation::Simulation;
use prismux_prism::{FlowStatus, LinkStatus, ProxyCounters};
use prismux_receipts::{LinkEstimate, MeterCounters};
use prismux_shared_bottleneck::Finding;

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

    /// The links of the proxy on `node` as receipts tell, in the order of its links; nothing where it asks for none.
    pub fn measured_links(&self, node: NodeId) -> Vec<(LinkEstimate, MeterCounters)> {
        let proxy = self.network.node_as::<ProxyNode>(node);
        proxy.map_or_else(Vec::new, |proxy| proxy.meters.estimates(self.network.now).collect())
    }

    /// Flows that the proxy on `node` has state of, and the bytes of memory for them; zeros where there is no proxy.
    pub fn proxy_tables(&self, node: NodeId) -> (usize, usize) {
        let proxy = self.network.node_as::<ProxyNode>(node);
        proxy.map_or((0, 0), |proxy| (proxy.proxy.flow_count(), proxy.proxy.flow_memory_bytes()))
    }

    /// Whether any proxy has state of a TCP flow.
    pub(crate) fn is_known_to_a_proxy(&self, flow: FlowId) -> bool {
        let key = self.flows.get(flow).tcp_key();
        key.is_some_and(|key| {
            self.proxies()
                .any(|proxy| [key, key.reversed()].iter().any(|key| proxy.proxy.flow_status(key).is_some()))
        })
    }

    /// What the proxy on `node` knows of bottlenecks that its links share; nothing where it asks for no receipts.
    pub fn shared_bottlenecks(&self, node: NodeId) -> Vec<Finding> {
        let proxy = self.network.node_as::<ProxyNode>(node);
        proxy.map_or_else(Vec::new, |proxy| proxy.meters.bottlenecks().collect())
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

    /// Bytes between a receiver's cumulative ACK and the highest byte that proxies know it to have; `None` where there
    /// is no proxy.
    pub fn resequencing_bytes(&self, flow: FlowId) -> Option<u64> {
        let key = self.flows.get(flow).tcp_key()?;
        let statuses = self.proxies().map(|proxy| proxy.proxy.flow_status(&key));
        let spans = statuses.map(|status| status.map_or(0, |status| u64::from(status.resequencing_bytes)));
        spans.reduce(|a, b| a + b)
    }
}
