//! Base stations and stations on one air: packets in, packets out, time as an argument.
//!
//! Stations with a second radio relay for those that hear no base station: [`relays`] chooses whom these go over.
//! [`fates`] carries out what stations and base stations decide of packets. [`radios`]: those of base stations.
mod fates;
mod radios;
mod relays;

use super::carriage::{Carriage, Carried, Output, Payload};
use super::frames::Frames;
use super::hosts::Hosts;
use super::telling::{Begun, HostLook, Told};
use crate::packets::Label;
use prismux_plan::{CellRadio, Cells, NodeId, Radio};
use prismux_routing::RoutingEndpoint;
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use prismux_wireless::cells::{BaseStation, Settled, Station};
use prismux_wireless::{Air, AirEvent, HostId};
use radios::Cell;
use relays::Relay;
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

/// Marks the numbers of frames between stations and base stations; those of routing protocols go without.
const OF_A_CELL: u32 = 1 << 31;

/// A node on the air.
enum Node<P> {
    BaseStation(BaseStation<HostId, Carried<P>>),
    Station(Box<Mobile<P>>),
}

/// A station.
struct Mobile<P> {
    machine: Station<Carried<P>>,
    /// Of one that relays.
    relay: Option<Relay>,
}

/// All nodes on an air with cells, in the order of their numbers.
pub(super) struct CellNodes<R: RoutingEndpoint<Carried<P>>, P> {
    /// The stations that relay, and the air of all.
    relays: Hosts<R, Carried<P>>,
    /// Which nodes these are.
    relaying: Vec<HostId>,
    nodes: Vec<Node<P>>,
    addresses: Vec<Ipv4Addr>,
    numbers: BTreeMap<Ipv4Addr, HostId>,
    base_stations: Vec<HostId>,
    /// Their radios, in the order in which stations know them: the base station, its radio, the channel.
    cells: Vec<Cell>,
    /// By radio behind the first ones: the node that it belongs to.
    further: Vec<HostId>,
    frames: Frames<Carried<P>>,
    outputs: VecDeque<Output<P>>,
}

impl<R: RoutingEndpoint<Carried<P>>, P: Payload> CellNodes<R, P> {
    /// The nodes attached to a medium with cells, which have these addresses; `route` makes the routing protocol of
    /// one that relays. Nobody belongs anywhere yet.
    pub fn new(
        air: Air<u32>,
        attached: &[NodeId],
        (radio, cells): (&Radio, &Cells),
        addresses: Vec<Ipv4Addr>,
        route: impl Fn(HostId) -> R,
    ) -> Self {
        let numbered = || attached.iter().zip(0..).map(|(node, number)| (*node, HostId(number)));
        let is_base = |node: &NodeId| cells.base_stations.contains(node);
        let further = |host: HostId| radio.radios_of(host.0 as usize).skip(1).collect::<Vec<_>>();
        let relays = |(node, host): &(NodeId, HostId)| !is_base(node) && !further(*host).is_empty();
        let relaying: Vec<HostId> = numbered().filter(relays).map(|(_, host)| host).collect();
        let number = |base: &NodeId| numbered().find(|(node, _)| *node == *base).map(|(_, number)| number);
        let radios = cells.radios(attached, radio);
        let threshold_w = |cell: &CellRadio| radio.radio_on(cell.channel).receive_threshold_w;
        let queue_packets = |host: HostId| {
            let channel = radio.channels_of(host.0 as usize).next().unwrap_or(1);
            radio.mac_on(channel).queue_packets as usize
        };
        let node = |(node, host): (NodeId, HostId)| {
            if is_base(&node) {
                let stations = numbered().filter(|(node, _)| !is_base(node)).map(|(_, number)| number);
                return Node::BaseStation(BaseStation::new(stations, queue_packets(host), cells.forwards));
            }
            let machine = Station::new(
                cells.association,
                radios.iter().map(threshold_w).collect(),
                radio.mac.queue_packets as usize,
                cells.fallback_of(node).is_some(),
            );
            let place = relaying.iter().position(|one| *one == host);
            let machine = machine.relaying_below(cells.relays_below_db.filter(|_| place.is_some()));
            Node::Station(Box::new(Mobile { machine, relay: place.map(Relay::new) }))
        };
        let cell = |&CellRadio { base, number: radio, channel }: &CellRadio| {
            Some(Cell { base: number(&base)?, radio, channel })
        };
        let hosts = relaying.iter().map(|&host| (route(host), further(host))).collect();
        Self {
            nodes: numbered().map(node).collect(),
            relays: Hosts::new(air, hosts, radio.routing.takes_back()),
            numbers: addresses.iter().copied().zip((0..).map(HostId)).collect(),
            addresses,
            base_stations: cells.base_stations.iter().filter_map(number).collect(),
            cells: radios.iter().filter_map(cell).collect(),
            further: radio.further_radios.iter().map(|further| HostId(further.host as u32)).collect(),
            frames: Frames::default(),
            outputs: VecDeque::new(),
            relaying,
        }
    }

    fn mobile(&mut self, host: HostId) -> Option<&mut Mobile<P>> {
        match self.nodes.get_mut(host.0 as usize)? {
            Node::Station(mobile) => Some(mobile),
            Node::BaseStation(_) => None,
        }
    }

    fn station(&mut self, host: HostId) -> Option<&mut Station<Carried<P>>> {
        self.mobile(host).map(|mobile| &mut mobile.machine)
    }

    fn base_station(&mut self, host: HostId) -> Option<&mut BaseStation<HostId, Carried<P>>> {
        match self.nodes.get_mut(host.0 as usize)? {
            Node::BaseStation(base) => Some(base),
            Node::Station(_) => None,
        }
    }

    /// When a station has something to do: measure, or end a change.
    fn next_of_stations(&self) -> Option<Instant> {
        let next = |node: &Node<P>| match node {
            Node::Station(mobile) => {
                let measures_at = mobile.machine.measures_at();
                Some(mobile.machine.settles_at().map_or(measures_at, |at| at.min(measures_at)))
            }
            Node::BaseStation(_) => None,
        };
        self.nodes.iter().filter_map(next).min()
    }

    /// A station measures, and leaves its base station for a better.
    fn measure(&mut self, now: Instant, host: HostId) {
        let heading = self.heading(host);
        let Some(Node::Station(mobile)) = self.nodes.get_mut(host.0 as usize) else { return };
        let (air, cells) = (&mut self.relays.radios.air, &self.cells);
        let powers = || cells.iter().map(|cell| air.measure_w(now, cell.radio, host)).collect();
        if !mobile.machine.measure(now, powers, &heading) {
            return self.choose_gateway(now, host);
        }
        let [left, next] = [mobile.machine.leaves(), mobile.machine.heads_for()];
        let [left, next] = [left, next].map(|place| self.cells.get(place?).copied());
        if let Some(Cell { base: present, radio, .. }) = left {
            let waiting = self.withdraw(host, radio);
            if let Some(station) = self.station(host) {
                station.take_back(waiting);
            }
            let waiting = self.withdraw(radio, host);
            let returns = next.is_some_and(|next| next.base == present);
            if let Some(base) = self.base_station(present) {
                base.release(host, returns);
            }
            self.route_again(now, present, waiting);
        }
        self.relays.radios.air.tune(now, host, None);
        self.settle(now, host);
    }

    /// Ends a station's change that is over.
    fn settle(&mut self, now: Instant, host: HostId) {
        let Some(Settled { from, to, held }) = self.station(host).and_then(|station| station.settle(now))
        else {
            return;
        };
        let channel = to.and_then(|place| Some(self.cells.get(place)?.channel));
        self.relays.radios.air.tune(now, host, channel);
        let [from, to] = [from, to].map(|place| self.cells.get(place?).map(|cell| cell.base));
        self.part_from_gateway(now, host);
        let told = channel.filter(|_| self.has_several_radios());
        self.outputs.push_back(Output::Settled(now, host, [from, to], told));
        let elsewhere = to.is_some() || self.station(host).is_some_and(|station| station.has_fallback());
        self.tell_base_stations(now, host, to.map(|to| (to, None)), elsewhere);
        self.choose_gateway(now, host);
        for packet in held {
            self.send_from(now, host, packet);
        }
    }

    /// A station is to be reached over a base station, by a gateway or at once, or in another way, or not at all.
    fn tell_base_stations(
        &mut self,
        now: Instant,
        host: HostId,
        over: Option<(HostId, Option<HostId>)>,
        elsewhere: bool,
    ) {
        for base in self.base_stations.clone() {
            let kept = self.base_station(base).map(|machine| match over {
                Some((own, gateway)) if own == base => machine.admit(host, gateway),
                _ => machine.settle(host, elsewhere),
            });
            self.route_again(now, base, kept.unwrap_or_default());
        }
    }

    /// Takes back the packets of a node for a neighbour that have not begun to be sent.
    fn withdraw(&mut self, host: HostId, neighbour: HostId) -> Vec<Carried<P>> {
        let waiting = self.relays.radios.air.withdraw(host, neighbour);
        waiting.into_iter().filter_map(|number| self.frames.take(number & !OF_A_CELL)).collect()
    }

    fn route_again(&mut self, now: Instant, base: HostId, packets: impl IntoIterator<Item = Carried<P>>) {
        for packet in packets {
            let Some(&station) = self.numbers.get(&packet.towards) else { continue };
            let fate = self.base_station(base).map(|machine| machine.route(station, packet));
            self.carry_out_inwards(now, base, fate);
        }
    }

    /// A station's host has a packet.
    fn send_from(&mut self, now: Instant, host: HostId, packet: Carried<P>) {
        let Some(packet) = self.send_to_gateway(now, host, packet) else { return };
        let fate = self.station(host).map(|station| station.send(packet));
        self.carry_out_outwards(now, host, fate);
    }

    fn drain_air(&mut self, now: Instant) {
        while let Some(event) = self.relays.radios.air.poll_event() {
            match (event.payload(), event) {
                (payload, AirEvent::OnAir { at, frame, announces }) => {
                    let label = payload.or(announces).map(|payload| self.label_of(payload));
                    self.tell(Some(Told::Frame(Begun::new(at, &frame, label.unwrap_or_default()))));
                }
                (Some(number), event) if number & OF_A_CELL != 0 => {
                    self.handle_event(now, event, number & !OF_A_CELL);
                }
                (_, event) => self.relays.handle_event(now, event),
            }
            self.pass_on();
        }
    }

    /// What the packet in a frame is to the log.
    fn label_of(&self, payload: u32) -> Label {
        match payload & OF_A_CELL {
            0 => self.relays.radios.label_of(payload),
            _ => self.frames.get(payload & !OF_A_CELL).map(Payload::label).unwrap_or_default(),
        }
    }

    /// Something for the log, if it wants to know of it.
    fn tell(&mut self, told: Option<Told>) {
        self.outputs.extend(told.map(Output::Told));
    }

    /// The air tells something of a frame between a station and a base station.
    fn handle_event(&mut self, now: Instant, event: AirEvent<u32>, number: u32) {
        match event {
            AirEvent::Received { host, .. } => {
                if let Some(packet) = self.frames.get(number).cloned() {
                    self.receive(now, self.node_of(host), packet);
                }
            }
            AirEvent::Failed { host, next_hop, .. } => {
                if let Some(packet) = self.frames.take(number) {
                    self.give_back(now, self.node_of(host), next_hop, packet);
                }
            }
            AirEvent::Sent { .. } => drop(self.frames.take(number)),
            AirEvent::PoweredOff { host, .. } => self.lose_frame(now, host, DropReason::Unanswered, number),
            AirEvent::Unresolved { host, .. } => self.lose_frame(now, host, DropReason::Unresolved, number),
            AirEvent::Missed { host, next_hop, miss, .. } => {
                let label = self.frames.get(number).map(Payload::label).unwrap_or_default();
                self.tell(Told::missed(now, [host, next_hop], miss, label));
            }
            AirEvent::Refused { host, .. } => {
                let host = self.node_of(host);
                self.lose_frame(now, host, DropReason::QueueFull, number);
                match &mut self.nodes[host.0 as usize] {
                    Node::BaseStation(base) => base.count_queue_drop(),
                    Node::Station(mobile) => mobile.machine.count_queue_drop(),
                }
            }
            AirEvent::Overheard { .. } | AirEvent::OnAir { .. } => {}
        }
    }

    /// A packet has come by air.
    fn receive(&mut self, now: Instant, host: HostId, carried: Carried<P>) {
        let own = self.addresses[host.0 as usize];
        let towards = self.numbers.get(&carried.towards).copied();
        match &mut self.nodes[host.0 as usize] {
            Node::Station(_) if carried.towards != own => self.send_on(now, host, carried),
            Node::BaseStation(base) => match towards.filter(|towards| base.knows(*towards)) {
                Some(station) => {
                    let fate = base.route_from_air(station, carried);
                    self.carry_out_inwards(now, host, Some(fate));
                }
                None => self.outputs.push_back(Output::Packet(now, host, carried.packet)),
            },
            Node::Station(_) => self.outputs.push_back(Output::Packet(now, host, carried.packet)),
        }
    }

    /// A neighbour has not answered.
    fn give_back(&mut self, now: Instant, host: HostId, next_hop: HostId, packet: Carried<P>) {
        match &mut self.nodes[host.0 as usize] {
            Node::Station(mobile) => {
                let place = self.cells.iter().position(|cell| cell.radio == next_hop);
                let fate = place.map(|place| mobile.machine.give_back(place, packet));
                self.carry_out_outwards(now, host, fate);
            }
            Node::BaseStation(base) => {
                let Some(&station) = self.numbers.get(&packet.towards) else { return };
                let fate = base.give_back(station, packet);
                self.carry_out_inwards(now, host, Some(fate));
            }
        }
    }
}

impl<R: RoutingEndpoint<Carried<P>>, P: Payload> Carriage<P> for CellNodes<R, P> {
    fn send(&mut self, now: Instant, host: HostId, destination: Ipv4Addr, payload: P) {
        self.run_until(now);
        let towards = self.numbers.get(&destination).copied();
        let carried = Carried { towards: destination, packet: payload };
        match &mut self.nodes[host.0 as usize] {
            Node::Station(_) => self.send_from(now, host, carried),
            Node::BaseStation(base) => {
                if let Some(station) = towards.filter(|towards| base.knows(*towards)) {
                    let fate = base.route(station, carried);
                    self.carry_out_inwards(now, host, Some(fate));
                }
            }
        }
        self.pass_on();
    }

    fn next_timeout(&self) -> Option<Instant> {
        let times =
            [self.relays.radios.air.next_timeout(), self.next_of_stations(), self.relays.next_of_routing()];
        times.into_iter().flatten().min()
    }

    fn run_until(&mut self, now: Instant) {
        while let Some(at) = self.next_timeout().filter(|at| *at <= now) {
            self.relays.radios.air.handle_timeout(at);
            self.drain_air(at);
            for host in (0..self.nodes.len() as u32).map(HostId) {
                self.settle(at, host);
                if self.station(host).is_some_and(|station| station.measures_at() <= at) {
                    self.measure(at, host);
                }
            }
            self.relays.expire(at);
            self.pass_on();
        }
    }

    fn poll_output(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    fn look(&mut self, now: Instant, radios: &[HostId]) -> HostLook {
        HostLook::on(&mut self.relays.radios.air, now, radios)
    }

    fn counters(&self, now: Instant, host: HostId, counts_energy: bool) -> Vec<(&'static str, u64)> {
        let mut stats = self.relays.radios.air.stats(now, host);
        let machine = match &self.nodes[host.0 as usize] {
            Node::BaseStation(base) => base.columns(),
            Node::Station(mobile) => mobile.machine.columns(),
        };
        let relay = self.relay_of(host);
        if let Some(relay) = relay {
            stats += self.relays.radios.stats(now, relay.number);
        }
        // Of a base station.
        for cell in self.cells.iter().filter(|cell| cell.base == host && cell.radio != host) {
            stats += self.relays.radios.air.stats(now, cell.radio);
        }
        let of_relay = relay.map(|relay| [self.relays.columns(relay.number), relay.way.columns()].concat());
        let mut counters = stats.columns(counts_energy);
        for (name, count) in machine.into_iter().chain(of_relay.unwrap_or_default()) {
            match counters.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += count,
                None => counters.push((name, count)),
            }
        }
        counters
    }
}
