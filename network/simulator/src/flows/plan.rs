//! The description of a flow, and how it becomes one.
use super::tcp::TcpPair;
use super::{Flow, Site};
use crate::builder::{Interfaces, NetworkBuilder};
use crate::core::ids::{EndpointId, FlowId, LinkIndex, NodeId, PortId};
use crate::network::Network;
use prismux_endpoint::random::RandomStream;
use prismux_tcp::TcpConfig;
use prismux_tcp::engine::congestion::CustomControl;
use prismux_tcp::extension::SenderExtension;
use prismux_units::Instant;
use std::fmt;
use std::sync::Arc;

/// How a flow's data travels: what the room of a transport offers to plans.
pub trait Transport: fmt::Debug + Send + Sync {
    /// The name in results.
    fn name(&self) -> &str;

    /// How many access links a flow can use, a pipe on each.
    fn max_links(&self) -> usize {
        1
    }

    /// Full-size segments, with which capacity is reckoned; `None` for a transport whose packets have any size.
    fn segment(&self) -> Option<SegmentShape> {
        None
    }

    /// What is wrong with the settings, if anything.
    fn problem(&self) -> Option<&'static str> {
        None
    }

    /// Whether a flow of so many bytes (`None`: without end) has an end that a run can wait for.
    fn has_end(&self, bytes: Option<u64>) -> bool {
        bytes.is_some()
    }

    /// Further hosts that take part, and the links by which they or the receiver are reached.
    fn further_hosts(&self) -> Vec<(NodeId, LinkIndex)> {
        Vec::new()
    }

    /// Whether a custom congestion control can take the place of the sender's own.
    fn takes_congestion_control(&self) -> bool {
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

/// One flow, from its source of data to its sink.
#[derive(Debug, Clone)]
pub struct FlowConfig {
    /// Where the data comes from (for request and response: who asks).
    pub from: NodeId,
    /// Where it goes (who answers).
    pub to: NodeId,
    /// How it travels.
    pub transport: AnyTransport,
    /// When it begins.
    pub start: Instant,
    /// When it is cut off, if it is not done by then: a TCP connection is reset, a UDP source falls silent.
    pub stop: Option<Instant>,
    /// Payload bytes to carry; without end when `None`.
    pub bytes: Option<u64>,
    /// The access links to use, one for each pipe: each ends at `from`, at `to`, or at both. Empty leaves the path to
    /// routing; for flows of several pipes it means every link of the multi-homed end.
    pub links: Vec<LinkIndex>,
}

impl FlowConfig {
    /// A flow that starts at once and never ends.
    pub fn new(from: NodeId, to: NodeId, transport: impl Into<AnyTransport>) -> Self {
        let (start, transport) = (Instant::ZERO, transport.into());
        Self { from, to, transport, start, stop: None, bytes: None, links: Vec::new() }
    }

    /// Over these access links.
    pub fn over(mut self, links: &[LinkIndex]) -> Self {
        self.links = links.to_vec();
        self
    }

    /// Starting at `start`.
    pub fn starting(mut self, start: Instant) -> Self {
        self.start = start;
        self
    }

    /// Cut off at `stop`.
    pub fn stopping(mut self, stop: Instant) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Carrying `bytes` bytes of payload.
    pub fn carrying(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }
}

/// Makes what one sender has of its own, when its connection opens.
pub struct Factory<T: ?Sized>(Arc<dyn Fn() -> Box<T> + Send + Sync>);

/// Makes the extension of a sender.
pub type ExtensionFactory = Factory<dyn SenderExtension>;

/// Makes the congestion control of a sender, in place of the one that its configuration names.
pub type CongestionFactory = Factory<dyn CustomControl>;

impl<T: ?Sized> Factory<T> {
    /// From a function.
    pub fn new(make: impl Fn() -> Box<T> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    pub(crate) fn make(&self) -> Box<T> {
        (self.0)()
    }
}

// Derived, it would ask for `T: Clone`.
impl<T: ?Sized> Clone for Factory<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> fmt::Debug for Factory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Factory")
    }
}

/// What a flow is made from: its description and the network that it will be in.
#[derive(Debug)]
pub struct FlowBuild<'a> {
    pub(crate) name: &'a str,
    pub(crate) flow: FlowId,
    pub(crate) config: &'a FlowConfig,
    pub(crate) congestion: Option<&'a CongestionFactory>,
    pub(crate) builder: &'a NetworkBuilder,
    pub(crate) interfaces: &'a Interfaces,
    pub(crate) network: &'a Network,
    /// The number of the next TCP connection, and the place of the flow's first end if it is none.
    pub(crate) next_places: (u32, u32),
    /// Configurations of TCP that other flows have already.
    pub(crate) tcp_configs: &'a mut Vec<Arc<TcpConfig>>,
}

impl FlowBuild<'_> {
    /// The flow's name.
    pub fn name(&self) -> &str {
        self.name
    }

    /// Payload bytes to carry; without end when `None`.
    pub fn bytes(&self) -> Option<u64> {
        self.config.bytes
    }

    /// The random numbers for one purpose of this flow: a stream of its own, the same in every run with the same seed.
    pub fn random(&self, purpose: &str) -> RandomStream {
        self.builder.seed().stream(&format!("flow/{}/{purpose}", self.name))
    }

    /// Whether checkers are to watch the flow.
    pub fn checks(&self) -> bool {
        self.builder.has_checks()
    }

    /// A flow of two ends: 0 where the data comes from, 1 where it goes.
    pub fn two_ends(&self, flow: impl Flow) -> BuiltFlow {
        self.built(flow, self.sites([self.end(0), self.end(1)]).to_vec())
    }

    /// The flow's access links, one for each pipe.
    pub(crate) fn access_links(&self) -> Vec<LinkIndex> {
        self.builder.access_links(self.config)
    }

    /// The addresses of `host` on the flow's links, in order of pipes.
    pub(crate) fn addresses(&self, host: NodeId) -> impl Iterator<Item = NodeId> {
        self.access_links().into_iter().map(move |link| self.interfaces.address(host, link))
    }

    /// The direction of `link` in which the flow's data enters it.
    pub(crate) fn data_direction(&self, link: LinkIndex) -> PortId {
        let leads_to = |port: PortId| self.network.ends[port.index()].node;
        let reverse =
            leads_to(link.reverse()) == self.config.to || leads_to(link.forward()) == self.config.from;
        if reverse { link.reverse() } else { link.forward() }
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
        let (from, to) = self.interfaces.ends_of(self.config);
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
