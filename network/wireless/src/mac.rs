//! Who may use the medium when, and what is sent again: 802.11's distributed and point coordination
//! functions, or slots.
//!
//! [`Dcf`](dcf::Dcf) is one host's machine. Under it lie [`Ear`](ear::Ear) (what overlapping signals become) and
//! [`Contention`](contention::Contention) (back-off); above it the interface queue.
mod arf;
mod block;
pub(crate) mod config;
mod contention;
pub(crate) mod dcf;
pub(crate) mod ear;
mod exchange;
mod faults;
mod interference;
pub(crate) mod point;
mod queue;
pub(crate) mod slots;

use crate::HostId;
use crate::resolution::{ArpMessage, Load};
use prismux_units::{Duration, Rate};

/// A packet that a host hands to its MAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outgoing<P> {
    /// Whom it is for: a neighbour; all who hear it when `None`.
    pub to: Option<HostId>,
    /// Its length without MAC header.
    pub bytes: u32,
    /// Which packets go before it.
    pub priority: Priority,
    /// The packet itself, or what stands for it.
    pub payload: P,
}

/// What a packet is to the interface queue; earlier kinds go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Priority {
    /// A message of a routing protocol.
    Routing,
    /// An acknowledgement of TCP without data.
    Acknowledgement,
    /// Everything else.
    #[default]
    Normal,
}

/// The kinds of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// A packet, for one neighbour or for all.
    Data,
    /// Acknowledgement of data.
    Ack,
    /// Acknowledgement of several packets that came together.
    BlockAck,
    /// The beginning of a contention-free period.
    Beacon,
    /// The end of one.
    CfEnd,
    /// A data frame without data: what it says is in its flags, or that there is nothing to send.
    Null,
}

impl FrameKind {
    /// The name in event logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rts => "rts",
            Self::Cts => "cts",
            Self::Data => "data",
            Self::Ack => "ack",
            Self::BlockAck => "block_ack",
            Self::Beacon => "beacon",
            Self::CfEnd => "cf_end",
            Self::Null => "null",
        }
    }
}

/// A frame on the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<P> {
    /// Its kind.
    pub kind: FrameKind,
    /// Who sends it.
    pub from: HostId,
    /// Whom it is for; all when `None`.
    pub to: Option<HostId>,
    /// The rate of its bits.
    pub rate: Rate,
    /// How long it lasts.
    pub airtime: Duration,
    /// For how long after its end it reserves the medium.
    pub nav: Duration,
    /// The number of the data in it, for the detection of duplicates; of a block acknowledgement the number before
    /// which everything has come.
    pub sequence: u16,
    /// Of a block acknowledgement: which numbers have come, from `sequence` on, the lowest bit first.
    pub bitmap: u64,
    /// Whether it follows another at once, in one transmission.
    pub continues: bool,
    /// Whether it polls its receiver (CF-Poll).
    pub cf_poll: bool,
    /// Whether it acknowledges the data that came before it, whoever sent that (CF-Ack).
    pub cf_ack: bool,
    /// Whether an RTS went before it.
    pub announced: bool,
    /// The packet in it.
    pub payload: Option<P>,
    /// The message of address resolution in it, in place of a packet.
    pub arp: Option<ArpMessage>,
}

impl<P> Frame<P> {
    /// What event logs call it: its kind, or that it resolves addresses.
    pub const fn name(&self) -> &'static str {
        match self.arp {
            Some(_) => "arp",
            None => self.kind.name(),
        }
    }
}

impl<P> Frame<Load<P>> {
    /// The frame with the packet or the message that it carries.
    pub fn opened(self) -> Frame<P> {
        let Self { kind, from, to, rate, airtime, nav, sequence, bitmap, .. } = self;
        let Self { continues, cf_poll, cf_ack, announced, .. } = self;
        let (payload, arp) = match self.payload {
            Some(Load::Packet(packet)) => (Some(packet), None),
            Some(Load::Arp(message)) => (None, Some(message)),
            None => (None, None),
        };
        Frame {
            kind,
            from,
            to,
            rate,
            airtime,
            nav,
            sequence,
            bitmap,
            continues,
            cf_poll,
            cf_ack,
            announced,
            payload,
            arp,
        }
    }
}
