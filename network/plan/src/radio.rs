//! Radio media: hosts on one air, and how they find their way over one another.
use crate::{LinkId, NodeId};
use alloc::vec::Vec;
use prismux_aodv::AodvConfig;
use prismux_dsdv::DsdvConfig;
use prismux_dsr::DsrConfig;
use prismux_wireless::{AssociationConfig, EnergyConfig, MacConfig, Mobility, RadioConfig, Role};

/// Hosts that share the air.
#[derive(Debug, Clone, PartialEq)]
pub struct Radio {
    /// The radio of all of them.
    pub radio: RadioConfig,
    /// Their medium access.
    pub mac: MacConfig,
    /// How each moves, in the order in which they are attached.
    pub mobility: Vec<Mobility>,
    /// What each is to the medium access, in the same order; all are stations where this is empty.
    pub roles: Vec<Role>,
    /// The channel of each, in the same order; all are on channel 1 where this is empty.
    pub channels: Vec<u8>,
    /// Who finds routes.
    pub routing: Routing,
    /// Whether the hops of each packet that arrives are held against the fewest that were possible then.
    pub compares_hops: bool,
    /// What radios draw, and from which batteries; `None` where energy is not counted.
    pub power: Option<Power>,
    /// Base stations between which the others hand over; `None` where all are equals.
    pub cells: Option<Cells>,
}

/// Base stations, and the stations that belong to one of them at a time: all others on the air. What stations send and
/// receive goes over their base station, which forwards between the air and its wires.
#[derive(Debug, Clone, PartialEq)]
pub struct Cells {
    /// The base stations, in order.
    pub base_stations: Vec<NodeId>,
    /// When a station changes to another one.
    pub association: AssociationConfig,
    /// Whether a base station sends what it still has for a station that has left after it, by wire; else it is lost.
    pub forwards: bool,
    /// The link that a station uses where it hears no base station, for those that have one.
    pub fallback: Vec<(NodeId, LinkId)>,
}

/// What radios draw, and from which batteries.
#[derive(Debug, Clone, PartialEq)]
pub struct Power {
    /// What each radio draws.
    pub energy: EnergyConfig,
    /// What each host's battery holds, in joules, in the order in which hosts are attached; `None` for one that needs
    /// none.
    pub batteries_j: Vec<Option<f64>>,
}

/// How packets find their way from host to host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Routing {
    /// Not at all: every packet is for a neighbour.
    Direct,
    /// Dynamic Source Routing.
    Dsr(DsrConfig),
    /// Ad hoc On-Demand Distance Vector routing.
    Aodv(AodvConfig),
    /// Destination-Sequenced Distance Vector routing.
    Dsdv(DsdvConfig),
}

impl Routing {
    /// Whether the packets that wait for a neighbour which no longer answers are taken back: not where the word of the
    /// MAC layer counts for nothing.
    pub const fn takes_back(&self) -> bool {
        match self {
            Self::Dsdv(config) => config.link_layer_feedback,
            Self::Direct | Self::Dsr(_) | Self::Aodv(_) => true,
        }
    }
}
