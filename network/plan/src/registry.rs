//! Every name that a file, the command line, another language or a result may use, in one place.
//!
//! Each list pairs a name with its value and one line of explanation; readers, error messages, result columns and the
//! reference page are all made from them. The value of a transport or of a traffic pattern carries its defaults.
mod cell;
mod radio;

pub use cell::{CELL_ACCESS, REUSE};
pub use radio::{
    ADDRESS_RESOLUTION, FADING, INTERFACE_QUEUES, MEDIUM_ACCESS, MOBILITY, MobilityModel, PROPAGATION,
    RATE_CONTROL, RECEPTION, ROUTING, WAYPOINT_STARTS,
};

use crate::{
    Congestion, Flow, MptcpSettings, NodeKind, ProxyProfile, PtcpSettings, R2cpSettings, RcpOpener,
    RcpSettings, StripedOver, StripingSettings, Traffic, Transport, Tunnel,
};
use prismux_link::{CoDel, FqCoDel, Management, OutagePolicy, Pie, Red};
use prismux_mptcp::{Coupling, Scheduler};
use prismux_prism::{LinkStateKept, RpcMode, SchedulerKind, WeightUnit};
use prismux_ptcp::{Reassignment, ResumeOrder};
use prismux_r2cp::Scheduling;
use prismux_tcp::engine::HyStartKind;
use prismux_tcp::{EcnEcho, TcpProfile};
use prismux_tcp_door::DoorConfig;
use prismux_units::{ByteCount, Duration, Rate};

/// A name, what it stands for, and one line about it.
#[derive(Debug, Clone, Copy)]
pub struct Name<T> {
    /// As written in a scenario file.
    pub name: &'static str,
    /// What it selects.
    pub value: T,
    /// One line for people.
    pub summary: &'static str,
}

const fn name<T>(name: &'static str, value: T, summary: &'static str) -> Name<T> {
    Name { name, value, summary }
}

/// The name of `value` in `names`; `"?"` for a value without one.
pub fn name_of<T: PartialEq>(names: &[Name<T>], value: &T) -> &'static str {
    names.iter().find(|entry| entry.value == *value).map_or("?", |entry| entry.name)
}

/// The value called `name` in `names`.
pub fn value_of<T: Copy>(names: &[Name<T>], name: &str) -> Option<T> {
    names.iter().find(|entry| entry.name == name).map(|entry| entry.value)
}

impl Transport {
    /// Its name, whatever its settings.
    pub fn name(&self) -> &'static str {
        TRANSPORTS.iter().find(|entry| entry.value.is_same_as(self)).map_or("?", |entry| entry.name)
    }
}

impl Traffic {
    /// The name of its pattern.
    pub fn name(&self) -> &'static str {
        PATTERNS.iter().find(|entry| entry.value.is_same_as(self)).map_or("?", |entry| entry.name)
    }

    /// Whether both are of one pattern, whatever their numbers.
    pub fn is_same_as(&self, other: &Self) -> bool {
        core::mem::discriminant(self) == core::mem::discriminant(other)
    }
}

impl Flow {
    /// How results call the flow's transport: by its pattern where it carries neither a file nor writes.
    pub fn transport_name(&self) -> &'static str {
        match self.traffic {
            Traffic::Bulk { .. } | Traffic::Writes { .. } => self.transport.name(),
            _ => self.traffic.name(),
        }
    }
}

/// Node kinds.
pub const NODE_KINDS: &[Name<NodeKind>] = &[
    name("host", NodeKind::Host, "runs the ends of flows"),
    name("router", NodeKind::Router, "forwards packets by the shortest path"),
    name("prism-proxy", NodeKind::PrismProxy, "splits flows over the members and repairs the returning ACKs"),
    name("member", NodeKind::Member, "lends its uplink: takes packets out of the tunnel and passes them on"),
];

/// When pTCP unbinds bytes from a pipe.
pub const REASSIGNMENT: &[Name<Reassignment>] = &[
    name("probe", Reassignment::Probe, "as window, and when the pipe is silent until its TCP probes (TLP)"),
    name("window", Reassignment::Window, "when they lie beyond the pipe's window, as published"),
    name("timeout", Reassignment::Timeout, "after a retransmission timeout only"),
    name("off", Reassignment::Off, "never"),
];

/// In which order pTCP asks its pipes.
pub const RESUME_ORDER: &[Name<ResumeOrder>] = &[
    name("least-rtt", ResumeOrder::LeastRtt, "least smoothed round-trip time first"),
    name("number", ResumeOrder::Number, "in the order of the links"),
];

/// Queues that drop or mark before they are full.
pub const QUEUES: &[Name<Management>] = &[
    name(
        "codel",
        Management::CoDel(CoDel::DEFAULT),
        "controlled delay: by how long packets have waited (RFC 8289)",
    ),
    name(
        "fq-codel",
        Management::FqCoDel(FqCoDel::DEFAULT),
        "CoDel for every flow, sparse flows first (RFC 8290)",
    ),
    name("pie", Management::Pie(Pie::DEFAULT), "at random, by a controller of the delay (RFC 8033)"),
    name("red", Management::Red(Red::DEFAULT), "at random, by the average length (random early detection)"),
];

/// Which subflow MPTCP gives the next bytes.
pub const MPTCP_SCHEDULERS: &[Name<Scheduler>] = &[
    name("linux", Scheduler::Linux, "as the kernel's `default`: queued where what is held is sent soonest"),
    name("min-rtt", Scheduler::MinRtt, "the least round-trip time among those with room"),
    name("round-robin", Scheduler::RoundRobin, "in turn, among those with room"),
    name("redundant", Scheduler::Redundant, "everything on every subflow"),
    name("blest", Scheduler::Blest, "BLEST: least round-trip time, unless the window would be blocked"),
    name(
        "ecf",
        Scheduler::Ecf,
        "ECF: least round-trip time, unless waiting for the fast one is done earlier",
    ),
];

/// How the windows of MPTCP's subflows are coupled.
pub const MPTCP_COUPLINGS: &[Name<Coupling>] = &[
    name("off", Coupling::Off, "not at all: each subflow has the flow's `congestion`, as in Linux"),
    name("lia", Coupling::Lia, "linked increases (RFC 6356)"),
    name("olia", Coupling::Olia, "opportunistic linked increases"),
    name("balia", Coupling::Balia, "balanced linked adaptation"),
    name("wvegas", Coupling::Wvegas, "weighted Vegas: by delay"),
];

/// Transports.
pub const TRANSPORTS: &[Name<Transport>] = &[
    name("tcp", Transport::Tcp, "ordinary TCP (the kernel's in the lab)"),
    name("tcp-prism", Transport::TcpPrism, "TCP whose sender uses the proxy's loss reports"),
    name("tcp-ho", Transport::TcpHo, "TCP-HO: the receiver tells of its handoffs; simulator only"),
    name(
        "tcp-door",
        Transport::TcpDoor(DoorConfig::published()),
        "TCP-DOOR: reordering tells of a new route, and congestion control stands still; simulator only",
    ),
    name(
        "mptcp",
        Transport::Mptcp(MptcpSettings::DEFAULT),
        "Multipath TCP (RFC 8684) with a subflow on every access link; in the lab the kernel's, through every member",
    ),
    name(
        "tcp-eln",
        Transport::TcpEln,
        "TCP-ELN: the receiver marks ACKs that wait for a packet its link damaged (`corrupt`); simulator only",
    ),
    name(
        "rcp",
        Transport::Rcp(RcpSettings::DEFAULT),
        "Reception Control Protocol: the receiver asks and controls; in the lab by prismux serve and fetch",
    ),
    name(
        "rcp-eln",
        Transport::RcpEln(RcpSettings::DEFAULT),
        "RCP whose receiver knows which packets its link damaged (`corrupt`); simulator only",
    ),
    name(
        "r2cp",
        Transport::R2cp(R2cpSettings::DEFAULT),
        "R²CP: one stream over several RCP pipes (`pipes`); in the lab by prismux serve and fetch",
    ),
    name(
        "ptcp",
        Transport::Ptcp(PtcpSettings::DEFAULT),
        "pTCP: one connection with a TCP pipe on every access link (simulator only)",
    ),
    name(
        "striping-unaware",
        Transport::StripingUnaware(StripingSettings::DEFAULT),
        "an application that writes to one socket per access link in turn (simulator only)",
    ),
    name(
        "striping-smart",
        Transport::StripingSmart(StripingSettings::DEFAULT),
        "the same, in proportion to the links' rates (simulator only)",
    ),
    name("udp", Transport::Udp, "datagrams without congestion control"),
];

/// Who opens an RCP connection.
pub const RCP_OPENERS: &[Name<RcpOpener>] = &[
    name("receiver", RcpOpener::Receiver, "who asks for data, as a client fetches"),
    name("sender", RcpOpener::Sender, "who has data, as a client uploads"),
];

/// What a striping application stripes over.
pub const STRIPED_OVER: &[Name<StripedOver>] = &[
    name("tcp", StripedOver::Tcp, "TCP, opened by the sending application"),
    name("rcp", StripedOver::Rcp, "RCP, opened by the receiving application"),
];

/// How R²CP chooses the segment of a pipe's next request.
pub const SCHEDULING: &[Name<Scheduling>] = &[
    name(
        "expected-arrival",
        Scheduling::ExpectedArrival,
        "by rank: the segment that will be next in line when its data arrives",
    ),
    name(
        "expected-arrival-chained",
        Scheduling::ExpectedArrivalChained,
        "by rank, with the successors' successors counted too",
    ),
    name("first-pending", Scheduling::FirstPending, "R²CP-s: the first that nobody has been asked for"),
    name("round-robin", Scheduling::RoundRobin, "segments in turn, whatever the pipes' rates"),
];

/// What applications send. Rates, bursts and responses have no defaults: they are zero here.
pub const PATTERNS: &[Name<Traffic>] = &[
    name("bulk", Traffic::ENDLESS, "a file, or data without end (every transport but udp)"),
    name(
        "request-response",
        Traffic::RequestResponse {
            request: ByteCount::new(300),
            response: ByteCount::ZERO,
            think: Duration::ZERO,
            exchanges: None,
        },
        "a request, its response, a pause, again (tcp)",
    ),
    name(
        "writes",
        Traffic::Writes { size: ByteCount::new(1000), every: Duration::ZERO },
        "writes at equal intervals into one connection (tcp, rcp)",
    ),
    name("cbr", Traffic::Cbr { rate: Rate::ZERO, packet: ByteCount::new(1000) }, "constant bit rate (udp)"),
    name(
        "pareto",
        Traffic::ParetoOnOff {
            rate: Rate::ZERO,
            packet: ByteCount::new(1000),
            on: Duration::ZERO,
            off: Duration::ZERO,
            shape: 1.5,
        },
        "bursts at a constant rate, lengths Pareto-distributed (udp)",
    ),
];

/// TCP profiles.
pub const PROFILES: &[Name<TcpProfile>] = &[
    name("modern", TcpProfile::Modern, "what a current kernel does: CUBIC, SACK, RACK-TLP, undo, timestamps"),
    name(
        "ns2-2002",
        TcpProfile::Ns2_2002,
        "the SACK agents of ns-2 in 2002: window of 20 segments, no timestamps, no undo",
    ),
    name(
        "linux-2.4",
        TcpProfile::Linux24,
        "a Linux 2.4 host: NewReno with SACK, timestamps, minimum RTO 200 ms",
    ),
];

/// Congestion controls. `reno` is the kernel's word for NewReno.
pub const CONGESTION: &[Name<Congestion>] = &[
    name("cubic", Congestion::Cubic, "CUBIC (RFC 9438)"),
    name("newreno", Congestion::NewReno, "NewReno (RFC 5681, RFC 6582)"),
    name("reno", Congestion::NewReno, "the kernel's name of newreno"),
    name("bbr", Congestion::Bbr, "BBR version 1, or the kernel's where the sender is a kernel"),
    name("bbr3", Congestion::Bbr3, "BBR version 3; simulator only"),
    name(
        "stp",
        Congestion::Stp,
        "the satellite transport protocol's: polled reports, three in a round trip; simulator only",
    ),
];

/// Ways to end slow start before a loss does; `None` for none.
pub const HYSTART: &[Name<Option<HyStartKind>>] = &[
    name("off", None, "slow start lasts until a loss"),
    name("rfc9406", Some(HyStartKind::Rfc9406), "HyStart++: slower when the round-trip time rises"),
    name("linux", Some(HyStartKind::Linux), "as Linux's CUBIC: ends at long trains of ACKs too"),
];

/// How receivers echo the network's marks; `None` for the way of every profile.
pub const ECN_ECHO: &[Name<Option<EcnEcho>>] = &[
    name("rfc3168", None, "on every ACK until the sender says that it has answered"),
    name(
        "rfc8257",
        Some(EcnEcho::EachSegment),
        "on the ACKs of what was marked: their share is that of the marks",
    ),
];

/// Schedulers: how the proxy picks a link for a data packet.
pub const SCHEDULERS: &[Name<SchedulerKind>] = &[
    name(
        "adas",
        SchedulerKind::Adas,
        "PRISM's adaptive scheduler: least normalised packets in flight, then least delay",
    ),
    name("round-robin", SchedulerKind::RoundRobin, "each link in turn"),
    name(
        "weighted-round-robin",
        SchedulerKind::WeightedRoundRobin,
        "each link in turn: the whole packets that its weight allows, in a row",
    ),
    name(
        "smooth-weighted-round-robin",
        SchedulerKind::SmoothWeightedRoundRobin,
        "in proportion to the weights, packet by packet",
    ),
    name("random", SchedulerKind::Random, "any link, evenly"),
    name("weighted-random", SchedulerKind::WeightedRandom, "any link, in proportion to the weights"),
    name("hrtt-only", SchedulerKind::HrttOnly, "always the link with the least delay"),
    name("nip-only", SchedulerKind::NipOnly, "always the link least used for its weight"),
    name(
        "earliest-arrival",
        SchedulerKind::EarliestArrival,
        "the link on which the packet should arrive first",
    ),
];

/// How much of the reverse path controller works.
pub const REVERSE_PATH: &[Name<RpcMode>] = &[
    name("full", RpcMode::Full, "hold and rewrite ACKs, detect losses per link and report them"),
    name("resequence", RpcMode::Resequence, "hold and rewrite ACKs, leave losses to the sender's timeout"),
    name("off", RpcMode::Off, "pass ACKs untouched: plain striping"),
];

/// Profiles of a proxy.
pub const PROXY_PROFILES: &[Name<ProxyProfile>] = &[
    name(
        "modern",
        ProxyProfile::Modern,
        "for unmodified current senders: learned rates, window control, repair, standby",
    ),
    name(
        "paper",
        ProxyProfile::Paper,
        "PRISM as published: ADAS, rates told by the members, nothing beyond the papers",
    ),
];

/// Units of link weights.
pub const WEIGHT_UNITS: &[Name<WeightUnit>] = &[
    name("slowest-link", WeightUnit::SlowestLink, "the slowest link has weight 1"),
    name("gcd", WeightUnit::Gcd, "the greatest common divisor of all rates has weight 1"),
];

/// Whose state of the links (NIP, hRTT, W, N) a proxy keeps.
pub const LINK_STATES: &[Name<LinkStateKept>] = &[
    name(
        "flow",
        LinkStateKept::Flow,
        "each flow's own, as with an agent for each; needs `learn_rates = false`",
    ),
    name("community", LinkStateKept::Community, "one for all flows of the proxy"),
];

/// What a link does while it is down.
pub const OUTAGES: &[Name<OutagePolicy>] = &[
    name("lose", OutagePolicy::Lose, "everything queued or sent meanwhile is lost"),
    name("hold", OutagePolicy::Hold, "the queue keeps what it has until the link returns"),
];

/// Tunnels.
pub const TUNNELS: &[Name<Tunnel>] = &[
    name("gre", Tunnel::Gre, "GRE over IP (RFC 2784)"),
    name("gre-in-udp", Tunnel::GreInUdp, "GRE in UDP (RFC 8086), for carriers that block GRE"),
    name(
        "sealed",
        Tunnel::Sealed,
        "sealed sessions in UDP: what passes is neither read, forged nor repeated",
    ),
];
