//! Telling neighbours of routes: in full at intervals, and what has changed in between.
use crate::dsdv::Dsdv;
use crate::table::Route;
use crate::update::{Advertised, DsdvHeader};
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use prismux_routing::{NextHop, Packet};
use prismux_units::Instant;

/// Entries of one packet: what fits 1,480 bytes behind an IP header.
const MAX_ENTRIES: usize = 120;

impl<P> Dsdv<P> {
    /// When a triggered update may leave that some route asks for.
    pub(crate) fn next_triggered_update(&self) -> Option<Instant> {
        let wanted = self.table.iter().filter_map(|(_, route)| route.trigger_at).min()?;
        let earliest = self.last_update.map_or(Instant::ZERO, |last| last + self.config.min_trigger_interval);
        Some(wanted.max(earliest))
    }

    /// Sends the updates that are due.
    pub(crate) fn advertise(&mut self, now: Instant) {
        if self.next_full_update <= now {
            self.send_full_update(now);
        } else if self.next_triggered_update().is_some_and(|due| due <= now) {
            self.send_triggered_update(now);
        }
    }

    /// The whole table, under a new number of the host's own.
    fn send_full_update(&mut self, now: Instant) {
        let part = self.config.update_interval * 3 / 4;
        self.next_full_update = now + part + self.jitter(self.config.update_interval - part);
        self.seq += 2;
        let mut entries = Vec::from([self.own_entry()]);
        for (destination, route) in self.table.iter_mut() {
            if route.tell_from <= now {
                entries.push(told(destination, route));
                route.is_metric_untold = false;
            }
            clear_trigger(now, route);
        }
        self.send_update(now, &entries);
    }

    /// What has changed since the last full update; everything, when that is much (a third of the table).
    fn send_triggered_update(&mut self, now: Instant) {
        let changes = self.table.iter().filter(|(_, route)| route.is_untold(now)).count();
        // The own entry counts among the table's.
        if changes > 3 && changes * 3 > self.table.len() + 1 {
            return self.send_full_update(now);
        }
        let mut entries = Vec::new();
        for (destination, route) in self.table.iter_mut() {
            if route.is_untold(now) {
                entries.push(told(destination, route));
            }
            clear_trigger(now, route);
        }
        self.send_update(now, &entries);
    }

    fn own_entry(&self) -> Advertised {
        Advertised { destination: self.address, metric: 0, seq: self.seq }
    }

    fn send_update(&mut self, now: Instant, entries: &[Advertised]) {
        for part in entries.chunks(MAX_ENTRIES) {
            let packet = Packet {
                source: self.address,
                destination: Ipv4Addr::BROADCAST,
                identification: 0,
                hop_limit: 1,
                header: DsdvHeader::Update(part.to_vec()),
                payload: None,
            };
            let at = now + self.jitter(self.config.broadcast_jitter);
            self.outbox.send_at(at, NextHop::Broadcast, packet);
            self.last_update = Some(now);
        }
    }
}

/// The entry that tells of `route`, whose number is thereby told.
fn told(destination: Ipv4Addr, route: &mut Route) -> Advertised {
    route.last_told_metric = route.metric;
    route.is_seq_untold = false;
    Advertised { destination, metric: route.metric, seq: route.seq }
}

/// An update that leaves now serves every route that asked for one until now.
fn clear_trigger(now: Instant, route: &mut Route) {
    if route.trigger_at.is_some_and(|at| at <= now) {
        route.trigger_at = None;
    }
}
