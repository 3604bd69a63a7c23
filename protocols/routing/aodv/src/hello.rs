//! Watching neighbours by hello messages (RFC 3561 sections 6.9 and 6.10).
use crate::aodv::Aodv;
use crate::message::{AodvHeader, Rrep};
use crate::table::Offer;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_units::Instant;

/// Neighbours that are watched at most.
const MAX_NEIGHBOURS: usize = 256;

/// Neighbours that send hello messages, and the host's own hello messages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Neighbours {
    /// Until when each may be silent.
    heard: BTreeMap<Ipv4Addr, Instant>,
    /// When the host last sent a broadcast of whatever kind.
    last_broadcast: Option<Instant>,
    /// When the next hello may be due; `None` for a host that sends none.
    next_hello: Option<Instant>,
}

impl Neighbours {
    /// `sends_hello`: the first one may be due at once.
    pub(crate) fn new(sends_hello: bool) -> Self {
        Self { next_hello: sends_hello.then_some(Instant::ZERO), ..Self::default() }
    }

    pub(crate) fn broadcast_at(&mut self, at: Instant) {
        self.last_broadcast = Some(at);
    }

    pub(crate) fn forget(&mut self, neighbour: Ipv4Addr) {
        self.heard.remove(&neighbour);
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.heard.values().copied().chain(self.next_hello).min()
    }

    pub(crate) fn len(&self) -> usize {
        self.heard.len()
    }
}

impl<P> Aodv<P> {
    /// Takes a hello: its sender is one hop away, and is missed when it falls silent.
    pub(crate) fn take_hello(&mut self, now: Instant, from: Ipv4Addr, hello: &Rrep) {
        let until = now + hello.lifetime.max(self.config.hello_lifetime());
        let seq = Some(hello.destination_seq);
        let is_better = self.table.offer(now, from, Offer { seq, hops: 1, next_hop: from, until });
        self.hear(now, from);
        if is_better {
            self.route_found(now, from);
        }
        self.table.extend(now, from, until);
        if self.neighbours.heard.len() < MAX_NEIGHBOURS || self.neighbours.heard.contains_key(&from) {
            self.neighbours.heard.insert(from, until);
        }
    }

    /// Sends a hello if one is due, and notices neighbours that have fallen silent.
    pub(crate) fn watch_neighbours(&mut self, now: Instant) {
        if self.neighbours.next_hello.is_some_and(|next| next <= now) {
            self.neighbours.next_hello = Some(now + self.config.hello_interval);
            let is_silent =
                self.neighbours.last_broadcast.is_none_or(|last| last + self.config.hello_interval <= now);
            if is_silent && self.table.has_valid(now) {
                self.send_hello(now);
            }
        }
        let silent: Vec<Ipv4Addr> = self
            .neighbours
            .heard
            .iter()
            .filter(|(_, until)| **until <= now)
            .map(|(&neighbour, _)| neighbour)
            .collect();
        for neighbour in silent {
            let lost = self.break_link(now, neighbour);
            self.tell_lost(now, lost);
        }
    }

    fn send_hello(&mut self, now: Instant) {
        let hello = Rrep {
            repair: false,
            ack_required: false,
            prefix_size: 0,
            hop_count: 0,
            destination: self.address,
            destination_seq: self.seq,
            originator: self.address,
            lifetime: self.config.hello_lifetime(),
        };
        self.broadcast(now, 1, AodvHeader::Rrep(hello));
    }
}
