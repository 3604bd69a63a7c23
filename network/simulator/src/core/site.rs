//! Where the ends of flows sit.
use super::ids::{EndpointId, FlowId, NodeId, PortId};

/// Where an endpoint sits and whom it talks to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site {
    pub own: EndpointId,
    pub node: NodeId,
    pub peer_node: NodeId,
    pub peer: EndpointId,
    pub flow: FlowId,
    /// The exit to use, where the node's role allows to know it beforehand.
    pub exit: Option<PortId>,
    /// The exit to use whatever routing says.
    pub fixed_exit: Option<PortId>,
}

impl Site {
    /// An endpoint on its node and its peer on the peer's; routing chooses the exit.
    pub const fn routed(flow: FlowId, own: (EndpointId, NodeId), peer: (EndpointId, NodeId)) -> Self {
        let ((own, node), (peer, peer_node)) = (own, peer);
        Self { own, node, peer_node, peer, flow, exit: None, fixed_exit: None }
    }
}
