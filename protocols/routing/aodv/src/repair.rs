//! Mending routes on the spot (RFC 3561 section 6.12).
use crate::aodv::Aodv;
use crate::discovery::SearchKind;
use crate::message::AodvHeader;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_routing::{DATA_HOP_LIMIT, DropReason, Packet, RoutingEvent};
use prismux_units::Instant;
use prismux_wire::SeqNumber;

impl<P> Aodv<P> {
    /// Whether a destination `hops` away is near enough for a repair, for a packet with this hop limit.
    pub(crate) fn may_repair(&self, hops: u8, hop_limit: u8) -> bool {
        let travelled = DATA_HOP_LIMIT.saturating_sub(hop_limit);
        let is_near = !self.config.repair_near_destination || travelled > hops;
        hops <= self.config.max_repair_ttl && is_near
    }

    /// Keeps `packet` and asks for another route to its destination, which was `former_hops` away.
    pub(crate) fn repair(&mut self, now: Instant, packet: Packet<AodvHeader, P>, former_hops: u8) {
        let (destination, source) = (packet.destination, packet.source);
        self.wait(now, packet);
        if let Some(route) = self.table.get(now, destination) {
            route.is_repairing = true;
        }
        if self.searches.contains_key(&destination) {
            return;
        }
        // As far as the destination was, or half the way to the source.
        let to_source = self.table.valid(now, source).map_or(0, |route| route.hops);
        let reach = former_hops.max(to_source / 2).saturating_add(self.config.local_add_ttl);
        let ttl = reach.min(self.config.net_diameter);
        self.begin(now, destination, ttl, SearchKind::Repair { former_hops });
    }

    /// Another route was found: its users are told if it is longer.
    pub(crate) fn repaired(&mut self, now: Instant, destination: Ipv4Addr, former_hops: u8) {
        let Some(route) = self.table.valid(now, destination) else { return };
        route.is_repairing = false;
        let (hops, seq) = (route.hops, route.seq.unwrap_or(SeqNumber(0)));
        let users = route.precursors.clone();
        self.outbox.statistics.salvaged_packets += 1;
        self.outbox.tell(RoutingEvent::Salvaged { destination });
        if hops > former_hops {
            self.send_error(now, Vec::from([(destination, seq)]), &users, true);
        }
    }

    /// No other route was found in time: what waited is dropped, and the users are told.
    pub(crate) fn repair_failed(&mut self, now: Instant, destination: Ipv4Addr) {
        self.searches.remove(&destination);
        let mut users = BTreeSet::new();
        let mut seq = SeqNumber(0);
        if let Some(route) = self.table.get(now, destination) {
            route.is_repairing = false;
            users = core::mem::take(&mut route.precursors);
            seq = route.seq.unwrap_or(seq);
        }
        let own = self.address;
        for packet in self.buffer.take_if(destination, |packet| packet.source != own) {
            self.outbox.discard(packet, DropReason::LinkFailure);
        }
        self.send_error(now, Vec::from([(destination, seq)]), &users, false);
        if self.buffer.waits_for(destination, |_| true) {
            self.search(now, destination);
        }
    }
}
