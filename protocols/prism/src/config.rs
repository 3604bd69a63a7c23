//! Every choice of the proxy as a named setting.
//!
//! [`ProxyConfig::paper`] is PRISM as published (with the reconstructions that the sources force);
//! [`ProxyConfig::default`] adds what makes an unmodified modern sender fill unequal links.
use alloc::string::String;
use core::str::FromStr;
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Rate};

/// How much the reverse path controller does (the paper's RPC).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RpcMode {
    /// Identification, re-sequencing and loss detection.
    Full,
    /// Identification and re-sequencing only: a lost packet leaves later ACKs held until the sender's
    /// retransmission timer ("partial RPC", section VIII-D.1).
    Resequence,
    /// ACKs pass untouched.
    Off,
}

impl RpcMode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Full, Self::Resequence, Self::Off];

    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Resequence => "resequence",
            Self::Off => "off",
        }
    }
}

/// A name that selects nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownName {
    /// The names that would.
    pub expected: &'static str,
}

impl core::fmt::Display for UnknownName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "expected one of {}", self.expected)
    }
}

impl core::error::Error for UnknownName {}

impl FromStr for RpcMode {
    type Err = UnknownName;
    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.name() == text)
            .ok_or(UnknownName { expected: "full, resequence, off" })
    }
}

/// The schedulers, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SchedulerKind {
    /// ADAS (section IV): least normalised packets in flight, then least hRTT.
    Adas,
    /// Each link in turn.
    RoundRobin,
    /// Each link in turn, in rounds: the whole packets that its weight allows, in a row (section IV-B.1).
    WeightedRoundRobin,
    /// In proportion to the weights, fractions included, packet by packet.
    SmoothWeightedRoundRobin,
    /// Uniformly random.
    Random,
    /// Random, in proportion to the weights.
    WeightedRandom,
    /// Always the least hRTT (ADAS with rule 3 only).
    HrttOnly,
    /// Least N/W without the floor (ADAS with rule 2 only).
    NipOnly,
    /// Earliest expected arrival.
    EarliestArrival,
}

impl SchedulerKind {
    /// All schedulers.
    pub const ALL: [Self; 9] = [
        Self::Adas,
        Self::RoundRobin,
        Self::WeightedRoundRobin,
        Self::SmoothWeightedRoundRobin,
        Self::Random,
        Self::WeightedRandom,
        Self::HrttOnly,
        Self::NipOnly,
        Self::EarliestArrival,
    ];

    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Adas => "adas",
            Self::RoundRobin => "round-robin",
            Self::WeightedRoundRobin => "weighted-round-robin",
            Self::SmoothWeightedRoundRobin => "smooth-weighted-round-robin",
            Self::Random => "random",
            Self::WeightedRandom => "weighted-random",
            Self::HrttOnly => "hrtt-only",
            Self::NipOnly => "nip-only",
            Self::EarliestArrival => "earliest-arrival",
        }
    }
}

impl FromStr for SchedulerKind {
    type Err = UnknownName;
    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or(UnknownName {
            expected: "adas, round-robin, weighted-round-robin, smooth-weighted-round-robin, random, \
                weighted-random, hrtt-only, nip-only, earliest-arrival",
        })
    }
}

/// The unit in which ADAS expresses link weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WeightUnit {
    /// `W0 = B_i / B_min`, real-valued: the slowest link has weight 1.
    SlowestLink,
    /// `W0 = B_i / gcd(B)`: the paper's wording, read as greatest common divisor.
    Gcd,
}

/// Whose state of the links (NIP, hRTT, W, N) the proxy keeps. The papers list its variables (section IV-D) and leave
/// open whose they are; in section VIII-E.2 an agent is invoked for each flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkStateKept {
    /// Each flow's own: what it has under way itself, what it has measured itself. It ends with the flow.
    Flow,
    /// One for all flows of the community.
    Community,
}

/// Settings of a proxy.
#[derive(Debug, Clone, PartialEq)]
pub struct ProxyConfig {
    /// Which link takes a packet.
    pub scheduler: SchedulerKind,
    /// What happens to ACKs.
    pub rpc: RpcMode,
    /// Unit of the link weights.
    pub weight_unit: WeightUnit,
    /// A weight never falls below this. The paper has 1; below 1 the slowest link backs off too.
    pub weight_floor: f64,
    /// Whose state of the links is kept. One for each flow goes with advertised rates only: what `learn_rates` learns
    /// of a link is in its nature of all flows, and so is then the rest.
    pub link_state: LinkStateKept,
    /// Gain of the exponential average behind hRTT.
    pub rtt_gain: f64,
    /// The hRTT of a link that carries nothing is halved once per hRTT, so that a link that once looked slow is tried
    /// again. The papers say nothing of it.
    pub rtt_ageing: bool,
    /// Later packets on the same link that must arrive before an earlier one counts as lost. 1 in the
    /// paper; 3 for links whose layer 2 may reorder.
    pub link_dupthresh: u8,
    /// Tail rule: a packet is lost once it has been out this many times the largest recent RTT of its link and
    /// anything sent later has arrived. 0 switches the rule off.
    pub tail_factor: f64,
    /// No ACK is held longer than this many times the largest hRTT; 0 for no limit.
    pub hold_max_rtts: f64,
    /// No ACK is held longer than this share of the sender's estimated retransmission timeout.
    pub hold_max_rto_share: f64,
    /// Tell the sender of a loss in a TCP option (kind 253). Needs a TCP-PRISM sender to have an effect; others skip
    /// it.
    pub loss_reports: bool,
    /// On how many ACKs each report is carried.
    pub report_repeat: u8,
    /// Lower the MSS of passing SYNs to this, so that tunnelled packets need no fragmentation.
    pub mss_clamp: Option<u16>,
    /// A flow without packets for this long is forgotten (and picked up in mid-stream should it wake).
    pub flow_idle: Duration,
    /// Most flows with state; more are carried whole on one link each.
    pub max_flows: u32,
    /// Most packets recorded per flow; a flow with more in flight has the excess carried unrecorded.
    pub max_packets_per_flow: u32,
    /// Beyond the paper: learn each link's rate and shortest RTT from what it delivers, and derive weights and caps.
    pub learn_rates: bool,
    /// Beyond the paper: limit the sender so that what is in flight fits the links. Needs `learn_rates`.
    pub window_control: bool,
    /// Beyond the paper: the proxy resends packets that a link lost. The budget for copies, in packets, all
    /// flows together; 0 switches it off.
    pub repair_budget_packets: u32,
    /// Beyond the paper: leave out links that would slow the flow down. Needs `learn_rates`.
    pub standby: bool,
    /// Seed of the random scheduler and of the flow hash.
    pub seed: Seed,
}

impl ProxyConfig {
    /// `link_state` asks for what learned rates do not allow.
    pub const fn link_state_contradicts(&self) -> bool {
        matches!(self.link_state, LinkStateKept::Flow) && self.learn_rates
    }

    /// PRISM as published.
    pub const fn paper() -> Self {
        Self {
            scheduler: SchedulerKind::Adas,
            rpc: RpcMode::Full,
            weight_unit: WeightUnit::SlowestLink,
            weight_floor: 1.0,
            link_state: LinkStateKept::Community,
            rtt_gain: 0.25,
            rtt_ageing: true,
            link_dupthresh: 1,
            tail_factor: 1.5,
            hold_max_rtts: 4.0,
            hold_max_rto_share: 0.75,
            loss_reports: true,
            report_repeat: 3,
            mss_clamp: Some(1436),
            flow_idle: Duration::from_secs(15 * 60),
            max_flows: 20_000,
            max_packets_per_flow: 16_384,
            learn_rates: false,
            window_control: false,
            repair_budget_packets: 0,
            standby: false,
            seed: Seed(1),
        }
    }
}

impl Default for ProxyConfig {
    /// PRISM for today's senders: learned rates, earliest-arrival scheduling under caps, window control, local repair
    /// and standby links.
    fn default() -> Self {
        Self {
            scheduler: SchedulerKind::EarliestArrival,
            learn_rates: true,
            window_control: true,
            repair_budget_packets: 65_536,
            standby: true,
            loss_reports: false,
            ..Self::paper()
        }
    }
}

/// A link as it joins.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LinkConfig {
    /// For people: `"wwan1"`.
    pub name: String,
    /// The rate the member states. Only a first guess where `learn_rates` is on; the weight W0 where it is off.
    pub advertised_rate: Option<Rate>,
    /// Round trip to the member, if the host has measured it: which link carries the first packets where
    /// `learn_rates` is on.
    pub round_trip: Option<Duration>,
}
