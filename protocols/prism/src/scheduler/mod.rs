//! Which link takes the next packet.
use crate::config::UnknownName;
use crate::link_table::{LinkId, LinkTable};
use alloc::boxed::Box;
use core::fmt::Debug;
use core::str::FromStr;
use prismux_endpoint::random::Seed;
use prismux_units::Instant;

mod adas;
mod earliest_arrival;
mod round_robin;

#[cfg(test)]
mod tests;

pub use adas::{Adas, HrttOnly, NipOnly};
pub use earliest_arrival::EarliestArrival;
pub use round_robin::{Random, RoundRobin, WeightedRoundRobin};

/// What a scheduler may know of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketView {
    /// Sequence space it takes, in bytes.
    pub bytes: u32,
    /// The sender (or the proxy) has sent it before.
    pub retransmission: bool,
    /// It can wait until a link has carried what it was given lately.
    pub paced: bool,
}

/// Chooses a link for each packet.
pub trait Scheduler: Debug + Send {
    /// The link for `packet`, of those that take data; `None` when there is none.
    fn choose(&mut self, now: Instant, links: &LinkTable, packet: PacketView) -> Option<LinkId>;
}

/// The schedulers, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SchedulerKind {
    /// ADAS (section IV): least normalised packets in flight, then least hRTT.
    Adas,
    /// Each link in turn.
    RoundRobin,
    /// Each link in turn, `W_i` packets per round, interleaved.
    WeightedRoundRobin,
    /// Uniformly random.
    Random,
    /// Always the least hRTT (ADAS with rule 3 only).
    HrttOnly,
    /// Least N/W without the floor (ADAS with rule 2 only).
    NipOnly,
    /// Earliest expected arrival.
    EarliestArrival,
}

impl SchedulerKind {
    /// All schedulers.
    pub const ALL: [Self; 7] = [
        Self::Adas,
        Self::RoundRobin,
        Self::WeightedRoundRobin,
        Self::Random,
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
            Self::Random => "random",
            Self::HrttOnly => "hrtt-only",
            Self::NipOnly => "nip-only",
            Self::EarliestArrival => "earliest-arrival",
        }
    }
}

impl SchedulerKind {
    /// A new scheduler of this kind.
    pub fn build(self, seed: Seed) -> Box<dyn Scheduler> {
        match self {
            Self::Adas => Box::new(Adas),
            Self::RoundRobin => Box::new(RoundRobin::default()),
            Self::WeightedRoundRobin => Box::new(WeightedRoundRobin::default()),
            Self::Random => Box::new(Random::new(seed.stream("prism/scheduler/random"))),
            Self::HrttOnly => Box::new(HrttOnly),
            Self::NipOnly => Box::new(NipOnly),
            Self::EarliestArrival => Box::new(EarliestArrival),
        }
    }
}

impl FromStr for SchedulerKind {
    type Err = UnknownName;
    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or(UnknownName {
            expected:
                "adas, round-robin, weighted-round-robin, random, hrtt-only, nip-only, earliest-arrival",
        })
    }
}
