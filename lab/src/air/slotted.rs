//! A cell in slots between the devices of hosts and gates: what the simulator has as a medium, on the wall clock.
use super::carriage::{Carriage, Output};
use super::frames::Frames;
use super::telling::{Begun, HostLook, Told};
use crate::packets::{Label, Labelled};
use prismux_cellular::slots::{CellEvent, CellNetwork, Change, Sending};
use prismux_endpoint::random::Seed;
use prismux_linux::packet::PacketBuf;
use prismux_plan::SlottedCell;
use prismux_trace::event::DropReason;
use prismux_units::{Duration, Instant};
use prismux_wireless::HostId;
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

/// Hosts of a cell, and the gates between it and the world, in the order of the plan.
pub(super) struct SlottedNodes {
    cell: CellNetwork<Ticket>,
    packets: Frames<PacketBuf>,
    places: BTreeMap<Ipv4Addr, usize>,
    hosts: usize,
    slot_bytes: usize,
    slot: Duration,
    at_access_point: Duration,
    outputs: VecDeque<Output<Labelled>>,
    counts: Vec<Counts>,
}

/// What became of packets before the cell had them.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    queue_drops: u64,
    too_long: u64,
    to_other_gates: u64,
}

/// A packet as the cell knows it: its place among those that are in the cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticket {
    place: u32,
    label: Label,
}

/// The cell called `medium` between nodes with these names. Its random streams have the names that they have in the
/// simulator.
///
/// # Errors
/// What makes a movement impossible.
pub(super) fn network<'a>(
    medium: &str,
    cell: &SlottedCell,
    names: impl Iterator<Item = &'a str>,
    seed: Seed,
) -> Result<CellNetwork<Ticket>, &'static str> {
    let streams = names.map(|name| format!("{medium}/{name}"));
    CellNetwork::new((&cell.config, cell.access, cell.queue_packets as usize), &cell.mobility, streams, seed)
}

impl SlottedNodes {
    /// A cell between nodes with these addresses.
    pub fn new(
        network: CellNetwork<Ticket>,
        cell: &SlottedCell,
        addresses: impl Iterator<Item = Ipv4Addr>,
    ) -> Self {
        let places: BTreeMap<Ipv4Addr, usize> = addresses.zip(0..).collect();
        Self {
            cell: network,
            packets: Frames::default(),
            hosts: cell.config.hosts,
            slot_bytes: cell.config.packet.as_u64() as usize,
            slot: cell.config.slot(),
            at_access_point: cell.config.access_point_time(),
            outputs: VecDeque::new(),
            counts: vec![Counts::default(); places.len()],
            places,
        }
    }

    fn lose(&mut self, now: Instant, host: HostId, reason: DropReason, packet: &Labelled) {
        self.outputs.extend(Told::dropped(now, host, reason, packet).map(Output::Told));
    }

    fn handle(&mut self, at: Instant, event: CellEvent<Ticket>) {
        let number = |place: usize| HostId(place as u32);
        match event {
            CellEvent::Sent(Sending { from, to, by_access_point, comes, payload }) => {
                let airtime = if by_access_point { self.at_access_point } else { self.slot };
                let ends = [from, to].map(number);
                let begun = Begun::in_slot(at, ends, airtime, payload.label);
                self.outputs.push_back(Output::Told(Told::Frame(begun)));
                let missed = |number| Told::Missed(at, ends, "moved", number);
                let lost = payload.label.number.filter(|_| !comes).map(missed);
                self.outputs.extend(lost.map(Output::Told));
            }
            CellEvent::Changed(Change { host, from, to }) => {
                let gates = [from, to].map(|gate| Some(number(gate)));
                self.outputs.push_back(Output::Settled(at, number(host), gates, None));
            }
            // The gate's kernel sends it to the other gate by wire.
            CellEvent::Returned { place, payload } => {
                if let Some(packet) = self.take(payload) {
                    self.hand_back(at, place, packet);
                }
            }
            CellEvent::Arrived(arrival) => {
                let packet = self.take(arrival.payload);
                let output = packet.map(|packet| Output::Packet(at, number(arrival.place), packet));
                self.outputs.extend(output);
            }
        }
    }

    /// A packet that leaves the cell.
    fn take(&mut self, Ticket { place, label }: Ticket) -> Option<Labelled> {
        Some(Labelled { packet: self.packets.take(place)?, label })
    }

    fn hand_back(&mut self, at: Instant, gate: usize, packet: Labelled) {
        self.counts[gate].to_other_gates += 1;
        self.outputs.push_back(Output::Packet(at, HostId(gate as u32), packet));
    }
}

impl Carriage<Labelled> for SlottedNodes {
    fn send(&mut self, now: Instant, host: HostId, destination: Ipv4Addr, packet: Labelled) {
        self.run_until(now);
        let (from, to) = (host.0 as usize, self.places.get(&destination).copied());
        if from >= self.hosts {
            match to.and_then(|to| self.cell.entrance(to)) {
                None => return self.lose(now, host, DropReason::NoRoute, &packet),
                // The kernel had it before its route turned.
                Some(gate) if gate != from => return self.hand_back(now, from, packet),
                Some(_) => {}
            }
        }
        if packet.packet.len() > self.slot_bytes {
            self.counts[from].too_long += 1;
            return self.lose(now, host, DropReason::TooLong, &packet);
        }
        let (bytes, label) = (packet.packet.len() as u32, packet.label);
        let ticket = Ticket { place: self.packets.put(packet.packet), label };
        match self.cell.send(from, to, bytes, ticket) {
            Ok(()) => self.outputs.extend(Told::queued(now, host, label).map(Output::Told)),
            Err(refused) => {
                self.counts[from].queue_drops += 1;
                if let Some(packet) = self.take(refused) {
                    self.lose(now, host, DropReason::QueueFull, &packet);
                }
            }
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        Some(self.cell.poll_timeout())
    }

    fn run_until(&mut self, now: Instant) {
        while self.cell.poll_timeout() <= now {
            let at = self.cell.poll_timeout();
            while let Some(event) = self.cell.poll_event(at) {
                self.handle(at, event);
            }
        }
    }

    fn poll_output(&mut self) -> Option<Output<Labelled>> {
        self.outputs.pop_front()
    }

    fn look(&mut self, now: Instant, radios: &[HostId]) -> HostLook {
        let place = radios.first().map_or(0, |radio| radio.0 as usize);
        let at = self.cell.positions(now).get(place).copied();
        HostLook {
            at: at.unwrap_or_default(),
            waiting: self.cell.waiting_by_place().get(place).map_or(0, |waiting| *waiting as u64),
            drawn_uj: self.cell.drawn_uj(place, self.slot.as_secs_f64()).unwrap_or(0),
            battery_uj: None,
        }
    }

    fn counters(&self, _: Instant, host: HostId, counts_energy: bool) -> Vec<(&'static str, u64)> {
        let place = host.0 as usize;
        let waiting = self.cell.waiting_by_place().get(place).copied().unwrap_or(0);
        let slot_s = counts_energy.then(|| self.slot.as_secs_f64());
        let mut columns = self.cell.columns(place, waiting, slot_s);
        let Counts { queue_drops, too_long, to_other_gates } = self.counts[place];
        columns.push(("interface_queue_drops", queue_drops));
        columns.extend((too_long > 0).then_some(("packets_too_long", too_long)));
        columns.extend((to_other_gates > 0).then_some(("packets_to_other_gates", to_other_gates)));
        columns
    }
}
