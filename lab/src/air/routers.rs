//! Hosts whose routing daemons find the routes: the air has their radios alone.
use super::carriage::{Carriage, Heard, Output};
use super::radios::{Arrival, Radios, Sent};
use super::telling::HostLook;
use crate::packets::Labelled;
use prismux_routing::NextHop;
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use prismux_wireless::{AirEvent, HostId};
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

/// The hosts of an air in the order of their numbers, which are those of their first radios.
pub(super) struct Routers {
    radios: Radios<Labelled>,
    addresses: Vec<Ipv4Addr>,
    numbers: BTreeMap<Ipv4Addr, HostId>,
    heard: VecDeque<(Instant, HostId, Heard<Labelled>)>,
}

impl Routers {
    /// Hosts with these addresses.
    pub fn new(radios: Radios<Labelled>, addresses: Vec<Ipv4Addr>) -> Self {
        let numbers = addresses.iter().copied().zip((0..).map(HostId)).collect();
        Self { radios, addresses, numbers, heard: VecDeque::new() }
    }

    fn address(&self, host: HostId) -> Ipv4Addr {
        self.addresses[host.0 as usize]
    }

    fn handle_event(&mut self, now: Instant, event: AirEvent<u32>) {
        match self.radios.handle_event(now, event) {
            Some(Arrival::Received { host, from, payload }) => {
                let packet = self.radios.frame(payload).cloned();
                let heard = packet.map(|packet| Heard::Received(self.address(from), packet));
                self.heard.extend(heard.map(|heard| (now, host, heard)));
            }
            Some(Arrival::Overheard { host, from, to, payload }) => {
                let packet = self.radios.frame(payload).cloned();
                let ends = [from, to].map(|host| self.address(host));
                self.heard.extend(packet.map(|packet| (now, host, Heard::Overheard(ends, packet))));
            }
            Some(Arrival::Failed { host, next_hop, payload, waiting }) => {
                let neighbour = self.address(next_hop);
                let packet = self.radios.take(payload);
                self.heard.extend(packet.map(|packet| (now, host, Heard::NotDelivered(neighbour, packet))));
                for payload in waiting {
                    let packet = self.radios.take(payload);
                    self.heard.extend(packet.map(|packet| (now, host, Heard::TakenBack(neighbour, packet))));
                }
            }
            None => {}
        }
    }
}

impl Carriage<Labelled> for Routers {
    fn transmit(&mut self, now: Instant, host: HostId, to: NextHop, sent: Sent<Labelled>) {
        self.run_until(now);
        match to {
            NextHop::Broadcast => self.radios.broadcast(now, host, &sent),
            NextHop::Neighbour(address) => match self.numbers.get(&address) {
                Some(&neighbour) => self.radios.unicast(now, host, neighbour, sent),
                // An address of no host: nobody would take it.
                None => self.radios.tell_dropped(now, host, DropReason::NoRoute, Some(&sent.frame)),
            },
        }
    }

    fn switch(&mut self, now: Instant, host: HostId, on: bool) {
        self.run_until(now);
        self.radios.switch(now, host, on);
    }

    fn next_timeout(&self) -> Option<Instant> {
        self.radios.next_timeout()
    }

    fn run_until(&mut self, now: Instant) {
        while let Some(at) = self.next_timeout().filter(|at| *at <= now) {
            self.radios.handle_timeout(at);
            while let Some(event) = self.radios.air.poll_event() {
                self.handle_event(at, event);
            }
        }
    }

    fn poll_output(&mut self) -> Option<Output<Labelled>> {
        if let Some(told) = self.radios.poll_told() {
            return Some(Output::Told(told));
        }
        let (at, host, heard) = self.heard.pop_front()?;
        Some(Output::Heard(at, host, heard))
    }

    fn look(&mut self, now: Instant, radios: &[HostId]) -> HostLook {
        HostLook::on(&mut self.radios.air, now, radios)
    }

    /// Those of the daemons are on their status pages.
    fn counters(&self, now: Instant, host: HostId, counts_energy: bool) -> Vec<(&'static str, u64)> {
        let mut counters = self.radios.stats(now, host).columns(counts_energy);
        counters.extend(self.radios.columns(host));
        counters
    }
}
