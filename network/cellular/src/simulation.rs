//! A cell in virtual time, slot by slot, under one of several ways to share its channel.
//!
//! * [`Setup`]: the cell, its flows, movement. [`Access`]: who sends in a slot. [`simulate`]: the run.
//!   [`Outcome`]: what came of it.
//! * [`traffic`]: when flows have packets.
//!
//! Packets are datagrams: no transport protocol sends acknowledgements, and what is lost goes back to its source's
//! backlog.

mod outcome;
pub mod traffic;

pub use crate::slots::{Access, Destination, Flow};
pub use outcome::Outcome;
pub use traffic::Traffic;

use crate::cell::Cell;
use crate::slots::{CellConfig, CellEndpoint, Judged, Range};
use alloc::vec::Vec;
use core::fmt;
use prismux_endpoint::random::Seed;
use prismux_units::{ByteCount, Duration, Rate};
use prismux_wireless::{Mobility, Movement, Position, RandomWaypoint};
use traffic::Source;

/// What is simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// The hosts and the base station.
    pub cell: Cell,
    /// Movement of the hosts, which then begin where it says; `None` where they stay in their places.
    pub movement: Option<RandomWaypoint>,
    /// Hybrid stations: they relay as hosts do, and what reaches them has left the cell.
    pub stations: Vec<Position>,
    /// Access points of another network of 11 Mbit/s with a range of 250 m.
    pub access_points: Vec<Position>,
    /// The flows.
    pub flows: Vec<Flow>,
    /// When they have packets.
    pub traffic: Traffic,
    /// How far peers hear one another, in metres.
    pub range_m: f64,
    /// Bytes of a packet; a slot carries one.
    pub packet: ByteCount,
    /// Rate of the channel.
    pub rate: Rate,
    /// Length of the run.
    pub duration: Duration,
    /// How often neighbours and routes are looked at anew while hosts move.
    pub update: Duration,
}

impl Setup {
    /// The thesis's setting (its section 7.1): 1000-byte packets on 2 Mbit/s, 250 m, hosts that stay, 100 s.
    pub fn new(cell: Cell, flows: Vec<Flow>, traffic: Traffic) -> Self {
        Self {
            cell,
            movement: None,
            stations: Vec::new(),
            access_points: Vec::new(),
            flows,
            traffic,
            range_m: 250.0,
            packet: ByteCount::new(1000),
            rate: Rate::from_mbps(2),
            duration: Duration::from_secs(100),
            update: Duration::from_secs(1),
        }
    }

    /// One slot.
    pub fn slot(&self) -> Duration {
        self.rate.transmission_time(self.packet)
    }

    /// Power is reckoned afterwards, for any ranges.
    fn config(&self) -> CellConfig {
        CellConfig {
            stations: self.stations.len(),
            access_points: self.access_points.len(),
            moves: self.movement.is_some(),
            range: Range::Fixed(self.range_m),
            packet: self.packet,
            rate: self.rate,
            update: self.update,
            judged: Judged::Flows,
            ..CellConfig::new(self.cell.hosts())
        }
    }

    /// Of everybody, the base station, stations and access points included, which stay.
    fn movements(&self, seed: Seed) -> Result<Vec<Movement>, SetupError> {
        let movement = |(number, place): (usize, &Position)| {
            let moving = self.movement.filter(|_| number < self.cell.hosts());
            let mobility = moving.map_or(Mobility::Static(*place), Mobility::RandomWaypoint);
            let random = seed.stream(&alloc::format!("cell/movement/{number}"));
            Movement::new(mobility, random).map_err(SetupError::Movement)
        };
        let places = self.cell.places.iter().chain(&self.stations).chain(&self.access_points);
        places.enumerate().map(movement).collect()
    }

    fn source(&self, flow: usize, seed: Seed) -> Source {
        let random = seed.stream(&alloc::format!("cell/traffic/{flow}"));
        Source::new(self.traffic, self.packet, self.slot(), random)
    }

    fn check(&self) -> Result<(), SetupError> {
        if self.slot().is_zero() || self.duration < self.slot() || self.update.is_zero() {
            return Err(SetupError::Time);
        }
        let hosts = self.cell.hosts();
        let known = |host: usize| host < hosts;
        for (number, flow) in self.flows.iter().enumerate() {
            let ends = match flow.destination {
                Destination::Host(host) => known(host) && host != flow.source,
                Destination::Outside => true,
            };
            if !known(flow.source) || !ends {
                return Err(SetupError::Flow(number));
            }
        }
        if self.traffic.is_valid() { Ok(()) } else { Err(SetupError::Traffic) }
    }
}

/// Why a setup cannot be simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupError {
    /// A slot, the run or the interval of updates has no length.
    Time,
    /// This flow begins or ends at no host of the cell, or where it began.
    Flow(usize),
    /// Rates and times of traffic must be above 0.
    Traffic,
    /// What makes the movement impossible.
    Movement(&'static str),
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time => f.write_str("a slot, an update and the run must be longer than 0 s"),
            Self::Flow(number) => write!(f, "flow {number} must join two hosts of the cell, or leave it"),
            Self::Traffic => f.write_str("rates, bursts and pauses must be above 0"),
            Self::Movement(what) => f.write_str(what),
        }
    }
}

impl core::error::Error for SetupError {}

/// Runs `setup` under `access`; the same seed gives the same outcome.
///
/// # Errors
/// [`SetupError`] for flows, times, traffic and movement that make no sense.
pub fn simulate(setup: &Setup, access: Access, seed: Seed) -> Result<Outcome, SetupError> {
    setup.check()?;
    let mut cell = CellEndpoint::new(&setup.config(), access, setup.movements(seed)?, seed);
    let flows: Vec<usize> = setup.flows.iter().map(|flow| cell.open(*flow)).collect();
    let mut sources: Vec<Source> = flows.iter().map(|flow| setup.source(*flow, seed)).collect();
    let mut outcome = Outcome::new(setup);
    for slot in 0..setup.duration.as_nanos() / setup.slot().as_nanos() {
        for (source, &flow) in sources.iter_mut().zip(&flows) {
            for _ in 0..source.written(slot, cell.waiting(flow)) {
                cell.send(flow, setup.packet.as_u64() as u32, ());
            }
        }
        cell.handle_timeout(cell.poll_timeout());
        while let Some(arrival) = cell.poll_arrival(cell.poll_timeout()) {
            outcome.arrived(&arrival);
        }
    }
    outcome.count(&cell);
    Ok(outcome)
}
