//! Stations that relay for one another beside cells: who goes over whom, and packets that come for others.
use super::super::carriage::{Carried, Output, Payload};
use super::{CellNodes, Node};
use prismux_routing::{Input, RoutingEndpoint};
use prismux_units::Instant;
use prismux_wireless::cells::{Gateway, Relaying, Station};
use prismux_wireless::{HostId, Rings};

/// What a station relays by, for others and for itself.
pub(super) struct Relay {
    /// Its number among those that relay.
    pub number: HostId,
    /// Whom it goes over at present; only where it hears no base station.
    pub way: Relaying<HostId>,
}

impl Relay {
    /// The relay at a place among all of them.
    pub fn new(place: usize) -> Self {
        Self { number: HostId(place as u32), way: Relaying::default() }
    }
}

impl<R: RoutingEndpoint<Carried<P>>, P: Payload> CellNodes<R, P> {
    /// What a node relays by, if it does.
    pub(super) fn relay_of(&self, host: HostId) -> Option<&Relay> {
        match self.nodes.get(host.0 as usize)? {
            Node::Station(mobile) => mobile.relay.as_ref(),
            Node::BaseStation(_) => None,
        }
    }

    /// Chooses whom a station goes over, if it relays and is cut off or hears its base station too weakly; over nobody
    /// any more when it hears it well.
    pub(super) fn choose_gateway(&mut self, now: Instant, host: HostId) {
        let Some(mobile) = self.mobile(host) else { return };
        let (seeks, next) = (mobile.machine.seeks_gateway(), mobile.machine.measures_at());
        let is_changing = mobile.machine.settles_at().is_some();
        let Some(relay) = &mut mobile.relay else { return };
        if is_changing || !seeks && relay.way.gateway().is_none() {
            return;
        }
        // At the very beginning others may not have measured yet.
        relay.way.choose_from(if now == Instant::ZERO { now } else { next });
        let (own, present) = (relay.number, relay.way.gateway().map(|gateway| gateway.station));
        let gateway = if seeks { self.find_gateway(now, own, present) } else { None };
        if self.take_gateway(now, host, gateway) {
            let over = gateway.map(|gateway| (gateway.base, Some(gateway.station)));
            let over = over.or_else(|| Some((self.base_of(host)?, None)));
            self.tell_base_stations(now, host, over, over.is_some());
        }
    }

    /// A station goes over nobody any more: it hears a base station, or has another link.
    pub(super) fn part_from_gateway(&mut self, now: Instant, host: HostId) {
        self.take_gateway(now, host, None);
    }

    /// A station goes over another one from now on; false where nothing changes.
    fn take_gateway(&mut self, now: Instant, host: HostId, gateway: Option<Gateway<HostId>>) -> bool {
        let relay = self.mobile(host).and_then(|mobile| mobile.relay.as_mut());
        let Some(stations) = relay.and_then(|relay| relay.way.change(gateway)) else { return false };
        let base = gateway.map(|gateway| gateway.base).or_else(|| self.base_of(host));
        self.outputs.push_back(Output::Behind(now, host, stations, base));
        true
    }

    /// The station in a cell over which one is to go: `present` while it can, else the nearest over the air.
    fn find_gateway(
        &mut self,
        now: Instant,
        own: HostId,
        present: Option<HostId>,
    ) -> Option<Gateway<HostId>> {
        let (mut gateways, mut hosts) = (Vec::new(), Vec::new());
        for (number, station) in (0..).map(HostId).zip(&self.relaying) {
            // Whose battery is empty is no hop.
            if self.relays.radios.air.has_power(*station) {
                hosts.push((number, self.relays.radios.air.position(now, *station)));
            }
            if let Some(base) = self.serves(*station) {
                gateways.push((number, Gateway { station: *station, base }));
            }
        }
        let candidates: Vec<HostId> = gateways.iter().map(|(number, _)| *number).collect();
        let preferred = gateways.iter().find(|(_, gateway)| Some(gateway.station) == present);
        let preferred = preferred.map(|(number, _)| *number);
        let relays = &self.relays;
        let reach =
            |one, other| relays.radios.between(one, other).map(|[radio, _]| relays.radios.air.range_m(radio));
        let rings = Rings::around(own, hosts, relays.radios.air.longest_range_m());
        let nearest = rings.nearest(&candidates, preferred, reach);
        gateways.into_iter().find(|(number, _)| Some(*number) == nearest).map(|(_, gateway)| gateway)
    }

    /// The base station that others reach over a station, if they can.
    fn serves(&self, station: HostId) -> Option<HostId> {
        let place = self.machine_of(station)?.serves()?;
        self.cells.get(place).map(|cell| cell.base)
    }

    /// The base station that a station belongs to.
    fn base_of(&self, station: HostId) -> Option<HostId> {
        let place = self.machine_of(station)?.belongs_to()?;
        self.cells.get(place).map(|cell| cell.base)
    }

    fn machine_of(&self, station: HostId) -> Option<&Station<Carried<P>>> {
        match self.nodes.get(station.0 as usize)? {
            Node::Station(mobile) => Some(&mobile.machine),
            Node::BaseStation(_) => None,
        }
    }

    /// Sends a packet of a station to its gateway; it comes back where there is none.
    pub(super) fn send_to_gateway(
        &mut self,
        now: Instant,
        host: HostId,
        packet: Carried<P>,
    ) -> Option<Carried<P>> {
        let is_cut_off = |machine: &Station<_>| machine.belongs_to().is_none() && machine.seeks_gateway();
        let is_cut_off = self.machine_of(host).is_some_and(is_cut_off);
        if is_cut_off && self.relay_of(host).is_some_and(|relay| relay.way.may_choose(now)) {
            self.choose_gateway(now, host);
        }
        let mobile = self.mobile(host).filter(|mobile| mobile.machine.seeks_gateway());
        let Some(relay) = mobile.and_then(|mobile| mobile.relay.as_mut()) else { return Some(packet) };
        let Some(gateway) = relay.way.gateway() else { return Some(packet) };
        relay.way.count_sent();
        let number = relay.number;
        let destination = self.addresses[gateway.station.0 as usize];
        self.relays.act(now, number, Input::Send { destination, payload: packet });
        None
    }

    /// Sends a packet that has come from a base station to the station behind this one that it is for.
    pub(super) fn send_on(&mut self, now: Instant, host: HostId, packet: Carried<P>) {
        let Some(relay) = self.mobile(host).and_then(|mobile| mobile.relay.as_mut()) else { return };
        relay.way.count_relayed();
        let (number, destination) = (relay.number, packet.towards);
        self.relays.act(now, number, Input::Send { destination, payload: packet });
    }

    /// What has come to relays is theirs, or goes on to a base station. What they have for the log comes first.
    pub(super) fn pass_on(&mut self) {
        while let Some(told) = self.relays.radios.poll_told() {
            self.outputs.push_back(Output::Told(told));
        }
        while let Some((at, number, carried)) = self.relays.poll_delivered() {
            let host = self.relaying[number.0 as usize];
            if carried.towards == self.addresses[host.0 as usize] {
                self.outputs.push_back(Output::Packet(at, host, carried.packet));
                continue;
            }
            if let Some(relay) = self.mobile(host).and_then(|mobile| mobile.relay.as_mut()) {
                relay.way.count_relayed();
            }
            self.send_from(at, host, carried);
        }
    }
}
