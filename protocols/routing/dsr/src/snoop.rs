//! Learning from packets that come by (RFC 4728 sections 3.3.1, 3.4.3, 8.1.4 and 8.2.5).
use crate::cache::Learned;
use crate::dsr::Dsr;
use crate::header::{DsrHeader, FlowHeader, RouteReply};
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_routing::Packet;
use prismux_units::{Duration, Instant};

/// The whole way of a packet with a source route, and how far it has come.
#[derive(Debug, Clone)]
pub(crate) struct Journey {
    /// From the host that chose the route to the destination.
    pub(crate) hosts: Vec<Ipv4Addr>,
    /// Where in `hosts` the receiver of the current hop stands; at least 1.
    pub(crate) receiver: usize,
}

impl Journey {
    /// The way of `packet`; `None` when it has no source route, or one that cannot be.
    pub(crate) fn of<P>(packet: &Packet<DsrHeader, P>) -> Option<Self> {
        Self::in_room(packet, Vec::new())
    }

    /// The same, in the room of another list.
    fn in_room<P>(packet: &Packet<DsrHeader, P>, mut hosts: Vec<Ipv4Addr>) -> Option<Self> {
        let route = packet.header.source_route()?;
        hosts.clear();
        hosts.reserve(route.addresses.len() + 2);
        if route.salvage == 0 {
            hosts.push(packet.source);
        }
        hosts.extend_from_slice(&route.addresses);
        hosts.push(packet.destination);
        let receiver = hosts.len().checked_sub(1 + usize::from(route.segments_left))?;
        (receiver > 0).then_some(Self { hosts, receiver })
    }

    /// The way back to the first host from the one at `place`.
    pub(crate) fn back_from(&self, place: usize) -> Vec<Ipv4Addr> {
        self.hosts[..place].iter().rev().copied().collect()
    }
}

impl<P> Dsr<P> {
    /// Remembers the route that a packet takes through this host, which stands at `place`.
    pub(crate) fn learn_from_route(&mut self, now: Instant, journey: &Journey, place: usize) {
        if !self.config.snoop {
            return;
        }
        self.cache.add(now, &journey.hosts[place + 1..], Learned::Seen);
        if self.config.snoop_reverse {
            self.cache.add(now, &journey.back_from(place), Learned::Seen);
        }
        self.use_what_was_learnt(now);
    }

    /// Packets may wait for a route that is known now (section 8.2.6).
    fn use_what_was_learnt(&mut self, now: Instant) {
        if self.config.buffer_checks.is_none() && !self.send_buffer.is_empty() {
            self.release(now, None);
        }
    }

    /// Takes note of a packet between others.
    pub(crate) fn overhear(&mut self, now: Instant, from: Ipv4Addr, packet: &Packet<DsrHeader, P>) {
        if packet.source == self.address || packet.header.route_request().is_some() {
            return;
        }
        let is_of_flow = packet.header.flow != FlowHeader::None;
        if is_of_flow && packet.header.source_route().is_none() {
            return;
        }
        if self.config.overhears_once && !self.overheard.is_new(packet.source, packet.identification) {
            return;
        }
        self.learn_from_errors(packet);
        let room = core::mem::take(&mut self.room);
        if let Some(journey) = Journey::in_room(packet, room) {
            self.watch(now, from, packet, &journey);
            self.room = journey.hosts;
        }
    }

    /// Takes note of a packet that makes the hop of its `journey` from `from`.
    fn watch(&mut self, now: Instant, from: Ipv4Addr, packet: &Packet<DsrHeader, P>, journey: &Journey) {
        if journey.hosts[journey.receiver - 1] != from || journey.hosts[journey.receiver] == self.address {
            return;
        }
        self.withhold_replies(journey, packet);
        let own = self.address;
        let place = journey.hosts.iter().position(|&host| host == own);
        match place {
            Some(place) => self.learn_from_route(now, journey, place),
            None if self.config.snoop => {
                self.cache.add(now, &journey.hosts[journey.receiver - 1..], Learned::Seen);
            }
            None => {}
        }
        if let Some(reply) = packet.header.route_reply().filter(|_| self.config.snoop) {
            self.learn_from_reply(now, reply);
        }
        self.use_what_was_learnt(now);
        if let Some(place) = place.filter(|&place| place > journey.receiver && packet.payload.is_some()) {
            self.tell_shorter_route(now, from, journey, place);
        }
    }

    /// Remembers the end of a route that is told to somebody else and that this host is on.
    fn learn_from_reply(&mut self, now: Instant, reply: &RouteReply) {
        let own = self.address;
        if let Some(place) = reply.addresses.iter().position(|&host| host == own) {
            self.cache.add(now, &reply.addresses[place + 1..], Learned::Seen);
        }
    }

    /// A data packet that takes a route no longer than one that this host is about to tell: its source needs no answer
    /// (section 8.2.5).
    fn withhold_replies(&mut self, journey: &Journey, packet: &Packet<DsrHeader, P>) {
        let (source, destination) = (packet.source, packet.destination);
        let hops = journey.hosts.len() - 1;
        if self.config.reply_holdoff.is_zero() || packet.payload.is_none() {
            return;
        }
        self.outbox.cancel(|frame| {
            let tells = |reply: &RouteReply| {
                reply.addresses.last() == Some(&destination) && hops <= reply.addresses.len()
            };
            frame.packet.destination == source && frame.packet.header.route_reply().is_some_and(tells)
        });
    }

    /// This host, further along the packet's route, hears it already from `from`: the hops between can be left out
    /// (section 3.4.3).
    fn tell_shorter_route(&mut self, now: Instant, from: Ipv4Addr, journey: &Journey, place: usize) {
        let origin = journey.hosts[0];
        if !self.config.gratuitous_replies || origin == self.address {
            return;
        }
        if !self.gratuitous.may_tell(now, from, &journey.hosts) {
            return;
        }
        let before = &journey.hosts[1..journey.receiver];
        let mut addresses = before.to_vec();
        addresses.extend_from_slice(&journey.hosts[place..]);
        let reply = RouteReply { last_hop_external: false, addresses };
        self.reply(now, Duration::ZERO, origin, before, reply);
    }
}
