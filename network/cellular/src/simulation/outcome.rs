//! What came of a run.
use super::Setup;
use crate::energy::PowerModel;
use crate::slots::{Arrival, CellEndpoint};
use alloc::vec;
use alloc::vec::Vec;
use prismux_units::Duration;

/// Counts of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Slots that have passed.
    pub slots: u64,
    /// Packets of each flow that have arrived.
    pub delivered: Vec<u64>,
    /// Slot and flow of every arrival.
    pub arrivals: Vec<(u64, usize)>,
    /// Transmissions over peers' range that arrived at the next host.
    pub hops: u64,
    /// Transmissions over the range of the base station.
    pub direct: u64,
    /// Transmissions of both kinds by hosts, the base station's not counted.
    sent_by_hosts: [u64; 2],
    /// Hosts that heard a transmission, addressed or not, the base station not counted.
    pub heard: u64,
    /// Transmissions to hosts that had moved away.
    pub lost: u64,
    /// Packets that a full queue refused.
    pub refused: u64,
    /// Slots that schedules gave to packets that were not there.
    pub wasted: u64,
    /// Slots in which a transmission was sent from or to where the base station hears it.
    pub busy_at_base: u64,
    delay_slots: u64,
    slot: Duration,
    packet_bits: u64,
    hosts: usize,
}

impl Outcome {
    pub(super) fn new(setup: &Setup) -> Self {
        Self {
            slots: 0,
            delivered: vec![0; setup.flows.len()],
            arrivals: Vec::new(),
            hops: 0,
            direct: 0,
            sent_by_hosts: [0; 2],
            heard: 0,
            lost: 0,
            refused: 0,
            wasted: 0,
            busy_at_base: 0,
            delay_slots: 0,
            slot: setup.slot(),
            packet_bits: setup.packet.bits(),
            hosts: setup.cell.hosts(),
        }
    }

    pub(super) fn arrived(&mut self, arrival: &Arrival<()>) {
        self.delivered[arrival.flow] += 1;
        self.arrivals.push((arrival.slot, arrival.flow));
        self.delay_slots += arrival.slot + 1 - arrival.born;
    }

    /// What the cell has done in the whole run.
    pub(super) fn count(&mut self, cell: &CellEndpoint<()>) {
        let counts = cell.counts();
        self.slots = cell.slots();
        self.sent_by_hosts = counts.sent_by_hosts();
        (self.hops, self.direct, self.heard) = (counts.hops, counts.direct, counts.heard);
        (self.lost, self.refused, self.wasted) = (counts.lost, counts.refused, counts.wasted);
        self.busy_at_base = counts.busy_at_base;
    }

    fn seconds(&self) -> f64 {
        self.slot.as_secs_f64() * self.slots as f64
    }

    /// Bits per second of a flow.
    pub fn flow_bps(&self, flow: usize) -> f64 {
        let packets = self.delivered.get(flow).copied().unwrap_or(0);
        (packets * self.packet_bits) as f64 / self.seconds()
    }

    /// Bits per second of all flows together.
    pub fn total_bps(&self) -> f64 {
        (0..self.delivered.len()).map(|flow| self.flow_bps(flow)).sum()
    }

    /// Packets from source to destination in a slot.
    pub fn packets_per_slot(&self) -> f64 {
        self.delivered.iter().sum::<u64>() as f64 / self.slots as f64
    }

    /// Coefficient of variation of the flows' throughputs: standard deviation over mean; NaN when nothing arrived.
    pub fn variation(&self) -> f64 {
        let n = self.delivered.len() as f64;
        let mean = self.delivered.iter().sum::<u64>() as f64 / n;
        let square = |packets: &u64| (*packets as f64 - mean) * (*packets as f64 - mean);
        libm::sqrt(self.delivered.iter().map(square).sum::<f64>() / n) / mean
    }

    /// Mean time from the writing of a packet to its arrival, in seconds; NaN when nothing arrived.
    pub fn mean_delay_s(&self) -> f64 {
        self.delay_slots as f64 * self.slot.as_secs_f64() / self.arrivals.len() as f64
    }

    /// Power drawn by a host on average, in watts: sending over the range of peers or of the base station, and
    /// receiving whatever it hears.
    pub fn power_w(&self, model: &PowerModel, peer_range_m: f64, base_range_m: f64) -> f64 {
        self.energy_slots(model, peer_range_m, base_range_m) / self.slots as f64 / self.hosts as f64
    }

    /// Energy that hosts spend for each packet that arrives, in joules.
    pub fn joules_per_packet(&self, model: &PowerModel, peer_range_m: f64, base_range_m: f64) -> f64 {
        let slots = self.energy_slots(model, peer_range_m, base_range_m);
        slots * self.slot.as_secs_f64() / self.arrivals.len() as f64
    }

    /// Watts times slots.
    fn energy_slots(&self, model: &PowerModel, peer_range_m: f64, base_range_m: f64) -> f64 {
        let [peer, direct] = self.sent_by_hosts;
        peer as f64 * model.send_w(peer_range_m)
            + direct as f64 * model.send_w(base_range_m)
            + self.heard as f64 * model.receive_w
    }

    /// Share of the time in which the channel around the base station was in use.
    pub fn channel_use_at_base(&self) -> f64 {
        self.busy_at_base as f64 / self.slots as f64
    }
}
