//! Who is in a community at the moment.
use crate::core::ids::{LinkId, NodeId, PortId};
use prismux_prism::LinkId as ProxyLinkId;
use prismux_units::{Duration, Rate};

/// The communities of a network.
#[derive(Debug, Default)]
pub(crate) struct Community {
    /// Nodes that run a proxy.
    pub proxies: Vec<NodeId>,
    pub members: Vec<Member>,
    pub receivers: Vec<Receiver>,
}

/// A member, whether it is there or not.
#[derive(Debug)]
pub(crate) struct Member {
    pub node: NodeId,
    /// Its proxy, and the number of its link there.
    pub proxy: Option<(NodeId, ProxyLinkId)>,
    pub joined: bool,
    pub link_name: String,
    pub advertised_rate: Option<Rate>,
    /// Propagation from the proxy to the member and back, as a registration over an idle link would measure it.
    pub round_trip: Duration,
    /// Its own link, that is, the last one on the path from the proxy.
    pub links: Vec<LinkId>,
}

/// A host whose packets leave through a member.
#[derive(Debug)]
pub(crate) struct Receiver {
    pub node: NodeId,
    /// Members, the preferred one first, and the exits towards them.
    pub exits: Vec<(NodeId, PortId)>,
    /// Everything that lies beyond the members.
    pub beyond: Vec<NodeId>,
}
