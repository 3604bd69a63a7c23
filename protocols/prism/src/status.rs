//! What a person or a dashboard may ask of a running proxy.
use crate::ids::LinkId;
use alloc::string::String;
use prismux_units::{Duration, Rate};

/// The state of the reverse path controller (section V-B; Figure 5 is lost, its states are named in the prose).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ReverseState {
    /// No known loss: ACKs are re-sequenced.
    #[default]
    Normal,
    /// A loss was just found: it is reported and what was held goes out. Left at once.
    LossDetect,
    /// Until the loss is repaired, ACKs pass as they are.
    Loss,
}

impl ReverseState {
    /// The name used in traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::LossDetect => "loss-detect",
            Self::Loss => "loss",
        }
    }
}

/// What a link is used for at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkState {
    /// Carries traffic.
    Active,
    /// Up, but left out because it would slow its flows down; probed now and then.
    Standby,
    /// Rate and RTT not known yet.
    Learning,
    /// Up, but nothing has arrived over it lately: believed dead, and probed.
    Silent,
    /// Its member has left.
    Down,
}

impl LinkState {
    /// The name in status output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Standby => "standby",
            Self::Learning => "learning",
            Self::Silent => "silent",
            Self::Down => "down",
        }
    }
}

/// One line of [`crate::Proxy::link_status`].
#[derive(Debug, Clone, PartialEq)]
pub struct LinkStatus {
    /// The link.
    pub id: LinkId,
    /// Its name.
    pub name: String,
    /// Learned rate; the advertised one before anything was learned.
    pub rate: Option<Rate>,
    /// Smoothed round-trip time from proxy to receiver and back (hRTT in the paper's words); the mean over flows where
    /// each has its own ([`crate::ProxyConfig::link_state`]).
    pub rtt: Option<Duration>,
    /// Shortest round-trip time seen lately.
    pub min_rtt: Option<Duration>,
    /// Share of packets lost lately, 0 to 1.
    pub loss: f64,
    /// Share of recent packets that went over this link, 0 to 1.
    pub share: f64,
    /// Packets in flight (N), of all flows.
    pub in_flight_packets: u32,
    /// Bytes of sequence space in flight.
    pub in_flight_bytes: u64,
    /// Most bytes that may be in flight; `u64::MAX` where rates are not learned.
    pub cap_bytes: u64,
    /// Current weight (W); the mean over flows where each has its own.
    pub weight: f64,
    /// What it is used for.
    pub state: LinkState,
    /// Why it is in that state, for people.
    pub reason: &'static str,
}

/// Answer of [`crate::Proxy::flow_status`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowStatus {
    /// State of the reverse path controller.
    pub state: ReverseState,
    /// ACKs kept back.
    pub held_acks: usize,
    /// ACKs that are in order and wait for room on the links.
    pub waiting_acks: usize,
    /// Bytes of data that these ACKs will acknowledge.
    pub waiting_bytes: u32,
    /// Bytes that the sender has under way: sent and not acknowledged to it.
    pub flight_bytes: u32,
    /// Bytes that the sender was allowed to have under way: the right edge that it was shown.
    pub window_bytes: u32,
    /// Round-trip time to the sender and back.
    pub sender_rtt: Duration,
    /// Most that all senders together may have under way; `None` for no limit.
    pub flight_limit_bytes: Option<u64>,
    /// Packets on record.
    pub recorded_packets: usize,
    /// Bytes between the receiver's cumulative ACK and the highest byte it is known to have (`highest - left`).
    pub resequencing_bytes: u32,
    /// Separate ranges above the cumulative ACK.
    pub holes: usize,
}

/// What happened inside the proxy, counted since the start. Nothing here is ever reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProxyCounters {
    /// Data packets scheduled.
    pub data_packets: u64,
    /// Of these, retransmissions by the sender.
    pub retransmissions: u64,
    /// Of these, spurious ones: the receiver had the data, or the proxy was resending it.
    pub spurious_retransmissions: u64,
    /// Of the data packets, new data that found the links full and waited at the proxy.
    pub waited_packets: u64,
    /// Packets carried whole by flow hash.
    pub opaque_packets: u64,
    /// Packets from the receiver.
    pub reverse_packets: u64,
    /// ACKs kept back at least once.
    pub acks_held: u64,
    /// ACKs released with a corrected number.
    pub acks_corrected: u64,
    /// Packets dropped for want of a link.
    pub dropped_no_link: u64,
    /// Packets no longer counted as in flight although nothing told what became of them.
    pub forgotten_packets: u64,
    /// Data packets dropped because links were full while many flows waited, and there was no room to wait.
    pub dropped_no_room: u64,
    /// Pure ACKs dropped because they said nothing new.
    pub dropped_acks: u64,
    /// Losses found on links.
    pub losses_detected: u64,
    /// Of these, found by age (tail rule, hold limit or departed link).
    pub losses_by_time: u64,
    /// Losses found to have happened before the proxy.
    pub no_data_holes: u64,
    /// Packets declared lost that arrived after all.
    pub false_losses: u64,
    /// Loss reports attached.
    pub reports_sent: u64,
    /// Entries into the LOSS state.
    pub loss_episodes: u64,
    /// DSACK blocks seen.
    pub dsacks: u64,
    /// SACK blocks or ACK numbers outside what was ever sent: ignored.
    pub implausible_acks: u64,
    /// Data packets whose numbers do not fit their connection: carried without changing anything.
    pub implausible_data: u64,
    /// Flows picked up in mid-stream.
    pub midstream_flows: u64,
    /// Packets resent by the proxy itself.
    pub local_repairs: u64,
    /// Copies sent to measure a standby or unknown link, or because nothing was heard of a receiver any more.
    pub probe_copies: u64,
    /// Packets that held everything up, sent once more over another link that had little to do.
    pub reinjected_packets: u64,
}
