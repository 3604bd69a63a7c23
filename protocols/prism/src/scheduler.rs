//! Which link takes the next packet.
use crate::config::SchedulerKind;
use crate::ids::LinkId;
use crate::link_table::LinkTable;
use alloc::boxed::Box;
use core::fmt::Debug;
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant};
use prismux_wire::{FlowKey, SeqNumber};

mod adas;
mod earliest_arrival;
mod random;
mod round_robin;

#[cfg(test)]
mod tests;

pub use adas::{Adas, HrttOnly, NipOnly};
pub use earliest_arrival::EarliestArrival;
pub use random::{Random, WeightedRandom};
pub use round_robin::{RoundRobin, SmoothWeightedRoundRobin, WeightedRoundRobin};

/// What a scheduler may know of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketView {
    /// The connection that it belongs to, in the direction of the data.
    pub flow: FlowKey,
    /// Its first sequence number.
    pub seq: SeqNumber,
    /// Sequence space it takes, in bytes.
    pub bytes: u32,
    /// Bytes behind it that the receiver's window leaves; `None` while the window is unknown.
    pub window_bytes: Option<u32>,
    /// Bytes of its connection in flight on all links.
    pub flow_in_flight_bytes: u64,
    /// Until when it may be kept waiting; `None` for a packet that has to leave now.
    pub deadline: Option<Instant>,
    /// The sender (or the proxy) has sent it before.
    pub retransmission: bool,
    /// It can wait until a link has carried what it was given lately.
    pub paced: bool,
}

/// What becomes of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// It leaves over this link.
    Over(LinkId),
    /// It waits until this time, or until an ACK shows that the links have changed; then the question comes again. What
    /// follows it in its connection waits too. A packet that may not wait, or no longer ([`PacketView::deadline`]),
    /// leaves over the link with the least hRTT.
    Wait(Instant),
    /// No link takes data: it is dropped.
    NoLink,
}

impl From<Option<LinkId>> for Choice {
    fn from(link: Option<LinkId>) -> Self {
        link.map_or(Self::NoLink, Self::Over)
    }
}

/// Chooses a link for each packet.
pub trait Scheduler: Debug + Send {
    /// The link for `packet`, of those that take data, or how long it waits for one.
    fn choose(&mut self, now: Instant, links: &LinkTable, packet: &PacketView) -> Choice;
}

/// A packet of which no time is known after which its sender would repeat it waits no longer than this.
const MAX_WAIT: Duration = Duration::from_millis(100);

/// How long a packet may wait: half of the time after which its sender would repeat it, if that is known.
pub(crate) fn patience(sender_timeout: Option<Duration>) -> Duration {
    sender_timeout.map_or(MAX_WAIT, |timeout| timeout / 2)
}

impl SchedulerKind {
    /// A new scheduler of this kind.
    pub fn build(self, seed: Seed) -> Box<dyn Scheduler> {
        match self {
            Self::Adas => Box::new(Adas),
            Self::RoundRobin => Box::new(RoundRobin::default()),
            Self::WeightedRoundRobin => Box::new(WeightedRoundRobin::default()),
            Self::SmoothWeightedRoundRobin => Box::new(SmoothWeightedRoundRobin::default()),
            Self::Random => Box::new(Random::new(seed.stream("prism/scheduler/random"))),
            Self::WeightedRandom => Box::new(WeightedRandom::new(seed.stream("prism/scheduler/random"))),
            Self::HrttOnly => Box::new(HrttOnly),
            Self::NipOnly => Box::new(NipOnly),
            Self::EarliestArrival => Box::new(EarliestArrival::default()),
        }
    }
}
