//! Hosts of a cell, and the gates between it and the world.
use super::medium::CellMedium;
use crate::core::ids::{MediumId, NodeId};
use crate::core::packet::Transit;
use crate::nodes::context::NodeContext;
use crate::nodes::node::Node;
use prismux_trace::event::DropReason;
use std::any::Any;

/// What a node hands to the cell, and what it cannot.
#[derive(Debug)]
struct Interface {
    medium: MediumId,
    slot_bytes: u32,
    queue_drops: u64,
    too_long: u64,
}

impl Interface {
    fn new(medium: MediumId, slot_bytes: u32) -> Self {
        Self { medium, slot_bytes, queue_drops: 0, too_long: 0 }
    }

    fn send(&mut self, context: &mut NodeContext<'_>, to: NodeId, packet: Transit) {
        if packet.size_bytes > self.slot_bytes {
            self.too_long += 1;
            return context.lose(packet, DropReason::TooLong);
        }
        if let Err(refused) = context.transmit(self.medium, Some(to), packet, context.priority(&packet)) {
            self.queue_drops += 1;
            context.lose(refused, DropReason::QueueFull);
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let too_long = (self.too_long > 0).then_some(("packets_too_long", self.too_long));
        [("interface_queue_drops", self.queue_drops)].into_iter().chain(too_long).collect()
    }
}

/// A host: all that it sends goes to the cell, which finds the way.
#[derive(Debug)]
pub(super) struct CellHost {
    interface: Interface,
    base: NodeId,
}

impl CellHost {
    pub fn new(medium: MediumId, base: NodeId, slot_bytes: u32) -> Self {
        Self { interface: Interface::new(medium, slot_bytes), base }
    }
}

impl Node for CellHost {
    fn arrive(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        match context.is_for_node(&packet) {
            true => context.deliver(packet),
            false => self.interface.send(context, self.base, packet),
        }
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.interface.counters()
    }
}

/// The base station, a hybrid station or an access point: it forwards between the cell and its wires. What is for a
/// host that is reached over another gate goes there by wire.
#[derive(Debug)]
pub(super) struct Gate {
    interface: Interface,
    hosts: Vec<NodeId>,
    is_base_station: bool,
    forwarded: u64,
}

impl Gate {
    pub fn new(medium: MediumId, mut hosts: Vec<NodeId>, is_base_station: bool, slot_bytes: u32) -> Self {
        hosts.sort_unstable();
        Self { interface: Interface::new(medium, slot_bytes), hosts, is_base_station, forwarded: 0 }
    }
}

impl Node for Gate {
    fn start(&mut self, context: &mut NodeContext<'_>) {
        if self.is_base_station {
            for &host in &self.hosts {
                context.network.lead_to(host, context.node);
            }
        }
    }

    fn arrive(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        let towards = packet.carried.towards;
        if context.is_for_node(&packet) {
            context.deliver(packet);
        } else if self.hosts.binary_search(&towards).is_err() {
            context.forward(packet);
        } else if context.is_entrance_of(self.interface.medium, towards) {
            self.interface.send(context, towards, packet);
        } else {
            self.forwarded += 1;
            context.forward(packet);
        }
    }

    /// The host that it is for is reached over another gate from now on.
    fn undelivered(&mut self, context: &mut NodeContext<'_>, _: MediumId, _: NodeId, packet: Transit) {
        self.arrive(context, packet);
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let forwarded = (self.forwarded > 0).then_some(("packets_to_other_gates", self.forwarded));
        self.interface.counters().into_iter().chain(forwarded).collect()
    }
}

impl NodeContext<'_> {
    /// Whether a host of the cell is reached over the node.
    fn is_entrance_of(&self, medium: MediumId, host: NodeId) -> bool {
        let shared: &dyn Any = &*self.network.media[medium.index()].medium;
        let cell: Option<&CellMedium> = shared.downcast_ref();
        cell.and_then(|cell| cell.entrance(host)) == Some(self.node)
    }
}
