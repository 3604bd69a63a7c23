//! Stations of cells: they keep their addresses, and the routes to them and from them follow.
//!
//! A station reaches everybody over the air, or by its other link where it hears no base station. All that is for it
//! goes to its base station first, or to the other end of that link.
use super::{NodeIndex, Topology};
use crate::LabError;
use crate::orders::{Carrier, Orders};
use prismux_plan::{Cells, LinkId, Medium, MediumModel, NodeId, Plan};
use std::net::Ipv4Addr;

/// A route that turns: all that `node` has for `destination` leaves by `device`, from the node's own address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Turn {
    pub node: NodeIndex,
    pub destination: Ipv4Addr,
    pub device: String,
}

/// What a station is attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    /// A base station, over the air.
    BaseStation(NodeIndex),
    /// Its other link.
    Link(LinkId),
}

/// Those over whom the other nodes of a medium are reached, one at a time: base stations, or gates of a cell in slots.
pub(crate) struct Gates<'a> {
    pub nodes: &'a [NodeId],
    cells: Option<&'a Cells>,
}

impl Gates<'_> {
    /// The link that a station uses where it hears none of them.
    pub fn fallback_of(&self, station: NodeId) -> Option<LinkId> {
        self.cells?.fallback_of(station)
    }
}

/// The gates of a medium, where not all on it are neighbours.
pub(crate) fn gates_of(medium: &Medium) -> Option<Gates<'_>> {
    match &medium.model {
        MediumModel::Radio(radio) => {
            let cells = radio.cells.as_ref()?;
            Some(Gates { nodes: &cells.base_stations, cells: Some(cells) })
        }
        MediumModel::Cell(cell) => Some(Gates { nodes: cell.gates(&medium.attached), cells: None }),
        MediumModel::Bus(_) | MediumModel::External => None,
    }
}

impl Topology {
    /// Notes who belongs to cells, and gives the stations the ways that they have before they have measured anything:
    /// their other link, or the first base station.
    pub(super) fn lay_cells(&mut self, plan: &Plan) {
        for medium in &plan.media {
            let Some(gates) = gates_of(medium) else { continue };
            let stations = medium.attached.iter().filter(|node| !gates.nodes.contains(node));
            self.stations.extend(stations.map(|node| node.index()));
        }
        for medium in &plan.media {
            let Some(gates) = gates_of(medium) else { continue };
            let Some(first) = gates.nodes.first() else { continue };
            for station in medium.attached.iter().filter(|node| !gates.nodes.contains(node)) {
                self.nodes[station.index()].changes_links = true;
                let access = match gates.fallback_of(*station) {
                    Some(link) => Access::Link(link),
                    None => Access::BaseStation(first.index()),
                };
                for turn in self.attach(station.index(), access) {
                    self.nodes[turn.node].first_ways.push((turn.destination, turn.device));
                }
            }
        }
    }

    /// Whether a node is a station of a cell.
    pub(super) fn is_station(&self, node: NodeIndex) -> bool {
        self.stations.contains(&node)
    }

    /// The routes that turn when `station` is attached otherwise.
    pub fn attach(&self, station: NodeIndex, access: Access) -> Vec<Turn> {
        let turn = |node, destination, device: &str| Turn { node, destination, device: device.to_owned() };
        match access {
            Access::Link(link) => {
                let routes = self.hand_over(station, link.index()).into_iter();
                let concerned = routes.filter(|(node, _)| *node == station || !self.is_station(*node));
                let turns = concerned.filter_map(|(node, route)| {
                    Some(turn(node, route.destination?, &self.nodes[node].ports[route.port].device))
                });
                turns.collect()
            }
            Access::BaseStation(base) => {
                let radio = |node: NodeIndex| self.nodes[node].radio.first().map(|port| port.device.as_str());
                let towards = self.ports_towards(base);
                let mut turns = Vec::new();
                for node in (0..self.nodes.len()).filter(|&node| node != station) {
                    let out = radio(station).into_iter();
                    turns.extend(out.map(|device| turn(station, self.address(node), device)));
                    let inwards = match towards[node] {
                        _ if node == base => radio(base),
                        Some(port) if !self.is_station(node) => {
                            Some(self.nodes[node].ports[port].device.as_str())
                        }
                        _ => None,
                    };
                    turns.extend(inwards.map(|device| turn(node, self.address(station), device)));
                }
                turns
            }
        }
    }

    /// Refuses a flow of a station that is tied to links: its routes are its own, and would not follow the station.
    pub(super) fn check_cells(&self, orders: &Orders<'_>) -> Result<(), LabError> {
        let at_station = |node: NodeId| self.is_station(node.index());
        let tied = orders.flows.iter().find(|orders| {
            let flow = orders.flow;
            let by_routing = matches!(orders.carrier, Carrier::Tcp | Carrier::Udp) && flow.via.is_none();
            (at_station(flow.from) || at_station(flow.to)) && !by_routing
        });
        let Some(tied) = tied else { return Ok(()) };
        Err(LabError::Layout(format!(
            "flow \"{}\" ends at a host that hands over between cells, and is tied to links, by its transport or by a \
             member\n  remedy: transport \"tcp\" or \"udp\" without via, or --on sim",
            tied.flow.name
        )))
    }
}
