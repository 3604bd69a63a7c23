//! Route replies (RFC 4728 sections 8.2.4 and 8.2.6).
use crate::cache::{Learned, has_duplicate};
use crate::constants::CONTROL_HOP_LIMIT;
use crate::dsr::Dsr;
use crate::header::{DsrHeader, DsrOption, RouteReply};
use alloc::vec;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_routing::{Packet, RoutingEvent};
use prismux_units::{Duration, Instant};

impl<P> Dsr<P> {
    /// Sends `reply` to `initiator` after `delay`, back over the hosts `between` that lie between the two: the MAC
    /// layer needs both directions of every link, and the reply shows that they work.
    pub(crate) fn reply(
        &mut self,
        now: Instant,
        delay: Duration,
        initiator: Ipv4Addr,
        between: &[Ipv4Addr],
        reply: RouteReply,
    ) {
        let mut route: Vec<Ipv4Addr> = between.iter().rev().copied().collect();
        route.push(initiator);
        self.cache.add(now, &route, Learned::Asked);
        let packet = self.own_packet(initiator, vec![DsrOption::RouteReply(reply)]);
        let at = (!delay.is_zero()).then(|| now + delay);
        self.send_along(at, packet, route);
    }

    /// A packet of DSR's own, its source route aside.
    pub(crate) fn own_packet(
        &mut self,
        destination: Ipv4Addr,
        options: Vec<DsrOption>,
    ) -> Packet<DsrHeader, P> {
        Packet {
            source: self.address,
            destination,
            identification: self.next_identification(),
            hop_limit: CONTROL_HOP_LIMIT,
            header: DsrHeader::with(options),
            payload: None,
        }
    }

    /// Takes a reply that is for this host.
    pub(crate) fn accept_reply(&mut self, now: Instant, reply: &RouteReply) {
        let route = &reply.addresses;
        let Some(&target) = route.last() else { return };
        if has_duplicate(route) || route.contains(&self.address) || route.len() > self.config.max_route_hops {
            self.outbox.statistics.refused_packets += 1;
            return;
        }
        self.cache.add(now, route, Learned::Asked);
        if self.requests.answered(target) {
            self.outbox.statistics.discoveries_answered += 1;
            let hops = u8::try_from(route.len()).unwrap_or(u8::MAX);
            self.outbox.tell(RoutingEvent::DiscoveryAnswered { target, hops });
        }
        self.release(now, Some(route));
    }
}
