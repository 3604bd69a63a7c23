//! A cell in slots as a medium of the simulator.
use crate::core::ids::NodeId;
use crate::media::medium::{Frame, Medium, MediumEvent, NodeState, SentFrame};
use prismux_cellular::slots::{CellEvent, CellNetwork, Sending};
use prismux_endpoint::random::Seed;
use prismux_plan::{Plan, SlottedCell};
use prismux_units::{Duration, Instant};
use prismux_wireless::Position;
use std::collections::BTreeMap;

/// A cell of `prismux_cellular` between nodes of the simulator.
#[derive(Debug)]
pub struct CellMedium {
    cell: CellNetwork<Frame>,
    /// By place in the cell.
    nodes: Vec<NodeId>,
    places: BTreeMap<NodeId, usize>,
    slot: Duration,
    /// What a packet takes at an access point.
    at_access_point: Duration,
    /// The frame that has begun last, and whether it is lost.
    latest: Option<SentFrame>,
    missed: Option<Frame>,
    counts_energy: bool,
}

impl CellMedium {
    /// The cell called `name` of a plan, between the nodes `attached`.
    ///
    /// # Errors
    /// What makes a movement impossible.
    pub fn new(
        plan: &Plan,
        name: &str,
        attached: &[NodeId],
        cell: &SlottedCell,
        seed: Seed,
    ) -> Result<Self, &'static str> {
        let settings = (&cell.config, cell.access, cell.queue_packets as usize);
        let names = attached.iter().map(|node| format!("{name}/{}", plan[*node].name));
        Ok(Self {
            cell: CellNetwork::new(settings, &cell.mobility, names, seed)?,
            nodes: attached.to_vec(),
            places: attached.iter().copied().zip(0..).collect(),
            slot: cell.config.slot(),
            at_access_point: cell.config.access_point_time(),
            latest: None,
            missed: None,
            counts_energy: cell.counts_energy,
        })
    }

    /// The gate over which a host is reached.
    pub(super) fn entrance(&self, host: NodeId) -> Option<NodeId> {
        let place = self.places.get(&host)?;
        self.nodes.get(self.cell.entrance(*place)?).copied()
    }

    /// A frame begins.
    fn begin(&mut self, sending: Sending<Frame>) -> MediumEvent {
        let [from, to] = [sending.from, sending.to].map(|place| self.nodes[place]);
        let airtime = if sending.by_access_point { self.at_access_point } else { self.slot };
        self.latest = Some(SentFrame { from, to: Some(to), kind: "data", airtime, announces: None });
        let frame = Frame { from, to: Some(to), ..sending.payload };
        self.missed = Some(frame).filter(|_| !sending.comes);
        MediumEvent::OnAir(Some(frame))
    }

    /// The length of a slot, where energy is counted.
    fn slot_s(&self) -> Option<f64> {
        self.counts_energy.then(|| self.slot.as_secs_f64())
    }
}

impl Medium for CellMedium {
    fn send(&mut self, _: Instant, frame: Frame) -> Result<(), Frame> {
        let Some(&from) = self.places.get(&frame.from) else { return Err(frame) };
        let to = self.places.get(&frame.packet.carried.towards).copied();
        self.cell.send(from, to, frame.size_bytes(), frame)
    }

    fn poll_event(&mut self, now: Instant, hearers: &mut Vec<NodeId>) -> Option<MediumEvent> {
        if let Some(frame) = self.missed.take() {
            return Some(MediumEvent::Missed { frame, cause: "moved" });
        }
        Some(match self.cell.poll_event(now)? {
            CellEvent::Sent(sending) => self.begin(sending),
            CellEvent::Changed(change) => {
                let [host, from, over] = [change.host, change.from, change.to].map(|place| self.nodes[place]);
                MediumEvent::Leads { host, from, over }
            }
            CellEvent::Returned { payload, .. } => MediumEvent::Undelivered(payload),
            CellEvent::Arrived(arrival) => {
                let node = self.nodes[arrival.place];
                hearers.push(node);
                MediumEvent::Crossed(Frame { to: Some(node), ..arrival.payload })
            }
        })
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Some(self.cell.poll_timeout())
    }

    fn frames_inside(&self) -> usize {
        self.cell.packets_inside()
    }

    fn tell_frames(&mut self) {
        self.cell.tell_sendings();
    }

    fn frame_sent(&self) -> Option<SentFrame> {
        self.latest
    }

    fn places(&mut self, now: Instant) -> Vec<(NodeId, [f64; 2])> {
        let positions = self.cell.positions(now).iter();
        self.nodes.iter().copied().zip(positions.map(|&Position { x_m, y_m }| [x_m, y_m])).collect()
    }

    fn states(&self, _: Instant) -> Vec<(NodeId, NodeState)> {
        let waiting = self.cell.waiting_by_place();
        let state = |(place, (node, waiting)): (usize, (&NodeId, usize))| {
            let drawn_uj = self.slot_s().and_then(|slot_s| self.cell.drawn_uj(place, slot_s));
            (*node, NodeState { waiting_packets: waiting as u64, drawn_uj, battery_uj: None })
        };
        self.nodes.iter().zip(waiting).enumerate().map(state).collect()
    }

    fn counters(&self, _: Instant) -> Vec<(NodeId, &'static str, u64)> {
        let waiting = self.cell.waiting_by_place();
        let of_place = |(place, node): (usize, &NodeId)| {
            let node = *node;
            let columns = self.cell.columns(place, waiting[place], self.slot_s());
            columns.into_iter().map(move |(name, count)| (node, name, count))
        };
        self.nodes.iter().enumerate().flat_map(of_place).collect()
    }

    fn faults(&self, _: Instant) -> Vec<String> {
        self.cell.fault().into_iter().collect()
    }

    /// Hosts find their way by a rule of their own: to the cell.
    fn joins_all(&self) -> bool {
        false
    }
}
