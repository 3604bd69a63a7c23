//! Flows: who sends what to whom, and with which transport.

use super::{LinkIndex, NodeIndex, PtcpSettings, R2cpSettings, StripingSettings};
use crate::registry::{Congestion, Pattern, Transport};
use prismux_tcp::TcpProfile;
use prismux_tcp::engine::HyStartKind;
use prismux_units::{ByteCount, Duration, Rate};

/// Traffic between two nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// Name.
    pub name: String,
    /// Name of its entry in the file: the name without the number that `count` adds.
    pub entry: String,
    /// Sender of the data.
    pub from: NodeIndex,
    /// Receiver of the data.
    pub to: NodeIndex,
    /// Transport.
    pub transport: Transport,
    /// The member it goes through, past the proxy; `None` leaves the way to routing.
    pub via: Option<NodeIndex>,
    /// Traffic.
    pub traffic: Traffic,
    /// Start.
    pub start: Duration,
    /// Stop, if before the end of the run.
    pub stop: Option<Duration>,
    /// Access links to use; empty leaves the way to routing, or to all links of the multi-homed end.
    pub links: Vec<LinkIndex>,
    /// What R²CP needs beyond; unused by others.
    pub r2cp: R2cpSettings,
    /// TCP switches; unused by UDP.
    pub tcp: TcpSettings,
    /// Switches of pTCP.
    pub ptcp: PtcpSettings,
    /// Switches of a striping application.
    pub striping: StripingSettings,
}

/// What the application sends.
#[derive(Debug, Clone, PartialEq)]
pub enum Traffic {
    /// A file of so many bytes, or data until stopped.
    Bulk {
        /// Size.
        bytes: Option<ByteCount>,
    },
    /// Requests and responses.
    RequestResponse {
        /// Size of a request.
        request: ByteCount,
        /// Size of a response.
        response: ByteCount,
        /// Pause between a response and the next request.
        think: Duration,
    },
    /// Constant bit rate.
    Cbr {
        /// Rate of whole IP packets.
        rate: Rate,
        /// Size of an IP packet, its headers included.
        packet: ByteCount,
    },
    /// Pareto on/off.
    ParetoOnOff {
        /// Rate of whole IP packets within a burst.
        rate: Rate,
        /// Size of an IP packet, its headers included.
        packet: ByteCount,
        /// Mean burst.
        on: Duration,
        /// Mean pause.
        off: Duration,
        /// Shape of both, above 1.
        shape: f64,
    },
}

impl Traffic {
    /// The pattern's name in the registry.
    pub fn pattern(&self) -> Pattern {
        match self {
            Self::Bulk { .. } => Pattern::Bulk,
            Self::RequestResponse { .. } => Pattern::RequestResponse,
            Self::Cbr { .. } => Pattern::Cbr,
            Self::ParetoOnOff { .. } => Pattern::ParetoOnOff,
        }
    }
}

/// A TCP profile and what a flow changes in it; `None` keeps the profile's value.
#[derive(Debug, Clone, PartialEq)]
pub struct TcpSettings {
    /// The set of switches to begin with.
    pub profile: TcpProfile,
    /// Congestion control.
    pub congestion: Option<Congestion>,
    /// Maximum segment size in bytes.
    pub mss: Option<u16>,
    /// What ends slow start before a loss does.
    pub hystart: Option<Option<HyStartKind>>,
    /// Receive buffer, which bounds the window.
    pub window: Option<ByteCount>,
    /// Initial window in segments.
    pub initial_window: Option<u32>,
    /// Selective acknowledgements.
    pub sack: Option<bool>,
    /// Timestamps.
    pub timestamps: Option<bool>,
    /// Longest delay of an ACK; zero acknowledges every segment.
    pub delayed_ack: Option<Duration>,
    /// Minimum RTO.
    pub min_rto: Option<Duration>,
    /// Longest RTO, backed off.
    pub max_rto: Option<Duration>,
    /// Timer granularity.
    pub clock_granularity: Option<Duration>,
    /// Duplicate ACK threshold.
    pub dup_threshold: Option<u32>,
    /// RACK.
    pub rack: Option<bool>,
    /// Tail loss probes.
    pub tlp: Option<bool>,
    /// Undo of needless window reductions.
    pub undo: Option<bool>,
    /// Nagle's algorithm.
    pub nagle: Option<bool>,
    /// ECN.
    pub ecn: Option<bool>,
    /// Least time between probes of a closed window.
    pub min_persist: Option<Duration>,
}

impl TcpSettings {
    /// A profile as it is.
    pub fn profile(profile: TcpProfile) -> Self {
        Self {
            profile,
            congestion: None,
            hystart: None,
            mss: None,
            window: None,
            initial_window: None,
            sack: None,
            timestamps: None,
            delayed_ack: None,
            min_rto: None,
            max_rto: None,
            clock_granularity: None,
            dup_threshold: None,
            rack: None,
            tlp: None,
            undo: None,
            nagle: None,
            ecn: None,
            min_persist: None,
        }
    }
}
