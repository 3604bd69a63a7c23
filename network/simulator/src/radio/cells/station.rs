//! A station: a host on the air that belongs to one base station at a time.
use crate::core::ids::{LinkId, MediumId, NodeId};
use crate::core::packet::Transit;
use crate::nodes::context::NodeContext;
use crate::nodes::node::Node;
use prismux_plan::{Cells, Direction, Plan, Radio};
use prismux_trace::event::DropReason;
use prismux_units::{Duration, Instant, Rate};
use prismux_wireless::Association;
use std::collections::VecDeque;

/// Who stays shorter than this and goes back to where it came from makes a ping-pong (3GPP TR 36.839, 5.4).
const LEAST_STAY: Duration = Duration::from_secs(1);

/// What a radio is believed to carry of its rate: half, as of an interface on Linux.
const BELIEVED_SHARE: f64 = 0.5;

/// Where a station is attached: to a base station or, with `None`, to no one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attachment {
    /// From this instant on.
    To(Option<NodeId>, Instant),
    /// It has left, and will be attached to the second at this instant.
    Changing(Option<NodeId>, Option<NodeId>, Instant),
}

/// What a station has counted.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    handoffs: u64,
    ping_pongs: u64,
    coverage_losses: u64,
    held: u64,
    without_link: u64,
    queue_drops: u64,
}

/// A host that belongs to one base station at a time.
#[derive(Debug)]
pub(crate) struct Station {
    medium: MediumId,
    base_stations: Vec<NodeId>,
    /// Theirs.
    channels: Vec<u8>,
    interval: Duration,
    gap: Duration,
    association: Association,
    measures_at: Instant,
    attachment: Attachment,
    /// What it was attached to before, once it has been to anything else.
    before: Option<Option<NodeId>>,
    /// Packets of the host from while it changes.
    held: VecDeque<Transit>,
    /// How many of them, in front, the radio has given back since.
    given_back: usize,
    queue_packets: usize,
    radio_rate: Rate,
    /// The link where no base station is heard, and what it carries to the host.
    fallback: Option<(LinkId, Option<Rate>)>,
    counts: Counts,
}

impl Station {
    pub fn new(plan: &Plan, medium: MediumId, (radio, cells): (&Radio, &Cells), node: NodeId) -> Self {
        let attached = &plan[medium].attached;
        let channel = |base: &NodeId| {
            let place = attached.iter().position(|other| other == base);
            place.and_then(|place| radio.channels.get(place)).copied().unwrap_or(1)
        };
        let fallback = cells.fallback.iter().find(|(station, _)| *station == node).map(|&(_, link)| {
            let inwards = if plan[link].ends[1] == node { Direction::Forward } else { Direction::Reverse };
            (link, plan[link].direction(inwards).link.mean_rate())
        });
        let (count, threshold_w) = (cells.base_stations.len(), radio.radio.receive_threshold_w);
        Self {
            medium,
            base_stations: cells.base_stations.clone(),
            channels: cells.base_stations.iter().map(channel).collect(),
            interval: cells.association.interval,
            gap: cells.association.gap,
            association: Association::new(cells.association, count, threshold_w),
            measures_at: Instant::ZERO,
            attachment: Attachment::To(None, Instant::ZERO),
            before: None,
            held: VecDeque::new(),
            given_back: 0,
            queue_packets: radio.mac.queue_packets as usize,
            radio_rate: radio.mac.data_rate.mul_f64(BELIEVED_SHARE),
            fallback,
            counts: Counts::default(),
        }
    }

    /// What the host believes its present link to carry, where that is known; `None` where it has no link.
    pub fn bandwidth(&self) -> Option<Option<Rate>> {
        match self.attachment {
            Attachment::To(Some(_), _) => Some(Some(self.radio_rate)),
            Attachment::To(None, _) => self.fallback.map(|(_, rate)| rate),
            Attachment::Changing(..) => None,
        }
    }

    /// Measures all base stations, unless the radio is busy with a change.
    fn measure(&mut self, context: &mut NodeContext<'_>) {
        let now = context.now();
        self.measures_at = now + self.interval;
        context.wake(self.measures_at);
        let Attachment::To(present, since) = self.attachment else { return };
        let powers_w = context.measure_w(self.medium, &self.base_stations);
        if !self.association.measure(now, powers_w.into_iter()) {
            return;
        }
        let next = self.association.serving().map(|index| self.base_stations[index]);
        self.counts.handoffs += u64::from(present.is_some() && next.is_some());
        self.counts.coverage_losses += u64::from(next.is_none());
        self.counts.ping_pongs += u64::from(self.before == Some(next) && now - since < LEAST_STAY);
        self.leave(context, present, next);
    }

    /// Leaves the present base station, or none, for the next.
    fn leave(&mut self, context: &mut NodeContext<'_>, present: Option<NodeId>, next: Option<NodeId>) {
        let now = context.now();
        // Who has just been switched on has nothing to leave.
        let until = if now == Instant::ZERO { now } else { now + self.gap };
        self.attachment = Attachment::Changing(present, next, until);
        self.before = Some(present);
        self.given_back = 0;
        if let Some(present) = present {
            self.held.extend(context.take_back(self.medium, present));
            context.part_from(present);
        }
        context.tune(self.medium, None);
        match until > now {
            true => context.wake(until),
            false => self.settle(context, present, next),
        }
    }

    /// The change is over.
    fn settle(&mut self, context: &mut NodeContext<'_>, present: Option<NodeId>, next: Option<NodeId>) {
        self.attachment = Attachment::To(next, context.now());
        let place = self.base_stations.iter().position(|base| Some(*base) == next);
        context.tune(self.medium, place.map(|place| self.channels[place]));
        context.settle([present, next], &self.base_stations, self.fallback.map(|(link, _)| link));
        for packet in std::mem::take(&mut self.held) {
            self.arrive(context, packet);
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
        if context.is_for_node(&packet) {
            return context.deliver(packet);
        }
        match (self.attachment, self.fallback) {
            (Attachment::To(Some(base), _), _) => {
                let priority = context.priority(&packet);
                if let Err(refused) = context.transmit(self.medium, Some(base), packet, priority) {
                    self.counts.queue_drops += 1;
                    context.lose(refused, DropReason::QueueFull);
                }
            }
            (Attachment::To(None, _), Some((link, _))) => context.send(link, packet),
            (Attachment::To(None, _), None) => {
                self.counts.without_link += 1;
                context.lose(packet, DropReason::NoRoute);
            }
            (Attachment::Changing(..), _) if self.held.len() < self.queue_packets => {
                self.counts.held += 1;
                self.held.push_back(packet);
            }
            (Attachment::Changing(..), _) => {
                self.counts.queue_drops += 1;
                context.lose(packet, DropReason::QueueFull);
            }
        }
    }

    fn receive(&mut self, context: &mut NodeContext<'_>, _: MediumId, _: NodeId, packet: Transit) {
        match context.is_for_node(&packet) {
            true => context.deliver(packet),
            false => context.discard(packet),
        }
    }

    fn undelivered(&mut self, context: &mut NodeContext<'_>, _: MediumId, to: NodeId, packet: Transit) {
        match self.attachment {
            Attachment::To(Some(base), _) if base == to => context.discard(packet),
            Attachment::To(..) => self.arrive(context, packet),
            // It was to go before all that is held.
            Attachment::Changing(..) => {
                self.held.insert(self.given_back, packet);
                self.given_back += 1;
            }
        }
    }

    fn timeout(&mut self, context: &mut NodeContext<'_>) {
        if let Attachment::Changing(present, next, until) = self.attachment
            && until <= context.now()
        {
            self.settle(context, present, next);
        }
        if self.measures_at <= context.now() {
            self.measure(context);
        }
    }

    fn packets_inside(&self) -> usize {
        self.held.len()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let Counts { handoffs, ping_pongs, coverage_losses, held, without_link, queue_drops } = self.counts;
        vec![
            ("handoffs", handoffs),
            ("ping_pongs", ping_pongs),
            ("coverage_losses", coverage_losses),
            ("packets_held", held),
            ("packets_without_link", without_link),
            ("interface_queue_drops", queue_drops),
        ]
    }
}
