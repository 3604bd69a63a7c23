//! Where hosts are and which ways packets take.
use super::{ACCESS_POINT_RANGE_M, Access, Destination, Setup, SetupError};
use crate::reach::Reach;
use crate::routes::{Hop, Route, Routes};
use alloc::vec::Vec;
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_units::{Duration, Instant};
use prismux_wireless::{Mobility, Movement, Position};

/// The plane with everybody on it: hosts, the base station, hybrid stations.
#[derive(Debug)]
pub(super) struct Ground {
    movements: Vec<Movement>,
    places: Vec<Position>,
    access_points: Vec<Position>,
    base: usize,
    range_m: f64,
    moves: bool,
    relays_to_access_points: bool,
    interval: Duration,
    next_update: Instant,
    reach: Reach,
    /// To where flows leave the cell.
    outside: Routes,
    /// Flows: source and, for local ones, the ways to the destination.
    flows: Vec<(usize, Option<(usize, Routes)>)>,
    random: RandomStream,
    /// How often routes were looked at.
    pub updates: u64,
}

impl Ground {
    /// Everybody where they begin, without neighbours and routes yet.
    ///
    /// # Errors
    /// [`SetupError::Movement`] for a movement that is impossible.
    pub fn new(setup: &Setup, access: Access, seed: Seed) -> Result<Self, SetupError> {
        let mut movements = Vec::new();
        if let Some(model) = setup.movement {
            for host in 0..setup.cell.hosts() {
                let random = seed.stream(&alloc::format!("cell/movement/{host}"));
                let movement = Movement::new(Mobility::RandomWaypoint(model), random);
                movements.push(movement.map_err(SetupError::Movement)?);
            }
        }
        let places: Vec<Position> = setup.cell.places.iter().chain(&setup.stations).copied().collect();
        let nowhere = Routes::default();
        let flow = |flow: &super::Flow| match flow.destination {
            Destination::Host(host) => (flow.source, Some((host, nowhere.clone()))),
            Destination::Outside => (flow.source, None),
        };
        let relays_to_access_points =
            matches!(access, Access::DualMode { .. }) && !setup.access_points.is_empty();
        Ok(Self {
            moves: !movements.is_empty(),
            movements,
            access_points: setup.access_points.clone(),
            base: setup.cell.base(),
            range_m: setup.range_m,
            relays_to_access_points,
            interval: setup.update,
            next_update: Instant::ZERO,
            reach: Reach::new(&places, 0.0),
            places,
            outside: nowhere.clone(),
            flows: setup.flows.iter().map(flow).collect(),
            random: seed.stream("cell/routes"),
            updates: 0,
        })
    }

    /// Moves hosts on, and looks at neighbours and routes when it is time.
    pub fn update(&mut self, now: Instant) {
        for (place, movement) in self.places.iter_mut().zip(&mut self.movements) {
            *place = movement.at(now);
        }
        if now < self.next_update {
            return;
        }
        self.next_update = if self.moves { now + self.interval } else { Instant::MAX };
        self.updates += 1;
        self.reach = Reach::new(&self.places, self.range_m);
        let sinks: Vec<usize> = if self.relays_to_access_points {
            (0..self.places.len()).filter(|&host| self.access_point_of(host).is_some()).collect()
        } else {
            (self.base..self.places.len()).collect()
        };
        self.outside = Routes::to(&self.reach, &sinks, &mut self.random);
        for (destination, routes) in self.flows.iter_mut().filter_map(|(_, local)| local.as_mut()) {
            *routes = Routes::to(&self.reach, &[*destination], &mut self.random);
        }
    }

    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    pub fn base(&self) -> usize {
        self.base
    }

    fn routes(&self, flow: usize) -> &Routes {
        match self.flows.get(flow) {
            Some((_, Some((_, routes)))) => routes,
            _ => &self.outside,
        }
    }

    /// Where a packet of `flow` goes from `host`; `host` itself where the flow has arrived.
    pub fn next(&self, flow: usize, host: usize) -> Option<usize> {
        self.routes(flow).next(host)
    }

    /// The way of `flow` from its source.
    pub fn route(&self, flow: usize) -> Option<Route> {
        self.routes(flow).from(self.source(flow))
    }

    pub fn source(&self, flow: usize) -> usize {
        self.flows.get(flow).map_or(0, |(source, _)| *source)
    }

    /// The destination of a local flow.
    pub fn destination(&self, flow: usize) -> Option<usize> {
        self.flows.get(flow).and_then(|(_, local)| local.as_ref()).map(|(host, _)| *host)
    }

    /// Whether the receiver of `hop` is still where the sender is heard.
    pub fn is_near(&self, hop: Hop) -> bool {
        self.places[hop.from].distance_m2(self.places[hop.to]) <= self.range_m * self.range_m
    }

    /// Whether `hop` uses the channel around the base station: one of its ends is heard there.
    pub fn is_at_base(&self, hop: Hop) -> bool {
        let heard = |host: usize| {
            host == self.base
                || self.places[host].distance_m2(self.places[self.base]) <= self.range_m * self.range_m
        };
        heard(hop.from) || heard(hop.to)
    }

    /// The first access point in whose range `host` is.
    pub fn access_point_of(&self, host: usize) -> Option<usize> {
        let near = |point: &Position| {
            self.places[host].distance_m2(*point) <= ACCESS_POINT_RANGE_M * ACCESS_POINT_RANGE_M
        };
        self.access_points.iter().position(near)
    }
}
