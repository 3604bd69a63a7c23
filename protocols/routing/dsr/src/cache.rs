//! What a host remembers of routes (RFC 4728 section 4.1).
mod link;
mod path;

use crate::config::CacheKind;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use link::LinkCache;
use path::{PathCache, Sieve};
use prismux_units::{Duration, Instant};

/// How a route came to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Learned {
    /// The host asked for it, or uses it.
    Asked,
    /// It was in a packet that came by.
    Seen,
}

/// A host's route cache. Routes begin behind the host itself and end with their destination.
#[derive(Debug, Clone)]
pub(crate) struct RouteCache {
    own: Ipv4Addr,
    timeout: Option<Duration>,
    structure: Structure,
}

#[derive(Debug, Clone)]
enum Structure {
    Off,
    Path(PathCache),
    Link(LinkCache),
}

impl RouteCache {
    pub(crate) fn new(own: Ipv4Addr, kind: CacheKind, timeout: Option<Duration>) -> Self {
        let structure = match kind {
            CacheKind::Off => Structure::Off,
            CacheKind::Path { primary_paths, secondary_paths } => {
                Structure::Path(PathCache::new(primary_paths, secondary_paths))
            }
            CacheKind::Link { max_links } => Structure::Link(LinkCache::new(max_links)),
        };
        Self { own, timeout, structure }
    }

    /// Remembers a route. One that visits a host twice, or this one, is refused.
    pub(crate) fn add(&mut self, now: Instant, route: &[Ipv4Addr], learned: Learned) {
        let until = self.timeout.map_or(Instant::MAX, |timeout| now + timeout);
        if let Structure::Path(cache) = &mut self.structure
            && cache.renew(route, until, learned)
        {
            return;
        }
        let sieve = Sieve::of(route);
        let is_loop = !sieve.tells_apart(route) && has_duplicate(route);
        if route.is_empty() || is_loop || route.contains(&self.own) {
            return;
        }
        match &mut self.structure {
            Structure::Off => {}
            Structure::Path(cache) => cache.add(route, sieve, until, learned),
            Structure::Link(cache) => cache.add(now, self.own, route, until),
        }
    }

    /// The shortest route to `destination`. `for_use` keeps a route that was only seen among those in use.
    pub(crate) fn find(
        &mut self,
        now: Instant,
        destination: Ipv4Addr,
        for_use: bool,
    ) -> Option<Vec<Ipv4Addr>> {
        match &mut self.structure {
            Structure::Off => None,
            Structure::Path(cache) => cache.find(now, destination, for_use),
            Structure::Link(cache) => cache.find(now, self.own, destination),
        }
    }

    /// Forgets the link between two hosts, in this direction.
    pub(crate) fn remove_link(&mut self, from: Ipv4Addr, to: Ipv4Addr) {
        match &mut self.structure {
            Structure::Off => {}
            Structure::Path(cache) => cache.remove_link(self.own, from, to),
            Structure::Link(cache) => cache.remove_link(from, to),
        }
    }

    /// Paths or links that are remembered.
    pub(crate) fn entries(&self) -> usize {
        match &self.structure {
            Structure::Off => 0,
            Structure::Path(cache) => cache.len(),
            Structure::Link(cache) => cache.len(),
        }
    }
}

/// Whether a host is listed twice.
pub(crate) fn has_duplicate(route: &[Ipv4Addr]) -> bool {
    route.iter().enumerate().any(|(index, host)| route[..index].contains(host))
}

#[cfg(test)]
mod tests;
