//! What flows through a network: the description of a flow.
use crate::ids::{LinkIndex, NodeId};
use prismux_ptcp::PtcpConfig;
use prismux_tcp::TcpConfig;
use prismux_tcp::extension::SenderExtension;
use prismux_tcp_ho::{HandoffConfig, HandoffServer};
use prismux_units::{Duration, Instant, Rate};
use std::fmt;
use std::sync::Arc;

/// One flow, from its source of data to its sink.
#[derive(Debug, Clone)]
pub struct FlowConfig {
    /// Where the data comes from (for [`Transport::RequestResponse`]: who asks).
    pub from: NodeId,
    /// Where it goes (who answers).
    pub to: NodeId,
    /// How it travels.
    pub transport: Transport,
    /// When it begins.
    pub start: Instant,
    /// When it is cut off, if it is not done by then: a TCP connection is reset, a UDP source falls silent.
    pub stop: Option<Instant>,
    /// Payload bytes to carry; without end when `None`.
    pub bytes: Option<u64>,
    /// The access links to use, one for each pipe: each ends at `from`, at `to`, or at both. Empty leaves the way to
    /// routing; for flows of several pipes it means every link of the multi-homed end.
    pub links: Vec<LinkIndex>,
}

impl FlowConfig {
    /// A flow that starts at once and never ends.
    pub fn new(from: NodeId, to: NodeId, transport: Transport) -> Self {
        Self { from, to, transport, start: Instant::ZERO, stop: None, bytes: None, links: Vec::new() }
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

/// How a flow's data travels.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant)] // one for each flow, read once
pub enum Transport {
    /// A file over TCP.
    Tcp(TcpFlow),
    /// UDP packets at regular intervals.
    Cbr(Cbr),
    /// UDP packets in bursts.
    ParetoOnOff(ParetoOnOff),
    /// Requests and responses over one TCP connection.
    RequestResponse(RequestResponse),
    /// A file over one pTCP connection with a pipe for every link.
    Ptcp(PtcpFlow),
}

impl Transport {
    /// The name in results.
    pub fn name(&self) -> &str {
        match self {
            Self::Tcp(tcp) => &tcp.name,
            Self::Cbr(_) => "cbr",
            Self::ParetoOnOff(_) => "pareto-on-off",
            Self::RequestResponse(_) => "request-response",
            Self::Ptcp(_) => "ptcp",
        }
    }

    /// Whether a flow has a pipe for every link.
    pub(crate) const fn is_striped(&self) -> bool {
        matches!(self, Self::Ptcp(_))
    }
}

/// The two ends of a pTCP connection. The number of pipes follows from the flow's links.
#[derive(Debug, Clone)]
pub struct PtcpFlow {
    /// Switches of both ends.
    pub config: PtcpConfig,
}

/// Makes the extension of a sender when its connection opens.
#[derive(Clone)]
pub struct ExtensionFactory(Arc<dyn Fn() -> Box<dyn SenderExtension> + Send + Sync>);

impl ExtensionFactory {
    /// From a function.
    pub fn new(make: impl Fn() -> Box<dyn SenderExtension> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    pub(crate) fn make(&self) -> Box<dyn SenderExtension> {
        (self.0)()
    }
}

impl fmt::Debug for ExtensionFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExtensionFactory")
    }
}

/// The two ends of a bulk transfer.
#[derive(Debug, Clone)]
pub struct TcpFlow {
    /// Switches of the sending end.
    pub sender: TcpConfig,
    /// Switches of the receiving end.
    pub receiver: TcpConfig,
    /// What the sender learns from the network (TCP-PRISM).
    pub extension: Option<ExtensionFactory>,
    /// The receiver tells of its host's handoffs like this (TCP-HO); without, it keeps silent.
    pub handoff: Option<HandoffConfig>,
    /// The name in results: `"tcp"`, `"tcp-prism"`, `"tcp-ho"`.
    pub name: String,
}

impl TcpFlow {
    /// Both ends with the same switches.
    pub fn new(config: TcpConfig) -> Self {
        Self { sender: config.clone(), receiver: config, extension: None, handoff: None, name: "tcp".into() }
    }

    /// TCP-HO at both ends.
    pub fn with_handoff(self, config: HandoffConfig) -> Self {
        let server = config.clone();
        let extension = ExtensionFactory::new(move || Box::new(HandoffServer::new(server.clone())));
        Self { handoff: Some(config), ..self.with_extension("tcp-ho", extension) }
    }

    /// With an extension at the sender, under another name.
    pub fn with_extension(mut self, name: &str, extension: ExtensionFactory) -> Self {
        self.name = name.into();
        self.extension = Some(extension);
        self
    }
}

/// Constant bit rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cbr {
    /// Of whole IP packets.
    pub rate: Rate,
    /// Bytes of each packet, its 28 bytes of headers included.
    pub packet_bytes: u32,
}

/// Bursts at a constant rate whose lengths, like the pauses between them, are Pareto distributed.
///
/// As in ns-2: the burst is a whole number of packets, at least one; both settings are the means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParetoOnOff {
    /// Rate within a burst, of whole IP packets.
    pub rate: Rate,
    /// Bytes of each packet, its 28 bytes of headers included.
    pub packet_bytes: u32,
    /// Mean length of a burst.
    pub mean_on: Duration,
    /// Mean pause.
    pub mean_off: Duration,
    /// Shape of both distributions, above 1.
    pub shape: f64,
}

/// A client that asks and a server that answers, in turn, over one connection.
#[derive(Debug, Clone)]
pub struct RequestResponse {
    /// Switches of both ends.
    pub tcp: TcpConfig,
    /// Bytes of a request.
    pub request_bytes: u64,
    /// Bytes of a response.
    pub response_bytes: u64,
    /// Time between a response and the next request.
    pub think: Duration,
    /// How many; without end when `None`.
    pub exchanges: Option<u64>,
}
