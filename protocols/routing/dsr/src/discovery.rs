//! Looking for routes (RFC 4728 sections 3.1 and 8.2.1).
use crate::constants::{BROADCAST_JITTER, MAX_ERROR_HOLD};
use crate::dsr::Dsr;
use crate::header::{DsrHeader, DsrOption, RouteRequest};
use crate::request_table::Ask;
use alloc::vec;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_routing::{DropReason, NextHop, Packet, RoutingEvent};
use prismux_units::{Duration, Instant};

impl<P> Dsr<P> {
    /// Sends a packet over a route that is known, or keeps it and looks for one.
    pub(crate) fn route_or_wait(&mut self, now: Instant, packet: Packet<DsrHeader, P>) {
        match self.cache.find(now, packet.destination, true) {
            Some(route) => self.send_over(now, None, packet, route),
            None => self.wait_for_route(now, packet),
        }
    }

    /// Keeps a packet until a route is found, and looks for one: for the host's own at once.
    pub(crate) fn wait_for_route(&mut self, now: Instant, packet: Packet<DsrHeader, P>) {
        let (target, is_own) = (packet.destination, packet.source == self.address);
        if let Some(oldest) = self.send_buffer.push(now, target, packet) {
            self.outbox.discard(oldest, DropReason::BufferFull);
        }
        if let Some(shortest) = self.config.buffer_checks.filter(|_| self.next_check <= now) {
            // A packet comes at any moment between two looks.
            self.next_check = now + self.jitter(shortest + shortest / 2);
        }
        if is_own {
            self.search(now, target);
        }
    }

    /// Sends a route request for `target` if one may leave.
    fn search(&mut self, now: Instant, target: Ipv4Addr) {
        let is_new = !self.requests.has_search(target);
        match self.requests.ask(now, target, &self.config) {
            Ask::Wait => {}
            Ask::Request { hop_limit, .. } => {
                self.outbox.statistics.discoveries += u64::from(is_new);
                self.request_route(now, target, hop_limit);
            }
            Ask::GiveUp => {
                for packet in self.send_buffer.take(target) {
                    self.outbox.discard(packet, DropReason::NoRoute);
                }
                self.outbox.tell(RoutingEvent::DiscoveryFailed { target });
            }
        }
    }

    fn request_route(&mut self, now: Instant, target: Ipv4Addr, hop_limit: u8) {
        let identification = self.requests.identification();
        let request = RouteRequest { identification, target, addresses: Vec::new() };
        let mut options = vec![DsrOption::RouteRequest(request)];
        if self.config.spread_errors
            && let Some((error, _)) =
                self.held_error.as_ref().filter(|(_, came)| *came + MAX_ERROR_HOLD > now)
        {
            options.push(DsrOption::RouteError(error.clone()));
            // Only a request that goes further than the neighbours has spread the error.
            if hop_limit > 1 {
                self.held_error = None;
            }
        }
        let packet = Packet {
            source: self.address,
            destination: Ipv4Addr::BROADCAST,
            identification: self.next_identification(),
            hop_limit,
            header: DsrHeader::with(options),
            payload: None,
        };
        let at = now + self.jitter(BROADCAST_JITTER);
        self.outbox.send_at(at, NextHop::Broadcast, packet);
        self.outbox.tell(RoutingEvent::DiscoveryStarted { target, hop_limit });
    }

    /// When the packets that wait are looked at next.
    pub(crate) fn next_look(&self) -> Option<Instant> {
        if self.config.buffer_checks.is_some() {
            return (!self.send_buffer.is_empty()).then_some(self.next_check);
        }
        let searches = self.send_buffer.destinations();
        let search = searches.iter().filter_map(|&target| self.requests.next(target)).min();
        [search, self.send_buffer.deadline()].into_iter().flatten().min()
    }

    /// Looks at the packets that wait: those that have waited too long are dropped, searches go on whose time has come.
    pub(crate) fn look_at_buffer(&mut self, now: Instant) {
        for packet in self.send_buffer.take_expired(now) {
            self.outbox.discard(packet, DropReason::BufferTimeout);
        }
        let checks = self.config.buffer_checks;
        if let Some(shortest) = checks {
            self.next_check = now + shortest + self.jitter(shortest);
        }
        for target in self.send_buffer.destinations() {
            let route = checks.and_then(|_| self.cache.find(now, target, true));
            match route {
                Some(route) => {
                    for packet in self.send_buffer.take(target) {
                        self.send_over(now, None, packet, route.clone());
                    }
                }
                None => self.continue_search(now, target),
            }
        }
    }

    /// The search for `target` goes on if its time has come. Packets of others are worth one question to the
    /// neighbours, and no more.
    fn continue_search(&mut self, now: Instant, target: Ipv4Addr) {
        let own = self.address;
        let is_own = |packet: &Packet<DsrHeader, P>| packet.source == own;
        let first_is_own = self.send_buffer.first(target).is_some_and(is_own);
        if !first_is_own && self.requests.skip_round(now, target, &self.config) {
            if let Some(packet) = self.send_buffer.take_first(target) {
                self.outbox.discard(packet, DropReason::NoRoute);
            }
        } else if self.send_buffer.waits_for(target, is_own) || !self.requests.has_search(target) {
            self.search(now, target);
        }
    }

    /// Packets leave the send buffer for which a route is known now; `fresh` is one that a reply has just told.
    pub(crate) fn release(&mut self, now: Instant, fresh: Option<&[Ipv4Addr]>) {
        let mut delay = Duration::ZERO;
        for target in self.send_buffer.destinations() {
            let told = fresh.filter(|route| route.last() == Some(&target)).map(<[Ipv4Addr]>::to_vec);
            let Some(route) = self.cache.find(now, target, true).or(told) else { continue };
            for packet in self.send_buffer.take(target) {
                let at = (!delay.is_zero()).then(|| now + delay);
                self.send_over(now, at, packet, route.clone());
                delay += self.config.release_spacing;
            }
        }
    }
}
