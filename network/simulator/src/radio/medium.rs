//! An air as a medium of the simulator.
use super::radios::Radios;
use crate::core::ids::NodeId;
use crate::core::packet::{Transit, ipv4_address};
use crate::media::medium::{Frame, Medium, MediumEvent, NodeState, SentFrame};
use prismux_endpoint::random::Seed;
use prismux_plan::{Plan, Radio};
use prismux_units::Instant;
use prismux_wireless::{Air, AirError, AirEvent, Hearing, HostId, HostStats, Outgoing, Position, Rings};
use std::collections::VecDeque;
use std::net::Ipv4Addr;

/// The radio medium of a plan: an [`Air`] whose packets are the simulator's frames.
#[derive(Debug)]
pub struct RadioMedium {
    air: Air<Frame>,
    radios: Radios,
    frames_inside: usize,
    counts_energy: bool,
    /// Whether packets for a neighbour that no longer answers are taken back.
    takes_back: bool,
    compares_hops: bool,
    /// The headers of the frame that has begun last, on an air that tells of frames.
    head: Vec<u8>,
    /// That frame.
    latest: Option<SentFrame>,
    /// Frames taken back for a neighbour that no longer answers.
    taken_back: VecDeque<Frame>,
}

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
        let hosts = radio.host_configs(name, attached.iter().map(|node| plan[*node].name.as_str()));
        Ok(Self {
            air: Air::new(&radio.air_config(), hosts, seed)?,
            radios: Radios::new(plan, attached, radio),
            frames_inside: 0,
            counts_energy: radio.power.is_some(),
            takes_back: radio.routing.takes_back(),
            compares_hops: radio.compares_hops,
            head: Vec::new(),
            latest: None,
            taken_back: VecDeque::new(),
        })
    }

    /// Where a node is.
    pub fn position(&mut self, now: Instant, node: NodeId) -> Position {
        self.air.position(now, self.radios.first(node))
    }

    /// What the radio and the MAC of a node have done by `now`; of several radios, all together.
    pub fn stats(&self, now: Instant, node: NodeId) -> HostStats {
        self.radios.stats(node, |radio| self.air.stats(now, radio))
    }

    /// The power with which `at` hears a short signal of a radio now, in watts.
    pub(super) fn measure_w(&mut self, now: Instant, from: HostId, at: NodeId) -> f64 {
        self.air.measure_w(now, from, self.radios.first(at))
    }

    /// Tunes the radio of a node, the first of several, to another channel, or to none.
    pub(super) fn tune(&mut self, now: Instant, node: NodeId, channel: Option<u8>) {
        self.radios.channels_change();
        self.air.tune(now, self.radios.first(node), channel);
    }

    /// Takes back the packets of a node for a neighbour that have not begun to be sent.
    pub(super) fn take_back(&mut self, node: NodeId, neighbour: NodeId) -> Vec<Transit> {
        let Self { air, radios, .. } = self;
        let pairs = radios.of(node).flat_map(|own| radios.of(neighbour).map(move |other| [own, other]));
        let waiting: Vec<Frame> = pairs.flat_map(|[own, other]| air.withdraw(own, other)).collect();
        self.frames_inside -= waiting.len();
        waiting.into_iter().map(|frame| frame.packet).collect()
    }

    /// Of `candidates`, the one that is fewest hops away from a node now, and nearest among equals; but `preferred` as
    /// long as that is no more than one hop farther. Hosts without power are no hop.
    pub(super) fn nearest(
        &mut self,
        now: Instant,
        from: NodeId,
        candidates: &[NodeId],
        preferred: Option<NodeId>,
    ) -> Option<NodeId> {
        let mut hosts = self.hosts(now);
        let relays = |node: NodeId| self.radios.relays(node) && self.air.has_power(self.radios.first(node));
        hosts.retain(|(node, _)| relays(*node));
        let (radios, air) = (&self.radios, &self.air);
        let reach = |one, other| radios.range_m(air, one, other);
        Rings::around(from, hosts, self.air.longest_range_m()).nearest(candidates, preferred, reach)
    }

    /// The nodes on the air.
    pub(super) fn nodes(&self) -> &[NodeId] {
        self.radios.attached()
    }

    /// All hosts, and where they are.
    fn hosts(&mut self, now: Instant) -> Vec<(NodeId, Position)> {
        let places = self.radios.attached().iter().zip(0..);
        places.map(|(&node, host)| (node, self.air.position(now, HostId(host)))).collect()
    }

    /// Puts a frame into the queue of one radio of its sender, for one of another node, or for all. What has no room
    /// comes back: it, or one that it displaces.
    fn put(&mut self, now: Instant, frame: Frame, own: HostId, to: Option<HostId>) -> Option<Frame> {
        let packet = Outgoing { to, bytes: frame.size_bytes(), priority: frame.priority, payload: frame };
        let refused = self.air.send(now, own, packet).err()?.payload;
        self.radios.is_last(&refused).then_some(refused)
    }

    /// Puts a frame for all into the queues of all radios of its sender. What has no room comes back.
    fn put_on_all(&mut self, now: Instant, frame: Frame) -> Option<Frame> {
        let own: Vec<HostId> = self.radios.for_all(frame.from).collect();
        self.radios.spread(frame, own.len() as u32);
        let mut refused =
            own.into_iter().filter_map(|radio| self.put(now, frame, radio, None)).collect::<Vec<_>>();
        let first = refused.pop();
        refused.into_iter().for_each(|frame| self.radios.refuse(frame));
        first
    }

    /// All who hear a frame at once are told of together.
    fn hear(&mut self, hearing: Hearing, frame: &Frame, hearers: &mut Vec<NodeId>) {
        while let Some(host) = self.air.poll_hearer(hearing, frame) {
            hearers.extend(self.radios.node(host));
        }
    }

    /// What an event of the air is to the network; `None` for what concerns nobody there.
    fn translate(&mut self, event: AirEvent<Frame>, hearers: &mut Vec<NodeId>) -> Option<MediumEvent> {
        match event {
            AirEvent::Received { host, broadcast, payload, .. } => {
                hearers.extend(self.radios.node(host));
                if broadcast {
                    self.hear(Hearing::Broadcast, &payload, hearers);
                }
                Some(MediumEvent::Heard(payload))
            }
            AirEvent::Overheard { host, payload, .. } => {
                hearers.extend(self.radios.node(host));
                self.hear(Hearing::Overheard, &payload, hearers);
                Some(MediumEvent::Heard(payload))
            }
            AirEvent::Sent { payload, .. } => {
                if !self.radios.is_last(&payload) {
                    return None;
                }
                self.frames_inside -= 1;
                Some(MediumEvent::Done(payload))
            }
            AirEvent::Failed { host, next_hop, payload } => {
                self.frames_inside -= 1;
                // What waits for a base station is taken back when the two part.
                if self.takes_back && self.radios.routes_by(host) {
                    let waiting = self.air.withdraw(host, next_hop);
                    self.taken_back.extend(waiting);
                }
                Some(MediumEvent::Undelivered(payload))
            }
            AirEvent::PoweredOff { payload, .. } => {
                if !self.radios.is_last(&payload) {
                    return None;
                }
                self.frames_inside -= 1;
                Some(MediumEvent::Undelivered(payload))
            }
            AirEvent::Unresolved { payload, .. } => {
                self.frames_inside -= 1;
                Some(MediumEvent::Unresolved(payload))
            }
            AirEvent::Refused { payload, .. } => {
                if !self.radios.is_last(&payload) {
                    return None;
                }
                self.frames_inside -= 1;
                Some(MediumEvent::Refused(payload))
            }
            AirEvent::OnAir { frame, announces, .. } => {
                self.head.clear();
                let radios = &self.radios;
                let address = |radio| radios.node(radio).map_or(Ipv4Addr::UNSPECIFIED, ipv4_address);
                self.air.emit_head(&frame, address, &mut self.head);
                self.latest = self.radios.node(frame.from).map(|from| SentFrame {
                    from,
                    to: frame.to.and_then(|to| self.radios.node(to)),
                    kind: frame.name(),
                    airtime: frame.airtime,
                    announces,
                });
                Some(MediumEvent::OnAir(frame.payload))
            }
            AirEvent::Missed { miss, payload, .. } => {
                Some(MediumEvent::Missed { frame: payload, cause: miss.name() })
            }
        }
    }
}

impl Medium for RadioMedium {
    fn send(&mut self, now: Instant, frame: Frame) -> Result<(), Frame> {
        self.frames_inside += 1;
        let refused = match frame.to {
            None => self.put_on_all(now, frame),
            Some(to) => {
                let pair = self.radios.between(&self.air, frame.from, to);
                if pair.is_none() {
                    self.radios.count_without_channel(frame.from);
                }
                let firsts = || [frame.from, to].map(|node| self.radios.first(node));
                let [own, other] = pair.unwrap_or_else(firsts);
                self.put(now, frame, own, Some(other))
            }
        };
        match refused {
            Some(refused) => {
                self.frames_inside -= 1;
                Err(refused)
            }
            None => Ok(()),
        }
    }

    fn poll_event(&mut self, now: Instant, hearers: &mut Vec<NodeId>) -> Option<MediumEvent> {
        if let Some(frame) = self.taken_back.pop_front() {
            self.frames_inside -= 1;
            return Some(MediumEvent::Undelivered(frame));
        }
        if let Some(frame) = self.radios.poll_refused() {
            self.frames_inside -= 1;
            return Some(MediumEvent::Refused(frame));
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

    fn advance(&mut self, last: Instant) -> Option<Instant> {
        self.air.advance(last)
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
        self.hosts(now).into_iter().map(|(node, Position { x_m, y_m })| (node, [x_m, y_m])).collect()
    }

    fn states(&self, now: Instant) -> Vec<(NodeId, NodeState)> {
        let state = |&node: &NodeId| {
            let stats = self.stats(now, node);
            let waits = |radio| self.air.waiting_packets(radio) + self.air.unresolved_packets(radio);
            let waiting = self.radios.of(node).map(|radio| waits(radio) as u64);
            let state = NodeState {
                waiting_packets: waiting.sum(),
                drawn_uj: self.counts_energy.then_some(stats.drawn_nj / 1000),
                battery_uj: stats.battery_nj.map(|left_nj| left_nj / 1000),
            };
            (node, state)
        };
        self.radios.attached().iter().map(state).collect()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.air.next_timeout()
    }

    fn frames_inside(&self) -> usize {
        self.frames_inside
    }

    /// Over hosts within range and on a common channel, wherever they are now.
    fn fewest_hops(&mut self, now: Instant, from: NodeId, to: NodeId) -> Option<u32> {
        if !self.compares_hops {
            return None;
        }
        let mut rings = Rings::around(from, self.hosts(now), self.air.longest_range_m());
        let (radios, air) = (&self.radios, &self.air);
        let reach = |one, other| radios.range_m(air, one, other);
        let mut hops = 0;
        while from != to && rings.advance(reach) {
            hops += 1;
            if rings.ring().iter().any(|(node, _)| *node == to) {
                return Some(hops);
            }
        }
        (from == to).then_some(0)
    }

    fn counters(&self, now: Instant) -> Vec<(NodeId, &'static str, u64)> {
        let of_node = |&node: &NodeId| {
            let mut columns = self.stats(now, node).columns(self.counts_energy);
            let without = self.radios.without_channel(node);
            columns.extend((without > 0).then_some(("packets_without_channel", without)));
            columns.into_iter().map(move |(name, count)| (node, name, count))
        };
        self.radios.attached().iter().flat_map(of_node).collect()
    }

    /// Packets and signals are in one counter each, at every host, or still under way.
    fn faults(&self, now: Instant) -> Vec<String> {
        let (mut faults, mut open) = (Vec::new(), 0);
        for index in 0..self.radios.len() {
            let stats = self.air.stats(now, HostId(index as u32));
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
