//! From the lines of a record to series.
mod ways;

use crate::air::{AirRecord, Burden, Frame};
use crate::description::{Network, Number, StreamDirection};
use crate::flow::{ReadSegment, Tracker};
use crate::packets::{PacketRecord, Step, What};
use crate::paths::Used;
use crate::run::{FlowRecord, LinkRecord, Note, Run};
use prismux_trace::event::{EventKind, Line, LinkDescription, RunDescription, Text};
use prismux_trace::results::Backend;
use std::collections::{BTreeMap, HashMap};

/// An ACK that stays at a proxy for longer than this was held back: virtual time knows no delay of its own, the lab's
/// proxy takes a moment for everything.
const PASSING_NS: [(Backend, u64); 2] = [(Backend::Sim, 0), (Backend::Lab, 2_000_000)];
/// More notes than this are left out.
const MAX_NOTES: usize = 500;

/// What data of a flow did on a link, or on the air as a whole.
#[derive(Debug)]
struct OnLink {
    time: u64,
    /// `None` for the air.
    link: Option<Number>,
    start: u64,
    end: u64,
    event: EventKind,
}

/// Takes the events of a record one after the other, in order of time.
#[derive(Debug)]
pub(crate) struct Builder {
    network: Network,
    run: Run,
    /// Which links each flow used.
    used: Used,
    /// By flow: what its data did on links; which of these are its paths is known at the end alone.
    on_links: Vec<Vec<OnLink>>,
    trackers: Vec<Tracker>,
    /// By flow: its segments' sequence numbers are those of one stream, and not of several connections.
    one_sequence: Vec<bool>,
    /// ACKs held for a flow by each node that holds some.
    held: HashMap<(Number, Number), u64>,
    /// By link, forward and reverse: its rate whenever it is up.
    full_rate: Vec<[Option<u64>; 2]>,
    passing_ns: u64,
    pub ended: bool,
}

impl Builder {
    /// For the run that `description` tells of.
    ///
    /// # Errors
    /// When links or flows name a node that is not there.
    pub fn new(description: RunDescription<'static>) -> Result<Self, String> {
        let network = Network::new(&description)?;
        let paths = Network::shared(&description);
        let rates = |link: &LinkDescription<'_>| [link.rate_bps, link.reverse_rate_bps];
        let full_rate: Vec<[Option<u64>; 2]> = description.links.iter().map(rates).collect();
        let mut links: Vec<LinkRecord> = Vec::new();
        for rates in &full_rate {
            let mut record = LinkRecord::default();
            for (levels, rate) in record.rate.iter_mut().zip(rates) {
                rate.iter().for_each(|&bps| levels.push(0, bps));
            }
            links.push(record);
        }
        let passing = PASSING_NS.iter().find(|(backend, _)| *backend == description.backend);
        Ok(Self {
            network,
            used: Used::new(description.flows.len()),
            on_links: description.flows.iter().map(|_| Vec::new()).collect(),
            one_sequence: description.flows.iter().map(|flow| has_one_sequence(&flow.transport)).collect(),
            trackers: description.flows.iter().map(|_| Tracker::default()).collect(),
            held: HashMap::new(),
            full_rate,
            passing_ns: passing.map_or(0, |(_, ns)| *ns),
            ended: false,
            run: Run {
                flows: description.flows.iter().map(|_| FlowRecord::default()).collect(),
                description,
                end_ns: 0,
                events: 1,
                paths,
                busiest: Vec::new(),
                lossy: Vec::new(),
                links,
                air: AirRecord::default(),
                packets: PacketRecord::default(),
                notes: Vec::new(),
                decisions: BTreeMap::new(),
                warnings: Vec::new(),
            },
        })
    }

    /// The run, once all lines have been taken.
    pub fn finish(mut self) -> Run {
        self.used.give_paths(&self.network, &mut self.run);
        for flow in 0..self.run.flows.len() {
            self.mark_paths(flow);
        }
        for (record, tracker) in self.run.flows.iter_mut().zip(&mut self.trackers) {
            record.arrived_bytes = tracker.received.in_order();
            // What never left was held as well.
            let held = &mut tracker.held;
            held.append(&mut tracker.at_proxy);
            held.sort_unstable();
            held.iter().for_each(|&(time, ack)| record.acks_held.push(time, ack, ack));
        }
        self.run.finish();
        self.used.choose_series(&mut self.run);
        self.run
    }

    /// Notes a warning about the record where `condition` holds.
    pub fn warn_if(&mut self, condition: bool, text: impl FnOnce() -> String) {
        if condition {
            self.run.warnings.push(text());
        }
    }

    /// Takes one line. Names that the description does not know are passed over.
    pub fn take(&mut self, line: &Line<'_>) {
        self.run.events += 1;
        self.run.end_ns = self.run.end_ns.max(line.time_ns);
        match line.event {
            EventKind::PacketSent | EventKind::PacketDelivered | EventKind::PacketDropped => {
                self.take_hop(line);
                if self.take_packet(line).is_none() && line.event == EventKind::PacketDropped {
                    self.take_decision(line, &line.at);
                }
            }
            EventKind::PacketScheduled
            | EventKind::AckReleased
            | EventKind::LossDetected
            | EventKind::PacketRepaired => self.take_decision(line, &line.node),
            EventKind::WindowChanged => self.take_windows(line),
            EventKind::HeldChanged => self.take_held(line),
            EventKind::LinkChanged => self.take_link_change(line),
            EventKind::HostMoved => self.take_place(line),
            EventKind::HostState => self.take_state(line),
            EventKind::FrameSent => self.take_frame(line),
            EventKind::PacketOriginated => {
                self.take_origin(line);
            }
            EventKind::FrameLost | EventKind::PacketQueued | EventKind::PacketArrived => self.take_step(line),
            EventKind::RunEnded => self.ended = true,
            EventKind::MemberJoined
            | EventKind::MemberLeft
            | EventKind::LinkStateChanged
            | EventKind::PeerMoved
            | EventKind::RegistrationRefused
            | EventKind::RegistrationChanged
            | EventKind::HandoffComplete
            | EventKind::FlowStarted
            | EventKind::FlowFinished => self.note(line),
            EventKind::CellChanged | EventKind::GatewayChanged => self.take_tie(line),
            // A record begins but once, and what a later version tells is counted only.
            EventKind::RunStarted | EventKind::Unknown => {}
        }
    }

    /// A proxy decided about a packet.
    fn take_decision(&mut self, line: &Line<'_>, node: &Option<Text<'_>>) {
        let node = node.as_ref().and_then(|name| self.network.node(name));
        if let Some(proxy) = node.filter(|&node| self.network.is_proxy(node)) {
            self.run.decisions.entry(proxy).or_default().take(line);
        }
    }

    fn take_packet(&mut self, line: &Line<'_>) -> Option<()> {
        let packet = line.packet.as_ref()?;
        let link = self.network.link(line.link.as_ref().or(line.at.as_ref())?)?;
        let from = match (&line.from, &line.to) {
            (Some(from), _) => self.network.node(from)?,
            (None, Some(to)) => self.network.opposite(link, self.network.node(to)?),
            (None, None) => return None,
        };
        let (time, direction) = (line.time_ns, self.network.direction(link, from));
        self.take_load(line, link, direction, packet.bytes);
        let flow = self.network.flow(packet.flow.as_ref()?)?;
        let segment = packet.segment.as_ref().filter(|_| self.one_sequence[flow]);
        let toward = self.network.stream_direction(flow, link, from);
        if line.event == EventKind::PacketDelivered {
            let is_data = toward == StreamDirection::Data;
            self.used.passed(flow, link, direction, is_data, packet.bytes);
            if is_data && self.network.opposite(link, from) == self.network.flow_ends(flow)[1] {
                self.run.flows[flow].arrived.push(time, u64::from(packet.bytes));
            }
        }
        match toward {
            StreamDirection::Data => {
                let part =
                    packet.stream.map(|part| (part.offset, part.offset.saturating_add(part.bytes.into())));
                let data = part.or_else(|| self.trackers[flow].data(segment?))?;
                self.take_data(line, flow, link, from, data);
            }
            StreamDirection::Acks => self.take_ack(line, flow, link, from, segment?),
        }
        Some(())
    }

    /// The bytes `start .. end` of a flow's stream are on a link.
    fn take_data(
        &mut self,
        line: &Line<'_>,
        flow: Number,
        link: Number,
        from: Number,
        (start, end): (u64, u64),
    ) {
        let (tracker, record, time) = (&mut self.trackers[flow], &mut self.run.flows[flow], line.time_ns);
        self.on_links[flow].push(OnLink { time, link: Some(link), start, end, event: line.event });
        let arrives = self.network.opposite(link, from) == self.network.flow_ends(flow)[1];
        if line.event == EventKind::PacketDelivered && arrives {
            tracker.received.insert(start, end);
            record.waiting.push(time, tracker.received.beyond_gap());
        }
    }

    /// Sets the marks of a flow's data, once it is known which links are its paths. Where none is, the air is.
    fn mark_paths(&mut self, flow: Number) {
        let (record, tracker) = (&mut self.run.flows[flow], &mut self.trackers[flow]);
        let over_air = record.paths.is_empty() && !self.on_links[flow].is_empty();
        record.paths.resize_with(record.paths.len().max(usize::from(over_air)), Default::default);
        for OnLink { time, link, start, end, event } in std::mem::take(&mut self.on_links[flow]) {
            let path = match link {
                Some(link) => record.path_numbers.iter().position(|&path| self.run.paths[path] == link),
                None => over_air.then_some(0),
            };
            match (event, path) {
                (EventKind::PacketSent, Some(path)) => {
                    let marks = &mut record.paths[path];
                    let new = tracker.sent.insert(start, end);
                    if new { &mut marks.sent } else { &mut marks.sent_again }.push(time, start, end);
                }
                (EventKind::PacketDropped, Some(path)) => record.paths[path].lost.push(time, start, end),
                (EventKind::PacketDropped, None) => record.lost_elsewhere.push(time, start, end),
                (EventKind::PacketDelivered, Some(path)) => record.paths[path].arrived.push(time, start, end),
                _ => {}
            }
        }
    }

    /// What a packet means for the link alone.
    fn take_load(&mut self, line: &Line<'_>, link: Number, way: usize, bytes: u32) {
        let (record, time) = (&mut self.run.links[link], line.time_ns);
        let backlog = &mut record.backlog[way];
        match line.event {
            EventKind::PacketSent => backlog.comes(time, bytes),
            EventKind::PacketDelivered => {
                record.delivered[way].push(time, u64::from(bytes));
                backlog.leaves(time.saturating_sub(self.run.description.links[link].delay_ns), bytes);
            }
            EventKind::PacketDropped => {
                record.dropped[way].push(time, 1);
                backlog.leaves(time, bytes);
            }
            _ => {}
        }
    }

    fn take_ack(
        &mut self,
        line: &Line<'_>,
        flow: Number,
        link: Number,
        from: Number,
        segment: &ReadSegment<'_>,
    ) {
        let tracker = &mut self.trackers[flow];
        let Some(ack) = tracker.ack(segment) else { return };
        let (record, time) = (&mut self.run.flows[flow], line.time_ns);
        let to = self.network.opposite(link, from);
        match line.event {
            EventKind::PacketDelivered if to == self.network.flow_ends(flow)[0] => {
                tracker.acknowledged = tracker.acknowledged.max(ack);
                record.acknowledged.push(time, tracker.acknowledged);
            }
            EventKind::PacketDelivered if self.network.is_proxy(to) => tracker.at_proxy.push((time, ack)),
            EventKind::PacketSent
                if self.network.is_proxy(from) && tracker.release(time, ack, self.passing_ns) =>
            {
                record.acks_released.push(time, ack, ack);
            }
            _ => {}
        }
    }

    fn take_windows(&mut self, line: &Line<'_>) {
        let Some(flow) = line.flow.as_ref().and_then(|name| self.network.flow(name)) else { return };
        let record = &mut self.run.flows[flow];
        let levels = [
            (&mut record.cwnd, line.cwnd_bytes),
            (&mut record.ssthresh, line.ssthresh_bytes),
            (&mut record.in_flight, line.in_flight_bytes),
            (&mut record.srtt, line.srtt_ns),
        ];
        for (levels, value) in levels {
            value.into_iter().for_each(|value| levels.push(line.time_ns, value));
        }
    }

    fn take_held(&mut self, line: &Line<'_>) {
        let flow = line.flow.as_ref().and_then(|name| self.network.flow(name));
        let node = line.node.as_ref().and_then(|name| self.network.node(name));
        let (Some(flow), Some(node), Some(held)) = (flow, node, line.held_acks) else { return };
        self.held.insert((flow, node), held);
        let sum = self.held.iter().filter(|((of, _), _)| *of == flow).map(|(_, held)| held).sum();
        self.run.flows[flow].held.push(line.time_ns, sum);
    }

    fn take_place(&mut self, line: &Line<'_>) {
        let node = self.node(&line.node);
        if let (Some(node), Some(x_m), Some(y_m)) = (node, line.x_m, line.y_m) {
            self.run.air.place(line.time_ns, node, [x_m, y_m]);
        }
    }

    fn take_state(&mut self, line: &Line<'_>) {
        let node = self.node(&line.node);
        if let (Some(node), Some(waiting)) = (node, line.waiting_packets) {
            self.run.air.state(line.time_ns, node, waiting, [line.drawn_uj, line.battery_uj]);
        }
    }

    fn take_tie(&mut self, line: &Line<'_>) {
        self.note(line);
        let (Some(station), to) = (self.node(&line.node), self.node(&line.to)) else { return };
        match line.event {
            EventKind::CellChanged => self.run.air.belong(line.time_ns, station, (to, line.channel)),
            _ => self.run.air.go_over(line.time_ns, station, to),
        }
    }

    fn take_frame(&mut self, line: &Line<'_>) {
        let Some(from) = self.node(&line.from) else { return };
        let to = self.node(&line.to);
        let flow = line.flow.as_ref().and_then(|name| self.network.flow(name));
        let what = match (flow, line.kind.as_deref()) {
            (Some(flow), _) => Burden::Flow(flow),
            (None, Some("data")) => Burden::Message,
            (None, _) => Burden::Control,
        };
        self.run.air.frame(Frame { time_ns: line.time_ns, from, to, what, number: line.number });
        if let Some(number) = line.number {
            let what = if line.kind.as_deref() == Some("rts") { What::Asked } else { What::Sent };
            let sent = Step::new(line.time_ns, what, from);
            self.run.packets.step(number, Step { to, airtime_ns: line.airtime_ns, ..sent });
        }
    }

    fn node(&self, name: &Option<Text<'_>>) -> Option<Number> {
        name.as_ref().and_then(|name| self.network.node(name))
    }

    fn take_link_change(&mut self, line: &Line<'_>) {
        let Some(name) = &line.link else { return };
        let Some(link) = self.network.link(name) else { return };
        let from = line.from.as_ref().and_then(|from| self.network.node(from));
        let direction = from.map_or(0, |from| self.network.direction(link, from));
        let levels = &mut self.run.links[link].rate[direction];
        let up = line.up.unwrap_or(true);
        let full = &mut self.full_rate[link][direction];
        *full = line.rate_bps.or(*full);
        if let Some(bps) = *full {
            levels.push(line.time_ns, if up { bps } else { 0 });
        }
        if direction == 0 {
            self.note(line);
        }
    }

    /// A rare event, in words.
    fn note(&mut self, line: &Line<'_>) {
        if self.run.notes.len() < MAX_NOTES {
            self.run.notes.push(Note { time_ns: line.time_ns, text: line.to_string() });
        }
    }
}

/// Whether all segments of a flow count the same stream: MPTCP's subflows and the connections of striping applications
/// count each their own.
fn has_one_sequence(transport: &str) -> bool {
    transport != "mptcp" && !transport.starts_with("striping")
}
