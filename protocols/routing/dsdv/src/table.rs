//! The routing table: one route to each destination, and what has still to be told of it.
use crate::update::INFINITE_METRIC;
use alloc::collections::BTreeMap;
use core::net::Ipv4Addr;
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;

/// Destinations that are kept at most: a flood of forged ones finds no more room.
const MAX_ROUTES: usize = 1024;

/// A route to one destination.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Route {
    pub(crate) next_hop: Ipv4Addr,
    pub(crate) metric: u32,
    pub(crate) seq: SeqNumber,
    /// When the route was last changed, and when its sequence number was first heard: the difference is how long the
    /// routes of one number took to settle.
    pub(crate) changed_at: Instant,
    pub(crate) new_seq_at: Instant,
    /// The average of such differences.
    pub(crate) settling_time: Duration,
    /// Before that instant the route is not told.
    pub(crate) tell_from: Instant,
    /// The sequence number has not been told yet.
    pub(crate) is_seq_untold: bool,
    /// The metric has not been told in a full update yet.
    pub(crate) is_metric_untold: bool,
    pub(crate) last_told_metric: u32,
    /// When an update must leave because of this route.
    pub(crate) trigger_at: Option<Instant>,
    /// When the destination, a neighbour, has been silent for too long.
    pub(crate) silent_at: Option<Instant>,
}

impl Route {
    pub(crate) fn is_reachable(&self) -> bool {
        self.metric < INFINITE_METRIC
    }

    pub(crate) fn is_untold(&self, now: Instant) -> bool {
        (self.is_seq_untold || self.is_metric_untold) && self.tell_from <= now
    }
}

/// Routes by destination.
#[derive(Debug, Clone, Default)]
pub(crate) struct RouteTable {
    routes: BTreeMap<Ipv4Addr, Route>,
}

impl RouteTable {
    pub(crate) fn get(&self, destination: Ipv4Addr) -> Option<&Route> {
        self.routes.get(&destination)
    }

    pub(crate) fn get_mut(&mut self, destination: Ipv4Addr) -> Option<&mut Route> {
        self.routes.get_mut(&destination)
    }

    /// Keeps `route`, if there is room for another destination.
    pub(crate) fn set(&mut self, destination: Ipv4Addr, route: Route) {
        if self.routes.len() < MAX_ROUTES || self.routes.contains_key(&destination) {
            self.routes.insert(destination, route);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Ipv4Addr, &Route)> {
        self.routes.iter().map(|(&destination, route)| (destination, route))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (Ipv4Addr, &mut Route)> {
        self.routes.iter_mut().map(|(&destination, route)| (destination, route))
    }

    pub(crate) fn len(&self) -> usize {
        self.routes.len()
    }

    /// Every route over `neighbour` is broken: odd numbers tell so, and are told at once. Whether there were any.
    pub(crate) fn break_link(&mut self, now: Instant, neighbour: Ipv4Addr) -> bool {
        let mut has_changed = false;
        for route in self.routes.values_mut() {
            if route.next_hop == neighbour && route.is_reachable() {
                route.metric = INFINITE_METRIC;
                route.seq += 1;
                route.tell_from = now;
                (route.is_seq_untold, route.is_metric_untold) = (true, true);
                route.trigger_at = Some(now);
                has_changed = true;
            }
        }
        if let Some(route) = self.routes.get_mut(&neighbour) {
            route.silent_at = None;
        }
        has_changed
    }
}
