//! What the nodes of a plan are made from: the plan, and where its packets go.
use super::routing::{Place, Routes};
use crate::core::ids::LinkId;
use prismux_endpoint::random::Seed;
use prismux_plan::{NodeId, Plan, Unsupported};

/// A network that has its places and routes, and no nodes yet.
#[derive(Debug)]
pub(crate) struct Ground<'a> {
    pub plan: &'a Plan,
    /// Of all random streams.
    pub seed: Seed,
    pub places: &'a [Place],
    /// Shortest paths.
    pub routes: &'a Routes,
}

impl Ground<'_> {
    /// The nodes on the shortest path, both ends included; none when nothing leads there.
    pub fn path(&self, from: NodeId, to: NodeId) -> Vec<NodeId> {
        self.routes.path(self.places, from, to).unwrap_or_default()
    }

    /// The links of a path, without the media on it.
    pub fn links_of(&self, path: &[NodeId]) -> Vec<LinkId> {
        path.windows(2).filter_map(|hop| self.plan.link_between(hop[0], hop[1])).collect()
    }

    /// The error for a node that is more than the simulator can take.
    pub fn unsupported(&self, node: NodeId, what: &str, remedy: &str) -> Unsupported {
        Unsupported { what: format!("node \"{}\" {what}", self.plan[node].name), remedy: remedy.into() }
    }
}
