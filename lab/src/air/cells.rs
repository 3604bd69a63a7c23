//! Base stations and stations on one air: packets in, packets out, time as an argument.
use super::carriage::{Carriage, Output, Payload};
use super::frames::Frames;
use prismux_plan::{Cells, NodeId, Radio};
use prismux_units::Instant;
use prismux_wireless::cells::{BaseStation, Inwards, Outwards, Settled, Station};
use prismux_wireless::{Air, AirEvent, HostId, Outgoing};
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

/// A packet and the address that it is for.
type Carried<P> = (Ipv4Addr, P);

/// A node on the air.
enum Node<P> {
    BaseStation(BaseStation<HostId, Carried<P>>),
    Station(Box<Station<Carried<P>>>),
}

/// All nodes on an air with cells, in the order of their numbers.
pub(super) struct CellNodes<P> {
    air: Air<u32>,
    nodes: Vec<Node<P>>,
    addresses: Vec<Ipv4Addr>,
    numbers: BTreeMap<Ipv4Addr, HostId>,
    /// In the order in which stations know them.
    base_stations: Vec<HostId>,
    /// Theirs.
    channels: Vec<u8>,
    frames: Frames<Carried<P>>,
    outputs: VecDeque<Output<P>>,
}

impl<P: Payload> CellNodes<P> {
    /// The nodes attached to a medium with cells, which have these addresses. Nobody belongs anywhere yet.
    pub fn new(
        air: Air<u32>,
        attached: &[NodeId],
        (radio, cells): (&Radio, &Cells),
        addresses: Vec<Ipv4Addr>,
    ) -> Self {
        let numbered = || attached.iter().zip(0..).map(|(node, number)| (*node, HostId(number)));
        let queue_packets = radio.mac.queue_packets as usize;
        let node = |(node, _): (NodeId, HostId)| {
            if cells.base_stations.contains(&node) {
                let stations = numbered().filter(|(node, _)| !cells.base_stations.contains(node));
                let stations = stations.map(|(_, number)| number);
                return Node::BaseStation(BaseStation::new(stations, queue_packets, cells.forwards));
            }
            Node::Station(Box::new(Station::new(
                cells.association,
                cells.base_stations.len(),
                radio.radio.receive_threshold_w,
                queue_packets,
                cells.fallback_of(node).is_some(),
            )))
        };
        let number = |base: &NodeId| numbered().find(|(node, _)| *node == *base).map(|(_, number)| number);
        Self {
            air,
            nodes: numbered().map(node).collect(),
            numbers: addresses.iter().copied().zip((0..).map(HostId)).collect(),
            addresses,
            base_stations: cells.base_stations.iter().filter_map(number).collect(),
            channels: cells.channels(attached, radio),
            frames: Frames::default(),
            outputs: VecDeque::new(),
        }
    }

    fn station(&mut self, host: HostId) -> Option<&mut Station<Carried<P>>> {
        match self.nodes.get_mut(host.0 as usize)? {
            Node::Station(station) => Some(station),
            Node::BaseStation(_) => None,
        }
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
            Node::Station(station) => {
                Some(station.settles_at().map_or(station.measures_at(), |at| at.min(station.measures_at())))
            }
            Node::BaseStation(_) => None,
        };
        self.nodes.iter().filter_map(next).min()
    }

    /// A station measures, and leaves its base station for a better.
    fn measure(&mut self, now: Instant, host: HostId) {
        let Some(Node::Station(station)) = self.nodes.get_mut(host.0 as usize) else { return };
        let (air, bases) = (&mut self.air, &self.base_stations);
        let powers = || bases.iter().map(|base| air.measure_w(now, *base, host)).collect();
        if !station.measure(now, powers) {
            return;
        }
        if let Some(present) = station.leaves().and_then(|place| self.base_stations.get(place).copied()) {
            let waiting = self.withdraw(host, present);
            if let Some(station) = self.station(host) {
                station.take_back(waiting);
            }
            let waiting = self.withdraw(present, host);
            if let Some(base) = self.base_station(present) {
                base.release(host);
            }
            self.route_again(now, present, host, waiting);
        }
        self.air.tune(now, host, None);
        self.settle(now, host);
    }

    /// Ends a station's change that is over.
    fn settle(&mut self, now: Instant, host: HostId) {
        let Some(Settled { from, to, held }) = self.station(host).and_then(|station| station.settle(now))
        else {
            return;
        };
        self.air.tune(now, host, to.and_then(|place| self.channels.get(place).copied()));
        let [from, to] = [from, to].map(|place| self.base_stations.get(place?).copied());
        self.outputs.push_back(Output::Settled(now, host, [from, to]));
        let elsewhere = to.is_some() || self.station(host).is_some_and(|station| station.has_fallback());
        for base in self.base_stations.clone() {
            let kept = self.base_station(base).map(|machine| match Some(base) == to {
                true => machine.admit(host),
                false => machine.settle(host, elsewhere),
            });
            self.route_again(now, base, host, kept.unwrap_or_default());
        }
        for packet in held {
            self.send_from(now, host, packet);
        }
    }

    /// Takes back the packets of a node for a neighbour that have not begun to be sent.
    fn withdraw(&mut self, host: HostId, neighbour: HostId) -> Vec<Carried<P>> {
        let waiting = self.air.withdraw(host, neighbour);
        waiting.into_iter().filter_map(|place| self.frames.take(place)).collect()
    }

    fn route_again(
        &mut self,
        now: Instant,
        base: HostId,
        station: HostId,
        packets: impl IntoIterator<Item = Carried<P>>,
    ) {
        for packet in packets {
            let fate = self.base_station(base).map(|machine| machine.route(station, packet));
            self.carry_out_inwards(now, base, station, fate);
        }
    }

    /// A station's host has a packet.
    fn send_from(&mut self, now: Instant, host: HostId, packet: Carried<P>) {
        let fate = self.station(host).map(|station| station.send(packet));
        self.carry_out_outwards(now, host, fate);
    }

    fn carry_out_outwards(&mut self, now: Instant, host: HostId, fate: Option<Outwards<Carried<P>>>) {
        match fate {
            Some(Outwards::Air(place, packet)) => {
                let Some(base) = self.base_stations.get(place).copied() else { return };
                if !self.transmit(now, host, base, packet)
                    && let Some(station) = self.station(host)
                {
                    station.count_queue_drop();
                }
            }
            // Its kernel knows the way by now.
            Some(Outwards::Fallback((_, payload))) => {
                self.outputs.push_back(Output::Packet(now, host, payload));
            }
            Some(Outwards::Held | Outwards::NoLink(_) | Outwards::QueueFull(_) | Outwards::GivenUp(_))
            | None => {}
        }
    }

    fn carry_out_inwards(
        &mut self,
        now: Instant,
        base: HostId,
        station: HostId,
        fate: Option<Inwards<Carried<P>>>,
    ) {
        match fate {
            Some(Inwards::Air(packet)) => {
                if !self.transmit(now, base, station, packet)
                    && let Some(machine) = self.base_station(base)
                {
                    machine.count_queue_drop();
                }
            }
            // The base station's kernel forwards it, by the routes as they are by now.
            Some(Inwards::Wire((_, payload))) => self.outputs.push_back(Output::Packet(now, base, payload)),
            Some(Inwards::Kept | Inwards::Lost(_) | Inwards::GivenUp(_)) | None => {}
        }
    }

    /// Hands a packet to a node's radio. Says whether it had room.
    fn transmit(&mut self, now: Instant, from: HostId, to: HostId, packet: Carried<P>) -> bool {
        let (bytes, priority) = (packet.1.bytes(), packet.1.priority());
        let payload = self.frames.put(packet);
        let refused = self.air.send(now, from, Outgoing { to: Some(to), bytes, priority, payload });
        if let Err(refused) = &refused {
            self.frames.take(refused.payload);
        }
        refused.is_ok()
    }

    fn drain_air(&mut self, now: Instant) {
        while let Some(event) = self.air.poll_event() {
            match event {
                AirEvent::Received { host, payload, .. } => {
                    if let Some(packet) = self.frames.get(payload).cloned() {
                        self.receive(now, host, packet);
                    }
                }
                AirEvent::Failed { host, next_hop, payload } => {
                    if let Some(packet) = self.frames.take(payload) {
                        self.give_back(now, host, next_hop, packet);
                    }
                }
                AirEvent::Sent { payload, .. }
                | AirEvent::PoweredOff { payload, .. }
                | AirEvent::Unresolved { payload, .. } => drop(self.frames.take(payload)),
                AirEvent::Refused { host, payload } => {
                    self.frames.take(payload);
                    match &mut self.nodes[host.0 as usize] {
                        Node::BaseStation(base) => base.count_queue_drop(),
                        Node::Station(station) => station.count_queue_drop(),
                    }
                }
                AirEvent::Overheard { .. } | AirEvent::OnAir { .. } | AirEvent::Missed { .. } => {}
            }
        }
    }

    /// A packet has come by air.
    fn receive(&mut self, now: Instant, host: HostId, packet: Carried<P>) {
        let (destination, own) = (packet.0, self.addresses[host.0 as usize]);
        let towards = self.numbers.get(&destination).copied();
        match &mut self.nodes[host.0 as usize] {
            Node::Station(_) if destination != own => {}
            Node::BaseStation(base) => match towards.filter(|towards| base.knows(*towards)) {
                Some(station) => {
                    let fate = base.route_from_air(station, packet);
                    self.carry_out_inwards(now, host, station, Some(fate));
                }
                None => self.outputs.push_back(Output::Packet(now, host, packet.1)),
            },
            Node::Station(_) => self.outputs.push_back(Output::Packet(now, host, packet.1)),
        }
    }

    /// A neighbour has not answered.
    fn give_back(&mut self, now: Instant, host: HostId, next_hop: HostId, packet: Carried<P>) {
        match &mut self.nodes[host.0 as usize] {
            Node::Station(station) => {
                let place = self.base_stations.iter().position(|base| *base == next_hop);
                let fate = place.map(|place| station.give_back(place, packet));
                self.carry_out_outwards(now, host, fate);
            }
            Node::BaseStation(base) => {
                let fate = base.give_back(next_hop, packet);
                self.carry_out_inwards(now, host, next_hop, Some(fate));
            }
        }
    }
}

impl<P: Payload> Carriage<P> for CellNodes<P> {
    fn send(&mut self, now: Instant, host: HostId, destination: Ipv4Addr, payload: P) {
        self.run_until(now);
        let towards = self.numbers.get(&destination).copied();
        match &mut self.nodes[host.0 as usize] {
            Node::Station(_) => self.send_from(now, host, (destination, payload)),
            Node::BaseStation(base) => {
                if let Some(station) = towards.filter(|towards| base.knows(*towards)) {
                    let fate = base.route(station, (destination, payload));
                    self.carry_out_inwards(now, host, station, Some(fate));
                }
            }
        }
    }

    fn next_timeout(&self) -> Option<Instant> {
        [self.air.next_timeout(), self.next_of_stations()].into_iter().flatten().min()
    }

    fn run_until(&mut self, now: Instant) {
        while let Some(at) = self.next_timeout().filter(|at| *at <= now) {
            self.air.handle_timeout(at);
            self.drain_air(at);
            for host in (0..self.nodes.len() as u32).map(HostId) {
                self.settle(at, host);
                if self.station(host).is_some_and(|station| station.measures_at() <= at) {
                    self.measure(at, host);
                }
            }
        }
    }

    fn poll_output(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    fn counters(&self, now: Instant, host: HostId, counts_energy: bool) -> Vec<(&'static str, u64)> {
        let mut counters = self.air.stats(now, host).columns(counts_energy);
        counters.extend(match &self.nodes[host.0 as usize] {
            Node::BaseStation(base) => base.columns(),
            Node::Station(station) => station.columns(),
        });
        counters
    }
}
