//! The radios of base stations: which there are, and who belongs to each.
use super::super::carriage::{Carried, Payload};
use super::{CellNodes, Node};
use prismux_routing::RoutingEndpoint;
use prismux_wireless::HostId;

/// A radio of a base station.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell {
    pub base: HostId,
    pub radio: HostId,
    pub channel: u8,
}

impl<R: RoutingEndpoint<Carried<P>>, P: Payload> CellNodes<R, P> {
    /// How many stations but one head for each radio of base stations; nothing where each of these has one radio.
    pub(super) fn heading(&self, host: HostId) -> Vec<usize> {
        let mut heading = Vec::new();
        if !self.has_several_radios() {
            return heading;
        }
        heading.resize(self.cells.len(), 0);
        for (number, node) in (0..).map(HostId).zip(&self.nodes) {
            if let Node::Station(mobile) = node
                && number != host
                && let Some(place) = mobile.machine.heads_for()
            {
                heading[place] += 1;
            }
        }
        heading
    }

    /// Whether there is a base station with several radios.
    pub(super) fn has_several_radios(&self) -> bool {
        self.cells.len() > self.base_stations.len()
    }

    /// The node that a radio belongs to.
    pub(super) fn node_of(&self, radio: HostId) -> HostId {
        let further = (radio.0 as usize).checked_sub(self.nodes.len());
        further.and_then(|further| self.further.get(further).copied()).unwrap_or(radio)
    }

    /// The radio of a base station to which a station belongs.
    pub(super) fn radio_towards(&self, base: HostId, station: HostId) -> HostId {
        let place = match self.nodes.get(station.0 as usize) {
            Some(Node::Station(mobile)) => mobile.machine.heads_for(),
            _ => None,
        };
        let cell = place.and_then(|place| self.cells.get(place));
        cell.filter(|cell| cell.base == base).map_or(base, |cell| cell.radio)
    }
}
