//! What a cell is made of, and what goes through it.
use crate::dual_mode::DualModeSettings;
use crate::energy::PowerModel;
use crate::timeline::ConflictRule;
use prismux_units::{ByteCount, Duration, Rate};

/// Where a flow ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Destination {
    /// At a host of the cell: a local flow.
    Host(usize),
    /// Outside the cell, through the base station, or a hybrid station, or an access point.
    Outside,
}

/// A flow: a source that always has the same destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    /// Where it comes from: a host; or the base station, a hybrid station or an access point, where it comes from
    /// outside.
    pub source: usize,
    /// Where it goes.
    pub destination: Destination,
}

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

/// How far peers hear one another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// So many metres.
    Fixed(f64),
    /// As far as just connects everybody, whenever routes are looked at: topology control by the least power.
    Least,
}

/// Whose throughput dual-mode operation looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judged {
    /// Each flow's.
    Flows,
    /// Each host's, of all its flows in both directions together; a host for which nothing waits wants nothing.
    Hosts,
}

/// What a cell is made of. Places are numbered: the hosts, then the base station, then hybrid stations, then access
/// points.
#[derive(Debug, Clone, PartialEq)]
pub struct CellConfig {
    /// Hosts; their number is that of the base station.
    pub hosts: usize,
    /// Hybrid stations: they relay as hosts do, and what reaches them has left the cell.
    pub stations: usize,
    /// Access points of another network.
    pub access_points: usize,
    /// Whether anybody moves.
    pub moves: bool,
    /// How far peers hear one another.
    pub range: Range,
    /// How far the base station's cell reaches, in metres, for the energy of talking to it.
    pub base_range_m: f64,
    /// How far access points reach, in metres.
    pub access_point_range_m: f64,
    /// Rate of access points.
    pub access_point_rate: Rate,
    /// Which transmissions of a schedule may share a slot.
    pub rule: ConflictRule,
    /// Bytes of a slot, which carries one packet.
    pub packet: ByteCount,
    /// Rate of the channel.
    pub rate: Rate,
    /// How often neighbours and routes are looked at anew while hosts move.
    pub update: Duration,
    /// Whose throughput dual-mode operation looks at.
    pub judged: Judged,
    /// What hosts draw.
    pub power: PowerModel,
}

impl CellConfig {
    /// The thesis's setting (its sections 7.1 and 9.2) with so many hosts, which stay, and a base station alone:
    /// slots of 1000 bytes on 2 Mbit/s, 250 m, access points of 802.11b.
    pub const fn new(hosts: usize) -> Self {
        Self {
            hosts,
            stations: 0,
            access_points: 0,
            moves: false,
            range: Range::Fixed(250.0),
            base_range_m: 0.0,
            access_point_range_m: 250.0,
            access_point_rate: Rate::from_mbps(11),
            rule: ConflictRule::ReceiverSide,
            packet: ByteCount::new(1000),
            rate: Rate::from_mbps(2),
            update: Duration::from_secs(1),
            judged: Judged::Hosts,
            power: PowerModel::NS2,
        }
    }

    /// One slot.
    pub fn slot(&self) -> Duration {
        self.rate.transmission_time(self.packet)
    }

    /// What a packet of a slot's length takes at an access point.
    pub fn access_point_time(&self) -> Duration {
        self.access_point_rate.transmission_time(self.packet)
    }

    /// Places: of hosts, the base station, hybrid stations and access points.
    pub fn places(&self) -> usize {
        self.hosts + 1 + self.stations + self.access_points
    }
}
