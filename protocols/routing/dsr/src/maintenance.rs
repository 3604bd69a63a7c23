//! What follows from a broken link (RFC 4728 sections 8.3.4 to 8.3.6).
use crate::constants::{BLACKLIST_TIME, MAX_SALVAGE_COUNT, MAX_TABLE_HOSTS};
use crate::dsr::Dsr;
use crate::header::{DsrHeader, DsrOption, ErrorKind, FlowHeader, RouteError};
use crate::snoop::Journey;
use alloc::vec;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_routing::{DropReason, Packet, RoutingEvent};
use prismux_units::Instant;

impl<P> Dsr<P> {
    /// The MAC layer gave up sending `packet` to `neighbour`.
    pub(crate) fn link_failed(
        &mut self,
        now: Instant,
        neighbour: Ipv4Addr,
        mut packet: Packet<DsrHeader, P>,
    ) {
        self.outbox.statistics.link_failures += 1;
        self.outbox.tell(RoutingEvent::LinkBroken { neighbour });
        let is_of_flow = packet.header.flow != FlowHeader::None && packet.header.source_route().is_none();
        if is_of_flow && !self.show_route(now, &mut packet) {
            return self.outbox.discard(packet, DropReason::LinkFailure);
        }
        self.forget_link(self.address, neighbour);
        if packet.header.route_reply().is_some() && packet.source != self.address {
            self.note_one_way(now, neighbour);
        }
        self.report(neighbour, &packet);
        self.rescue(now, neighbour, packet);
    }

    /// Tells the host that chose the packet's route that a link of it is broken.
    fn report(&mut self, neighbour: Ipv4Addr, packet: &Packet<DsrHeader, P>) {
        let (Some(journey), Some(route)) = (Journey::of(packet), packet.header.source_route()) else {
            return;
        };
        let sender = journey.receiver - 1;
        let origin = journey.hosts[0];
        if origin == self.address || journey.hosts[sender] != self.address {
            return;
        }
        let error = RouteError {
            salvage: route.salvage,
            source: self.address,
            destination: origin,
            kind: ErrorKind::NodeUnreachable(neighbour),
        };
        let mut options = vec![DsrOption::RouteError(error)];
        // Errors that were under way go along, as long as they have not been salvaged too often (section 8.3.4).
        let mut salvages = route.salvage;
        for carried in packet.header.route_errors() {
            salvages = salvages.saturating_add(carried.salvage);
            if salvages > MAX_SALVAGE_COUNT {
                break;
            }
            options.push(DsrOption::RouteError(carried.clone()));
        }
        self.send_error(origin, journey.back_from(sender), options);
    }

    /// Sends route errors back over the hosts that the packet in question had come by.
    pub(crate) fn send_error(&mut self, origin: Ipv4Addr, route: Vec<Ipv4Addr>, options: Vec<DsrOption>) {
        let packet = self.own_packet(origin, options);
        self.send_along(None, packet, route);
    }

    /// Finds another way for a packet that `neighbour` did not take, or drops it.
    pub(crate) fn rescue(&mut self, now: Instant, neighbour: Ipv4Addr, mut packet: Packet<DsrHeader, P>) {
        if packet.header.source_route().is_none() && packet.header.flow == FlowHeader::None {
            return self.outbox.discard(packet, DropReason::LinkFailure);
        }
        if !self.config.salvage_control {
            // A reply that goes another way no longer shows that its route works in both directions (section 8.3.6).
            packet.header.options.retain(|option| !matches!(option, DsrOption::RouteReply(_)));
            if packet.header.options.len() <= 1 && packet.payload.is_none() {
                return;
            }
        }
        if packet.source == self.address {
            if packet.payload.is_some() || self.config.salvage_control {
                packet.header.leave_flow();
                packet.header.remove_source_route();
                self.route_or_wait(now, packet);
            }
            return;
        }
        self.salvage(now, Some(neighbour), packet);
    }

    /// Finds another way for a packet of somebody else, past `neighbour` if that did not take it.
    pub(crate) fn salvage(
        &mut self,
        now: Instant,
        neighbour: Option<Ipv4Addr>,
        mut packet: Packet<DsrHeader, P>,
    ) {
        packet.header.leave_flow();
        let salvage = packet.header.source_route().map_or(0, |route| route.salvage);
        if !self.config.salvage {
            return self.outbox.discard(packet, DropReason::LinkFailure);
        }
        if salvage >= MAX_SALVAGE_COUNT {
            return self.outbox.discard(packet, DropReason::SalvageLimit);
        }
        match self.cache.find(now, packet.destination, false) {
            Some(route) if neighbour.is_none_or(|neighbour| route.first() != Some(&neighbour)) => {
                if neighbour.is_some_and(|neighbour| !self.has_reason_to_live(neighbour, &mut packet)) {
                    return;
                }
                self.outbox.statistics.salvaged_packets += u64::from(packet.payload.is_some());
                self.outbox.tell(RoutingEvent::Salvaged { destination: packet.destination });
                self.send_along(None, packet, route);
            }
            _ if self.config.buffer_checks.is_some() => self.wait_for_route(now, packet),
            _ => self.outbox.discard(packet, DropReason::LinkFailure),
        }
    }

    /// Takes a reply out of a packet that goes another way if the reply tells of the broken link to `neighbour`; says
    /// whether anything is left.
    fn has_reason_to_live(&self, neighbour: Ipv4Addr, packet: &mut Packet<DsrHeader, P>) -> bool {
        let own = self.address;
        let is_link = |ends: &[Ipv4Addr]| ends == [own, neighbour] || ends == [neighbour, own];
        let destination = packet.destination;
        packet.header.options.retain(|option| {
            let DsrOption::RouteReply(reply) = option else { return true };
            let first = reply.addresses.first().copied().unwrap_or(destination);
            !is_link(&[destination, first]) && !reply.addresses.windows(2).any(is_link)
        });
        packet.header.options.len() > 1 || packet.payload.is_some()
    }

    /// Forgets the link between two hosts, in this direction.
    fn forget_link(&mut self, from: Ipv4Addr, to: Ipv4Addr) {
        self.cache.remove_link(from, to);
        self.flows.end_over_link(self.address, from, to);
    }

    /// Forgets links that route errors in a packet name, whomever they are for.
    pub(crate) fn learn_from_errors(&mut self, packet: &Packet<DsrHeader, P>) {
        for error in packet.header.route_errors() {
            if let ErrorKind::NodeUnreachable(node) = error.kind {
                self.forget_link(error.source, node);
            }
        }
    }

    /// Takes route errors that are for this host: the last one is told again with the next request, and those that it
    /// has sent itself and that were under way are sent again (section 8.3.5).
    pub(crate) fn accept_errors(&mut self, now: Instant, header: &DsrHeader) {
        let mut errors = header.route_errors();
        let Some(first) = errors.next().filter(|error| error.destination == self.address) else { return };
        if matches!(first.kind, ErrorKind::NodeUnreachable(_)) {
            self.held_error = Some((first.clone(), now));
        }
        self.accept_unknown_flow(&first.kind);
        let rest: Vec<RouteError> = errors.cloned().collect();
        let is_sent_on =
            |error: &&RouteError| self.config.nested_errors_of_others || error.source == self.address;
        let Some(next) = rest.first().filter(is_sent_on) else { return };
        let destination = next.destination;
        if self.config.nested_errors_of_others {
            let packet = self.own_packet(destination, rest.into_iter().map(DsrOption::RouteError).collect());
            if !self.is_own(destination) {
                self.route_or_wait(now, packet);
            }
        } else if let Some(route) = self.cache.find(now, destination, true) {
            let options = rest.into_iter().map(DsrOption::RouteError).collect();
            let packet = self.own_packet(destination, options);
            self.send_along(None, packet, route);
        }
    }

    /// A neighbour that does not take a route reply is heard, and does not hear (section 4.6).
    fn note_one_way(&mut self, now: Instant, neighbour: Ipv4Addr) {
        if !self.config.blacklist {
            return;
        }
        self.blacklist.retain(|_, until| *until > now);
        if self.blacklist.len() < MAX_TABLE_HOSTS {
            self.blacklist.insert(neighbour, now + BLACKLIST_TIME);
        }
    }
}
