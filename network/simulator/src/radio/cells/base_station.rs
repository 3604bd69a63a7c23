//! A base station as a node of the simulator.
use crate::core::ids::{MediumId, NodeId};
use crate::core::packet::Transit;
use crate::nodes::context::NodeContext;
use crate::nodes::node::Node;
use prismux_trace::event::DropReason;
use prismux_wireless::cells::{self, Inwards};
use std::collections::VecDeque;

/// Forwards between the air and its wires.
#[derive(Debug)]
pub(crate) struct BaseStation {
    medium: MediumId,
    stations: cells::BaseStation<NodeId, Transit>,
}

impl BaseStation {
    /// None of `stations` belongs to it yet.
    pub fn new(
        medium: MediumId,
        stations: impl Iterator<Item = NodeId>,
        queue_packets: usize,
        forwards: bool,
    ) -> Self {
        let stations = cells::BaseStation::new(stations, queue_packets, forwards);
        Self { medium, stations }
    }

    /// A station belongs to it from now on, or is reached over a `gateway` that does.
    pub fn admit(&mut self, context: &mut NodeContext<'_>, station: NodeId, gateway: Option<NodeId>) {
        let kept = self.stations.admit(station, gateway);
        self.route_again(context, kept);
    }

    /// A station leaves, and with it those behind it: what waits for it is taken back from the air, and kept for one
    /// that `returns`.
    pub fn release(&mut self, context: &mut NodeContext<'_>, station: NodeId, returns: bool) {
        self.stations.release(station, returns);
        let waiting = context.take_back(self.medium, station);
        self.route_again(context, waiting.into());
    }

    /// A station belongs to another, or uses another link (`elsewhere`), or is not to be reached.
    pub fn settle(&mut self, context: &mut NodeContext<'_>, station: NodeId, elsewhere: bool) {
        let kept = self.stations.settle(station, elsewhere);
        self.route_again(context, kept);
    }

    fn route_again(&mut self, context: &mut NodeContext<'_>, packets: VecDeque<Transit>) {
        for packet in packets {
            let station = packet.carried.towards;
            let fate = self.stations.route(station, packet);
            self.carry_out(context, fate);
        }
    }

    fn carry_out(&mut self, context: &mut NodeContext<'_>, fate: Inwards<NodeId, Transit>) {
        match fate {
            Inwards::Air(to, packet) => {
                let priority = context.priority(&packet);
                if let Err(refused) = context.transmit(self.medium, Some(to), packet, priority) {
                    self.stations.count_queue_drop();
                    context.lose(refused, DropReason::QueueFull);
                }
            }
            Inwards::Wire(packet) => context.forward(packet),
            Inwards::Kept => {}
            Inwards::Lost(packet) => context.lose(packet, DropReason::NoRoute),
            Inwards::GivenUp(packet) => context.lose(packet, DropReason::Unanswered),
        }
    }
}

impl Node for BaseStation {
    fn arrive(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        let towards = packet.carried.towards;
        if context.is_for_node(&packet) {
            context.deliver(packet);
        } else if self.stations.knows(towards) {
            let fate = self.stations.route(towards, packet);
            self.carry_out(context, fate);
        } else {
            context.forward(packet);
        }
    }

    fn receive(&mut self, context: &mut NodeContext<'_>, _: MediumId, _: NodeId, packet: Transit) {
        let towards = packet.carried.towards;
        if self.stations.knows(towards) {
            let fate = self.stations.route_from_air(towards, packet);
            self.carry_out(context, fate);
        } else {
            self.arrive(context, packet);
        }
    }

    fn undelivered(&mut self, context: &mut NodeContext<'_>, _: MediumId, _: NodeId, packet: Transit) {
        let station = packet.carried.towards;
        let fate = self.stations.give_back(station, packet);
        self.carry_out(context, fate);
    }

    fn packets_inside(&self) -> usize {
        self.stations.kept_packets()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.stations.columns()
    }
}
