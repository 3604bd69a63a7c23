//! Who hears whom.
use alloc::vec;
use alloc::vec::Vec;
use prismux_wireless::Position;

/// For every host those within a common range, in order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    neighbours: Vec<Vec<usize>>,
}

impl Reach {
    /// Of hosts at `places` with a range of `range_m` metres.
    pub fn new(places: &[Position], range_m: f64) -> Self {
        let mut neighbours = vec![Vec::new(); places.len()];
        for (host, place) in places.iter().enumerate() {
            let near = |(other, at): (usize, &Position)| {
                (other != host && place.distance_m2(*at) <= range_m * range_m).then_some(other)
            };
            neighbours[host] = places.iter().enumerate().filter_map(near).collect();
        }
        Self { neighbours }
    }

    /// Hosts, the base station included.
    pub fn hosts(&self) -> usize {
        self.neighbours.len()
    }

    /// Those that hear `host`; none for a host that does not exist.
    pub fn of(&self, host: usize) -> &[usize] {
        self.neighbours.get(host).map_or(&[], Vec::as_slice)
    }

    /// Whether `a` and `b` hear one another.
    pub fn joins(&self, a: usize, b: usize) -> bool {
        self.of(a).binary_search(&b).is_ok()
    }

    /// Whether everybody can reach everybody over peers.
    pub fn is_connected(&self) -> bool {
        self.joined(0..1).into_iter().all(|joined| joined)
    }

    /// For every host whether a way over peers leads from one of `those` to it.
    pub fn joined(&self, those: impl IntoIterator<Item = usize>) -> Vec<bool> {
        let mut seen = vec![false; self.hosts()];
        let mut todo: Vec<usize> = those.into_iter().filter(|host| *host < self.hosts()).collect();
        while let Some(host) = todo.pop() {
            if !core::mem::replace(&mut seen[host], true) {
                todo.extend(self.of(host).iter().filter(|&&other| !seen[other]));
            }
        }
        seen
    }
}
