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
struct Sieve(u64);

impl Sieve {
    fn of(hops: &[Ipv4Addr]) -> Self {
        Self(hops.iter().fold(0, |bits, hop| bits | 1 << (hop.to_bits() % u64::BITS)))
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
    fn new(hops: &[Ipv4Addr], until: Instant) -> Self {
        Self { hops: hops.to_vec(), sieve: Sieve::of(hops), until }
    }

    /// Another route in the same room.
    fn become_route(&mut self, hops: &[Ipv4Addr], until: Instant) {
        self.hops.clear();
        self.hops.extend_from_slice(hops);
        (self.sieve, self.until) = (Sieve::of(hops), until);
    }
}

/// The first hop of a route, none of which is empty.
fn first_of(route: &[Ipv4Addr]) -> u32 {
    route.first().map_or(0, |first| first.to_bits())
}

/// Paths of one kind.
#[derive(Debug, Clone)]
struct PathList {
    paths: Vec<Path>,
    /// The first hop of each path, side by side: paths that begin elsewhere need not be looked at.
    firsts: Vec<u32>,
    max_paths: usize,
    /// The path that makes room next.
    victim: usize,
}

impl PathList {
    fn new(max_paths: usize) -> Self {
        Self { paths: Vec::new(), firsts: Vec::new(), max_paths, victim: 0 }
    }

    fn add(&mut self, route: &[Ipv4Addr], until: Instant) {
        let (sieve, first) = (Sieve::of(route), first_of(route));
        for (&other, path) in self.firsts.iter().zip(&mut self.paths) {
            if other != first {
                continue;
            }
            if path.sieve.may_hold(sieve) && path.hops.starts_with(route) {
                path.until = path.until.max(until);
                return;
            }
            if sieve.may_hold(path.sieve) && route.starts_with(&path.hops) {
                path.become_route(route, until);
                return;
            }
        }
        if self.paths.len() < self.max_paths {
            self.paths.push(Path::new(route, until));
            self.firsts.push(first);
        } else if !self.paths.is_empty() {
            self.victim %= self.paths.len();
            self.paths[self.victim].become_route(route, until);
            self.firsts[self.victim] = first;
            self.victim += 1;
        }
    }

    /// Keeps the paths that are `wanted`.
    fn retain(&mut self, wanted: impl FnMut(&Path) -> bool) {
        self.paths.retain(wanted);
        self.firsts.clear();
        self.firsts.extend(self.paths.iter().map(|path| first_of(&path.hops)));
    }

    fn remove(&mut self, index: usize) -> Path {
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
        if self.paths.iter().any(|path| path.until <= now) {
            self.retain(|path| path.until > now);
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

    pub(super) fn add(&mut self, route: &[Ipv4Addr], until: Instant, learned: Learned) {
        match learned {
            Learned::Asked => self.primary.add(route, until),
            Learned::Seen => self.secondary.add(route, until),
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
                self.primary.add(&path.hops, path.until);
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
