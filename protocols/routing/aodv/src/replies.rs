//! Route replies, and their acknowledgements (RFC 3561 sections 6.7 and 6.8).
use crate::aodv::Aodv;
use crate::message::{AodvHeader, Rrep};
use crate::table::Offer;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_units::Instant;

/// Neighbours that a blacklist holds at most.
const MAX_BLACKLISTED: usize = 64;

impl<P> Aodv<P> {
    /// Sends a reply on to the neighbour on the way to its originator.
    pub(crate) fn send_reply_back(&mut self, now: Instant, mut reply: Rrep) {
        let Some(next_hop) = self.table.valid(now, reply.originator).map(|route| route.next_hop) else {
            return;
        };
        reply.ack_required = self.config.ack_replies;
        if reply.ack_required {
            self.awaited_acks.insert(next_hop, now + self.config.next_hop_wait);
        }
        self.unicast(next_hop, AodvHeader::Rrep(reply));
    }

    /// Takes a reply: notes the route, and sends the reply on unless it has come to its originator.
    pub(crate) fn take_reply(&mut self, now: Instant, from: Ipv4Addr, mut reply: Rrep) {
        self.hear(now, from);
        if reply.ack_required {
            self.unicast(from, AodvHeader::RrepAck);
        }
        reply.hop_count = reply.hop_count.saturating_add(1);
        let offer = Offer {
            seq: Some(reply.destination_seq),
            hops: reply.hop_count,
            next_hop: from,
            until: now + reply.lifetime,
        };
        let is_better = self.table.offer(now, reply.destination, offer);
        if is_better {
            self.route_found(now, reply.destination);
        }
        if reply.originator == self.address || !is_better {
            return;
        }
        let Some(back) = self.table.valid(now, reply.originator).map(|route| route.next_hop) else { return };
        self.table.add_precursor(now, reply.destination, back);
        self.table.add_precursor(now, from, back);
        self.table.add_precursor(now, reply.originator, from);
        self.table.extend(now, reply.originator, now + self.config.active_route_timeout);
        self.send_reply_back(now, reply);
    }

    /// Neighbours that owe the acknowledgement of a reply hear nothing: their requests are ignored for a while.
    pub(crate) fn note_missing_acks(&mut self, now: Instant) {
        let silent: Vec<Ipv4Addr> = self
            .awaited_acks
            .iter()
            .filter(|(_, until)| **until <= now)
            .map(|(&neighbour, _)| neighbour)
            .collect();
        for neighbour in silent {
            self.awaited_acks.remove(&neighbour);
            self.note_one_way(now, neighbour);
        }
    }

    /// The link from `neighbour` works in that direction only.
    pub(crate) fn note_one_way(&mut self, now: Instant, neighbour: Ipv4Addr) {
        if self.config.blacklist_timeout.is_zero() {
            return;
        }
        self.blacklist.retain(|_, until| *until > now);
        if self.blacklist.len() < MAX_BLACKLISTED {
            self.blacklist.insert(neighbour, now + self.config.blacklist_timeout);
        }
    }
}
