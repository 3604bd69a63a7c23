//! Broken links and route errors (RFC 3561 section 6.11).
use crate::aodv::Aodv;
use crate::message::{AodvHeader, Rerr};
use crate::table::Lost;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_routing::{DropReason, Packet, RoutingEvent};
use prismux_units::Instant;
use prismux_wire::SeqNumber;

/// Destinations that fit one route error.
const MAX_UNREACHABLE: usize = 255;

impl<P> Aodv<P> {
    /// The MAC layer gave up sending `packet` to `neighbour`.
    pub(crate) fn link_failed(&mut self, now: Instant, neighbour: Ipv4Addr, packet: Packet<AodvHeader, P>) {
        if matches!(packet.header, AodvHeader::Rrep(_)) {
            self.note_one_way(now, neighbour);
        }
        // A packet for others is tried to be saved by a repair, before anybody is told of its destination.
        let hops = self.table.valid(now, packet.destination).map(|route| route.hops);
        let repairs = packet.payload.is_some()
            && packet.source != self.address
            && hops.is_some_and(|hops| self.may_repair(hops, packet.hop_limit));
        let mut lost = self.break_link(now, neighbour);
        if repairs {
            lost.retain(|lost| lost.destination != packet.destination || self.keep_precursors(now, lost));
        }
        self.tell_lost(now, lost);
        if repairs {
            self.repair(now, packet, hops.unwrap_or(1));
        } else {
            self.save_or_drop(now, packet);
        }
    }

    /// Routes over `neighbour` no longer hold.
    pub(crate) fn break_link(&mut self, now: Instant, neighbour: Ipv4Addr) -> Vec<Lost> {
        self.outbox.statistics.link_failures += 1;
        self.outbox.tell(RoutingEvent::LinkBroken { neighbour });
        self.neighbours.forget(neighbour);
        self.table.break_link(now, neighbour)
    }

    /// A route that is being repaired keeps its precursors; says that it is to be told of, which it is not.
    fn keep_precursors(&mut self, now: Instant, lost: &Lost) -> bool {
        if let Some(route) = self.table.get(now, lost.destination) {
            route.precursors.clone_from(&lost.precursors);
        }
        false
    }

    /// A packet that stood in the queue for a neighbour that has failed.
    pub(crate) fn flushed(&mut self, now: Instant, packet: Packet<AodvHeader, P>) {
        let is_repairing = self.table.get(now, packet.destination).is_some_and(|route| route.is_repairing);
        if packet.payload.is_some() && is_repairing {
            self.wait(now, packet);
        } else {
            self.save_or_drop(now, packet);
        }
    }

    /// The host's own packets wait for another route, if they are kept; those of others are dropped.
    fn save_or_drop(&mut self, now: Instant, packet: Packet<AodvHeader, P>) {
        let is_kept = self.config.keep_own_packets && packet.source == self.address;
        if is_kept && packet.payload.is_some() {
            self.send_or_wait(now, packet);
        } else {
            self.outbox.discard(packet, DropReason::LinkFailure);
        }
    }

    /// Takes a route error: routes that led over its sender no longer hold, and whoever uses them is told.
    pub(crate) fn take_error(&mut self, now: Instant, from: Ipv4Addr, error: &Rerr) {
        let mut lost = Vec::new();
        let mut passed_on = Lost { destination: from, seq: SeqNumber(0), precursors: BTreeSet::new() };
        let mut repaired = Vec::new();
        for &(destination, seq) in &error.unreachable {
            let Some(route) = self.table.valid(now, destination).filter(|route| route.next_hop == from)
            else {
                continue;
            };
            if error.no_delete {
                // The route goes on, a little longer than it was (section 6.12).
                passed_on.precursors.extend(route.precursors.iter().copied());
                repaired.push((destination, seq));
            } else {
                lost.extend(self.table.lose(now, destination, Some(seq)));
            }
        }
        self.tell_lost(now, lost);
        if !repaired.is_empty() {
            self.send_error(now, repaired, &passed_on.precursors, true);
        }
    }

    /// A packet for `destination` came from `from`, and there is no route: its users are told.
    pub(crate) fn tell_no_route(&mut self, now: Instant, from: Ipv4Addr, destination: Ipv4Addr) {
        let seq = self.table.get(now, destination).and_then(|route| route.seq).unwrap_or(SeqNumber(0));
        self.send_error(now, Vec::from([(destination, seq)]), &BTreeSet::from([from]), false);
    }

    /// Tells the users of routes that are lost.
    pub(crate) fn tell_lost(&mut self, now: Instant, lost: Vec<Lost>) {
        let mut users = BTreeSet::new();
        let mut unreachable = Vec::new();
        for lost in lost.into_iter().filter(|lost| !lost.precursors.is_empty()) {
            users.extend(lost.precursors);
            unreachable.push((lost.destination, lost.seq));
        }
        self.send_error(now, unreachable, &users, false);
    }

    /// Sends route errors to `users`: to one neighbour alone, to several at once.
    pub(crate) fn send_error(
        &mut self,
        now: Instant,
        unreachable: Vec<(Ipv4Addr, SeqNumber)>,
        users: &BTreeSet<Ipv4Addr>,
        no_delete: bool,
    ) {
        for part in unreachable.chunks(MAX_UNREACHABLE) {
            if users.is_empty() || !self.error_limit.take(now) {
                return;
            }
            let header = AodvHeader::Rerr(Rerr { no_delete, unreachable: part.to_vec() });
            match (users.first(), users.len()) {
                (Some(&user), 1) => self.unicast(user, header),
                _ => self.broadcast(now, 1, header),
            }
        }
    }
}
