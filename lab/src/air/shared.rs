//! What carries the packets of a medium: an air with radios, or a cell in slots.
use super::AirReport;
use super::carriage::Carried;
use super::cells::CellNodes;
use super::direct::Direct;
use super::hosts::Hosts;
use super::ports::Station;
use super::protocols::{Routed, with_routing};
use super::radios::Radios;
use super::routers::Routers;
use super::slotted::{self, SlottedNodes, Ticket};
use super::stage::Stage;
use crate::LabError;
use crate::orders::Orders;
use crate::packets::Labelled;
use prismux_cellular::slots::CellNetwork;
use prismux_endpoint::random::Seed;
use prismux_plan::{Action, Cells, Medium, MediumModel, NodeId, Plan, Radio, Routing, SlottedCell};
use prismux_routing::RoutingEndpoint;
use prismux_units::Instant;
use prismux_wireless::{Air, HostId};
use std::io;
use std::net::Ipv4Addr;

/// What carries the packets of a medium.
pub(super) enum Shared {
    Radio {
        air: Box<Air<u32>>,
        radio: Box<Radio>,
        attached: Vec<NodeId>,
        /// Changes of channel, in order.
        tunings: Vec<(Instant, HostId, u8)>,
    },
    Cell {
        network: Box<CellNetwork<Ticket>>,
        cell: Box<SlottedCell>,
    },
}

impl Shared {
    /// That of a medium between these stations.
    ///
    /// # Errors
    /// When radio, medium access or a movement is impossible.
    pub fn of(orders: &Orders<'_>, medium: &Medium, stations: &[Station]) -> Result<Self, LabError> {
        let impossible = |what: String| LabError::Layout(format!("medium \"{}\": {what}", medium.name));
        match &medium.model {
            MediumModel::Radio(radio) => Ok(Self::Radio {
                air: Box::new(
                    air(&medium.name, radio, stations, orders.seed)
                        .map_err(|error| impossible(error.to_string()))?,
                ),
                radio: radio.clone(),
                attached: medium.attached.clone(),
                tunings: tunings(orders.plan, medium),
            }),
            MediumModel::Cell(cell) => {
                let names = stations.iter().map(|station| station.name.as_str());
                let network = slotted::network(&medium.name, cell, names, orders.seed);
                let network = network.map_err(|fault| impossible(fault.to_owned()))?;
                Ok(Self::Cell { network: Box::new(network), cell: cell.clone() })
            }
            MediumModel::Bus(_) | MediumModel::External => {
                Err(impossible("it is neither a radio nor a cell".to_owned()))
            }
        }
    }

    /// From now on it tells of every frame.
    pub fn tell_frames(&mut self) {
        match self {
            Self::Radio { air, .. } => air.report_frames(),
            Self::Cell { network, .. } => network.tell_sendings(),
        }
    }

    pub fn counts_energy(&self) -> bool {
        match self {
            Self::Radio { radio, .. } => radio.power.is_some(),
            Self::Cell { cell, .. } => cell.counts_energy,
        }
    }

    /// Carries packets until the end of the run.
    ///
    /// # Errors
    /// When a device cannot be read.
    pub fn carry(self, stage: Stage, seed: Seed) -> io::Result<AirReport> {
        let (air, radio, attached, tunings) = match self {
            Self::Radio { air, radio, attached, tunings } => (*air, radio, attached, tunings),
            Self::Cell { network, cell } => {
                let addresses = stage.stations.iter().map(|station| station.address);
                let nodes = SlottedNodes::new(*network, &cell, addresses);
                return stage.carry(nodes);
            }
        };
        match radio.cells.clone() {
            Some(cells) => with_routing(radio.routing, seed, InCells { stage, air, radio, cells, attached }),
            None => among_equals(stage, air, &radio, tunings),
        }
    }
}

/// The air of a medium. Its random streams have the names that they have in the simulator.
fn air(
    medium: &str,
    radio: &Radio,
    stations: &[Station],
    seed: Seed,
) -> Result<Air<u32>, prismux_wireless::AirError> {
    let hosts = radio.host_configs(medium, stations.iter().map(|station| station.name.as_str()));
    Air::new(&radio.air_config(), hosts, seed)
}

/// Hosts that are all alike: their daemons find the way over one another, or all are neighbours. Radios change their
/// channels as told, in order.
fn among_equals(
    stage: Stage,
    air: Air<u32>,
    radio: &Radio,
    tunings: Vec<(Instant, HostId, u8)>,
) -> io::Result<AirReport> {
    let takes_back = radio.routing.takes_back();
    let addresses = stage.stations.iter().map(|station| station.address);
    let of_hosts = (0..stage.stations.len()).map(|place| radio.radios_of(place).collect());
    if radio.routing == Routing::Direct {
        let hosts = addresses.map(Direct::new).zip(of_hosts).collect();
        let mut hosts = Hosts::new(air, hosts, takes_back);
        hosts.radios.set_tunings(tunings);
        return stage.carry(hosts);
    }
    let mut radios = Radios::new(air, of_hosts.collect(), takes_back);
    radios.set_tunings(tunings);
    let addresses = addresses.collect();
    stage.carry(Routers::new(radios, addresses))
}

/// Stations that belong to base stations, some of which may relay for the others.
struct InCells {
    stage: Stage,
    air: Air<u32>,
    radio: Box<Radio>,
    cells: Cells,
    attached: Vec<NodeId>,
}

impl Routed<Carried<Labelled>> for InCells {
    type Outcome = io::Result<AirReport>;

    fn with<R: RoutingEndpoint<Carried<Labelled>>>(
        self,
        protocol: impl Fn(Ipv4Addr, &str) -> R,
    ) -> Self::Outcome {
        let Self { stage, air, radio, cells, attached } = self;
        let addresses = stage.stations.iter().map(|station| station.address).collect();
        let route = |host: HostId| {
            let station = &stage.stations[host.0 as usize];
            protocol(station.address, &station.name)
        };
        let nodes = CellNodes::new(air, &attached, (&radio, &cells), addresses, route);
        stage.carry(nodes)
    }
}

/// The changes of channel in a plan that concern a medium, in order.
fn tunings(plan: &Plan, medium: &Medium) -> Vec<(Instant, HostId, u8)> {
    let tuning = |event: &prismux_plan::Event| match event.action {
        Action::Tune { host, channel } => {
            let place = medium.attached.iter().position(|node| *node == host)?;
            Some((Instant::ZERO + event.at, HostId(place as u32), channel))
        }
        _ => None,
    };
    let mut tunings: Vec<_> = plan.events.iter().filter_map(tuning).collect();
    tunings.sort_by_key(|(at, ..)| *at);
    tunings
}
