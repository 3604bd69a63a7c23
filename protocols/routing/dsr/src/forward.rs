//! Packets along their source route (RFC 4728 sections 8.1.3 to 8.1.6).
use crate::constants::MAX_SALVAGE_COUNT;
use crate::dsr::Dsr;
use crate::header::{Ack, DsrHeader, DsrOption, ErrorKind, RouteError, SourceRoute};
use crate::snoop::Journey;
use alloc::vec;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_routing::{DATA_HOP_LIMIT, DropReason, NextHop, Packet};
use prismux_units::Instant;

/// The bits of an unknown option's type that say what to do (section 8.1.6).
mod unknown {
    pub(super) const TELL: u8 = 0x80;
    pub(super) const ACTION: u8 = 0x60;
    pub(super) const REMOVE: u8 = 0x20;
    pub(super) const MARK: u8 = 0x40;
    pub(super) const DROP: u8 = 0x60;
}

impl<P> Dsr<P> {
    /// Sends a packet along `route`, which begins behind this host: now, or later at `at`. Packets of others are
    /// thereby salvaged.
    pub(crate) fn send_along(
        &mut self,
        at: Option<Instant>,
        mut packet: Packet<DsrHeader, P>,
        route: Vec<Ipv4Addr>,
    ) {
        let (Some(&first), is_own) = (route.first(), packet.source == self.address) else { return };
        let mut addresses = route;
        addresses.pop();
        let segments_left = addresses.len() as u8;
        let mut salvage = 0;
        if !is_own {
            let before = packet.header.source_route().map_or(0, |route| route.salvage);
            salvage = (before + 1).min(MAX_SALVAGE_COUNT);
            addresses.insert(0, self.address);
        }
        packet.header.remove_source_route();
        let source_route = SourceRoute { salvage, segments_left, addresses, ..SourceRoute::default() };
        packet.header.options.insert(0, DsrOption::SourceRoute(source_route));
        self.outbox.send_at_or_now(at, NextHop::Neighbour(first), packet);
    }

    /// Takes a packet with a source route: sends it on, or consumes it.
    pub(crate) fn take_routed(&mut self, now: Instant, from: Ipv4Addr, mut packet: Packet<DsrHeader, P>) {
        let Some(journey) = Journey::of(&packet) else {
            return self.refuse(packet, DropReason::BadRoute);
        };
        let is_at_end = journey.receiver + 1 == journey.hosts.len();
        if !self.is_own(journey.hosts[journey.receiver]) {
            return self.refuse(packet, DropReason::BadRoute);
        }
        self.learn_from_errors(&packet);
        self.learn_from_route(now, &journey, journey.receiver);
        self.acknowledge(from, &packet);
        if !self.keep_to_unknown_options(&mut packet, &journey) {
            return self.outbox.discard(packet, DropReason::BadRoute);
        }
        if is_at_end || self.is_own(packet.destination) {
            return self.consume(now, packet);
        }
        if packet.hop_limit <= 1 {
            return self.outbox.discard(packet, DropReason::HopLimit);
        }
        self.note_flow(now, &journey, &mut packet);
        packet.hop_limit -= 1;
        if let Some(route) = packet.header.source_route_mut() {
            route.segments_left -= 1;
        }
        self.outbox.statistics.forwarded_packets += u64::from(packet.payload.is_some());
        let next = journey.hosts[journey.receiver + 1];
        self.outbox.send(NextHop::Neighbour(next), packet);
    }

    /// Takes a packet that has come to its end.
    pub(crate) fn consume(&mut self, now: Instant, packet: Packet<DsrHeader, P>) {
        let hops = DATA_HOP_LIMIT.saturating_sub(packet.hop_limit).saturating_add(1);
        for option in &packet.header.options {
            if let DsrOption::RouteReply(reply) = option {
                self.accept_reply(now, reply);
            }
        }
        self.accept_errors(now, &packet.header);
        if let Some(payload) = packet.payload {
            self.outbox.deliver(packet.source, hops, payload);
        }
    }

    /// Answers an acknowledgement request, straight to the neighbour that asked (section 8.3.3).
    fn acknowledge(&mut self, from: Ipv4Addr, packet: &Packet<DsrHeader, P>) {
        let requested = packet.header.options.iter().find_map(|option| match option {
            DsrOption::AckRequest(request) => Some(request.identification),
            _ => None,
        });
        if let Some(identification) = requested {
            let ack = Ack { identification, source: self.address, destination: from };
            let mut answer = self.own_packet(from, vec![DsrOption::Ack(ack)]);
            answer.hop_limit = 1;
            self.outbox.send(NextHop::Neighbour(from), answer);
        }
    }

    /// Does with options of unknown types what their types demand; says whether the packet may go on.
    fn keep_to_unknown_options(&mut self, packet: &mut Packet<DsrHeader, P>, journey: &Journey) -> bool {
        let is_unknown = |option: &DsrOption| matches!(option, DsrOption::Unknown { .. });
        if !packet.header.options.iter().any(is_unknown) {
            return true;
        }
        let mut is_kept = true;
        let mut told = Vec::new();
        packet.header.options.retain_mut(|option| {
            let DsrOption::Unknown { kind, data } = option else { return true };
            if *kind & unknown::TELL != 0 {
                told.push(*kind);
            }
            match *kind & unknown::ACTION {
                unknown::REMOVE => return false,
                unknown::MARK => {
                    if let Some(first) = data.first_mut() {
                        *first |= 0x80;
                    }
                }
                unknown::DROP => is_kept = false,
                _ => {}
            }
            true
        });
        if let (Some(&kind), Some(&origin)) = (told.first(), journey.hosts.first()) {
            let error = RouteError {
                salvage: 0,
                source: self.address,
                destination: origin,
                kind: ErrorKind::OptionNotSupported(kind),
            };
            self.send_error(origin, journey.back_from(journey.receiver), vec![DsrOption::RouteError(error)]);
        }
        is_kept
    }
}
