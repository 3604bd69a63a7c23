//! Looking for routes (RFC 3561 sections 6.3 and 6.4).
use crate::aodv::Aodv;
use crate::message::{AodvHeader, Rreq};
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_routing::{DropReason, RoutingEvent};
use prismux_units::Instant;

/// A search for a route.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search {
    /// The reach of the last request.
    ttl: u8,
    /// Searches of the whole network so far.
    network_searches: u32,
    /// The last request was held back by the rate limit.
    is_deferred: bool,
    /// When the next request may leave.
    pub(crate) next: Instant,
    pub(crate) kind: SearchKind,
}

/// What a search is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchKind {
    /// Packets of the host's own wait.
    Own,
    /// A route that broke shall be mended on the spot; it was this long.
    Repair { former_hops: u8 },
    /// The last search failed: nothing is asked for a while.
    Silence,
}

impl<P> Aodv<P> {
    /// Looks for a route to `target`, unless that is under way.
    pub(crate) fn search(&mut self, now: Instant, target: Ipv4Addr) {
        if self.searches.contains_key(&target) {
            return;
        }
        let config = self.config;
        // A route that was known tells how far the first request should reach (section 6.4).
        let known = self.table.get(now, target).map(|route| route.hops.saturating_add(config.ttl_increment));
        let ttl = self.within_threshold(known.unwrap_or(config.ttl_start));
        self.outbox.statistics.discoveries += 1;
        self.begin(now, target, ttl, SearchKind::Own);
    }

    /// Begins a search with a reach of `ttl`.
    pub(crate) fn begin(&mut self, now: Instant, target: Ipv4Addr, ttl: u8, kind: SearchKind) {
        let search = Search { ttl, network_searches: 0, is_deferred: false, next: now, kind };
        self.searches.insert(target, search);
        self.ask(now, target);
    }

    fn within_threshold(&self, ttl: u8) -> u8 {
        if ttl > self.config.ttl_threshold { self.config.net_diameter } else { ttl }
    }

    /// Sends the request of a search, if the rate limit allows.
    fn ask(&mut self, now: Instant, target: Ipv4Addr) {
        let config = self.config;
        let Some(search) = self.searches.get_mut(&target) else { return };
        if !self.request_limit.take(now) {
            search.next = self.request_limit.next();
            search.is_deferred = true;
            return;
        }
        search.is_deferred = false;
        let wait = if search.ttl < config.net_diameter {
            config.ring_traversal_time(search.ttl)
        } else {
            search.network_searches += 1;
            let factor = if config.linear_backoff {
                u64::from(search.network_searches)
            } else {
                1 << (search.network_searches - 1).min(16)
            };
            config.net_traversal_time() * factor
        };
        search.next = now + wait;
        let ttl = search.ttl;
        self.seq += 1;
        self.next_request_id = self.next_request_id.wrapping_add(1);
        let request = Rreq {
            multicast_bits: 0,
            gratuitous: config.gratuitous,
            destination_only: config.destination_only,
            hop_count: 0,
            id: self.next_request_id,
            destination: target,
            destination_seq: self.table.get(now, target).and_then(|route| route.seq),
            originator: self.address,
            originator_seq: self.seq,
        };
        self.seen.note(now, (self.address, request.id), config.path_discovery_time);
        self.broadcast(now, ttl, AodvHeader::Rreq(request));
        self.outbox.tell(RoutingEvent::DiscoveryStarted { target, hop_limit: ttl });
    }

    /// Searches go on whose answer is overdue.
    pub(crate) fn continue_searches(&mut self, now: Instant) {
        let due: Vec<(Ipv4Addr, Search)> = self
            .searches
            .iter()
            .filter(|(_, search)| search.next <= now)
            .map(|(&target, &search)| (target, search))
            .collect();
        for (target, search) in due {
            self.continue_search(now, target, search);
        }
    }

    fn continue_search(&mut self, now: Instant, target: Ipv4Addr, mut search: Search) {
        let is_wanted = self.buffer.waits_for(target, |_| true);
        match search.kind {
            _ if search.is_deferred => return self.ask(now, target),
            SearchKind::Repair { .. } => return self.repair_failed(now, target),
            _ if !is_wanted => {
                self.searches.remove(&target);
                return;
            }
            SearchKind::Silence => {
                self.searches.remove(&target);
                return self.search(now, target);
            }
            SearchKind::Own => {}
        }
        if search.network_searches > self.config.rreq_retries {
            return self.give_up(now, target);
        }
        if search.network_searches == 0 {
            search.ttl = self.within_threshold(search.ttl.saturating_add(self.config.ttl_increment));
        }
        self.searches.insert(target, search);
        self.ask(now, target);
    }

    fn give_up(&mut self, now: Instant, target: Ipv4Addr) {
        self.searches.remove(&target);
        if !self.config.failure_holdoff.is_zero() {
            let next = now + self.config.failure_holdoff;
            let kind = SearchKind::Silence;
            let silence = Search { ttl: 0, network_searches: 0, is_deferred: false, next, kind };
            self.searches.insert(target, silence);
        }
        for packet in self.buffer.take(target) {
            self.outbox.discard(packet, DropReason::NoRoute);
        }
        self.outbox.tell(RoutingEvent::DiscoveryFailed { target });
    }

    /// A route to `target` has become valid: what waits for it leaves.
    pub(crate) fn route_found(&mut self, now: Instant, target: Ipv4Addr) {
        let hops = self.table.valid(now, target).map_or(0, |route| route.hops);
        match self.searches.remove(&target).map(|search| search.kind) {
            Some(SearchKind::Repair { former_hops }) => self.repaired(now, target, former_hops),
            Some(SearchKind::Own) => {
                self.outbox.statistics.discoveries_answered += 1;
                self.outbox.tell(RoutingEvent::DiscoveryAnswered { target, hops });
            }
            Some(SearchKind::Silence) | None => {}
        }
        self.release(now, target);
    }
}
