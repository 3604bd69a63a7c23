//! The switches of the engine, and the three families they add up to.
use prismux_units::Duration;

/// Which congestion control grows and shrinks the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CongestionKind {
    /// Additive increase, halving (RFC 5681).
    NewReno,
    /// Cubic growth in time since the last reduction (RFC 9438).
    Cubic,
    /// Rate and window from a model of the path: bottleneck bandwidth and round-trip propagation time (BBR, version 1).
    Bbr,
    /// The same with bounds that losses set (BBR, version 3).
    Bbr3,
    /// The satellite transport protocol's: polled reports, windows in bytes, losses found by reports.
    Stp,
}

impl CongestionKind {
    /// Every kind, in the order people see them.
    pub const ALL: [Self; 5] = [Self::NewReno, Self::Cubic, Self::Bbr, Self::Bbr3, Self::Stp];

    /// The name used in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NewReno => "newreno",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
            Self::Bbr3 => "bbr3",
            Self::Stp => "stp",
        }
    }

    /// The kind called `name` (`reno` is accepted for `newreno`, as on Linux).
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "newreno" | "reno" => Some(Self::NewReno),
            "cubic" => Some(Self::Cubic),
            "bbr" => Some(Self::Bbr),
            "bbr3" => Some(Self::Bbr3),
            "stp" => Some(Self::Stp),
            _ => None,
        }
    }
}

/// Which sender the recovery logic follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecoveryStyle {
    /// The RFCs, as selected by the other switches.
    Standard,
    /// `Agent/TCP/Sack1` of ns-2: counted pipe, every hole eligible once in recovery, go-back-N on timeout.
    Ns2Sack1,
    /// `Agent/TCP/Newreno` of ns-2.
    Ns2NewReno,
}

/// How the window comes down to the threshold when recovery begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WindowReduction {
    /// At once (RFC 5681, RFC 6675).
    Immediate,
    /// Proportional rate reduction (RFC 6937, with the reduction bound of RFC 9937).
    Proportional,
    /// One segment less for every second ACK (Linux 2.4 rate halving).
    RateHalving,
}

/// How RTT samples become a retransmission timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RtoStyle {
    /// RFC 6298, in nanoseconds, with the configured clock granularity.
    Rfc6298,
    /// Linux: the variance is the largest of a round trip and never below the minimum RTO, so that
    /// RTO = SRTT + max(4 RTTVAR, minimum RTO).
    Linux,
    /// Nothing at all has been heard for two smoothed round trips and four deviations.
    Silence,
    /// ns-2: one timed segment per round trip, integer arithmetic in ticks of `clock_granularity`.
    Ticks,
}

/// Ways to end slow start before a loss does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HyStartKind {
    /// HyStart++: slow down when the round-trip time rises, end when it stays so (RFC 9406).
    Rfc9406,
    /// HyStart of Linux's CUBIC: end at once when the round-trip time rises or a train of ACKs is long.
    Linux,
}

/// Everything an [`Engine`](super::Engine) can be told about its behaviour.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineConfig {
    /// First window, in segments (RFC 6928: 10; RFC 3390 era: 2).
    pub initial_window_segments: u32,
    /// Congestion control.
    pub congestion: CongestionKind,
    /// What ends slow start before a loss does.
    pub hystart: Option<HyStartKind>,
    /// Grow once per ACK instead of by the bytes it acknowledges (before RFC 3465).
    pub growth_per_ack: bool,
    /// The sender whose recovery is followed.
    pub recovery: RecoveryStyle,
    /// How the window comes down.
    pub reduction: WindowReduction,
    /// Use selective acknowledgements (RFC 2018, RFC 6675).
    pub sack: bool,
    /// A timeout forgets what the receiver had reported, which it may have dropped since (RFC 2018 section 8); with
    /// [`RecoveryStyle::Standard`] and without `rack`. ns-2's agents always do.
    pub forget_sacks: bool,
    /// A hole is lost once data `dup_threshold` segments above it arrived (forward acknowledgement, Linux 2.4)
    /// rather than once that many segments above it arrived.
    pub fack: bool,
    /// Time-based loss detection (RFC 8985). Needs `sack`.
    pub rack: bool,
    /// Tail loss probes (RFC 8985 section 7). Needs `rack`.
    pub tlp: bool,
    /// New segments on the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Duplicates, or segments above a hole, that mean a loss (RFC 5681: 3).
    pub dup_threshold: u32,
    /// Without `rack`: raise `dup_threshold` when reordering is seen (Linux 2.4 and later). With `rack`: widen its
    /// window.
    pub adaptive_reordering: bool,
    /// Highest value `adaptive_reordering` may reach, in segments (Linux 2.4: 127).
    pub max_reordering: u32,
    /// Restore the window when a reduction proves to be spurious (DSACK RFC 3708, Eifel RFC 4015).
    pub undo: bool,
    /// Detect spurious timeouts by new data after the timeout (F-RTO, RFC 5682).
    pub frto: bool,
    /// Restore the window also after a false [`LossNotice`](super::LossNotice).
    pub undo_notices: bool,
    /// Restart from a smaller window after an idle time (RFC 5681 section 4.1).
    pub idle_restart: bool,
    /// Grow the window only while it is what limits sending (RFC 7661, RFC 2861).
    pub window_validation: bool,
    /// How the timeout is computed.
    pub rto_style: RtoStyle,
    /// Shortest timeout.
    pub min_rto: Duration,
    /// Longest timeout, backed off.
    pub max_rto: Duration,
    /// Timeout before the first sample.
    pub initial_rto: Duration,
    /// Clock granularity G of RFC 6298; the tick of [`RtoStyle::Ticks`].
    pub clock_granularity: Duration,
    /// Resolution of the timestamps behind [`Ack::rtt_from_timestamp`](super::Ack::rtt_from_timestamp).
    pub timestamp_granularity: Duration,
    /// Time by which a receiver may delay an ACK, for tail loss probes (RFC 8985 section 7.2).
    pub max_ack_delay: Duration,
    /// STP: reports asked for, or bundles of requests, in a smoothed round trip.
    pub polls_per_rtt: u32,
    /// At most this many segments in answer to one event.
    pub max_burst: Option<u32>,
}

impl EngineConfig {
    /// A stack of today: SACK, RACK-TLP, PRR, CUBIC with HyStart++, undo.
    pub const fn modern() -> Self {
        Self {
            initial_window_segments: 10,
            congestion: CongestionKind::Cubic,
            hystart: Some(HyStartKind::Rfc9406),
            growth_per_ack: false,
            recovery: RecoveryStyle::Standard,
            reduction: WindowReduction::Proportional,
            sack: true,
            forget_sacks: false,
            fack: false,
            rack: true,
            tlp: true,
            limited_transmit: true,
            dup_threshold: 3,
            adaptive_reordering: true,
            max_reordering: 300,
            undo: true,
            frto: true,
            undo_notices: false,
            idle_restart: true,
            window_validation: true,
            rto_style: RtoStyle::Linux,
            min_rto: Duration::from_millis(200),
            max_rto: Duration::from_secs(120),
            initial_rto: Duration::from_secs(1),
            clock_granularity: Duration::from_millis(1),
            timestamp_granularity: Duration::from_millis(1),
            max_ack_delay: Duration::from_millis(200),
            polls_per_rtt: 3,
            max_burst: None,
        }
    }

    /// `Agent/TCP/Sack1` of ns-2.35.
    pub const fn ns2_sack1() -> Self {
        Self {
            initial_window_segments: 2,
            congestion: CongestionKind::NewReno,
            hystart: None,
            growth_per_ack: true,
            recovery: RecoveryStyle::Ns2Sack1,
            reduction: WindowReduction::Immediate,
            rack: false,
            tlp: false,
            adaptive_reordering: false,
            undo: false,
            frto: false,
            idle_restart: false,
            window_validation: false,
            rto_style: RtoStyle::Ticks,
            max_rto: Duration::from_secs(60),
            initial_rto: Duration::from_secs(3),
            clock_granularity: Duration::from_millis(10),
            ..Self::modern()
        }
    }

    /// `Agent/TCP/Newreno` of ns-2.35.
    pub const fn ns2_newreno() -> Self {
        Self { recovery: RecoveryStyle::Ns2NewReno, sack: false, ..Self::ns2_sack1() }
    }

    /// Linux 2.4.20: SACK with FACK and DSACK, adaptive reordering, rate halving, undo; NewReno.
    pub const fn linux24() -> Self {
        Self {
            initial_window_segments: 2,
            congestion: CongestionKind::NewReno,
            hystart: None,
            growth_per_ack: true,
            reduction: WindowReduction::RateHalving,
            fack: true,
            rack: false,
            tlp: false,
            max_reordering: 127,
            frto: false,
            initial_rto: Duration::from_secs(3),
            clock_granularity: Duration::from_millis(10),
            timestamp_granularity: Duration::from_millis(10),
            ..Self::modern()
        }
    }
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self::modern()
    }
}
