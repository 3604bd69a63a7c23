//! Cells: base stations that join the air to wires, and stations that hand over between them.
//!
//! * `station`: a host that belongs to one base station at a time, and measures all of them.
//! * `base_station`: what forwards for the stations that belong to it.
//!
//! What the parts of a network tell one another to keep track of a host costs neither time nor packets, and the host
//! keeps its address, as with Mobile IP.
mod base_station;
mod station;

use super::medium::RadioMedium;
use crate::core::ids::{LinkId, MediumId, NodeId, PortId};
use crate::core::packet::Transit;
use crate::network::{Network, Target};
use crate::nodes::context::NodeContext;
use crate::nodes::node::Node;
use base_station::BaseStation;
use prismux_plan::{Cells, Plan, Radio};
use prismux_trace::event::Event;
use prismux_units::Instant;
pub(crate) use station::Station;
use std::any::Any;

/// The rule of a node on an air with cells.
pub(super) fn node(
    plan: &Plan,
    medium: MediumId,
    (radio, cells): (&Radio, &Cells),
    node: NodeId,
) -> Box<dyn Node> {
    if !cells.base_stations.contains(&node) {
        return Box::new(Station::new(plan, medium, (radio, cells), node));
    }
    let stations = plan[medium].attached.iter().filter(|node| !cells.base_stations.contains(node));
    let queue_packets = radio.mac.queue_packets as usize;
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
    /// The power with which the node hears each of the others now, in watts.
    fn measure_w(&mut self, medium: MediumId, others: &[NodeId]) -> Vec<f64> {
        let node = self.node;
        let measured = self.network.with_radio(medium, |radio, now| {
            others.iter().map(|other| radio.measure_w(now, *other, node)).collect()
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
    fn is_for_node(&self, packet: &Transit) -> bool {
        self.ends_here(packet) || self.network.is_interface_of(packet.carried.towards, self.node)
    }
}

/// What a station does to the network around it.
impl NodeContext<'_> {
    /// Its base station is to send nothing more on the air for it.
    fn part_from(&mut self, base_station: NodeId) {
        let station = self.node;
        let release = |base: &mut BaseStation, context: &mut NodeContext<'_>| base.release(context, station);
        self.network.with_node_as(base_station, release);
    }

    /// All that it sends and that is for it goes over a link.
    fn use_link(&mut self, link: LinkId) {
        self.network.attach(self.node, link);
    }

    /// It has gone `from` one of the base stations `to` another, which all packets for it reach from now on, or uses a
    /// link, or cannot be reached: all of them learn of it.
    fn settle(&mut self, [from, to]: [Option<NodeId>; 2], base_stations: &[NodeId], link: Option<LinkId>) {
        let station = self.node;
        match (to, link) {
            (Some(to), _) => {
                self.network.lead_to(station, to);
                self.network.with_node_as(to, |base: &mut BaseStation, context| base.admit(context, station));
            }
            (None, Some(link)) => self.network.attach(station, link),
            (None, None) => {}
        }
        let elsewhere = to.is_some() || link.is_some();
        for base in base_stations.iter().filter(|base| Some(**base) != to) {
            let settle = |base: &mut BaseStation, context: &mut NodeContext<'_>| {
                base.settle(context, station, elsewhere);
            };
            self.network.with_node_as(*base, settle);
        }
        self.network.observe(|names| Event::CellChanged {
            node: names.node(station),
            from: from.map(|from| names.node(from)),
            to: to.map(|to| names.node(to)),
        });
        self.network.queue.push(self.network.now, Target::HandedOver(station));
    }
}
