//! Names for the pipes of flows.
use crate::core::ids::NodeId;
use crate::network::Network;

/// Names for the pipes of flows.
#[derive(Debug, Clone, Copy)]
pub struct PipeNames<'a> {
    pub(crate) network: &'a Network,
    /// Of links.
    pub(crate) links: &'a [String],
}

impl PipeNames<'_> {
    /// A pipe between two addresses is called by its access link; `pipe-INDEX` where it has none.
    pub(crate) fn of(&self, own: NodeId, other: NodeId, index: usize) -> String {
        let network = self.network;
        let nodes = network.forwarding.len() - network.interfaces.len();
        let address = [own, other].into_iter().find(|address| address.index() >= nodes);
        let link = address.and_then(|address| network.routes.next(address, address));
        link.map_or_else(|| format!("pipe-{index}"), |port| self.links[port.link().index()].clone())
    }
}
