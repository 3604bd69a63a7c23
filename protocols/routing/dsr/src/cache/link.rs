//! Routes remembered as links (RFC 4728 section 4.1), from which shortest paths are computed.
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_units::Instant;

/// A link cache: which host reaches which, and until when that is believed.
#[derive(Debug, Clone)]
pub(super) struct LinkCache {
    links: BTreeMap<(Ipv4Addr, Ipv4Addr), Belief>,
    max_links: usize,
    /// Links that were heard of so far.
    heard: u64,
}

/// Until when a link is believed, and its place among all that were heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Belief {
    until: Instant,
    number: u64,
}

impl LinkCache {
    pub(super) fn new(max_links: usize) -> Self {
        Self { links: BTreeMap::new(), max_links, heard: 0 }
    }

    pub(super) fn add(&mut self, now: Instant, own: Ipv4Addr, route: &[Ipv4Addr], until: Instant) {
        let mut from = own;
        for &to in route {
            if self.links.len() >= self.max_links && !self.links.contains_key(&(from, to)) {
                self.make_room(now);
            }
            if self.links.len() < self.max_links {
                self.heard += 1;
                let belief = Belief { until, number: self.heard };
                let believed = self.links.entry((from, to)).or_insert(belief);
                *believed = (*believed).max(belief);
            }
            from = to;
        }
    }

    /// Forgets what is no longer believed, or else the link that is believed for the shortest time and was heard of the
    /// longest ago.
    fn make_room(&mut self, now: Instant) {
        self.links.retain(|_, belief| belief.until > now);
        if self.links.len() >= self.max_links
            && let Some((&link, _)) = self.links.iter().min_by_key(|(_, belief)| **belief)
        {
            self.links.remove(&link);
        }
    }

    /// The route with the fewest hops; breadth first, lower addresses first.
    pub(super) fn find(&self, now: Instant, own: Ipv4Addr, destination: Ipv4Addr) -> Option<Vec<Ipv4Addr>> {
        let mut previous = BTreeMap::from([(own, own)]);
        let mut queue = VecDeque::from([own]);
        while let Some(host) = queue.pop_front() {
            let from_here = (host, Ipv4Addr::UNSPECIFIED)..=(host, Ipv4Addr::BROADCAST);
            for ((_, next), belief) in self.links.range(from_here) {
                if belief.until <= now || previous.contains_key(next) {
                    continue;
                }
                previous.insert(*next, host);
                if *next == destination {
                    return Some(route_back(&previous, own, destination));
                }
                queue.push_back(*next);
            }
        }
        None
    }

    pub(super) fn remove_link(&mut self, from: Ipv4Addr, to: Ipv4Addr) {
        self.links.remove(&(from, to));
    }

    pub(super) fn len(&self) -> usize {
        self.links.len()
    }
}

/// The route from `own` to `destination` along `previous`.
fn route_back(
    previous: &BTreeMap<Ipv4Addr, Ipv4Addr>,
    own: Ipv4Addr,
    destination: Ipv4Addr,
) -> Vec<Ipv4Addr> {
    let mut route = Vec::new();
    let mut host = destination;
    while host != own {
        route.push(host);
        let Some(&before) = previous.get(&host) else { break };
        host = before;
    }
    route.reverse();
    route
}
