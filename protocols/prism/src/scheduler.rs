//! Which link takes the next packet.
use crate::config::SchedulerKind;
use crate::ids::LinkId;
use crate::link_table::LinkTable;
use alloc::boxed::Box;
use core::fmt::Debug;
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
