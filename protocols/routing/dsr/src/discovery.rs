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
            Some(route) => self.send_along(None, packet, route),
            None => self.wait_for_route(now, packet),
        }
    }

    /// Keeps a packet until a route is found, and looks for one.
    pub(crate) fn wait_for_route(&mut self, now: Instant, packet: Packet<DsrHeader, P>) {
        let target = packet.destination;
        if let Some(oldest) = self.send_buffer.push(now, target, packet) {
            self.outbox.discard(oldest, DropReason::BufferFull);
        }
        self.search(now, target);
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
            hop_limit,
            header: DsrHeader { options },
            payload: None,
        };
        let at = now + self.jitter(BROADCAST_JITTER);
        self.outbox.send_at(at, NextHop::Broadcast, packet);
        self.outbox.tell(RoutingEvent::DiscoveryStarted { target, hop_limit });
    }

    /// Searches go on whose time has come and that packets wait for.
    pub(crate) fn continue_searches(&mut self, now: Instant) {
        for target in self.send_buffer.destinations() {
            if self.requests.next(target).is_none_or(|next| next > now) {
                continue;
            }
            let own = self.address;
            if self.send_buffer.waits_for(target, |packet| packet.source == own) {
                self.search(now, target);
            } else if !self.requests.skip_widening(target) {
                // Packets of others are worth a question to the neighbours, and no more.
                self.requests.skip_round(now, target, &self.config);
                for packet in self.send_buffer.take(target) {
                    self.outbox.discard(packet, DropReason::NoRoute);
                }
            }
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
                self.send_along(at, packet, route.clone());
                delay += self.config.release_spacing;
            }
        }
    }
}
