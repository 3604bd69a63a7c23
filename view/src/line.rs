//! One line of an event log, as far as the viewer looks at it.
//!
//! The fields are those of [`prismux_trace::event::Event`], of whatever kind, side by side: names are borrowed from the
//! line and nothing is kept, so that a million lines take well under a second.
use serde::Deserialize;
use std::borrow::Cow;
use std::ops::Deref;

/// A text that borrows from the line where it can. (Inside an `Option`, a bare `Cow` would always be copied.)
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// The kinds of events that the viewer knows; all others are counted and passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    RunStarted,
    RunEnded,
    PacketSent,
    PacketDelivered,
    PacketDropped,
    HeldChanged,
    WindowChanged,
    MemberJoined,
    MemberLeft,
    HandoffComplete,
    LinkChanged,
    FlowStarted,
    FlowFinished,
    #[serde(other)]
    Other,
}

/// One line.
#[derive(Debug, Deserialize)]
pub(crate) struct Line<'a> {
    pub time_ns: u64,
    pub event: Kind,
    #[serde(borrow, default)]
    pub link: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub at: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub from: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub to: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub node: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub flow: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub member: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub packet: Option<Packet<'a>>,
    pub held_acks: Option<u64>,
    pub cwnd_bytes: Option<u64>,
    pub ssthresh_bytes: Option<u64>,
    pub in_flight_bytes: Option<u64>,
    pub srtt_ns: Option<u64>,
    pub rate_bps: Option<u64>,
    pub delay_ns: Option<u64>,
    pub up: Option<bool>,
    pub bytes: Option<u64>,
}

/// A packet.
#[derive(Debug, Deserialize)]
pub(crate) struct Packet<'a> {
    #[serde(borrow, default)]
    pub flow: Option<Text<'a>>,
    pub bytes: u32,
    #[serde(borrow, default)]
    pub segment: Option<Segment<'a>>,
    #[serde(default)]
    pub stream: Option<Part>,
}

/// A part of a stream that another transport carries.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Part {
    pub offset: u64,
    pub bytes: u32,
}

/// A TCP segment.
#[derive(Debug, Deserialize)]
pub(crate) struct Segment<'a> {
    pub seq: u32,
    pub ack: u32,
    #[serde(borrow)]
    pub flags: Text<'a>,
    pub payload_bytes: u32,
}
