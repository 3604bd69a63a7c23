//! Cells in slots: numbers that make one, gates that stay and have wires, hosts that peers connect, packets that fit.
use super::Findings;
use crate::{
    CellProblem, Flow, Medium, MediumModel, NodeId, NodeKind, Part, Plan, Problem, SlottedCell,
    TCP_IP_HEADER_BYTES, Traffic, Transport,
};
use alloc::vec::Vec;
use prismux_cellular::slots::{Access, Range};
use prismux_cellular::{Cell, Reach};
use prismux_units::ByteCount;
use prismux_wireless::{Mobility, Position};

impl Plan {
    /// The cell in slots that a node is on.
    pub fn cell_of(&self, node: NodeId) -> Option<(&Medium, &SlottedCell)> {
        self.media.iter().filter(|medium| medium.attached.contains(&node)).find_map(|medium| {
            match &medium.model {
                MediumModel::Cell(cell) => Some((medium, &**cell)),
                _ => None,
            }
        })
    }

    pub(super) fn check_cell(&self, medium: &Medium, cell: &SlottedCell, found: &mut Findings) {
        let mut add = |key, problem| found.add(Part::Medium(medium.name.clone()), Some(key), problem);
        if cell.config.places() != medium.attached.len() || cell.mobility.len() != medium.attached.len() {
            let (hosts, places) = (medium.attached.len(), cell.mobility.len().min(cell.config.places()));
            return add("mobility", Problem::HostsWithoutPlaces { hosts, places });
        }
        if let Some((key, why)) = fault_of_numbers(cell) {
            return add(key, Problem::Cell(CellProblem::Slots(why)));
        }
        if let Some((key, why)) = fault_of_gates(cell) {
            return add(key, Problem::Cell(CellProblem::Gates(why)));
        }
        for (place, &node) in medium.attached.iter().enumerate() {
            let name = || self[node].name.clone();
            let wired = !self.links_at(node).is_empty();
            if place < cell.config.hosts && wired {
                add("hosts", Problem::Cell(CellProblem::WiredHost(name())));
            } else if place > cell.config.hosts && (!wired || self[node].kind() != NodeKind::Router) {
                let is_station = place <= cell.config.hosts + cell.config.stations;
                let key = if is_station { "stations" } else { "access_points" };
                add(key, Problem::Cell(CellProblem::UnwiredGate(name())));
            }
            if place >= cell.config.hosts && !matches!(cell.mobility[place], Mobility::Static(_)) {
                add("base_station", Problem::Cell(CellProblem::MovingGate(name())));
            }
        }
        if let Some((host, least_m)) = partition(cell) {
            let host = self[medium.attached[host]].name.clone();
            add("range_m", Problem::Cell(CellProblem::Partitioned { host, least_m }));
        }
    }

    /// Packets of a flow of a cell fit into its slots.
    pub(super) fn check_slots_of(&self, flow: &Flow, found: &mut Findings) {
        let cell = [flow.from, flow.to].into_iter().find_map(|end| self.cell_of(end));
        let Some((_, cell)) = cell else { return };
        let (key, packet) = match (&flow.transport, &flow.traffic) {
            (Transport::Udp, Traffic::Cbr { packet, .. } | Traffic::ParetoOnOff { packet, .. }) => {
                ("packet", *packet)
            }
            (Transport::Udp, _) => return,
            _ => {
                let mss = u64::from(flow.tcp.config().mss);
                ("tcp", ByteCount::new(mss + u64::from(TCP_IP_HEADER_BYTES)))
            }
        };
        if packet > cell.config.packet {
            let problem = Problem::Cell(CellProblem::LongPackets { packet, slot: cell.config.packet });
            found.add(Part::Flow(flow.name.clone()), Some(key), problem);
        }
    }
}

/// Numbers of which no cell can be made.
fn fault_of_numbers(cell: &SlottedCell) -> Option<(&'static str, &'static str)> {
    let config = &cell.config;
    if config.slot().is_zero() || config.slot().as_secs_f64() > 60.0 {
        return Some(("rate", "slots that take no time, or more than a minute"));
    }
    if config.update.is_zero() {
        return Some(("routes_every", "routes that are looked at without a pause"));
    }
    if cell.queue_packets == 0 {
        return Some(("queue_packets", "queues without room"));
    }
    match cell.access {
        Access::Polled { overhead } if !(0.0..1.0).contains(&overhead) => {
            Some(("overhead", "polling that takes all of the time, or less than none"))
        }
        Access::Assisted { period_slots: 0 } => Some(("period_slots", "a schedule of no slots")),
        Access::DualMode { settings, .. }
            if [settings.repetition, settings.update, settings.monitor].iter().any(|time| time.is_zero()) =>
        {
            Some(("dual_mode", "intervals of no length"))
        }
        _ => match config.range {
            Range::Fixed(range_m) if range_m.is_nan() || range_m <= 0.0 => {
                Some(("range_m", "a range of nothing"))
            }
            _ => None,
        },
    }
}

/// Stations and access points that the access has no use for, or lacks.
fn fault_of_gates(cell: &SlottedCell) -> Option<(&'static str, &'static str)> {
    let config = &cell.config;
    if config.stations > 0 && !cell.has_relaying_peers() {
        Some(("stations", "hybrid stations where no peers relay to them"))
    } else if config.access_points > 0 && !cell.uses_access_points() {
        Some(("access_points", "access points that nobody uses"))
    } else if config.stations > 0 && config.access_points > 0 {
        Some(("stations", "hybrid stations beside access points"))
    } else if config.access_points == 0 && cell.access == Access::Interworking {
        Some(("access_points", "interworking without an access point"))
    } else {
        None
    }
}

/// A host that peers do not connect, where all stay in known places and nothing else can serve it; and the least range
/// that connects everybody.
fn partition(cell: &SlottedCell) -> Option<(usize, f64)> {
    let relies_on_peers = matches!(cell.access, Access::Assisted { .. } | Access::Contention);
    let Range::Fixed(range_m) = cell.config.range else { return None };
    let place = |mobility: &Mobility| match mobility {
        Mobility::Static(place) => Some(*place),
        _ => None,
    };
    let places: Option<Vec<Position>> = cell.mobility.iter().map(place).collect();
    let places = places.filter(|_| relies_on_peers)?;
    let reach = Reach::new(&places, range_m);
    let joined = reach.joined(cell.config.hosts..places.len());
    let host = (0..cell.config.hosts).find(|host| !joined[*host])?;
    Some((host, Cell { places }.least_range_m()))
}
