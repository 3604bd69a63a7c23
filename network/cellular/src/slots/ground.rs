//! Where hosts are and which ways packets take.
use super::{Access, CellConfig, Destination, Flow, Range};
use crate::cell::least_range_m;
use crate::reach::Reach;
use crate::routes::{Hop, Route, Routes};
use alloc::vec::Vec;
use prismux_endpoint::random::{RandomStream, Seed};
use prismux_units::{Duration, Instant};
use prismux_wireless::{Movement, Position};

/// The least range is rounded up by so much of it, so that what it connects is connected in spite of rounding.
const LEAST_MARGIN: f64 = 1e-9;

/// Where packets leave the cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exits {
    /// At the base station.
    BaseStation,
    /// At the base station and the hybrid stations, over peers.
    Stations,
    /// At access points, over peers in their range.
    Relays,
    /// At the access point in range, else at the base station.
    AccessPoints,
}

/// The plane with everybody on it: hosts, the base station, hybrid stations, access points.
#[derive(Debug)]
pub(super) struct Ground {
    movements: Vec<Movement>,
    places: Vec<Position>,
    base: usize,
    /// The first access point; those before are on the channel of the cell.
    first_point: usize,
    range: Range,
    range_m: f64,
    point_range_m: f64,
    moves: bool,
    exits: Exits,
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
    pub fn new(config: &CellConfig, access: Access, mut movements: Vec<Movement>, seed: Seed) -> Self {
        let with_points = config.access_points > 0;
        let exits = match access {
            Access::Polled { .. } => Exits::BaseStation,
            Access::Interworking => Exits::AccessPoints,
            Access::DualMode { .. } if with_points => Exits::Relays,
            Access::DualMode { .. } | Access::Assisted { .. } | Access::Contention => Exits::Stations,
        };
        let mut places: Vec<Position> = movements.iter_mut().map(|it| it.at(Instant::ZERO)).collect();
        places.resize(config.places(), Position::default());
        let first_point = config.hosts + 1 + config.stations;
        Self {
            movements,
            base: config.hosts,
            first_point,
            range: config.range,
            range_m: 0.0,
            point_range_m: config.access_point_range_m,
            moves: config.moves,
            exits,
            interval: config.update,
            next_update: Instant::ZERO,
            reach: Reach::new(&places[..first_point], 0.0),
            places,
            outside: Routes::default(),
            flows: Vec::new(),
            random: seed.stream("cell/routes"),
            updates: 0,
        }
    }

    /// Adds a flow; its number.
    pub fn open(&mut self, Flow { source, destination }: Flow) -> usize {
        let local = match destination {
            Destination::Host(host) => Some((host, self.routes_to(host))),
            Destination::Outside => None,
        };
        self.flows.push((source, local));
        self.flows.len() - 1
    }

    /// None before routes are looked at for the first time.
    fn routes_to(&mut self, host: usize) -> Routes {
        if self.updates == 0 {
            return Routes::default();
        }
        Routes::to(&self.reach, &[host], &mut self.random)
    }

    /// Moves hosts on, and looks at neighbours and routes when it is time.
    pub fn update(&mut self, now: Instant) {
        if self.moves {
            self.positions(now);
        }
        if now < self.next_update {
            return;
        }
        self.next_update = if self.moves { now + self.interval } else { Instant::MAX };
        self.updates += 1;
        let on_channel = &self.places[..self.first_point];
        self.range_m = match self.range {
            Range::Fixed(range_m) => range_m,
            Range::Least => least_range_m(on_channel) * (1.0 + LEAST_MARGIN),
        };
        self.reach = Reach::new(on_channel, self.range_m);
        let sinks: Vec<usize> = match self.exits {
            Exits::Relays => {
                (0..self.first_point).filter(|&host| self.access_point_of(host).is_some()).collect()
            }
            _ => (self.base..self.first_point).collect(),
        };
        self.outside = Routes::to(&self.reach, &sinks, &mut self.random);
        for (destination, routes) in self.flows.iter_mut().filter_map(|(_, local)| local.as_mut()) {
            *routes = Routes::to(&self.reach, &[*destination], &mut self.random);
        }
    }

    /// Everybody's places at a time, which must not go back.
    pub fn positions(&mut self, now: Instant) -> &[Position] {
        for (place, movement) in self.places.iter_mut().zip(&mut self.movements) {
            *place = movement.at(now);
        }
        &self.places
    }

    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    /// The range of peers, as it was when routes were looked at last.
    pub fn range_m(&self) -> f64 {
        self.range_m
    }

    pub fn base(&self) -> usize {
        self.base
    }

    /// Where packets for a host enter the cell: where those that it sends leave it. At the base station where no way
    /// leads out.
    pub fn entrance(&self, host: usize) -> usize {
        let entrance = match self.exits {
            Exits::BaseStation => None,
            Exits::Stations => self.outside.end(host),
            Exits::Relays => self.gateway(host).and_then(|gateway| self.access_point_of(gateway)),
            Exits::AccessPoints => self.access_point_of(host),
        };
        entrance.unwrap_or(self.base)
    }

    /// The host in range of an access point that packets of `host` leave the cell by: itself, or another.
    pub fn gateway(&self, host: usize) -> Option<usize> {
        match self.exits {
            Exits::Relays => self.outside.end(host),
            _ => Some(host),
        }
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

    /// The way of `flow` from its source over peers.
    pub fn route(&self, flow: usize) -> Option<Route> {
        self.routes(flow).from(self.source(flow))
    }

    /// Whether a way leads from the source of `flow` to its destination without the base station's help. A packet that
    /// enters at an access point is handed to a host in range first.
    pub fn has_way(&self, flow: usize) -> bool {
        match self.destination(flow).filter(|_| self.source(flow) >= self.first_point) {
            Some(host) => self.gateway(host).is_some(),
            None => self.routes(flow).end(self.source(flow)).is_some(),
        }
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
        (self.first_point..self.places.len()).find(|&point| self.is_covered(host, point))
    }

    /// Whether `host` is in range of an access point.
    pub fn is_covered(&self, host: usize, point: usize) -> bool {
        self.places[host].distance_m2(self.places[point]) <= self.point_range_m * self.point_range_m
    }
}
