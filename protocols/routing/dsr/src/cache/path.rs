//! Routes remembered as whole paths.
//!
//! Two lists, each replaced in turn: a primary one of paths that were asked for or used, a secondary one of paths that
//! were seen in passing (J. Broch et al., "A performance comparison of multi-hop wireless ad hoc network routing
//! protocols", MobiCom 1998).
use super::Learned;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_units::Instant;

/// Some of the bits of the hosts in a path: what is not among them need not be looked for in the path itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sieve(u64);

impl Sieve {
    pub(super) fn of(hops: &[Ipv4Addr]) -> Self {
        Self(hops.iter().fold(0, |bits, hop| bits | 1 << (hop.to_bits() % u64::BITS)))
    }

    /// Whether `hops`, of which this is the sieve, are hosts that differ, as far as it tells.
    pub(super) fn tells_apart(self, hops: &[Ipv4Addr]) -> bool {
        self.0.count_ones() as usize == hops.len()
    }

    /// Whether all hosts of `other` may be among the hosts of this one.
    fn may_hold(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

#[derive(Debug, Clone)]
struct Path {
    hops: Vec<Ipv4Addr>,
    sieve: Sieve,
    until: Instant,
}

impl Path {
    /// Another route in the same room.
    fn become_route(&mut self, hops: &[Ipv4Addr], sieve: Sieve, until: Instant) {
        self.hops.clear();
        self.hops.extend_from_slice(hops);
        (self.sieve, self.until) = (sieve, until);
    }
}

/// The first hop of a route, none of which is empty.
fn first_of(route: &[Ipv4Addr]) -> u32 {
    route.first().map_or(0, |first| first.to_bits())
}

/// A route that was the beginning of a path when it was added last: the path's place, and the length of the route,
/// which is 0 for none.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    index: u16,
    hops: u16,
}

/// Routes that are known to be known.
const KNOWN_ROUTES: usize = 8;

/// Paths of one kind.
#[derive(Debug, Clone)]
struct PathList {
    paths: Vec<Path>,
    /// The first hop of each path, side by side: paths that begin elsewhere need not be looked at.
    firsts: Vec<u32>,
    max_paths: usize,
    /// The path that makes room next.
    victim: usize,
    /// No path ends sooner.
    earliest: Instant,
    /// Routes that have been added and changed nothing, since the paths changed last: packets that come by take the
    /// same few routes again and again.
    known: [Known; KNOWN_ROUTES],
}

impl PathList {
    fn new(max_paths: usize) -> Self {
        Self {
            paths: Vec::new(),
            firsts: Vec::new(),
            max_paths,
            victim: 0,
            earliest: Instant::MAX,
            known: Default::default(),
        }
    }

    /// The place of a route among those that are known to be known.
    fn place_of(route: &[Ipv4Addr]) -> usize {
        let last = route.last().map_or(0, |last| last.to_bits());
        (first_of(route).wrapping_mul(5) ^ last ^ route.len() as u32) as usize % KNOWN_ROUTES
    }

    /// Remembers `route` once more if it is known to be known; says whether it is.
    fn renew(&mut self, route: &[Ipv4Addr], until: Instant) -> bool {
        let Known { index, hops } = self.known[Self::place_of(route)];
        let path =
            self.paths.get_mut(usize::from(index)).filter(|_| hops > 0 && usize::from(hops) == route.len());
        let Some(path) = path.filter(|path| path.hops.starts_with(route)) else { return false };
        path.until = path.until.max(until);
        true
    }

    /// Remembers `route`, whose hosts `sieve` has.
    fn add(&mut self, route: &[Ipv4Addr], sieve: Sieve, until: Instant) {
        let first = first_of(route);
        self.earliest = self.earliest.min(until);
        for (index, (&other, path)) in self.firsts.iter().zip(&mut self.paths).enumerate() {
            if other != first {
                continue;
            }
            if path.sieve.may_hold(sieve) && path.hops.starts_with(route) {
                path.until = path.until.max(until);
                if let (Ok(index), Ok(hops)) = (u16::try_from(index), u16::try_from(route.len())) {
                    self.known[Self::place_of(route)] = Known { index, hops };
                }
                return;
            }
            if sieve.may_hold(path.sieve) && route.starts_with(&path.hops) {
                path.become_route(route, sieve, until);
                return self.forget_known();
            }
        }
        if self.paths.len() < self.max_paths {
            self.paths.push(Path { hops: route.to_vec(), sieve, until });
            self.firsts.push(first);
        } else if !self.paths.is_empty() {
            self.victim %= self.paths.len();
            self.paths[self.victim].become_route(route, sieve, until);
            self.firsts[self.victim] = first;
            self.victim += 1;
        }
        self.forget_known();
    }

    /// The paths have changed.
    fn forget_known(&mut self) {
        self.known = Default::default();
    }

    /// Keeps the paths that are `wanted`.
    fn retain(&mut self, wanted: impl FnMut(&Path) -> bool) {
        self.forget_known();
        self.paths.retain(wanted);
        self.firsts.clear();
        self.firsts.extend(self.paths.iter().map(|path| first_of(&path.hops)));
    }

    fn remove(&mut self, index: usize) -> Path {
        self.forget_known();
        self.firsts.remove(index);
        self.paths.remove(index)
    }

    /// The path that reaches `destination` in the fewest hops, and in how many; the first of equals.
    fn shortest(&self, destination: Ipv4Addr) -> Option<(usize, usize)> {
        let sieve = Sieve::of(&[destination]);
        let reach = |(index, path): (usize, &Path)| {
            if !path.sieve.may_hold(sieve) {
                return None;
            }
            path.hops.iter().position(|&hop| hop == destination).map(|at| (at + 1, index))
        };
        self.paths.iter().enumerate().filter_map(reach).min()
    }

    fn remove_link(&mut self, own: Ipv4Addr, from: Ipv4Addr, to: Ipv4Addr) {
        let (sieve, mut emptied) = (Sieve::of(&[to]), false);
        self.forget_known();
        for path in self.paths.iter_mut().filter(|path| path.sieve.may_hold(sieve)) {
            let mut previous = own;
            let broken = path.hops.iter().position(|&hop| {
                let is_broken = (previous, hop) == (from, to);
                previous = hop;
                is_broken
            });
            if let Some(at) = broken {
                path.hops.truncate(at);
                path.sieve = Sieve::of(&path.hops);
                emptied |= at == 0;
            }
        }
        if emptied {
            self.retain(|path| !path.hops.is_empty());
        }
    }

    fn expire(&mut self, now: Instant) {
        if self.earliest <= now {
            self.retain(|path| path.until > now);
            self.earliest = self.paths.iter().map(|path| path.until).min().unwrap_or(Instant::MAX);
        }
    }
}

/// A path cache.
#[derive(Debug, Clone)]
pub(super) struct PathCache {
    primary: PathList,
    secondary: PathList,
}

impl PathCache {
    pub(super) fn new(primary_paths: usize, secondary_paths: usize) -> Self {
        Self { primary: PathList::new(primary_paths), secondary: PathList::new(secondary_paths) }
    }

    /// Remembers a route once more that was known when it came by last; says whether it is one.
    pub(super) fn renew(&mut self, route: &[Ipv4Addr], until: Instant, learned: Learned) -> bool {
        match learned {
            Learned::Asked => self.primary.renew(route, until),
            Learned::Seen => self.secondary.renew(route, until),
        }
    }

    pub(super) fn add(&mut self, route: &[Ipv4Addr], sieve: Sieve, until: Instant, learned: Learned) {
        match learned {
            Learned::Asked => self.primary.add(route, sieve, until),
            Learned::Seen => self.secondary.add(route, sieve, until),
        }
    }

    pub(super) fn find(
        &mut self,
        now: Instant,
        destination: Ipv4Addr,
        for_use: bool,
    ) -> Option<Vec<Ipv4Addr>> {
        self.primary.expire(now);
        self.secondary.expire(now);
        let primary = self.primary.shortest(destination);
        let secondary = self.secondary.shortest(destination);
        let seen = secondary.filter(|(hops, _)| primary.is_none_or(|(fewer, _)| *hops < fewer));
        if let Some((hops, index)) = seen {
            let path = &self.secondary.paths[index];
            let route = path.hops[..hops].to_vec();
            if for_use {
                let path = self.secondary.remove(index);
                self.primary.add(&path.hops, path.sieve, path.until);
            }
            return Some(route);
        }
        let (hops, index) = primary?;
        Some(self.primary.paths[index].hops[..hops].to_vec())
    }

    pub(super) fn remove_link(&mut self, own: Ipv4Addr, from: Ipv4Addr, to: Ipv4Addr) {
        self.primary.remove_link(own, from, to);
        self.secondary.remove_link(own, from, to);
    }

    pub(super) fn len(&self) -> usize {
        self.primary.paths.len() + self.secondary.paths.len()
    }
}
