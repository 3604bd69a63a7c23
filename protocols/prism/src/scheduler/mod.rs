//! Which link takes the next packet.
use crate::config::UnknownName;
use core::str::FromStr;

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

impl FromStr for SchedulerKind {
    type Err = UnknownName;
    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or(UnknownName {
            expected:
                "adas, round-robin, weighted-round-robin, random, hrtt-only, nip-only, earliest-arrival",
        })
    }
}
