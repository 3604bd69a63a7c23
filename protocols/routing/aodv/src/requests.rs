//! Route requests of others (RFC 3561 sections 6.5 and 6.6).
use crate::aodv::Aodv;
use crate::message::{AodvHeader, Rrep, Rreq};
use crate::table::Offer;
use core::net::Ipv4Addr;
use prismux_units::Instant;
use prismux_wire::SeqNumber;

impl<P> Aodv<P> {
    /// Takes a request: notes the way back, and answers, sends it on, or forgets it.
    pub(crate) fn take_request(&mut self, now: Instant, from: Ipv4Addr, hop_limit: u8, mut request: Rreq) {
        if self.blacklist.get(&from).is_some_and(|&until| until > now) {
            return;
        }
        self.hear(now, from);
        let is_new = self.seen.note(now, (request.originator, request.id), self.config.path_discovery_time);
        if request.originator == self.address || !is_new {
            return;
        }
        request.hop_count = request.hop_count.saturating_add(1);
        self.note_way_back(now, from, &request);
        if request.destination == self.address {
            return self.answer_for_itself(now, &request);
        }
        if self.answer_from_table(now, &request) || hop_limit <= 1 {
            return;
        }
        // Whoever answers must know at least what this host knows (section 6.5).
        let known = self.table.get(now, request.destination).and_then(|route| route.seq);
        request.destination_seq = match (request.destination_seq, known) {
            (Some(asked), Some(known)) => Some(asked.max(known)),
            (asked, known) => asked.or(known),
        };
        self.broadcast(now, hop_limit - 1, AodvHeader::Rreq(request));
    }

    /// The neighbour `from` was heard: it is one hop away, if that is noted.
    pub(crate) fn hear(&mut self, now: Instant, from: Ipv4Addr) {
        if !self.config.notes_neighbours {
            return;
        }
        let until = now + self.config.active_route_timeout;
        if self.table.offer(now, from, Offer { seq: None, hops: 1, next_hop: from, until }) {
            self.route_found(now, from);
        }
    }

    fn note_way_back(&mut self, now: Instant, from: Ipv4Addr, request: &Rreq) {
        let passed = self.config.node_traversal_time * (2 * u64::from(request.hop_count));
        let until = now + (self.config.net_traversal_time() * 2).saturating_sub(passed);
        let seq = Some(request.originator_seq);
        let offer = Offer { seq, hops: request.hop_count, next_hop: from, until };
        if self.table.offer(now, request.originator, offer) {
            self.route_found(now, request.originator);
        }
        self.table.extend(now, request.originator, until);
    }

    fn answer_for_itself(&mut self, now: Instant, request: &Rreq) {
        // The number in the answer is not below the one asked for (section 6.6.1).
        if let Some(asked) = request.destination_seq {
            self.seq = self.seq.max(asked);
        }
        let reply = self.reply_about(self.address, self.seq, 0, request.originator);
        self.send_reply_back(now, reply);
    }

    /// Answers with a route that is known, if it is at least as fresh as the one asked for (section 6.6.2).
    fn answer_from_table(&mut self, now: Instant, request: &Rreq) -> bool {
        if request.destination_only {
            return false;
        }
        let Some(back) = self.table.valid(now, request.originator).map(|route| (route.next_hop, route.hops))
        else {
            return false;
        };
        let Some(route) = self.table.valid(now, request.destination) else { return false };
        let Some(seq) =
            route.seq.filter(|seq| request.destination_seq.is_none_or(|asked| !seq.before(asked)))
        else {
            return false;
        };
        // A route that leads back over the asker's way would be no answer.
        if route.next_hop == back.0 {
            return false;
        }
        let (hops, next_hop) = (route.hops, route.next_hop);
        let lifetime = route.until.saturating_since(now);
        self.table.add_precursor(now, request.destination, back.0);
        self.table.add_precursor(now, request.originator, next_hop);
        let mut reply = self.reply_about(request.destination, seq, hops, request.originator);
        reply.lifetime = lifetime;
        self.send_reply_back(now, reply);
        if request.gratuitous {
            let mut reply =
                self.reply_about(request.originator, request.originator_seq, back.1, request.destination);
            reply.lifetime = self
                .table
                .valid(now, request.originator)
                .map_or(reply.lifetime, |route| route.until.saturating_since(now));
            self.unicast(next_hop, AodvHeader::Rrep(reply));
        }
        true
    }

    fn reply_about(
        &self,
        destination: Ipv4Addr,
        destination_seq: SeqNumber,
        hop_count: u8,
        originator: Ipv4Addr,
    ) -> Rrep {
        Rrep {
            repair: false,
            ack_required: false,
            prefix_size: 0,
            hop_count,
            destination,
            destination_seq,
            originator,
            lifetime: self.config.my_route_timeout,
        }
    }
}
