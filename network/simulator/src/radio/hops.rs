//! How many hops lie between hosts, wherever they are at the moment.
use crate::core::ids::NodeId;
use prismux_wireless::Position;

/// Hosts in the order of their hops from one of them: breadth first, a ring at a time.
pub(super) struct Rings {
    /// The ring of hosts that are reached last.
    pub ring: Vec<(NodeId, Position)>,
    /// Those that are farther, or out of reach.
    farther: Vec<(NodeId, Position)>,
    range_m2: f64,
}

impl Rings {
    /// The host itself, of all that are there; hosts reach so far.
    pub fn around(from: NodeId, mut hosts: Vec<(NodeId, Position)>, range_m: f64) -> Self {
        let ring = hosts.extract_if(.., |(node, _)| *node == from).collect();
        Self { ring, farther: hosts, range_m2: range_m * range_m }
    }

    /// Goes on to the hosts one hop farther, where those that are near enough `reach` one another. Whether there are
    /// any.
    pub fn advance(&mut self, reach: impl Fn(NodeId, NodeId) -> bool) -> bool {
        let (ring, range_m2) = (&self.ring, self.range_m2);
        let hears = |(node, at): &mut (NodeId, Position)| {
            let reaches = |(other, place): &(NodeId, Position)| {
                place.distance_m2(*at) <= range_m2 && reach(*other, *node)
            };
            ring.iter().any(reaches)
        };
        let next: Vec<_> = self.farther.extract_if(.., hears).collect();
        self.ring = next;
        !self.ring.is_empty()
    }
}
