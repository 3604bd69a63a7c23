//! What a lab is asked to build and do: plain data, already resolved, parts referring to each other by name.
use prismux_link::{LinkChange, LinkConfig};
use prismux_prism::ProxyConfig;
use prismux_tcp::TcpConfig;
use prismux_units::{ByteCount, Duration, Instant, Rate};

pub use fetch::{FETCH_PACKET_BYTES, FETCH_PAYLOAD_BYTES, FetchPlan, PipePlan};
pub use kernel_tcp::KernelTcp;

mod fetch;
mod kernel_tcp;

/// One experiment on this machine.
#[derive(Debug, Clone)]
pub struct LabPlan {
    /// The scenario's name, for results.
    pub name: String,
    /// SHA-256 (hex) of the scenario, for results; empty when built in code.
    pub scenario_hash: String,
    /// Seed of every random stream of the run (link losses, traffic, file contents).
    pub seed: u64,
    /// Length of the run in real time; flows still under way then are stopped. A run whose TCP flows all have
    /// a size ends when they are done.
    pub duration: Duration,
    /// Steady-state figures leave out this much from each flow's start.
    pub warm_up: Duration,
    /// The nodes; names are unique.
    pub nodes: Vec<NodePlan>,
    /// The links; names are unique.
    pub links: Vec<LinkPlan>,
    /// The flows; names are unique.
    pub flows: Vec<FlowPlan>,
    /// What happens when, in any order.
    pub events: Vec<EventPlan>,
    /// Interval of the time series in the result, if wanted; whole multiples of [`crate::ARRIVAL_CELL`] serve
    /// best.
    pub series_interval: Option<Duration>,
}

impl LabPlan {
    /// An empty network called `name`.
    pub fn new(name: &str, seed: u64, duration: Duration) -> Self {
        Self {
            name: name.to_owned(),
            scenario_hash: String::new(),
            seed,
            duration,
            warm_up: Duration::ZERO,
            nodes: Vec::new(),
            links: Vec::new(),
            flows: Vec::new(),
            events: Vec::new(),
            series_interval: None,
        }
    }

    /// Adds a node.
    #[must_use]
    pub fn node(mut self, name: &str, role: Role) -> Self {
        self.nodes.push(NodePlan { name: name.to_owned(), role });
        self
    }

    /// Adds a link, which counts as capacity when it joins a proxy and a member.
    #[must_use]
    pub fn link(mut self, name: &str, a: &str, b: &str, forward: LinkConfig, reverse: LinkConfig) -> Self {
        let role = |name: &str| self.nodes.iter().find(|node| node.name == name).map(|node| &node.role);
        let shared = matches!(
            (role(a), role(b)),
            (Some(Role::Proxy(_)), Some(Role::Member(_))) | (Some(Role::Member(_)), Some(Role::Proxy(_)))
        );
        let (name, a, b) = (name.to_owned(), a.to_owned(), b.to_owned());
        self.links.push(LinkPlan { name, a, b, forward, reverse, up: (true, true), shared });
        self
    }

    /// Adds a flow.
    #[must_use]
    pub fn flow(mut self, flow: FlowPlan) -> Self {
        self.flows.push(flow);
        self
    }

    /// Adds an event `at` after the start.
    #[must_use]
    pub fn event(mut self, at: Duration, action: Action) -> Self {
        self.events.push(EventPlan { at: Instant::ZERO + at, action });
        self
    }

    /// Leaves out so much from each flow's start in steady-state figures.
    #[must_use]
    pub fn warm_up(mut self, warm_up: Duration) -> Self {
        self.warm_up = warm_up;
        self
    }
}

/// A node: one network namespace.
#[derive(Debug, Clone)]
pub struct NodePlan {
    /// Its name.
    pub name: String,
    /// What it does.
    pub role: Role,
}

/// What a node does beside forwarding.
#[derive(Debug, Clone, PartialEq)]
pub enum Role {
    /// Ends flows.
    Host,
    /// Only forwards.
    Router,
    /// Runs `prismux proxy` when a flow goes through it.
    Proxy(Box<ProxyPlan>),
    /// Runs `prismux member` when a flow goes through its proxy.
    Member(MemberPlan),
}

/// A proxy.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProxyPlan {
    /// The protocol's settings.
    pub config: ProxyConfig,
    /// How packets travel to the members.
    pub tunnel: Tunnel,
    /// The members it sends through; `None`: those a link joins it to.
    pub members: Option<Vec<String>>,
}

/// How a proxy's packets travel to its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tunnel {
    /// GRE over IP (RFC 2784).
    #[default]
    Gre,
    /// GRE in UDP (RFC 8086).
    GreInUdp,
}

impl Tunnel {
    /// What the tunnel adds to each packet, in bytes.
    pub(super) fn overhead_bytes(self) -> u32 {
        let transport = match self {
            Self::Gre => prismux_daemons::tunnel::Transport::Gre,
            Self::GreInUdp => prismux_daemons::tunnel::Transport::Udp,
        };
        transport.overhead_bytes(false) as u32
    }
}

/// A member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberPlan {
    /// There from the start, or it comes with [`Action::Join`].
    pub present: bool,
    /// The rate it tells the proxy, if any.
    pub advertised_rate: Option<Rate>,
}

impl Default for MemberPlan {
    /// Present, and leaving its rate to be learned.
    fn default() -> Self {
        Self { present: true, advertised_rate: None }
    }
}

/// A link between two nodes.
#[derive(Debug, Clone)]
pub struct LinkPlan {
    /// Its name.
    pub name: String,
    /// One end.
    pub a: String,
    /// The other end.
    pub b: String,
    /// From `a` to `b`; the direction that results report.
    pub forward: LinkConfig,
    /// From `b` to `a`.
    pub reverse: LinkConfig,
    /// Working when the run starts (forward, reverse).
    pub up: (bool, bool),
    /// Its rate counts as capacity.
    pub shared: bool,
}

/// A flow of application data. The node that receives the data opens the connection, as in a download.
#[derive(Debug, Clone)]
pub struct FlowPlan {
    /// Its name.
    pub name: String,
    /// The node that sends the data (for [`Traffic::RequestResponse`]: that asks).
    pub from: String,
    /// The node that receives it (that answers).
    pub to: String,
    /// How the data travels.
    pub transport: Transport,
    /// What travels.
    pub traffic: Traffic,
    /// The member it goes through, past the proxy and without a tunnel, both ways. Without, it takes the fewest
    /// hops, and a proxy on the way takes it over.
    pub via: Option<String>,
    /// How the kernels at its two ends treat TCP. All flows that end at a node must agree.
    pub tcp: KernelTcp,
    /// Prismux's own TCP in the kernel's place at the sender of a file over [`Transport::Tcp`].
    pub own_sender: Option<Box<OwnSender>>,
    /// The pipes of a flow over [`Transport::Fetch`].
    pub fetch: Option<Box<FetchPlan>>,
    /// When it starts.
    pub start: Instant,
    /// When it stops at the latest; the end of the run without.
    pub stop: Option<Instant>,
}

impl FlowPlan {
    /// A flow of data without end, from the start to the end of the run.
    pub fn new(name: &str, from: &str, to: &str, transport: Transport) -> Self {
        Self {
            name: name.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
            transport,
            traffic: Traffic::Bulk { bytes: None },
            via: None,
            tcp: KernelTcp::default(),
            own_sender: None,
            fetch: None,
            start: Instant::ZERO,
            stop: None,
        }
    }

    /// Ends the flow after `bytes`.
    #[must_use]
    pub fn bytes(mut self, bytes: ByteCount) -> Self {
        self.traffic = Traffic::Bulk { bytes: Some(bytes) };
        self
    }

    /// Carries other traffic than a file.
    #[must_use]
    pub fn traffic(mut self, traffic: Traffic) -> Self {
        self.traffic = traffic;
        self
    }

    /// Ties the flow to one member's links.
    #[must_use]
    pub fn via(mut self, member: &str) -> Self {
        self.via = Some(member.to_owned());
        self
    }

    /// With other kernel settings.
    #[must_use]
    pub fn tcp(mut self, tcp: KernelTcp) -> Self {
        self.tcp = tcp;
        self
    }

    /// Sends by prismux's own TCP.
    #[must_use]
    pub fn own_sender(mut self, sender: OwnSender) -> Self {
        self.own_sender = Some(Box::new(sender));
        self
    }

    /// Starts the flow `at` after the start of the run.
    #[must_use]
    pub fn start_at(mut self, at: Duration) -> Self {
        self.start = Instant::ZERO + at;
        self
    }

    /// Name of the transport in results.
    pub fn transport_name(&self) -> &'static str {
        match (self.transport, &self.traffic) {
            (_, Traffic::Cbr { .. }) => "cbr",
            (_, Traffic::ParetoOnOff { .. }) => "pareto-on-off",
            (_, Traffic::RequestResponse { .. }) => "request-response",
            (Transport::Tcp, _) if self.own_sender.as_ref().is_some_and(|sender| sender.prism) => "tcp-prism",
            (Transport::Tcp, _) => "tcp",
            (Transport::Mptcp, _) => "mptcp",
            (Transport::Udp, _) => "udp",
            (Transport::Fetch, _) => "r2cp",
        }
    }
}

/// Prismux's own TCP as a sender.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnSender {
    /// Its switches.
    pub tcp: TcpConfig,
    /// It acts on the proxy's loss reports (TCP-PRISM).
    pub prism: bool,
}

/// How a flow's data travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// The kernel's TCP.
    Tcp,
    /// The kernel's MPTCP, one subflow through each member.
    Mptcp,
    /// Datagrams.
    Udp,
    /// RCP or R²CP: processes of `prismux serve` and `prismux fetch`.
    Fetch,
}

/// What an application sends.
#[derive(Debug, Clone, PartialEq)]
pub enum Traffic {
    /// A file of so many bytes, or data until the flow stops (TCP, MPTCP).
    Bulk {
        /// Size.
        bytes: Option<ByteCount>,
    },
    /// A request, its response, a pause, again (TCP, MPTCP).
    RequestResponse {
        /// Size of a request, at least 1.
        request: ByteCount,
        /// Size of a response, at least 1.
        response: ByteCount,
        /// Pause between a response and the next request.
        think: Duration,
        /// How many; until the flow stops without.
        exchanges: Option<u64>,
    },
    /// Datagrams at a constant rate.
    Cbr {
        /// IP bits per second.
        rate: Rate,
        /// Size of each packet with its 28 bytes of IP and UDP headers.
        packet_bytes: u32,
    },
    /// Bursts of datagrams whose lengths, and the pauses between them, follow Pareto's law.
    ParetoOnOff {
        /// IP bits per second within a burst.
        rate: Rate,
        /// Size of each packet with its 28 bytes of IP and UDP headers.
        packet_bytes: u32,
        /// Mean length of a burst.
        on: Duration,
        /// Mean length of a pause.
        off: Duration,
        /// Shape of both, above 1.
        shape: f64,
    },
}

/// Something that happens at a given time.
#[derive(Debug, Clone)]
pub struct EventPlan {
    /// When.
    pub at: Instant,
    /// What.
    pub action: Action,
}

/// What can happen during a run.
#[derive(Debug, Clone)]
pub enum Action {
    /// A link changes, in one direction or both.
    ChangeLink {
        /// The link's name.
        link: String,
        /// Change from `a` to `b`.
        forward: Option<LinkChange>,
        /// Change from `b` to `a`.
        reverse: Option<LinkChange>,
    },
    /// A member says good-bye and goes. To flows that do not use the proxy, its links go down.
    Leave(String),
    /// A member comes (again).
    Join(String),
    /// The daemon on this node dies by SIGKILL.
    Kill(String),
    /// The daemon on this node is started again.
    Restart(String),
}
