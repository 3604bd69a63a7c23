//! A station as a node of the simulator.
use super::relaying::{Gateway, Relaying};
use crate::core::ids::{LinkId, MediumId, NodeId};
use crate::core::packet::Transit;
use crate::media::medium::Frame;
use crate::nodes::context::NodeContext;
use crate::nodes::node::Node;
use crate::radio::adhoc::Relay;
use prismux_plan::{CellRadio, Cells, Direction, Plan, Radio};
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
    /// Their radios.
    cells: Vec<CellRadio>,
    machine: cells::Station<Transit>,
    /// What each of these is believed to carry.
    rates: Vec<Rate>,
    /// The link where no base station is heard, and what it carries to the host.
    fallback: Option<(LinkId, Option<Rate>)>,
    /// Of a host that relays.
    relaying: Option<Relaying>,
}

impl Station {
    pub fn new(plan: &Plan, medium: MediumId, (radio, cells): (&Radio, &Cells), node: NodeId) -> Self {
        let fallback = cells.fallback_of(node).map(|link| {
            let inwards = if plan[link].ends[1] == node { Direction::Forward } else { Direction::Reverse };
            (link, plan[link].direction(inwards).link.mean_rate())
        });
        let radios = cells.radios(&plan[medium].attached, radio);
        let threshold_w = |cell: &CellRadio| radio.radio_on(cell.channel).receive_threshold_w;
        let rate = |cell: &CellRadio| radio.mac_on(cell.channel).data_rate.mul_f64(BELIEVED_SHARE);
        let machine = cells::Station::new(
            cells.association,
            radios.iter().map(threshold_w).collect(),
            radio.mac.queue_packets as usize,
            fallback.is_some(),
        )
        .relaying_below(cells.relays_below_db);
        Self {
            medium,
            base_stations: cells.base_stations.clone(),
            machine,
            rates: radios.iter().map(rate).collect(),
            cells: radios,
            fallback,
            relaying: None,
        }
    }

    /// The same with a relay, where it has one.
    pub(super) fn relaying(self, relay: Option<Box<dyn Relay>>) -> Self {
        match relay {
            Some(relay) => Self { relaying: Some(Relaying::new(relay)), ..self },
            None => Self { machine: self.machine.relaying_below(None), ..self },
        }
    }

    /// What the host believes its present link to carry, where that is known; `None` where it has no link.
    pub fn bandwidth(&self) -> Option<Option<Rate>> {
        match self.machine.attachment() {
            Attachment::To(_) if self.gateway().is_some() => Some(None),
            Attachment::To(Some(place)) => Some(self.rates.get(place).copied()),
            Attachment::To(None) => self.fallback.map(|(_, rate)| rate),
            Attachment::Changing(..) => None,
        }
    }

    /// The radio of a base station that the host belongs to, or changes to.
    pub fn heads_for(&self) -> Option<usize> {
        self.machine.heads_for()
    }

    /// The base station that others reach over this host, if they can.
    pub fn serves_as_gateway(&self) -> Option<NodeId> {
        self.relaying.as_ref()?;
        self.machine.serves().map(|place| self.cells[place].base)
    }

    /// Whether there is a base station with several radios.
    fn has_several_radios(&self) -> bool {
        self.cells.len() > self.base_stations.len()
    }

    fn gateway(&self) -> Option<Gateway> {
        self.relaying.as_ref()?.way.gateway()
    }

    /// Chooses whom to go over, if the host is cut off or hears its base station too weakly; over nobody any more when
    /// it hears it well.
    fn choose_gateway(&mut self, context: &mut NodeContext<'_>) {
        let (seeks, next) = (self.machine.seeks_gateway(), self.machine.measures_at());
        let own = self.machine.belongs_to().map(|place| self.cells[place].base);
        let Some(relaying) = &mut self.relaying else { return };
        let present = relaying.way.gateway();
        if self.machine.settles_at().is_some() || !seeks && present.is_none() {
            return;
        }
        relaying.way.choose_from(next);
        let gateway = if seeks { context.find_gateway(self.medium, present) } else { None };
        if relaying.change(context, gateway) {
            context.settle_behind(gateway, own, &self.base_stations);
        }
    }

    /// Measures all base stations, and leaves the present one for a better.
    fn measure(&mut self, context: &mut NodeContext<'_>) {
        let (now, medium, cells) = (context.now(), self.medium, &self.cells);
        // Of one radio each nobody asks who else is there.
        let heading =
            if self.has_several_radios() { context.heading(medium, cells.len()) } else { Vec::new() };
        let leaves = self.machine.measure(now, || context.measure_w(medium, cells), &heading);
        context.wake(self.machine.measures_at());
        if !leaves {
            return self.choose_gateway(context);
        }
        let base = |place: usize| self.cells[place].base;
        if let Some(present) = self.machine.leaves().map(base) {
            let next = self.machine.heads_for().map(base);
            self.machine.take_back(context.take_back(medium, present));
            context.part_from(present, next == Some(present));
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
        let channel = settled.to.map(|place| self.cells[place].channel);
        context.tune(self.medium, channel);
        let ends = [settled.from, settled.to].map(|place| place.map(|place| self.cells[place].base));
        if let Some(relaying) = &mut self.relaying {
            relaying.change(context, None);
        }
        let told = channel.filter(|_| self.has_several_radios());
        context.settle(ends, told, &self.base_stations, self.fallback.map(|(link, _)| link));
        self.choose_gateway(context);
        for packet in settled.held {
            self.send(context, packet);
        }
    }

    fn send(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        let is_cut_off = self.machine.belongs_to().is_none() && self.machine.seeks_gateway();
        let may_choose = |relaying: &Relaying| is_cut_off && relaying.way.may_choose(context.now());
        if self.relaying.as_ref().is_some_and(may_choose) {
            self.choose_gateway(context);
        }
        let gateway = self.gateway().filter(|_| self.machine.seeks_gateway());
        match (gateway, &mut self.relaying) {
            (Some(gateway), Some(relaying)) => relaying.send(context, gateway, packet),
            _ => {
                let fate = self.machine.send(packet);
                self.carry_out(context, fate);
            }
        }
    }

    /// Lets the relay act, and sends on what has come for others.
    fn with_relay(
        &mut self,
        context: &mut NodeContext<'_>,
        act: impl FnOnce(&mut dyn Relay, &mut NodeContext<'_>),
    ) {
        let Some(relaying) = &mut self.relaying else { return };
        act(&mut *relaying.relay, context);
        while let Some(packet) = self.relaying.as_mut().and_then(Relaying::poll_passing) {
            self.send(context, packet);
        }
    }

    fn is_base_station(&self, node: NodeId) -> bool {
        self.base_stations.contains(&node)
    }

    fn carry_out(&mut self, context: &mut NodeContext<'_>, fate: Outwards<Transit>) {
        match fate {
            Outwards::Air(base, packet) => {
                let (to, priority) = (self.cells[base].base, context.priority(&packet));
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
            Outwards::GivenUp(packet) => context.lose(packet, DropReason::Unanswered),
        }
    }
}

impl Node for Station {
    fn start(&mut self, context: &mut NodeContext<'_>) {
        if let Some((link, _)) = self.fallback {
            context.use_link(link);
        }
        self.measure(context);
        if let Some(relaying) = &mut self.relaying {
            // Others may not have measured yet.
            relaying.way.choose_from(context.now());
        }
        self.with_relay(context, |relay, context| relay.start(context));
    }

    fn arrive(&mut self, context: &mut NodeContext<'_>, packet: Transit) {
        match context.is_for_node(&packet) {
            true => context.deliver(packet),
            false => self.send(context, packet),
        }
    }

    fn receive(&mut self, context: &mut NodeContext<'_>, medium: MediumId, from: NodeId, packet: Transit) {
        if self.relaying.is_some() && !self.is_base_station(from) {
            return self.with_relay(context, |relay, context| relay.receive(context, medium, from, packet));
        }
        match &mut self.relaying {
            _ if context.is_for_node(&packet) => context.deliver(packet),
            Some(relaying) => relaying.send_on(context, packet),
            None => context.discard(packet),
        }
    }

    fn overhear(&mut self, context: &mut NodeContext<'_>, medium: MediumId, frame: &Frame) {
        if ![Some(frame.from), frame.to].into_iter().flatten().any(|node| self.is_base_station(node)) {
            self.with_relay(context, |relay, context| relay.overhear(context, medium, frame));
        }
    }

    fn undelivered(&mut self, context: &mut NodeContext<'_>, medium: MediumId, to: NodeId, packet: Transit) {
        let present = self.machine.heads_for().filter(|place| self.cells[*place].base == to);
        let place = present.or_else(|| self.cells.iter().position(|cell| cell.base == to));
        let Some(base) = place else {
            match self.relaying {
                Some(_) => {
                    self.with_relay(context, |relay, context| relay.undelivered(context, medium, to, packet));
                }
                None => context.discard(packet),
            }
            return;
        };
        let fate = self.machine.give_back(base, packet);
        self.carry_out(context, fate);
    }

    fn timeout(&mut self, context: &mut NodeContext<'_>) {
        self.settle(context);
        if self.machine.measures_at() <= context.now() {
            self.measure(context);
        }
        self.with_relay(context, |relay, context| relay.timeout(context));
    }

    fn packets_inside(&self) -> usize {
        let relayed = self.relaying.as_ref().map_or(0, |relaying| relaying.relay.packets_inside());
        self.machine.held_packets() + relayed
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut columns = self.machine.columns();
        for (name, count) in self.relaying.iter().flat_map(Relaying::columns) {
            match columns.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += count,
                None => columns.push((name, count)),
            }
        }
        columns
    }
}
