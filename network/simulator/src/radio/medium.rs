//! An air as a medium of the simulator.
use crate::core::ids::NodeId;
use crate::core::packet::Transit;
use crate::media::medium::{Frame, Medium, MediumEvent, NodeState, SentFrame};
use prismux_endpoint::random::Seed;
use prismux_plan::{Plan, Radio, Routing};
use prismux_units::Instant;
use prismux_wireless::{
    Air, AirConfig, AirError, AirEvent, HostConfig, HostId, HostStats, Outgoing, Position,
};
use std::collections::VecDeque;

/// The radio medium of a plan: an [`Air`] whose packets are the simulator's frames.
#[derive(Debug)]
pub struct RadioMedium {
    air: Air<Frame>,
    attached: Vec<NodeId>,
    /// By node: its number on the air, [`ABSENT`] for nodes that are not on it.
    hosts: Vec<u32>,
    frames_inside: usize,
    counts_energy: bool,
    /// Whether packets for a neighbour that no longer answers are taken back.
    takes_back: bool,
    /// How far hosts reach in the mean, in metres, where hops are compared.
    range_m: Option<f64>,
    /// The headers of the frame that has begun last, on an air that tells of frames.
    head: Vec<u8>,
    /// That frame.
    latest: Option<SentFrame>,
    /// Frames taken back for a neighbour that no longer answers.
    taken_back: VecDeque<Frame>,
}

const ABSENT: u32 = u32::MAX;

impl RadioMedium {
    /// The radio medium called `name` between `attached` nodes of `plan`.
    ///
    /// # Errors
    /// When radio, medium access or a movement is impossible.
    pub(crate) fn new(
        plan: &Plan,
        name: &str,
        attached: &[NodeId],
        radio: &Radio,
        seed: Seed,
    ) -> Result<Self, AirError> {
        let energy = radio.power.as_ref().map(|power| power.energy);
        let config = AirConfig { radio: radio.radio, mac: radio.mac, energy, reports_frames: false };
        let battery_of = |index: usize| *radio.power.as_ref()?.batteries_j.get(index)?;
        let host = |(index, (node, mobility)): (usize, (&NodeId, &prismux_wireless::Mobility))| HostConfig {
            name: format!("{name}/{}", plan[*node].name),
            mobility: mobility.clone(),
            channel: radio.channels.get(index).copied().unwrap_or(1),
            battery_j: battery_of(index),
            // Only source routes tell bystanders anything.
            listens_to_all: matches!(radio.routing, Routing::Dsr(_)),
            role: radio.roles.get(index).cloned().unwrap_or_default(),
        };
        let hosts = attached.iter().zip(&radio.mobility).enumerate().map(host).collect();
        let mut numbers = vec![ABSENT; plan.nodes.len()];
        for (number, node) in attached.iter().enumerate() {
            numbers[node.index()] = number as u32;
        }
        Ok(Self {
            air: Air::new(&config, hosts, seed)?,
            attached: attached.to_vec(),
            hosts: numbers,
            frames_inside: 0,
            counts_energy: energy.is_some(),
            // Base stations and stations take them back when they part.
            takes_back: radio.routing.takes_back() && radio.cells.is_none(),
            range_m: radio.compares_hops.then(|| radio.radio.range_m()),
            head: Vec::new(),
            latest: None,
            taken_back: VecDeque::new(),
        })
    }

    /// Where a node is.
    pub fn position(&mut self, now: Instant, node: NodeId) -> Position {
        self.air.position(now, self.number(node))
    }

    /// What the radio and the MAC of a node have done by `now`.
    pub fn stats(&self, now: Instant, node: NodeId) -> HostStats {
        self.air.stats(now, self.number(node))
    }

    /// The power with which `at` hears a short signal of `from` now, in watts.
    pub(super) fn measure_w(&mut self, now: Instant, from: NodeId, at: NodeId) -> f64 {
        self.air.measure_w(now, self.number(from), self.number(at))
    }

    /// Tunes the radio of a node to another channel, or to none.
    pub(super) fn tune(&mut self, now: Instant, node: NodeId, channel: Option<u8>) {
        self.air.tune(now, self.number(node), channel);
    }

    /// Takes back the packets of a node for a neighbour that have not begun to be sent.
    pub(super) fn take_back(&mut self, node: NodeId, neighbour: NodeId) -> Vec<Transit> {
        let waiting = self.air.withdraw(self.number(node), self.number(neighbour));
        self.frames_inside -= waiting.len();
        waiting.into_iter().map(|frame| frame.packet).collect()
    }

    fn number(&self, node: NodeId) -> HostId {
        HostId(self.hosts.get(node.index()).copied().unwrap_or(ABSENT))
    }

    fn node(&self, host: HostId) -> Option<NodeId> {
        self.attached.get(host.0 as usize).copied()
    }

    /// What an event of the air is to the network; `None` for what concerns nobody there.
    fn translate(&mut self, event: AirEvent<Frame>, hearers: &mut Vec<NodeId>) -> Option<MediumEvent> {
        match event {
            AirEvent::Received { host, payload, .. } | AirEvent::Overheard { host, payload, .. } => {
                hearers.extend(self.node(host));
                Some(MediumEvent::Heard(payload))
            }
            AirEvent::Sent { payload, .. } => {
                self.frames_inside -= 1;
                Some(MediumEvent::Done(payload))
            }
            AirEvent::Failed { host, next_hop, payload } => {
                self.frames_inside -= 1;
                if self.takes_back {
                    let waiting = self.air.withdraw(host, next_hop);
                    self.taken_back.extend(waiting);
                }
                Some(MediumEvent::Undelivered(payload))
            }
            AirEvent::PoweredOff { payload, .. } => {
                self.frames_inside -= 1;
                Some(MediumEvent::Undelivered(payload))
            }
            AirEvent::OnAir { frame, .. } => {
                self.head.clear();
                self.air.emit_head(&frame, &mut self.head);
                self.latest = self.node(frame.from).map(|from| SentFrame {
                    from,
                    to: frame.to.and_then(|to| self.node(to)),
                    kind: frame.kind.name(),
                    airtime: frame.airtime,
                });
                Some(MediumEvent::OnAir(frame.payload))
            }
        }
    }
}

impl Medium for RadioMedium {
    fn send(&mut self, now: Instant, frame: Frame) -> Result<(), Frame> {
        let packet = Outgoing {
            to: frame.to.map(|to| self.number(to)),
            bytes: frame.size_bytes(),
            priority: frame.priority,
            payload: frame,
        };
        self.frames_inside += 1;
        self.air.send(now, self.number(frame.from), packet).map_err(|refused| {
            self.frames_inside -= 1;
            refused.payload
        })
    }

    fn poll_event(&mut self, now: Instant, hearers: &mut Vec<NodeId>) -> Option<MediumEvent> {
        if let Some(frame) = self.taken_back.pop_front() {
            self.frames_inside -= 1;
            return Some(MediumEvent::Undelivered(frame));
        }
        loop {
            while let Some(event) = self.air.poll_event() {
                let event = self.translate(event, hearers);
                if event.is_some() {
                    return event;
                }
            }
            self.air.next_timeout().filter(|at| *at <= now)?;
            self.air.handle_timeout(now);
        }
    }

    fn tell_frames(&mut self) {
        self.air.report_frames();
    }

    fn frame_head(&self) -> &[u8] {
        &self.head
    }

    fn frame_sent(&self) -> Option<SentFrame> {
        self.latest
    }

    fn places(&mut self, now: Instant) -> Vec<(NodeId, [f64; 2])> {
        let places = self.attached.iter().zip(0..).map(|(&node, host)| {
            let Position { x_m, y_m } = self.air.position(now, HostId(host));
            (node, [x_m, y_m])
        });
        places.collect()
    }

    fn states(&self, now: Instant) -> Vec<(NodeId, NodeState)> {
        let state = |(&node, host): (&NodeId, u32)| {
            let stats = self.air.stats(now, HostId(host));
            let state = NodeState {
                waiting_packets: self.air.waiting_packets(HostId(host)) as u64,
                drawn_uj: self.counts_energy.then_some(stats.drawn_nj / 1000),
                battery_uj: stats.battery_nj.map(|left_nj| left_nj / 1000),
            };
            (node, state)
        };
        self.attached.iter().zip(0..).map(state).collect()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.air.next_timeout()
    }

    fn frames_inside(&self) -> usize {
        self.frames_inside
    }

    /// Breadth first over hosts within range, wherever they are now.
    fn fewest_hops(&mut self, now: Instant, from: NodeId, to: NodeId) -> Option<u32> {
        let range_m2 = self.range_m? * self.range_m?;
        let (from, to) = (self.number(from), self.number(to));
        self.node(from)?;
        let place = |air: &mut Air<Frame>, host| air.position(now, host);
        let hears = |host: &HostId| *host != from && self.air.channel(*host) == self.air.channel(from);
        let others: Vec<HostId> = (0..self.attached.len() as u32).map(HostId).filter(hears).collect();
        let mut farther: Vec<(HostId, Position)> =
            others.into_iter().map(|host| (host, place(&mut self.air, host))).collect();
        let mut front = vec![place(&mut self.air, from)];
        let mut hops = 0;
        while from != to && !front.is_empty() {
            hops += 1;
            let is_near = |at: &Position| front.iter().any(|other| other.distance_m2(*at) <= range_m2);
            let next: Vec<_> = farther.extract_if(.., |(_, at)| is_near(at)).collect();
            if next.iter().any(|(host, _)| *host == to) {
                return Some(hops);
            }
            front = next.into_iter().map(|(_, at)| at).collect();
        }
        (from == to).then_some(0)
    }

    fn counters(&self, now: Instant) -> Vec<(NodeId, &'static str, u64)> {
        let of_node = |&node: &NodeId| {
            let columns = self.stats(now, node).columns(self.counts_energy);
            columns.into_iter().map(move |(name, count)| (node, name, count))
        };
        self.attached.iter().flat_map(of_node).collect()
    }

    /// Packets and signals are in one counter each, at every host, or still under way.
    fn faults(&self, now: Instant) -> Vec<String> {
        let (mut faults, mut open) = (Vec::new(), 0);
        for (index, &node) in self.attached.iter().enumerate() {
            let stats = self.stats(now, node);
            let waiting = self.air.waiting_packets(HostId(index as u32)) as u64;
            if stats.packets_offered != stats.packets_ended() + waiting {
                faults
                    .push(format!("radio: packets of host {index} do not add up: {stats:?}, {waiting} wait"));
            }
            if stats.signals_ended() > stats.signals {
                faults.push(format!("radio: signals at host {index} do not add up: {stats:?}"));
            }
            open += stats.signals.saturating_sub(stats.signals_ended());
        }
        let under_way = self.air.signals_under_way();
        if open > under_way {
            faults.push(format!("radio: {open} signals have no end, {under_way} are on the air"));
        }
        faults
    }

    /// Who reaches whom changes: hosts find their way by rules of their own.
    fn joins_all(&self) -> bool {
        false
    }
}
