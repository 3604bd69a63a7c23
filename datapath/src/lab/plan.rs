//! What a lab is asked to build and do: plain data, already resolved and named.
use prismux_link::{LinkChange, LinkConfig};
use prismux_units::{ByteCount, Duration, Instant, Rate};

/// One experiment on this machine.
#[derive(Debug, Clone)]
pub struct LabPlan {
    /// The scenario's name, for results.
    pub name: String,
    /// SHA-256 (hex) of the scenario, for results; empty when built in code.
    pub scenario_hash: String,
    /// Seed of every random stream of the run (link losses, traffic, file contents).
    pub seed: u64,
    /// Length of the run in real time; flows still under way then are stopped.
    pub duration: Duration,
    /// The nodes; names are unique.
    pub nodes: Vec<NodePlan>,
    /// The links; names are unique.
    pub links: Vec<LinkPlan>,
    /// The flows; names are unique.
    pub flows: Vec<FlowPlan>,
    /// What happens when, in any order.
    pub events: Vec<EventPlan>,
    /// Names of the links whose rates make up the capacity; empty: every link between a proxy and a member.
    pub shared_links: Vec<String>,
    /// Interval of the time series in the result, if wanted.
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
            nodes: Vec::new(),
            links: Vec::new(),
            flows: Vec::new(),
            events: Vec::new(),
            shared_links: Vec::new(),
            series_interval: None,
        }
    }

    /// Adds a node.
    #[must_use]
    pub fn node(mut self, name: &str, role: Role) -> Self {
        self.nodes.push(NodePlan { name: name.to_owned(), role, kernel: KernelProfile::Modern });
        self
    }

    /// Adds a link.
    #[must_use]
    pub fn link(mut self, name: &str, a: &str, b: &str, forward: LinkConfig, reverse: LinkConfig) -> Self {
        self.links.push(LinkPlan {
            name: name.to_owned(),
            a: a.to_owned(),
            b: b.to_owned(),
            forward,
            reverse,
        });
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

    /// Gives every node the same kernel settings.
    #[must_use]
    pub fn kernel(mut self, profile: KernelProfile) -> Self {
        for node in &mut self.nodes {
            node.kernel = profile;
        }
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
    /// How its kernel's TCP behaves.
    pub kernel: KernelProfile,
}

/// What a node does beside forwarding.
#[derive(Debug, Clone, PartialEq)]
pub enum Role {
    /// Ends flows.
    Host,
    /// Only forwards.
    Router,
    /// Runs `prismux proxy` while a flow needs it. The table holds settings that go into its configuration
    /// file as they are.
    Proxy(toml::Table),
    /// Runs `prismux member` while a flow needs it.
    Member(toml::Table),
}

/// How a node's kernel treats TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KernelProfile {
    /// As the running kernel comes.
    #[default]
    Modern,
    /// The nearest to Linux 2.4 that a current kernel offers: no RACK, TLP, DSACK, timestamps, F-RTO or adaptation
    /// to reordering; initial window 2.
    Linux24 {
        /// Selective acknowledgements on (or NewReno).
        sack: bool,
    },
}

impl KernelProfile {
    /// The initial congestion window in segments where it differs from the kernel's own.
    pub fn initial_window_segments(self) -> Option<u32> {
        match self {
            Self::Modern => None,
            Self::Linux24 { .. } => Some(2),
        }
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
}

/// A flow of application data.
#[derive(Debug, Clone)]
pub struct FlowPlan {
    /// Its name.
    pub name: String,
    /// The node that sends the data.
    pub from: String,
    /// The node that receives it.
    pub to: String,
    /// How the data travels.
    pub transport: Transport,
    /// When it starts.
    pub start: Instant,
    /// When it stops at the latest; the end of the run without.
    pub stop: Option<Instant>,
    /// How much is sent; until the stop without.
    pub bytes: Option<ByteCount>,
}

impl FlowPlan {
    /// A flow from the start to the end of the run.
    pub fn new(name: &str, from: &str, to: &str, transport: Transport) -> Self {
        Self {
            name: name.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
            transport,
            start: Instant::ZERO,
            stop: None,
            bytes: None,
        }
    }

    /// Ends the flow after `bytes`.
    #[must_use]
    pub fn bytes(mut self, bytes: ByteCount) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// Starts the flow `at` after the start of the run.
    #[must_use]
    pub fn start_at(mut self, at: Duration) -> Self {
        self.start = Instant::ZERO + at;
        self
    }
}

/// How a flow's data travels.
#[derive(Debug, Clone, PartialEq)]
pub enum Transport {
    /// The kernel's TCP over one path.
    Tcp {
        /// Congestion control as the kernel names it ("cubic", "reno", "bbr").
        congestion: String,
        /// Which way the data goes.
        route: Route,
    },
    /// The kernel's MPTCP, one subflow through each member.
    Mptcp {
        /// Congestion control of every subflow.
        congestion: String,
    },
    /// UDP at a constant rate.
    Cbr {
        /// IP bits per second while on.
        rate: Rate,
        /// Size of each packet with its IP and UDP headers.
        packet_bytes: u32,
    },
    /// UDP bursts whose lengths, and the pauses between them, follow Pareto's law.
    Pareto {
        /// IP bits per second within a burst.
        rate: Rate,
        /// Size of each packet with its IP and UDP headers.
        packet_bytes: u32,
        /// Mean length of a burst.
        on: Duration,
        /// Mean length of a pause.
        off: Duration,
        /// Shape, above 1.
        shape: f64,
    },
}

impl Transport {
    /// True for TCP in all its forms, false for background load.
    pub fn is_bulk(&self) -> bool {
        matches!(self, Self::Tcp { .. } | Self::Mptcp { .. })
    }

    /// Name of the transport in results.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Tcp { route: Route::Shortest, .. } => "tcp",
            Self::Tcp { route: Route::Via(_), .. } => "single",
            Self::Tcp { route: Route::Prism, .. } => "prism",
            Self::Mptcp { .. } => "mptcp",
            Self::Cbr { .. } => "cbr",
            Self::Pareto { .. } => "pareto",
        }
    }
}

/// Which way a TCP flow's packets go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// The fewest hops, ties by the order of the links.
    Shortest,
    /// Through this member, both ways, without tunnels.
    Via(String),
    /// Through the proxy, which spreads the packets over its members.
    Prism,
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
    /// A member says good-bye and goes.
    Leave(String),
    /// A member comes (again).
    Join(String),
    /// The daemon on this node dies by SIGKILL.
    Kill(String),
    /// The daemon on this node is started again.
    Restart(String),
}
