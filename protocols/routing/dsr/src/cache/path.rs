//! Routes remembered as whole paths.
//!
//! Two lists, each replaced in turn: a primary one of paths that were asked for or used, a secondary one of paths that
//! were seen in passing (J. Broch et al., "A performance comparison of multi-hop wireless ad hoc network routing
//! protocols", MobiCom 1998).
use super::Learned;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_units::Instant;

#[derive(Debug, Clone)]
struct Path {
    hops: Vec<Ipv4Addr>,
    until: Instant,
}

/// Paths of one kind.
#[derive(Debug, Clone)]
struct PathList {
    paths: Vec<Path>,
    max_paths: usize,
    /// The path that makes room next.
    victim: usize,
}

impl PathList {
    fn new(max_paths: usize) -> Self {
        Self { paths: Vec::new(), max_paths, victim: 0 }
    }

    fn add(&mut self, route: &[Ipv4Addr], until: Instant) {
        for path in &mut self.paths {
            if path.hops.starts_with(route) {
                path.until = path.until.max(until);
                return;
            }
            if route.starts_with(&path.hops) {
                *path = Path { hops: route.to_vec(), until };
                return;
            }
        }
        let path = Path { hops: route.to_vec(), until };
        if self.paths.len() < self.max_paths {
            self.paths.push(path);
        } else if !self.paths.is_empty() {
            self.victim %= self.paths.len();
            self.paths[self.victim] = path;
            self.victim += 1;
        }
    }

    /// The path that reaches `destination` in the fewest hops, and in how many; the first of equals.
    fn shortest(&self, destination: Ipv4Addr) -> Option<(usize, usize)> {
        let reach = |(index, path): (usize, &Path)| {
            path.hops.iter().position(|&hop| hop == destination).map(|at| (at + 1, index))
        };
        self.paths.iter().enumerate().filter_map(reach).min()
    }

    fn remove_link(&mut self, own: Ipv4Addr, from: Ipv4Addr, to: Ipv4Addr) {
        for path in &mut self.paths {
            let mut previous = own;
            let broken = path.hops.iter().position(|&hop| {
                let is_broken = (previous, hop) == (from, to);
                previous = hop;
                is_broken
            });
            if let Some(at) = broken {
                path.hops.truncate(at);
            }
        }
        self.paths.retain(|path| !path.hops.is_empty());
    }

    fn expire(&mut self, now: Instant) {
        if self.paths.iter().any(|path| path.until <= now) {
            self.paths.retain(|path| path.until > now);
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
                let path = self.secondary.paths.remove(index);
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
