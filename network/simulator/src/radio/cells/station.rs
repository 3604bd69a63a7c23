//! A station as a node of the simulator.
use crate::core::ids::{LinkId, MediumId, NodeId};
use crate::core::packet::Transit;
use crate::nodes::context::NodeContext;
use crate::nodes::node::Node;
use prismux_plan::{Cells, Direction, Plan, Radio};
use prismux_trace::event::DropReason;
use prismux_units::Rate;
use prismux_wireless::cells::{self, Attachment, Outwards};

/// What a radio is believed to carry of its rate: half, as of an interface on Linux.
const BELIEVED_SHARE: f64 = 0.5;

/// A host that belongs to one base station at a time.
#[derive(Debug)]
pub(crate) struct Station {
    medium: MediumId,
    base_stations: Vec<NodeId>,
    /// Theirs.
    channels: Vec<u8>,
    machine: cells::Station<Transit>,
    radio_rate: Rate,
    /// The link where no base station is heard, and what it carries to the host.
    fallback: Option<(LinkId, Option<Rate>)>,
}

impl Station {
    pub fn new(plan: &Plan, medium: MediumId, (radio, cells): (&Radio, &Cells), node: NodeId) -> Self {
        let fallback = cells.fallback_of(node).map(|link| {
            let inwards = if plan[link].ends[1] == node { Direction::Forward } else { Direction::Reverse };
            (link, plan[link].direction(inwards).link.mean_rate())
        });
        let machine = cells::Station::new(
            cells.association,
            cells.base_stations.len(),
            radio.radio.receive_threshold_w,
            radio.mac.queue_packets as usize,
            fallback.is_some(),
        );
        Self {
            medium,
            base_stations: cells.base_stations.clone(),
            channels: cells.channels(&plan[medium].attached, radio),
            machine,
            radio_rate: radio.mac.data_rate.mul_f64(BELIEVED_SHARE),
            fallback,
        }
    }

    /// What the host believes its present link to carry, where that is known; `None` where it has no link.
    pub fn bandwidth(&self) -> Option<Option<Rate>> {
        match self.machine.attachment() {
            Attachment::To(Some(_)) => Some(Some(self.radio_rate)),
            Attachment::To(None) => self.fallback.map(|(_, rate)| rate),
            Attachment::Changing(..) => None,
        }
    }

    /// Measures all base stations, and leaves the present one for a better.
    fn measure(&mut self, context: &mut NodeContext<'_>) {
        let (now, medium, bases) = (context.now(), self.medium, &self.base_stations);
        let leaves = self.machine.measure(now, || context.measure_w(medium, bases));
        context.wake(self.machine.measures_at());
        if !leaves {
            return;
        }
        if let Some(present) = self.machine.leaves().map(|place| self.base_stations[place]) {
            self.machine.take_back(context.take_back(medium, present));
            context.part_from(present);
        }
        context.tune(medium, None);
        match self.machine.settles_at().filter(|at| *at > now) {
            Some(at) => context.wake(at),
            None => self.settle(context),
        }
    }

    /// Ends a change that is over.
    fn settle(&mut self, context: &mut NodeContext<'_>) {
        let Some(settled) = self.machine.settle(context.now()) else { return };
        context.tune(self.medium, settled.to.map(|place| self.channels[place]));
        let ends = [settled.from, settled.to].map(|place| place.map(|place| self.base_stations[place]));
        context.settle(ends, &self.base_stations, self.fallback.map(|(link, _)| link));
        for packet in settled.held {
            self.send(context, packet);
        }
    }

    fn send(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        let fate = self.machine.send(packet);
        self.carry_out(context, fate);
    }

    fn carry_out(&mut self, context: &mut NodeContext<'_>, fate: Outwards<Transit>) {
        match fate {
            Outwards::Air(base, packet) => {
                let (to, priority) = (self.base_stations[base], context.priority(&packet));
                if let Err(refused) = context.transmit(self.medium, Some(to), packet, priority) {
                    self.machine.count_queue_drop();
                    context.lose(refused, DropReason::QueueFull);
                }
            }
            Outwards::Fallback(packet) => match self.fallback {
                Some((link, _)) => context.send(link, packet),
                None => context.lose(packet, DropReason::NoRoute),
            },
            Outwards::Held => {}
            Outwards::NoLink(packet) => context.lose(packet, DropReason::NoRoute),
            Outwards::QueueFull(packet) => context.lose(packet, DropReason::QueueFull),
            Outwards::GivenUp(packet) => context.discard(packet),
        }
    }
}

impl Node for Station {
    fn start(&mut self, context: &mut NodeContext<'_>) {
        if let Some((link, _)) = self.fallback {
            context.use_link(link);
        }
        self.measure(context);
    }

    fn arrive(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        match context.is_for_node(&packet) {
            true => context.deliver(packet),
            false => self.send(context, packet),
        }
    }

    fn receive(&mut self, context: &mut NodeContext<'_>, _: MediumId, _: NodeId, packet: Transit) {
        match context.is_for_node(&packet) {
            true => context.deliver(packet),
            false => context.discard(packet),
        }
    }

    fn undelivered(&mut self, context: &mut NodeContext<'_>, _: MediumId, to: NodeId, packet: Transit) {
        let Some(base) = self.base_stations.iter().position(|base| *base == to) else {
            return context.discard(packet);
        };
        let fate = self.machine.give_back(base, packet);
        self.carry_out(context, fate);
    }

    fn timeout(&mut self, context: &mut NodeContext<'_>) {
        self.settle(context);
        if self.machine.measures_at() <= context.now() {
            self.measure(context);
        }
    }

    fn packets_inside(&self) -> usize {
        self.machine.held_packets()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.machine.columns()
    }
}
