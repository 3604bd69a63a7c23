//! The description of a flow's transport, and how it becomes a flow.
use super::flow::Flow;
use super::policy::{
    CongestionFactory, PipeSchedulerFactory, RequestSchedulerFactory, SubflowSchedulerFactory,
};
use super::tcp::pair::TcpPair;
use crate::core::factory::Part;
use crate::core::ids::{EndpointId, FlowId, LinkId, NodeId, PortId};
use crate::core::policy_role::PolicyRole;
use crate::core::site::Site;
use crate::network::Network;
use crate::nodes::addresses::Addresses;
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_tcp::TcpConfig;
use prismux_units::Instant;
use std::fmt;
use std::sync::Arc;

/// How a flow's data travels: what the room of a transport offers to plans.
pub trait Transport: fmt::Debug + Send + Sync {
    /// The name in results.
    fn name(&self) -> &str;

    /// Full-size segments, with which capacity is reckoned; `None` for a transport whose packets have any size.
    fn segment(&self) -> Option<SegmentShape> {
        None
    }

    /// Whether a flow of so many bytes (`None`: without end) has an end that a run can wait for.
    fn has_end(&self, bytes: Option<u64>) -> bool {
        bytes.is_some()
    }

    /// Further hosts that take part, and the links by which they or the receiver are reached.
    fn further_hosts(&self) -> Vec<(NodeId, LinkId)> {
        Vec::new()
    }

    /// Whether a policy from outside can take the place of the sender's own.
    fn takes(&self, _role: &PolicyRole) -> bool {
        false
    }

    /// Makes the flow.
    fn build(&self, build: &mut FlowBuild<'_>) -> BuiltFlow;
}

/// A transport, whichever it is.
#[derive(Debug, Clone)]
pub struct AnyTransport(Arc<dyn Transport>);

impl AnyTransport {
    pub(crate) fn get(&self) -> &dyn Transport {
        &*self.0
    }
}

impl<T: Transport + 'static> From<T> for AnyTransport {
    fn from(transport: T) -> Self {
        Self(Arc::new(transport))
    }
}

/// A full-size segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentShape {
    /// Maximum segment size in bytes: what remains beside headers of TCP and IPv4 without options.
    pub mss: u16,
    /// Twelve bytes of it are taken by timestamps.
    pub timestamps: bool,
}

impl SegmentShape {
    /// What two ends agree on.
    pub fn agreed(a: &TcpConfig, b: &TcpConfig) -> Self {
        Self { mss: a.mss.min(b.mss), timestamps: a.timestamps && b.timestamps }
    }
}

/// What a flow is made from: its description and the network that it will be in.
#[derive(Debug)]
pub struct FlowBuild<'a> {
    pub(crate) flow: FlowId,
    pub(crate) plan: &'a prismux_plan::Flow,
    pub(crate) seed: Seed,
    pub(crate) checks: bool,
    pub(crate) congestion: Option<&'a CongestionFactory>,
    pub(crate) subflow_scheduler: Option<&'a SubflowSchedulerFactory>,
    pub(crate) pipe_scheduler: Option<&'a PipeSchedulerFactory>,
    pub(crate) request_scheduler: Option<&'a RequestSchedulerFactory>,
    /// The flow's access links, one for each pipe.
    pub(crate) links: Vec<LinkId>,
    pub(crate) addresses: &'a Addresses,
    pub(crate) network: &'a Network,
    /// The number of the next TCP connection, and the place of the flow's first end if it is none.
    pub(crate) next_places: (u32, u32),
    /// Configurations of TCP that other flows have already.
    pub(crate) tcp_configs: &'a mut Vec<Arc<TcpConfig>>,
}

impl FlowBuild<'_> {
    /// The flow's name.
    pub fn name(&self) -> &str {
        &self.plan.name
    }

    /// The flow, as its policies know it.
    pub(crate) fn part(&self) -> Part<'_> {
        let deadline = self.plan.deadline.map(|deadline| Instant::ZERO + self.plan.start + deadline);
        Part { name: self.name(), deadline }
    }

    /// Payload bytes to carry; without end when `None`.
    pub fn bytes(&self) -> Option<u64> {
        self.plan.file_bytes().map(|bytes| bytes.as_u64())
    }

    /// The random numbers for one purpose of this flow: a stream of its own, the same in every run with the same seed.
    pub fn random(&self, purpose: &str) -> RandomStream {
        self.seed.stream(&format!("flow/{}/{purpose}", self.name()))
    }

    /// Whether checkers are to watch the flow.
    pub fn checks(&self) -> bool {
        self.checks
    }

    /// A flow of two ends: 0 where the data comes from, 1 where it goes.
    pub fn two_ends(&self, flow: impl Flow) -> BuiltFlow {
        self.built(flow, self.sites([self.end(0), self.end(1)]).to_vec())
    }

    /// The addresses of `host` on the flow's links, in order of pipes.
    pub(crate) fn addresses(&self, host: NodeId) -> impl Iterator<Item = NodeId> {
        self.links.iter().map(move |&link| self.addresses.of_host(host, link))
    }

    /// The direction of `link` in which the flow's data enters it.
    pub(crate) fn data_direction(&self, link: LinkId) -> PortId {
        let leads_to = |port: PortId| self.network.ends[port.index()].node;
        let (forward, reverse) = (PortId::forward(link), PortId::reverse(link));
        let backwards = leads_to(reverse) == self.plan.to || leads_to(forward) == self.plan.from;
        if backwards { reverse } else { forward }
    }

    pub(crate) fn built(&self, flow: impl Flow, sites: Vec<Site>) -> BuiltFlow {
        BuiltFlow(Built::Other { flow: Box::new(flow), sites })
    }

    /// The end with this number, of a flow that is not TCP's.
    pub(crate) fn end(&self, number: u32) -> EndpointId {
        EndpointId::other(self.next_places.1 + number)
    }

    /// Sites at the two ends of the flow.
    pub(crate) fn sites(&self, [source, sink]: [EndpointId; 2]) -> [Site; 2] {
        let (from, to) = self.addresses.of_ends(self.plan);
        [
            Site::routed(self.flow, (source, from), (sink, to)),
            Site::routed(self.flow, (sink, to), (source, from)),
        ]
    }
}

/// A flow that has been made.
#[derive(Debug)]
pub struct BuiltFlow(pub(crate) Built);

/// Which list it belongs into.
#[derive(Debug)]
pub(crate) enum Built {
    Tcp(Box<TcpPair>),
    Other { flow: Box<dyn Flow>, sites: Vec<Site> },
}
