//! The radios of hosts: one each, or several on channels of their own.
use crate::core::ids::NodeId;
use crate::media::medium::Frame;
use prismux_plan::{Cells, Plan, Radio};
use prismux_wireless::{Air, HostId, HostStats};
use std::collections::VecDeque;

/// Which radio of the air belongs to which host, and what goes by which.
#[derive(Debug)]
pub(super) struct Radios {
    attached: Vec<NodeId>,
    /// By node: its place among those attached, which is the number of its first radio; [`ABSENT`] for others.
    places: Vec<u32>,
    /// By number, behind the first ones: the place of the host of each further radio.
    further: Vec<u32>,
    /// Whether all are on one channel, and stay there.
    one_channel: bool,
    /// By place, where there are cells: whether it is a base station. The others have a first radio for base stations,
    /// and further ones for one another where they relay.
    base_stations: Vec<bool>,
    relays_beside_cells: bool,
    /// Frames for all that hosts with several radios send: copies that are not at their end.
    spreading: Vec<(Frame, u32)>,
    /// Copies were refused, and nothing is left of the frame.
    refused: VecDeque<Frame>,
    /// By place: packets for neighbours without a common channel.
    without_channel: Vec<u64>,
}

const ABSENT: u32 = u32::MAX;

impl Radios {
    /// Of the hosts that are attached to an air of `plan`.
    pub fn new(plan: &Plan, attached: &[NodeId], radio: &Radio) -> Self {
        let mut places = vec![ABSENT; plan.nodes.len()];
        for (place, node) in attached.iter().enumerate() {
            places[node.index()] = place as u32;
        }
        Self {
            attached: attached.to_vec(),
            places,
            further: radio.further_radios.iter().map(|further| further.host as u32).collect(),
            one_channel: radio.channels.is_empty() && radio.further_radios.is_empty(),
            base_stations: base_stations(attached, radio),
            relays_beside_cells: radio.relays_beside_cells(attached),
            spreading: Vec::new(),
            refused: VecDeque::new(),
            without_channel: vec![0; attached.len()],
        }
    }

    /// The nodes on the air.
    pub fn attached(&self) -> &[NodeId] {
        &self.attached
    }

    /// How many radios there are.
    pub fn len(&self) -> usize {
        self.attached.len() + self.further.len()
    }

    /// The first radio of a node.
    pub fn first(&self, node: NodeId) -> HostId {
        HostId(self.places.get(node.index()).copied().unwrap_or(ABSENT))
    }

    /// All radios of a node.
    pub fn of(&self, node: NodeId) -> impl Iterator<Item = HostId> + '_ {
        let first = self.first(node);
        let numbers = (self.attached.len() as u32..).zip(&self.further);
        let further = numbers.filter(move |(_, place)| **place == first.0);
        std::iter::once(first).chain(further.map(|(number, _)| HostId(number)))
    }

    /// The radios by which a node sends to all.
    pub fn for_all(&self, node: NodeId) -> impl Iterator<Item = HostId> + '_ {
        self.of(node).skip(usize::from(self.relays(node)))
    }

    /// The radios by which a node sends to another one, and hears it.
    fn towards(&self, node: NodeId, other: NodeId) -> impl Iterator<Item = HostId> + '_ {
        self.of(node).skip(usize::from(self.relays(node) && self.relays(other)))
    }

    /// Whether a node may relay beside cells: it is no base station, and its first radio is for those alone.
    pub fn relays(&self, node: NodeId) -> bool {
        self.relays_beside_cells && self.is_base_station(node) == Some(false)
    }

    /// Whether a node is a base station; `None` where there are no cells.
    fn is_base_station(&self, node: NodeId) -> Option<bool> {
        self.base_stations.get(self.first(node).0 as usize).copied()
    }

    /// Whether a routing protocol sends by a radio: not between stations and base stations.
    pub fn routes_by(&self, radio: HostId) -> bool {
        let is_further = radio.0 as usize >= self.attached.len();
        let owner = || self.node(radio).and_then(|node| self.is_base_station(node));
        self.base_stations.is_empty() || is_further && owner() == Some(false)
    }

    /// The node that a radio belongs to.
    pub fn node(&self, radio: HostId) -> Option<NodeId> {
        let number = radio.0 as usize;
        let place = match number.checked_sub(self.attached.len()) {
            None => number,
            Some(further) => *self.further.get(further)? as usize,
        };
        self.attached.get(place).copied()
    }

    /// From now on hosts change their channels.
    pub fn channels_change(&mut self) {
        self.one_channel = false;
    }

    /// The radios by which one node reaches another: the sender's first that is on a channel of the other's. Without a
    /// common channel the first of both, which do not hear one another.
    pub fn between<P: Copy>(&self, air: &Air<P>, from: NodeId, to: NodeId) -> Option<[HostId; 2]> {
        if self.one_channel {
            return Some([self.first(from), self.first(to)]);
        }
        let others = || self.towards(to, from);
        let pairs = self.towards(from, to).flat_map(|own| others().map(move |other| [own, other]));
        let on_one = |[own, other]: &[HostId; 2]| {
            let channel = air.channel(*own);
            channel.is_some() && channel == air.channel(*other)
        };
        pairs.into_iter().find(on_one)
    }

    /// How far the radio reaches in the mean by which one node sends to another; `None` without a common channel.
    pub fn range_m<P: Copy>(&self, air: &Air<P>, from: NodeId, to: NodeId) -> Option<f64> {
        self.between(air, from, to).map(|[own, _]| air.range_m(own))
    }

    /// A packet is for a neighbour without a common channel.
    pub fn count_without_channel(&mut self, from: NodeId) {
        let place = self.first(from).0 as usize;
        if let Some(count) = self.without_channel.get_mut(place) {
            *count += 1;
        }
    }

    /// Packets of a node for neighbours without a common channel.
    pub fn without_channel(&self, node: NodeId) -> u64 {
        self.without_channel.get(self.first(node).0 as usize).copied().unwrap_or(0)
    }

    /// A frame for all goes out in as many copies as its sender has radios.
    pub fn spread(&mut self, frame: Frame, copies: u32) {
        if copies > 1 {
            self.spreading.push((frame, copies));
        }
    }

    /// A copy of a frame is at its end; whether it was the last.
    pub fn is_last(&mut self, frame: &Frame) -> bool {
        if self.spreading.is_empty() || frame.to.is_some() {
            return true;
        }
        let Some(at) = self.spreading.iter().position(|(one, _)| one == frame) else { return true };
        let left = &mut self.spreading[at].1;
        *left -= 1;
        let is_last = *left == 0;
        if is_last {
            self.spreading.swap_remove(at);
        }
        is_last
    }

    /// Keeps a frame that has no room, until it is told.
    pub fn refuse(&mut self, frame: Frame) {
        self.refused.push_back(frame);
    }

    /// A frame that had no room.
    pub fn poll_refused(&mut self) -> Option<Frame> {
        self.refused.pop_front()
    }

    /// What all radios of a node have done together.
    pub fn stats(&self, node: NodeId, of: impl Fn(HostId) -> HostStats) -> HostStats {
        let mut all = self.of(node).map(of);
        let mut sum = all.next().unwrap_or_default();
        all.for_each(|one| sum += one);
        sum
    }
}

/// Which of the hosts are base stations, where there are cells.
fn base_stations(attached: &[NodeId], radio: &Radio) -> Vec<bool> {
    let of_cells = |cells: &Cells| attached.iter().map(|node| cells.base_stations.contains(node)).collect();
    radio.cells.as_ref().map_or_else(Vec::new, of_cells)
}
