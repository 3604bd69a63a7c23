//! Route requests of others (RFC 4728 section 8.2.2).
use crate::cache::has_duplicate;
use crate::constants::BROADCAST_JITTER;
use crate::dsr::Dsr;
use crate::header::{DsrHeader, DsrOption, RouteReply, RouteRequest};
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_routing::{NextHop, Packet};
use prismux_units::{Duration, Instant};

impl<P> Dsr<P> {
    /// Takes a packet with a route request: answers, sends it on, or forgets it.
    pub(crate) fn take_request(&mut self, now: Instant, from: Ipv4Addr, packet: &Packet<DsrHeader, P>) {
        let Some(request) = packet.header.route_request() else { return };
        let initiator = packet.source;
        if initiator == self.address || request.addresses.contains(&self.address) {
            return;
        }
        self.learn_from_errors(packet);
        if has_duplicate(&request.addresses) || request.addresses.contains(&initiator) {
            self.outbox.statistics.refused_packets += 1;
            return;
        }
        if self.answers_for(request.target) {
            return self.answer_for_itself(now, initiator, request);
        }
        if self.blacklist.get(&from).is_some_and(|&until| until > now) {
            return;
        }
        // A route through this host has one more hop to here, and at least one to the target.
        let has_room = request.addresses.len() + 2 <= self.config.max_route_hops;
        let RouteRequest { identification, target, .. } = *request;
        if !has_room || !self.requests.note(initiator, identification, target, &self.config) {
            return;
        }
        if self.config.reply_from_cache && self.answer_from_cache(now, initiator, request) {
            return;
        }
        if packet.hop_limit > 1 {
            self.send_request_on(now, packet, request);
        }
    }

    fn answer_for_itself(&mut self, now: Instant, initiator: Ipv4Addr, request: &RouteRequest) {
        let mut addresses = request.addresses.clone();
        addresses.push(self.address);
        // Behind an anycast address stands this host: the last hop stays inside it.
        let is_service = request.target != self.address;
        if is_service {
            addresses.push(request.target);
        }
        let reply = RouteReply { last_hop_external: is_service, addresses };
        let delay = self.jitter(BROADCAST_JITTER);
        self.reply(now, delay, initiator, &request.addresses, reply);
    }

    /// Answers with a route that is remembered, if there is one that visits no host twice (section 8.2.3).
    fn answer_from_cache(&mut self, now: Instant, initiator: Ipv4Addr, request: &RouteRequest) -> bool {
        let Some(rest) = self.cache.find(now, request.target, false) else { return false };
        let mut addresses = request.addresses.clone();
        addresses.push(self.address);
        addresses.extend(rest);
        if addresses.contains(&initiator)
            || has_duplicate(&addresses)
            || addresses.len() > self.config.max_route_hops
        {
            return false;
        }
        // Shorter routes are told first (section 8.2.5).
        let hops = addresses.len() as f64;
        let holdoff = self.config.reply_holdoff;
        let delay = if holdoff.is_zero() {
            Duration::ZERO
        } else {
            holdoff.mul_f64(hops - 1.0 + self.random.uniform())
        };
        let reply = RouteReply { last_hop_external: false, addresses };
        self.reply(now, delay, initiator, &request.addresses, reply);
        true
    }

    fn send_request_on(&mut self, now: Instant, packet: &Packet<DsrHeader, P>, request: &RouteRequest) {
        let mut request = request.clone();
        request.addresses.push(self.address);
        let mut options: Vec<DsrOption> = alloc::vec![DsrOption::RouteRequest(request)];
        options.extend(packet.header.route_errors().cloned().map(DsrOption::RouteError));
        let packet = Packet {
            source: packet.source,
            destination: packet.destination,
            identification: packet.identification,
            hop_limit: packet.hop_limit - 1,
            header: DsrHeader::with(options),
            payload: None,
        };
        let at = now + self.jitter(BROADCAST_JITTER);
        self.outbox.send_at(at, NextHop::Broadcast, packet);
    }
}
