//! Shortest ways over peers.
use crate::cell::shuffle;
use crate::reach::Reach;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use prismux_endpoint::random::RandomStream;

/// One transmission: from a host to one that hears it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hop {
    /// Who sends.
    pub from: usize,
    /// Who receives.
    pub to: usize,
}

/// The hops from a source to a destination, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Route(Vec<Hop>);

impl Route {
    /// Over these hosts, the source first.
    pub fn over(hosts: &[usize]) -> Self {
        Self(hosts.windows(2).map(|pair| Hop { from: pair[0], to: pair[1] }).collect())
    }

    /// Its hops, the first one first.
    pub fn hops(&self) -> &[Hop] {
        &self.0
    }

    /// Whether every hop is one between neighbours.
    pub fn holds_in(&self, reach: &Reach) -> bool {
        self.0.iter().all(|hop| reach.joins(hop.from, hop.to))
    }
}

/// Shortest ways from everywhere to a set of sinks. Among ways of the same length each host's next hop is random, the
/// same for all that pass it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Routes {
    next: Vec<Option<usize>>,
}

impl Routes {
    /// To the nearest of `sinks`, in hops.
    pub fn to(reach: &Reach, sinks: &[usize], random: &mut RandomStream) -> Self {
        let mut next = vec![None; reach.hosts()];
        let mut todo: VecDeque<usize> = sinks.iter().copied().filter(|&sink| sink < reach.hosts()).collect();
        for &sink in &todo {
            next[sink] = Some(sink);
        }
        while !todo.is_empty() {
            // Hosts at one distance from the sinks take their peers in a random order.
            let mut ring: Vec<usize> = todo.drain(..).collect();
            shuffle(&mut ring, random);
            for host in ring {
                for &other in reach.of(host) {
                    if next[other].is_none() {
                        next[other] = Some(host);
                        todo.push_back(other);
                    }
                }
            }
        }
        Self { next }
    }

    /// The next host towards the nearest sink: `host` itself at a sink, `None` where no way leads to one.
    pub fn next(&self, host: usize) -> Option<usize> {
        self.next.get(host).copied().flatten()
    }

    /// The sink that the way from `host` ends at; `None` where there is none.
    pub fn end(&self, host: usize) -> Option<usize> {
        let mut here = host;
        loop {
            let next = self.next(here)?;
            if next == here {
                return Some(here);
            }
            here = next;
        }
    }

    /// The way from `host`; `None` where there is none. A sink's own has no hops.
    pub fn from(&self, host: usize) -> Option<Route> {
        let mut hosts = vec![host];
        let mut here = host;
        loop {
            let next = self.next(here)?;
            if next == here {
                return Some(Route::over(&hosts));
            }
            hosts.push(next);
            here = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Route, Routes};
    use crate::cell::{Cell, Placement};
    use crate::reach::Reach;
    use alloc::vec::Vec;
    use prismux_endpoint::random::Seed;
    use prismux_wireless::Position;

    fn row(places_m: &[f64]) -> Reach {
        let places: Vec<Position> = places_m.iter().map(|&x_m| Position { x_m, y_m: 0.0 }).collect();
        Reach::new(&places, 250.0)
    }

    #[test]
    fn a_row_of_hosts_is_walked_to_the_nearest_sink() {
        let reach = row(&[0.0, 200.0, 400.0, 600.0, 2000.0]);
        let routes = Routes::to(&reach, &[3], &mut Seed(1).stream("routes"));
        assert_eq!(routes.from(0), Some(Route::over(&[0, 1, 2, 3])));
        assert_eq!(routes.from(3), Some(Route::default()));
        assert_eq!(routes.from(4), None);
        let routes = Routes::to(&reach, &[3, 0], &mut Seed(1).stream("routes"));
        assert_eq!(routes.from(1), Some(Route::over(&[1, 0])));
    }

    #[test]
    fn no_shorter_way_exists_and_every_hop_is_between_neighbours() {
        for seed in 1..=10 {
            let mut random = Seed(seed).stream("routes");
            let cell = Cell::draw(60, 1500.0, Placement::Uniform, &mut random).unwrap();
            let reach = Reach::new(&cell.places, 250.0);
            let routes = Routes::to(&reach, &[cell.base()], &mut random);
            let hops = |host| routes.from(host).map(|route| route.hops().len());
            for host in 0..reach.hosts() {
                let Some(own) = hops(host) else { continue };
                assert!(routes.from(host).unwrap().holds_in(&reach), "seed {seed}, host {host}");
                for &other in reach.of(host) {
                    assert!(hops(other).is_some_and(|other| other + 1 >= own), "seed {seed}, host {host}");
                }
            }
        }
    }
}
