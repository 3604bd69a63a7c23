//! Cells: base stations that join the air to wires, and stations that hand over between them.
//!
//! * `station`: a host that belongs to one base station at a time, and measures all of them.
//! * `relaying`: a station that hears none sends and receives over one that does.
//! * `base_station`: what forwards for the stations that belong to it.
//!
//! What the parts of a network tell one another to keep track of a host costs neither time nor packets, and the host
//! keeps its address, as with Mobile IP. So does the choice of a host to go over; the way to it has to be found.
mod base_station;
mod relaying;
mod station;

use super::adhoc::Relay;
use super::medium::RadioMedium;
use crate::core::ids::{LinkId, MediumId, NodeId, PortId};
use crate::core::packet::Transit;
use crate::network::{Network, Target};
use crate::nodes::context::NodeContext;
use crate::nodes::node::Node;
use base_station::BaseStation;
use prismux_plan::{CellRadio, Cells, Plan, Radio};
use prismux_trace::event::Event;
use prismux_units::Instant;
use relaying::Gateway;
pub(crate) use station::Station;
use std::any::Any;

/// The rule of a node on an air with cells; for a station that relays, what it relays by.
pub(super) fn node(
    plan: &Plan,
    medium: MediumId,
    (radio, cells): (&Radio, &Cells),
    node: NodeId,
    relay: Option<Box<dyn Relay>>,
) -> Box<dyn Node> {
    if !cells.base_stations.contains(&node) {
        return Box::new(Station::new(plan, medium, (radio, cells), node).relaying(relay));
    }
    let stations = plan[medium].attached.iter().filter(|node| !cells.base_stations.contains(node));
    let place = plan[medium].attached.iter().position(|one| *one == node);
    let channel = place.and_then(|place| radio.channels_of(place).next()).unwrap_or(1);
    let queue_packets = radio.mac_on(channel).queue_packets as usize;
    Box::new(BaseStation::new(medium, stations.copied(), queue_packets, cells.forwards))
}

/// Where packets for a host that moves are led.
impl Network {
    /// All that `host` sends leaves by `link`, and all that is for it goes to the link's other end first.
    pub fn attach(&mut self, host: NodeId, link: LinkId) {
        let (mut inwards, mut outwards) = (PortId::forward(link), PortId::reverse(link));
        if self.ends[inwards.index()].node != host {
            (inwards, outwards) = (outwards, inwards);
        }
        let access = self.ends[outwards.index()].node;
        for node in (0..self.forwarding.len() as u32).map(NodeId).filter(|node| *node != host) {
            self.routes.set(host, node, outwards);
        }
        self.lead_to(host, access);
        self.routes.set(access, host, inwards);
    }

    /// All that is for `host` goes to `access` first.
    pub fn lead_to(&mut self, host: NodeId, access: NodeId) {
        let others = (0..self.forwarding.len() as u32).map(NodeId);
        for node in others.filter(|node| ![host, access].contains(node)) {
            let towards = self.routes.next(node, access);
            if let Some(port) = towards.filter(|port| self.routes.next(node, host) != Some(*port)) {
                self.routes.set(node, host, port);
            }
        }
    }
}

/// Radios that events tune.
impl Network {
    /// The radio of a node is on another channel from now on.
    pub fn tune(&mut self, node: NodeId, channel: u8) {
        for medium in (0..self.media.len()).map(MediumId::new) {
            self.with_radio(medium, |radio, now| radio.tune(now, node, Some(channel)));
        }
    }

    /// Lets a radio medium act, which may have something to do afterwards; `None` for a medium of another kind.
    fn with_radio<R>(
        &mut self,
        medium: MediumId,
        act: impl FnOnce(&mut RadioMedium, Instant) -> R,
    ) -> Option<R> {
        let shared: &mut dyn Any = &mut *self.media.get_mut(medium.index())?.medium;
        let result = act(shared.downcast_mut()?, self.now);
        self.arm_medium(medium);
        Some(result)
    }
}

/// What stations and base stations do with their radios.
impl NodeContext<'_> {
    /// The power with which the node hears each of these radios now, in watts.
    fn measure_w(&mut self, medium: MediumId, cells: &[CellRadio]) -> Vec<f64> {
        let node = self.node;
        let measured = self.network.with_radio(medium, |radio, now| {
            cells.iter().map(|cell| radio.measure_w(now, cell.number, node)).collect()
        });
        measured.unwrap_or_default()
    }

    /// Tunes the node's radio to another channel, or to none.
    fn tune(&mut self, medium: MediumId, channel: Option<u8>) {
        let node = self.node;
        self.network.with_radio(medium, |radio, now| radio.tune(now, node, channel));
    }

    /// Takes back the packets for a neighbour that wait for the medium.
    fn take_back(&mut self, medium: MediumId, neighbour: NodeId) -> Vec<Transit> {
        let node = self.node;
        let taken = self.network.with_radio(medium, |radio, _| radio.take_back(node, neighbour));
        taken.unwrap_or_default()
    }

    /// Whether the packet is for the node, under whichever of its addresses.
    pub(crate) fn is_for_node(&self, packet: &Transit) -> bool {
        self.ends_here(packet) || self.network.is_interface_of(packet.carried.towards, self.node)
    }
}

/// What a station does to the network around it.
impl NodeContext<'_> {
    /// How many other stations head for each of the radios of base stations.
    fn heading(&self, medium: MediumId, cells: usize) -> Vec<usize> {
        let mut heading = vec![0; cells];
        let shared: &dyn Any = &*self.network.media[medium.index()].medium;
        let nodes = shared.downcast_ref().map_or(&[][..], RadioMedium::nodes);
        let others = nodes.iter().filter(|node| **node != self.node);
        for place in others.filter_map(|node| self.network.node_as::<Station>(*node)?.heads_for()) {
            heading[place] += 1;
        }
        heading
    }

    /// Its base station is to send nothing more on the air for it, until it is back where it `returns`.
    fn part_from(&mut self, base_station: NodeId, returns: bool) {
        let station = self.node;
        let release =
            |base: &mut BaseStation, context: &mut NodeContext<'_>| base.release(context, station, returns);
        self.network.with_node_as(base_station, release);
    }

    /// All that it sends and that is for it goes over a link.
    fn use_link(&mut self, link: LinkId) {
        self.network.attach(self.node, link);
    }

    /// It has gone `from` one of the base stations `to` another, by this channel if that has several, which all packets
    /// for it reach from now on, or uses a link, or cannot be reached: all of them learn of it.
    fn settle(
        &mut self,
        [from, to]: [Option<NodeId>; 2],
        channel: Option<u8>,
        base_stations: &[NodeId],
        link: Option<LinkId>,
    ) {
        let station = self.node;
        match (to, link) {
            (Some(to), _) => self.lead_over(to, None),
            (None, Some(link)) => self.network.attach(station, link),
            (None, None) => {}
        }
        self.tell_others(to, base_stations, to.is_some() || link.is_some());
        self.network.observe(|names| Event::CellChanged {
            node: names.node(station),
            from: from.map(|from| names.node(from)),
            to: to.map(|to| names.node(to)),
            channel: channel.map(u64::from),
        });
        self.network.queue.push(self.network.now, Target::HandedOver(station));
    }

    /// It is reached over a station that belongs to one of the base stations; over none of them by its `own`, if it
    /// hears one, or not at all.
    fn settle_behind(&mut self, gateway: Option<Gateway>, own: Option<NodeId>, base_stations: &[NodeId]) {
        let over = gateway.map(|gateway| (gateway.base, Some(gateway.station)));
        let over = over.or_else(|| Some((own?, None)));
        if let Some((base, station)) = over {
            self.lead_over(base, station);
        }
        self.tell_others(over.map(|(base, _)| base), base_stations, over.is_some());
        self.network.queue.push(self.network.now, Target::HandedOver(self.node));
    }

    /// It goes over the second station instead of the first one from now on.
    fn tell_gateway(&mut self, [from, to]: [Option<NodeId>; 2]) {
        let station = self.node;
        self.network.observe(|names| Event::GatewayChanged {
            node: names.node(station),
            from: from.map(|from| names.node(from)),
            to: to.map(|to| names.node(to)),
        });
    }

    /// All that is for it goes to a base station, which sends it to the station itself or to its gateway.
    fn lead_over(&mut self, base: NodeId, gateway: Option<NodeId>) {
        let station = self.node;
        self.network.lead_to(station, base);
        let admit = |base: &mut BaseStation, context: &mut NodeContext<'_>| {
            base.admit(context, station, gateway);
        };
        self.network.with_node_as(base, admit);
    }

    /// Base stations that it does not go over learn whether it is reached in another way.
    fn tell_others(&mut self, own: Option<NodeId>, base_stations: &[NodeId], elsewhere: bool) {
        let station = self.node;
        for base in base_stations.iter().filter(|base| Some(**base) != own) {
            let settle = |base: &mut BaseStation, context: &mut NodeContext<'_>| {
                base.settle(context, station, elsewhere);
            };
            self.network.with_node_as(*base, settle);
        }
    }

    /// The station in a cell over which the node is to go: `present` while it can, else the nearest over the air.
    fn find_gateway(&mut self, medium: MediumId, present: Option<Gateway>) -> Option<Gateway> {
        let shared = &self.network.media[medium.index()].medium;
        let shared: &dyn Any = &**shared;
        let radio: &RadioMedium = shared.downcast_ref()?;
        let gateway = |station: NodeId| {
            let base = self.network.node_as::<Station>(station)?.serves_as_gateway()?;
            Some(Gateway { station, base })
        };
        let gateways: Vec<Gateway> = radio.nodes().iter().copied().filter_map(gateway).collect();
        let stations: Vec<NodeId> = gateways.iter().map(|gateway| gateway.station).collect();
        let (node, preferred) = (self.node, present.map(|present| present.station));
        let nearest = self
            .network
            .with_radio(medium, |radio, now| radio.nearest(now, node, &stations, preferred))
            .flatten();
        gateways.into_iter().find(|gateway| Some(gateway.station) == nearest)
    }
}
