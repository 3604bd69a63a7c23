//! One vocabulary of events for the simulator and the Linux hosts.
//!
//! A host builds an [`Event`] and hands it, with the time, to an [`EventSink`]; logs, plots and the dashboard are
//! readers of the same events. Times are nanoseconds from the start of the run, names are those of the scenario file.

mod description;
mod json_lines;
mod packet;
mod shared;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

pub use description::{FlowDescription, LinkDescription, NodeDescription, RunDescription};
pub use json_lines::{JsonLines, Record, read_json_lines};
pub use packet::{PacketSummary, SegmentSummary, StreamPart};
pub use shared::SharedLog;

use prismux_units::Instant;

/// Name of the event log in the folder that a recorded run leaves.
pub const EVENTS_FILE: &str = "events.jsonl";

/// A name from the scenario file, or of a mechanism.
pub type Name<'a> = Cow<'a, str>;

/// Why a packet went no further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DropReason {
    /// The queue was full.
    QueueFull,
    /// The channel lost it.
    Loss,
    /// The channel damaged it and the receiver's checksum found out.
    Corrupted,
    /// The link was down.
    LinkDown,
    /// No route, or no link left to take it.
    NoRoute,
    /// A middle box judged it needless (a repeated ACK while others are held).
    Redundant,
    /// It could not be understood.
    Malformed,
    /// It made its last hop.
    Expired,
}

/// What the proxy decided about a packet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict<'a> {
    /// Sent on over a link.
    Forward {
        /// The link chosen.
        link: Name<'a>,
    },
    /// Kept back.
    Hold,
    /// Released to the sender.
    Release {
        /// The acknowledgement number it left with.
        ack: u32,
        /// True when it left with other fields than it came with.
        rewritten: bool,
        /// True when it carries a loss report.
        report: bool,
    },
    /// Thrown away.
    Drop {
        /// Why.
        reason: DropReason,
    },
}

/// What happened to a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimerChange {
    /// Armed, or moved to another time.
    Set,
    /// Disarmed.
    Cancelled,
    /// It ran out.
    Fired,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event<'a> {
    /// A run began. First in every record of a run.
    RunStarted(Box<RunDescription<'a>>),
    /// A run ended, and with it its record: a log without this event was cut short.
    RunEnded,
    /// A packet was given to a link.
    PacketSent {
        /// The link.
        link: Name<'a>,
        /// The node that sent it.
        from: Name<'a>,
        /// The packet.
        packet: PacketSummary<'a>,
    },
    /// A packet came out of a link.
    PacketDelivered {
        /// The link.
        link: Name<'a>,
        /// The node that received it.
        to: Name<'a>,
        /// The packet.
        packet: PacketSummary<'a>,
    },
    /// A packet went no further.
    PacketDropped {
        /// The link, or the node where there was no link.
        at: Name<'a>,
        /// The node that had given it to the link; `None` where there was no link.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Name<'a>>,
        /// Why.
        reason: DropReason,
        /// The packet.
        packet: PacketSummary<'a>,
    },
    /// A proxy decided about a packet.
    PacketJudged {
        /// The proxy.
        node: Name<'a>,
        /// The data flow it belongs to.
        flow: Name<'a>,
        /// The decision.
        #[serde(flatten)]
        verdict: Verdict<'a>,
    },
    /// The number of ACKs a proxy holds back for a flow changed.
    HeldChanged {
        /// The proxy.
        node: Name<'a>,
        /// The data flow.
        flow: Name<'a>,
        /// ACKs held now.
        held_acks: u64,
    },
    /// A sender's windows changed.
    WindowChanged {
        /// The flow.
        flow: Name<'a>,
        /// Congestion window in bytes.
        cwnd_bytes: u64,
        /// Slow-start threshold in bytes; `None` before the first loss.
        ssthresh_bytes: Option<u64>,
        /// Bytes in flight.
        in_flight_bytes: u64,
        /// Smoothed round-trip time in nanoseconds, once measured.
        srtt_ns: Option<u64>,
    },
    /// A state machine changed its state.
    StateChanged {
        /// The node it lives on.
        node: Name<'a>,
        /// The flow it serves.
        flow: Name<'a>,
        /// The machine ("connection", "recovery", "reverse-path", ...).
        machine: Name<'a>,
        /// The state left.
        from: Name<'a>,
        /// The state entered.
        to: Name<'a>,
    },
    /// A loss was detected.
    LossDetected {
        /// The node that found it.
        node: Name<'a>,
        /// The flow.
        flow: Name<'a>,
        /// The rule that found it ("duplicate-acks", "rack", "link-order", "rto", ...).
        by: Name<'a>,
        /// The link that lost it, where known.
        link: Option<Name<'a>>,
        /// First sequence number of the lost segment.
        seq: u32,
    },
    /// A timer was set, cancelled or fired.
    Timer {
        /// The node.
        node: Name<'a>,
        /// The flow.
        flow: Name<'a>,
        /// Its name ("rto", "delayed-ack", ...).
        timer: Name<'a>,
        /// What happened to it.
        change: TimerChange,
        /// When it will fire, nanoseconds from the start of the run; only when set.
        due_ns: Option<u64>,
    },
    /// A member's link joined the community.
    MemberJoined {
        /// The member or link.
        member: Name<'a>,
    },
    /// A member's link left the community.
    MemberLeft {
        /// The member or link.
        member: Name<'a>,
    },
    /// A host has another link, or the same one again, and tells its peers.
    HandoffComplete {
        /// The host.
        node: Name<'a>,
        /// The link it is attached by from now on; `None` when that did not change.
        link: Option<Name<'a>>,
        /// What the host believes the link to carry; `None` without an estimate.
        bandwidth_bps: Option<u64>,
    },
    /// A link's properties changed.
    LinkChanged {
        /// The link.
        link: Name<'a>,
        /// The node that sends in the direction that changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Name<'a>>,
        /// Its rate from now on; `None` when the rate did not change.
        rate_bps: Option<u64>,
        /// Its one-way delay from now on; `None` when the delay did not change.
        delay_ns: Option<u64>,
        /// Whether it is up.
        up: bool,
    },
    /// A flow began.
    FlowStarted {
        /// The flow.
        flow: Name<'a>,
    },
    /// A flow ended.
    FlowFinished {
        /// The flow.
        flow: Name<'a>,
        /// Bytes that reached the application.
        bytes: u64,
    },
}

/// Whoever wants to know.
pub trait EventSink {
    /// `event` happened at `at`. Times never go back.
    fn event(&mut self, at: Instant, event: &Event<'_>);
}

/// Nobody wants to know.
impl EventSink for () {
    fn event(&mut self, _at: Instant, _event: &Event<'_>) {}
}
