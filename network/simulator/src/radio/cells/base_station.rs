//! A base station: between its wires and the stations that belong to it.
use crate::core::ids::{MediumId, NodeId};
use crate::core::packet::Transit;
use crate::nodes::context::NodeContext;
use crate::nodes::node::Node;
use prismux_trace::event::DropReason;
use std::collections::{BTreeMap, VecDeque};

/// Where a station of the air is, as far as a base station knows.
#[derive(Debug, Default)]
enum Presence {
    /// Nobody knows, or it has no link at all.
    #[default]
    Absent,
    /// It belongs to this base station.
    Here,
    /// It has left and is not back anywhere: what is for it, if that is kept.
    Leaving(VecDeque<Transit>),
    /// It is reached in another way, by the routes.
    Elsewhere,
}

/// Forwards between the air and its wires.
#[derive(Debug)]
pub(crate) struct BaseStation {
    medium: MediumId,
    stations: BTreeMap<NodeId, Presence>,
    queue_packets: usize,
    forwards: bool,
    queue_drops: u64,
    /// Packets for stations that had left.
    lost: u64,
    /// Packets sent on by wire for stations that had left.
    forwarded: u64,
}

impl BaseStation {
    /// None of `stations` belongs to it yet.
    pub fn new(
        medium: MediumId,
        stations: impl Iterator<Item = NodeId>,
        queue_packets: usize,
        forwards: bool,
    ) -> Self {
        let stations = stations.map(|station| (station, Presence::Absent)).collect();
        Self { medium, stations, queue_packets, forwards, queue_drops: 0, lost: 0, forwarded: 0 }
    }

    /// A station belongs to it from now on.
    pub fn admit(&mut self, context: &mut NodeContext<'_>, station: NodeId) {
        let before = self.stations.insert(station, Presence::Here);
        if let Some(Presence::Leaving(kept)) = before {
            kept.into_iter().for_each(|packet| self.arrive(context, packet));
        }
    }

    /// A station leaves: what waits for it is taken back from the air.
    pub fn release(&mut self, context: &mut NodeContext<'_>, station: NodeId) {
        self.stations.insert(station, Presence::Leaving(VecDeque::new()));
        for packet in context.take_back(self.medium, station) {
            self.keep(context, station, packet);
        }
    }

    /// A station belongs to another, or uses another link (`elsewhere`), or is not to be reached.
    pub fn settle(&mut self, context: &mut NodeContext<'_>, station: NodeId, elsewhere: bool) {
        let after = if elsewhere { Presence::Elsewhere } else { Presence::Absent };
        if let Some(Presence::Leaving(kept)) = self.stations.insert(station, after) {
            kept.into_iter().for_each(|packet| self.arrive(context, packet));
        }
    }

    /// A packet for a station that is between two base stations.
    fn keep(&mut self, context: &mut NodeContext<'_>, station: NodeId, packet: Transit) {
        match self.stations.get_mut(&station) {
            Some(Presence::Leaving(kept)) if self.forwards && kept.len() < self.queue_packets => {
                kept.push_back(packet);
            }
            _ => self.lose(context, packet),
        }
    }

    fn lose(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        self.lost += 1;
        context.lose(packet, DropReason::NoRoute);
    }
}

impl Node for BaseStation {
    fn arrive(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        let towards = packet.carried.towards;
        if context.is_for_node(&packet) {
            return context.deliver(packet);
        }
        match self.stations.get(&towards) {
            None => context.forward(packet),
            Some(Presence::Here) => {
                let priority = context.priority(&packet);
                if let Err(refused) = context.transmit(self.medium, Some(towards), packet, priority) {
                    self.queue_drops += 1;
                    context.lose(refused, DropReason::QueueFull);
                }
            }
            Some(Presence::Leaving(_)) => self.keep(context, towards, packet),
            Some(Presence::Elsewhere) if self.forwards => {
                self.forwarded += 1;
                context.forward(packet);
            }
            // The routes may lead here: sent on, it would come back.
            Some(Presence::Elsewhere | Presence::Absent) => self.lose(context, packet),
        }
    }

    /// From the air nothing comes back that was sent there by wire.
    fn receive(&mut self, context: &mut NodeContext<'_>, _: MediumId, _: NodeId, packet: Transit) {
        match self.stations.get(&packet.carried.towards) {
            Some(Presence::Elsewhere) => context.forward(packet),
            _ => self.arrive(context, packet),
        }
    }

    fn undelivered(&mut self, context: &mut NodeContext<'_>, _: MediumId, to: NodeId, packet: Transit) {
        match self.stations.get(&to) {
            // It is here and has not heard: as any sender does, the base station gives up.
            Some(Presence::Here) | None => context.discard(packet),
            Some(_) => self.arrive(context, packet),
        }
    }

    fn packets_inside(&self) -> usize {
        let kept = |presence: &Presence| if let Presence::Leaving(kept) = presence { kept.len() } else { 0 };
        self.stations.values().map(kept).sum()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("interface_queue_drops", self.queue_drops),
            ("lost_for_stations_that_left", self.lost),
            ("forwarded_for_stations_that_left", self.forwarded),
        ]
    }
}
