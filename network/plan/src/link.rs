//! Links and their directions.
use crate::NodeId;
use alloc::string::String;
use prismux_link::LinkConfig;
use prismux_units::{Duration, Rate};

/// A link between two nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Name, unique among the links of a plan.
    pub name: String,
    /// The two ends; *forward* runs from the first to the second.
    pub ends: [NodeId; 2],
    /// From the first end to the second: the direction that results report.
    pub forward: LinkDirection,
    /// From the second end to the first.
    pub reverse: LinkDirection,
    /// True for a link whose rate counts as capacity.
    pub shared: bool,
    /// The rate told to the proxy when the link's member joins; `None` leaves it to learn.
    pub advertised_rate: Option<Rate>,
}

/// One direction of a link as it is when the run starts.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkDirection {
    /// Rate, delay, queue, loss and the rest.
    pub link: LinkConfig,
    /// Working when the run starts.
    pub up: bool,
}

impl From<LinkConfig> for LinkDirection {
    /// A direction that works.
    fn from(link: LinkConfig) -> Self {
        Self { link, up: true }
    }
}

/// One direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// First end to second.
    Forward,
    /// Second end to first.
    Reverse,
}

/// The directions of a link that something applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Directions {
    /// Forward and reverse.
    Both,
    /// First end to second.
    Forward,
    /// Second end to first.
    Reverse,
}

impl Directions {
    /// Whether `direction` is among them.
    pub const fn include(self, direction: Direction) -> bool {
        matches!(
            (self, direction),
            (Self::Both, _) | (Self::Forward, Direction::Forward) | (Self::Reverse, Direction::Reverse)
        )
    }
}

impl Link {
    /// The direction away from `from`, which must be one of the ends.
    pub fn from_end(&self, from: NodeId) -> &LinkDirection {
        if self.ends[0] == from { &self.forward } else { &self.reverse }
    }

    /// The end opposite to `end`; `None` when the link does not touch `end`.
    pub fn other_end(&self, end: NodeId) -> Option<NodeId> {
        match self.ends {
            [a, b] if a == end => Some(b),
            [a, b] if b == end => Some(a),
            _ => None,
        }
    }

    /// Propagation there and back.
    pub fn round_trip(&self) -> Duration {
        self.forward.link.delay + self.reverse.link.delay
    }
}
