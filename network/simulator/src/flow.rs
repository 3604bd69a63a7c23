//! What flows through a network: the description of a flow.
use crate::ids::{LinkIndex, NodeId};
use prismux_ptcp::PtcpConfig;
use prismux_r2cp::R2cpConfig;
use prismux_rcp::RcpConfig;
use prismux_striping::Policy;
use prismux_tcp::TcpConfig;
use prismux_tcp::engine::congestion::CustomControl;
use prismux_tcp::extension::SenderExtension;
use prismux_tcp::loss_notification::LossListener;
use prismux_tcp_ho::{HandoffConfig, HandoffServer};
use prismux_units::{ByteCount, Duration, Instant, Rate};
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
    /// A file over RCP: the receiver opens, asks and controls.
    Rcp(RcpFlow),
    /// A file over several RCP pipes, from one server or several.
    R2cp(R2cpFlow),
    /// UDP packets at regular intervals.
    Cbr(Cbr),
    /// UDP packets in bursts.
    ParetoOnOff(ParetoOnOff),
    /// Requests and responses over one TCP connection.
    RequestResponse(RequestResponse),
    /// A file over one pTCP connection with a pipe for every link.
    Ptcp(PtcpFlow),
    /// A file striped by the application over one TCP connection for every link.
    Striping(StripingFlow),
}

impl Transport {
    /// The name in results.
    pub fn name(&self) -> &str {
        match self {
            Self::Tcp(tcp) => &tcp.name,
            Self::Rcp(rcp) => &rcp.name,
            Self::R2cp(r2cp) => &r2cp.name,
            Self::Cbr(_) => "cbr",
            Self::ParetoOnOff(_) => "pareto-on-off",
            Self::RequestResponse(_) => "request-response",
            Self::Ptcp(_) => "ptcp",
            Self::Striping(StripingFlow { policy: Policy::Unaware, .. }) => "striping-unaware",
            Self::Striping(StripingFlow { policy: Policy::Smart, .. }) => "striping-smart",
        }
    }

    /// Whether a flow has a pipe for every link.
    pub(crate) const fn is_striped(&self) -> bool {
        matches!(self, Self::Ptcp(_) | Self::Striping(_))
    }
}

/// An application that stripes over ordinary sockets, and its sockets.
#[derive(Debug, Clone)]
pub struct StripingFlow {
    /// Switches of every connection. Its receive buffer is also the size of the send buffer.
    pub tcp: TcpConfig,
    /// Switches that differ on some links: larger buffers, say.
    pub other_tcp: Vec<(LinkIndex, TcpConfig)>,
    /// How records are dealt.
    pub policy: Policy,
    /// Room for early records at the receiver.
    pub resequencing_buffer: ByteCount,
    /// A smart sender is told the true rates of the links at the start, and again this often.
    pub estimate_every: Option<Duration>,
    /// Explicit loss notification on every connection (TCP-ELN).
    pub loss_notification: bool,
}

/// The two ends of a pTCP connection. The number of pipes follows from the flow's links.
#[derive(Debug, Clone)]
pub struct PtcpFlow {
    /// Switches of both ends.
    pub config: PtcpConfig,
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

/// The two ends of a bulk transfer.
#[derive(Debug, Clone)]
pub struct TcpFlow {
    /// Switches of the sending end.
    pub sender: TcpConfig,
    /// Switches of the receiving end.
    pub receiver: TcpConfig,
    /// What the sender learns from the network (TCP-PRISM).
    pub extension: Option<ExtensionFactory>,
    /// The sender's congestion control, where it comes from outside.
    pub congestion: Option<CongestionFactory>,
    /// The receiver tells of its host's handoffs like this (TCP-HO); without, it keeps silent.
    pub handoff: Option<HandoffConfig>,
    /// The receiver learns from its link layer which segments arrived damaged, and marks its ACKs (TCP-ELN).
    pub hears_damage: bool,
    /// The name in results: `"tcp"`, `"tcp-prism"`, `"tcp-ho"`.
    pub name: String,
}

impl TcpFlow {
    /// Both ends with the same switches.
    pub fn new(config: TcpConfig) -> Self {
        Self {
            sender: config.clone(),
            receiver: config,
            extension: None,
            congestion: None,
            handoff: None,
            hears_damage: false,
            name: "tcp".into(),
        }
    }

    /// TCP-HO at both ends.
    pub fn with_handoff(self, config: HandoffConfig) -> Self {
        let server = config.clone();
        let extension = ExtensionFactory::new(move || Box::new(HandoffServer::new(server.clone())));
        Self { handoff: Some(config), ..self.with_extension("tcp-ho", extension) }
    }

    /// TCP-ELN at both ends.
    pub fn with_loss_notification(self) -> Self {
        let extension = ExtensionFactory::new(|| Box::<LossListener>::default());
        Self { hears_damage: true, ..self.with_extension("tcp-eln", extension) }
    }

    /// With an extension at the sender, under another name.
    pub fn with_extension(mut self, name: &str, extension: ExtensionFactory) -> Self {
        self.name = name.into();
        self.extension = Some(extension);
        self
    }
}

/// The two ends of a transfer over RCP.
#[derive(Debug, Clone, PartialEq)]
pub struct RcpFlow {
    /// Switches of the sending end.
    pub sender: RcpConfig,
    /// Switches of the receiving end.
    pub receiver: RcpConfig,
    /// The receiver learns from its link layer which packets arrived damaged (explicit loss notification).
    pub hears_damage: bool,
    /// The name in results.
    pub name: String,
}

impl RcpFlow {
    /// Both ends with the same switches.
    pub fn new(config: RcpConfig) -> Self {
        Self { sender: config.clone(), receiver: config, hears_damage: false, name: "rcp".into() }
    }

    /// RCP-ELN: the receiver hears of damage.
    pub fn with_loss_notification(self) -> Self {
        Self { hears_damage: true, name: "rcp-eln".into(), ..self }
    }
}

/// A transfer over several pipes. The flow's `to` is the receiver; its `from` is the first way's server.
#[derive(Debug, Clone, PartialEq)]
pub struct R2cpFlow {
    /// Switches of the connection.
    pub config: R2cpConfig,
    /// Switches of the servers.
    pub sender: RcpConfig,
    /// Where the pipes lead.
    pub ways: Vec<RcpWay>,
    /// The name in results.
    pub name: String,
}

/// One way of a transfer over several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RcpWay {
    /// The name of its pipe in results.
    pub name: String,
    /// The host that serves it.
    pub server: NodeId,
    /// The link at which both ends begin, where routing would choose another: it must touch the receiver or the server
    /// (or both), and is used by the end it touches.
    pub link: Option<LinkIndex>,
    /// What using it costs; cheaper ways go first.
    pub cost: u8,
    /// When its pipe opens, the flow's start if earlier.
    pub opens: Instant,
    /// When it ends in peace: nothing more is asked for, what is on its way still comes.
    pub closes: Option<Instant>,
    /// When it ends because its interface is gone.
    pub drops: Option<Instant>,
}

impl RcpWay {
    /// To `server` by the shortest path, from the start to the end.
    pub fn to(server: NodeId) -> Self {
        let name = format!("from-{}", server.index());
        Self { name, server, link: None, cost: 0, opens: Instant::ZERO, closes: None, drops: None }
    }

    /// Under another name.
    pub fn named(self, name: &str) -> Self {
        Self { name: name.into(), ..self }
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
