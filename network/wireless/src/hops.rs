//! How many hops lie between hosts, wherever they are at the moment.
use crate::Position;
use alloc::vec::Vec;

/// Hosts in the order of their hops from one of them: breadth first, a ring at a time.
#[derive(Debug, Clone)]
pub struct Rings<N> {
    /// The ring of hosts that are reached last.
    ring: Vec<(N, Position)>,
    /// Those that are farther, or out of reach.
    farther: Vec<(N, Position)>,
    range_m2: f64,
}

impl<N: Copy + PartialEq> Rings<N> {
    /// The host itself, of all that are there; no radio reaches farther than `range_m`.
    pub fn around(from: N, mut hosts: Vec<(N, Position)>, range_m: f64) -> Self {
        let ring = hosts.extract_if(.., |(node, _)| *node == from).collect();
        Self { ring, farther: hosts, range_m2: range_m * range_m }
    }

    /// The hosts that are reached last.
    pub fn ring(&self) -> &[(N, Position)] {
        &self.ring
    }

    /// Goes on to the hosts one hop farther. `reach` says how far, in metres, the radios go by which one host reaches
    /// another, if there are such. Whether there are any hosts.
    pub fn advance(&mut self, reach: impl Fn(N, N) -> Option<f64>) -> bool {
        let (ring, range_m2) = (&self.ring, self.range_m2);
        let hears = |(node, at): &mut (N, Position)| {
            let reaches = |(other, place): &(N, Position)| {
                let distance_m2 = place.distance_m2(*at);
                distance_m2 <= range_m2
                    && reach(*other, *node).is_some_and(|range_m| distance_m2 <= range_m * range_m)
            };
            ring.iter().any(reaches)
        };
        let next: Vec<_> = self.farther.extract_if(.., hears).collect();
        self.ring = next;
        !self.ring.is_empty()
    }

    /// Of `candidates`, the one that is fewest hops away, and nearest among equals; but `preferred` as long as that is
    /// no more than one hop farther.
    pub fn nearest(
        mut self,
        candidates: &[N],
        preferred: Option<N>,
        reach: impl Fn(N, N) -> Option<f64>,
    ) -> Option<N> {
        let own = self.ring.first()?.1;
        let mut nearest = None;
        while self.advance(&reach) {
            let reached = self.ring.iter().filter(|(node, _)| candidates.contains(node));
            if reached.clone().any(|(node, _)| Some(*node) == preferred) {
                return preferred;
            }
            if nearest.is_some() {
                break;
            }
            let distance = |(_, place): &&(N, Position)| place.distance_m2(own);
            let first = reached.min_by(|one, other| distance(one).total_cmp(&distance(other)));
            nearest = first.map(|(node, _)| *node);
        }
        nearest
    }
}
