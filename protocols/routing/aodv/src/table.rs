//! The routing table (RFC 3561 sections 2, 6.1 and 6.2).
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// Routes that are kept at most: a flood of forged ones pushes out those that hold for the shortest time.
const MAX_ROUTES: usize = 1024;

/// Precursors of a route that are kept at most.
const MAX_PRECURSORS: usize = 64;

/// A route to one destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route {
    /// The destination's sequence number, if known.
    pub(crate) seq: Option<SeqNumber>,
    /// Whether packets may take the route.
    pub(crate) is_valid: bool,
    /// Whether a repair is under way, so that packets wait.
    pub(crate) is_repairing: bool,
    /// Hops to the destination.
    pub(crate) hops: u8,
    pub(crate) next_hop: Ipv4Addr,
    /// When a valid route becomes invalid, and when an invalid one is forgotten.
    pub(crate) until: Instant,
    /// Neighbours that forward packets to the destination by way of this host.
    pub(crate) precursors: BTreeSet<Ipv4Addr>,
}

/// A route that a message offers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offer {
    /// The destination's sequence number; `None` when nothing is said of it.
    pub(crate) seq: Option<SeqNumber>,
    pub(crate) hops: u8,
    pub(crate) next_hop: Ipv4Addr,
    pub(crate) until: Instant,
}

/// A destination that went out of reach, and who needs to know.
#[derive(Debug, Clone)]
pub(crate) struct Lost {
    pub(crate) destination: Ipv4Addr,
    pub(crate) seq: SeqNumber,
    pub(crate) precursors: BTreeSet<Ipv4Addr>,
}

/// Routes by destination.
#[derive(Debug, Clone)]
pub(crate) struct RouteTable {
    own: Ipv4Addr,
    delete_period: Duration,
    routes: BTreeMap<Ipv4Addr, Route>,
}

impl Route {
    /// The route no longer holds: its number is one that nothing older can beat (section 6.1).
    fn invalidate(&mut self, now: Instant, delete_period: Duration) {
        self.is_valid = false;
        self.seq = self.seq.map(|seq| seq + 1);
        self.until = now + delete_period;
    }

    /// Whether `offer` is better (section 6.2): its number is later, or it has fewer hops at the same number.
    fn yields_to(&self, offer: &Offer) -> bool {
        match (self.seq, offer.seq) {
            (None, Some(_)) => true,
            (Some(known), Some(offered)) if offered == known => !self.is_valid || offer.hops < self.hops,
            (Some(known), Some(offered)) => offered.after(known),
            // A neighbour that is heard is one hop away, whatever else is known of it.
            (_, None) => !self.is_valid || offer.hops < self.hops,
        }
    }
}

impl RouteTable {
    pub(crate) fn new(own: Ipv4Addr, delete_period: Duration) -> Self {
        Self { own, delete_period, routes: BTreeMap::new() }
    }

    /// What is known of `destination`, its route valid or not.
    pub(crate) fn get(&mut self, now: Instant, destination: Ipv4Addr) -> Option<&mut Route> {
        let delete_period = self.delete_period;
        let route = self.routes.get_mut(&destination)?;
        if route.is_valid && route.until <= now {
            let expired = route.until;
            route.invalidate(expired, delete_period);
        }
        if !route.is_valid && route.until <= now && !route.is_repairing {
            self.routes.remove(&destination);
        }
        self.routes.get_mut(&destination)
    }

    /// The route to `destination`, if packets may take it.
    pub(crate) fn valid(&mut self, now: Instant, destination: Ipv4Addr) -> Option<&mut Route> {
        self.get(now, destination).filter(|route| route.is_valid)
    }

    /// The next hop to `destination`, if packets may take the route.
    pub(crate) fn next_hop(&self, now: Instant, destination: Ipv4Addr) -> Option<Ipv4Addr> {
        let route = self.routes.get(&destination)?;
        (route.is_valid && route.until > now).then_some(route.next_hop)
    }

    /// Whether any route is valid: the host is part of the network's traffic.
    pub(crate) fn has_valid(&self, now: Instant) -> bool {
        self.routes.values().any(|route| route.is_valid && route.until > now)
    }

    /// Takes an offered route if it is better than what is known; says whether it did. One that is known already holds
    /// longer.
    pub(crate) fn offer(&mut self, now: Instant, destination: Ipv4Addr, offer: Offer) -> bool {
        if destination == self.own || destination.is_broadcast() {
            return false;
        }
        if self.get(now, destination).is_none() {
            self.make_room(now);
            let route = Route {
                seq: offer.seq,
                is_valid: true,
                is_repairing: false,
                hops: offer.hops,
                next_hop: offer.next_hop,
                until: offer.until,
                precursors: BTreeSet::new(),
            };
            self.routes.insert(destination, route);
            return true;
        }
        let Some(route) = self.routes.get_mut(&destination) else { return false };
        let is_better = route.yields_to(&offer);
        if is_better {
            let until = if route.is_valid { route.until.max(offer.until) } else { offer.until };
            route.seq = offer.seq.or(route.seq);
            (route.is_valid, route.hops, route.next_hop, route.until) =
                (true, offer.hops, offer.next_hop, until);
        } else if route.is_valid
            && route.next_hop == offer.next_hop
            && offer.seq.is_none_or(|seq| Some(seq) == route.seq)
        {
            route.until = route.until.max(offer.until);
        }
        is_better
    }

    /// The valid route to `destination` holds until `until` at least.
    pub(crate) fn extend(&mut self, now: Instant, destination: Ipv4Addr, until: Instant) {
        if let Some(route) = self.valid(now, destination) {
            route.until = route.until.max(until);
        }
    }

    /// `precursor` sends packets for `destination` by way of this host.
    pub(crate) fn add_precursor(&mut self, now: Instant, destination: Ipv4Addr, precursor: Ipv4Addr) {
        if let Some(route) =
            self.get(now, destination).filter(|route| route.precursors.len() < MAX_PRECURSORS)
        {
            route.precursors.insert(precursor);
        }
    }

    /// Every route over `neighbour` is broken.
    pub(crate) fn break_link(&mut self, now: Instant, neighbour: Ipv4Addr) -> Vec<Lost> {
        let over: Vec<Ipv4Addr> = self
            .routes
            .iter()
            .filter(|(_, route)| route.is_valid && route.until > now && route.next_hop == neighbour)
            .map(|(&destination, _)| destination)
            .collect();
        over.into_iter().filter_map(|destination| self.lose(now, destination, None)).collect()
    }

    /// The valid route to `destination` is broken; `told` is the number that whoever tells so gives.
    pub(crate) fn lose(
        &mut self,
        now: Instant,
        destination: Ipv4Addr,
        told: Option<SeqNumber>,
    ) -> Option<Lost> {
        let delete_period = self.delete_period;
        let route = self.routes.get_mut(&destination).filter(|route| route.is_valid)?;
        let before = route.seq;
        route.invalidate(now, delete_period);
        if let Some(told) = told {
            // Never an earlier number than was known: that would let older routes in.
            route.seq = Some(before.map_or(told, |before| before.max(told)));
        }
        let seq = route.seq.unwrap_or(SeqNumber(0));
        Some(Lost { destination, seq, precursors: core::mem::take(&mut route.precursors) })
    }

    fn make_room(&mut self, now: Instant) {
        if self.routes.len() < MAX_ROUTES {
            return;
        }
        self.routes.retain(|_, route| route.until > now || route.is_repairing);
        let worst = self.routes.iter().min_by_key(|(_, route)| (route.is_valid, route.until));
        if let Some((&destination, _)) = worst.filter(|_| self.routes.len() >= MAX_ROUTES) {
            self.routes.remove(&destination);
        }
    }

    /// Routes that are kept, valid or not.
    pub(crate) fn len(&self) -> usize {
        self.routes.len()
    }
}
