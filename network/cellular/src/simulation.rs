//! A cell in virtual time, slot by slot, under one of several ways to share its channel.
//!
//! * [`Setup`]: the cell, its flows, movement. [`Access`]: who sends in a slot. [`simulate`]: the run.
//!   [`Outcome`]: what came of it.
//! * [`traffic`]: when flows have packets. `ground`: places and ways at a time. `packets`: what waits where.
//! * `polled`, `assisted`, `contention`, `modes`: the ways to share the channel.
//!
//! Packets are datagrams: no transport protocol sends acknowledgements, and what is lost goes back to its source's
//! backlog.

mod assisted;
mod contention;
mod ground;
mod modes;
mod outcome;
mod packets;
mod polled;
pub mod traffic;

pub use outcome::Outcome;
pub use traffic::Traffic;

use crate::assisted::AssistedScheduler;
use crate::cell::Cell;
use crate::dual_mode::DualModeSettings;
use alloc::vec::Vec;
use core::fmt;
use ground::Ground;
use packets::Packets;
use prismux_endpoint::random::Seed;
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wireless::{Position, RandomWaypoint};

/// Where a flow ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// At a host of the cell: a local flow.
    Host(usize),
    /// Outside the cell, through the base station, or a hybrid station, or an access point.
    Outside,
}

/// A flow: a source that always has the same destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// The host it comes from.
    pub source: usize,
    /// Where it goes.
    pub destination: Destination,
}

/// What is simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// The hosts and the base station.
    pub cell: Cell,
    /// Movement of the hosts, which then begin where it says; `None` where they stay in their places.
    pub movement: Option<RandomWaypoint>,
    /// Hybrid stations: they relay as hosts do, and what reaches them has left the cell.
    pub stations: Vec<Position>,
    /// Access points of another network with a range of [`ACCESS_POINT_RANGE_M`] metres.
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

/// Range of access points, in metres.
pub const ACCESS_POINT_RANGE_M: f64 = 250.0;
/// Rate of access points (802.11b).
const ACCESS_POINT_RATE: Rate = Rate::from_mbps(11);

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

/// Who sends in a slot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Access {
    /// The cellular model: the base station asks hosts with packets in turn. A local packet needs two slots.
    Polled {
        /// Share of the time that asking costs.
        overhead: f64,
    },
    /// Peers relay by a schedule of the base station.
    Assisted {
        /// Slots of a period.
        period_slots: usize,
    },
    /// Peers relay as they find the channel free.
    Contention,
    /// Peers relay as they find the channel free; flows that fare badly use the base station directly. With access
    /// points, hosts in their range take packets out of the cell and the base station is no sink of peers: the
    /// multi-homed relay of the thesis's section 9.2.
    DualMode {
        /// Intervals and timeouts.
        settings: DualModeSettings,
        /// Throughput that a flow wants at least.
        reference: Rate,
    },
    /// The cellular model beside access points: hosts in range of one use it, the others the base station.
    Interworking,
}

/// Runs `setup` under `access`; the same seed gives the same outcome.
///
/// # Errors
/// [`SetupError`] for flows, times, traffic and movement that make no sense.
pub fn simulate(setup: &Setup, access: Access, seed: Seed) -> Result<Outcome, SetupError> {
    setup.check()?;
    let mut run = Run {
        ground: Ground::new(setup, access, seed)?,
        packets: Packets::new(setup, seed),
        outcome: Outcome::new(setup),
        slot: 0,
        length: setup.slot(),
    };
    let slots = setup.duration.as_nanos() / run.length.as_nanos();
    let mut way: alloc::boxed::Box<dyn Way> = match access {
        Access::Polled { overhead } => alloc::boxed::Box::new(polled::Polled::new(overhead)),
        Access::Assisted { period_slots } => alloc::boxed::Box::new(assisted::Obeyed::new(
            AssistedScheduler::new(setup.flows.len(), period_slots),
        )),
        Access::Contention => alloc::boxed::Box::new(contention::Contention::new(setup, seed)),
        Access::DualMode { settings, reference } => {
            alloc::boxed::Box::new(modes::DualMode::new(setup, settings, reference, seed))
        }
        Access::Interworking => alloc::boxed::Box::new(modes::Interworking::new(setup)),
    };
    for slot in 0..slots {
        run.slot = slot;
        run.ground.update(run.now());
        run.packets.arrive(slot);
        way.slot(&mut run);
    }
    run.outcome.slots = slots;
    Ok(run.outcome)
}

/// A way to share the channel.
trait Way {
    /// One slot passes.
    fn slot(&mut self, run: &mut Run);
}

/// What every way to share the channel works on.
struct Run {
    ground: Ground,
    packets: Packets,
    outcome: Outcome,
    slot: u64,
    length: Duration,
}

impl Run {
    fn now(&self) -> Instant {
        Instant::ZERO + self.length * self.slot
    }
}
